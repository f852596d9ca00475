"""Tests that need a real NVIDIA GPU; elsewhere they skip and say so. `GPUASSIST_GPU=required` makes a missing GPU a failure."""
