"""The outside world behind small ports: files, processes, shells, NVML, clock, resources."""
