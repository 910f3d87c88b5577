"""Common modules for all packages: errors, verdicts, file names, printing. They import nothing of this project."""
