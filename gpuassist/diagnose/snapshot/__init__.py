"""What a memory snapshot of torch means: who held what and when, the peak, what grew, how segments lie, what to change first."""
