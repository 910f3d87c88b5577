# SPDX-License-Identifier: Apache-2.0
"""Common modules for all packages: errors, verdicts, file names, printing. They import nothing of this project."""
