"""Tests of gpuassist.repair.scopes."""
