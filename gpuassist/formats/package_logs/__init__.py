"""The logs of package managers, read by pure functions: bytes or rows to entries, a module a format."""
