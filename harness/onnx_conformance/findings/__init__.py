"""Findings: failures become distinct faults, each with its sentence, its smallest case, and a script that shows it."""
