"""Tests of gpuassist.verify."""
