"""Live GPU memory: sources, the sampler thread and bounded history."""
