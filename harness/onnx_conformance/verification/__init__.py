# SPDX-License-Identifier: Apache-2.0
"""`verify`: whether a backend runs a user's model as the text requires, and if not, which node is wrong.

Order of the work: `user_model` reads the model, and `inputs` reads or draws its inputs. `oracle_run` runs the oracle
over the model. `node_oracle` computes the required result of one node for the backend's values. `parts` builds models
with more outputs or fewer nodes. `verifying` runs them, and `fusion` cuts the graph. `verified` has the results.
"""
