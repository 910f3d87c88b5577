# SPDX-License-Identifier: Apache-2.0
"""`nox -s size_faults`: injects faults that depend on sizes into right answers, and counts who notices them."""
