"""What every package may import: errors, verdicts, file names, printing. Imports nothing of this project."""
