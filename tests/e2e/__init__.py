"""The installed command as a user runs it: a process of its own, a scratch home, a clean environment."""
