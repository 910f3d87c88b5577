"""Programs for the people who maintain this project; `nox` runs them. They are not part of the wheel."""
