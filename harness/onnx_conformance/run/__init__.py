# SPDX-License-Identifier: Apache-2.0
"""One run from beginning to end: schedules cases on processes, shows progress, and measures CPU time.

Imports every other package but `cli`, which alone may import it.
"""
