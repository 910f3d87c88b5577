"""How far an answer may be from the expected one: of one operator, of several nodes, of a whole model."""
