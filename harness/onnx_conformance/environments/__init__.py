# SPDX-License-Identifier: Apache-2.0
"""The surroundings of an adapter: names of backends, their environments, and the sandbox."""
