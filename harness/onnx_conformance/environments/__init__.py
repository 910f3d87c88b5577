"""Where an adapter runs: the names of backends, the environments made for them, and the sandbox around them."""
