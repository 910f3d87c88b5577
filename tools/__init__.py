# SPDX-License-Identifier: Apache-2.0
"""Programs for the people who maintain this project; `nox` runs them. They are not part of the wheel."""
