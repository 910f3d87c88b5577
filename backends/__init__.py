# SPDX-License-Identifier: Apache-2.0
"""Adapters: the modules that run inside a runtime's own environment, and their wire format.

Nothing here imports `harness`, and everything there may import this; an adapter needs numpy, its runtime, and this
package.
"""
