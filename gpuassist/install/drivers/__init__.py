"""Whose packages bring a driver onto a machine: one module a distribution, and the clouds that come before them."""
