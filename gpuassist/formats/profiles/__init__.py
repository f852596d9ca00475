"""What profilers leave, read: traces, tables and profiles of torch, of Python and of Nsight Systems."""
