"""Tests of gpuassist.monitor."""
