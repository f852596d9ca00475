"""Tests of gpuassist.changes.scopes."""
