"""Proof by tensor operations in the user's own torch, in a process that can be killed."""
