"""The surroundings of an adapter: names of backends, their environments, and the sandbox."""
