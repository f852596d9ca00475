"""One page a step of the wizard."""
