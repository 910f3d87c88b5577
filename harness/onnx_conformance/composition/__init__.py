"""Models of several nodes: cases with additional nodes, cases before other operators, and rewrites in every form."""
