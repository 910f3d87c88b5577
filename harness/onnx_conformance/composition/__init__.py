"""Models of several nodes: cases beside other nodes, before other operators, and rewrites in every surrounding."""
