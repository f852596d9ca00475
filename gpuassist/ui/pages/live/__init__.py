"""Live memory."""
