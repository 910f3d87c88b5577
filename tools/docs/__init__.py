# SPDX-License-Identifier: Apache-2.0
"""The documentation site: the blocks of its pages that the code writes, and the hook that mkdocs runs."""
