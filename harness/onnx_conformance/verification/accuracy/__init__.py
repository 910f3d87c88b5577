# SPDX-License-Identifier: Apache-2.0
"""`accuracy`: how far the results of a runtime are from the exact ones, in units in the last place.

`unary.py` finds the elementwise operators, `inputs.py` chooses their inputs, `truth.py` computes exact results, and
`elementwise.py` measures one operator. `sums.py` declares operators that add many terms, and `growth.py` measures them.
`accumulators.py` finds out in which type and order a runtime adds. `profiles.py` stores all of it as JSON.
"""
