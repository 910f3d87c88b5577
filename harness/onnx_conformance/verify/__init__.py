"""`verify`: whether a backend runs a user's model as the text demands, and if not, which node is wrong.

Order of the work: `user_model` reads the model, `inputs` reads or draws its inputs, `node_oracle` computes what a node
must return for the values that the backend gave it, `parts` builds models with more outputs or fewer nodes, and
`verifying` runs them all. `verified` has the results.
"""
