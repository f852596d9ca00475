"""A Linux desktop assistant for people with NVIDIA cards: detect, explain, repair, verify, watch."""

__version__ = "0.1.0"
