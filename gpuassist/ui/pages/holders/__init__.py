"""Who holds the GPU."""
