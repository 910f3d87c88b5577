# SPDX-License-Identifier: Apache-2.0
"""One file for each layout. The name of the file is the name for `generate --layout`."""
