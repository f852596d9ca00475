"""Where a program's time goes, from what a profiler left."""
