"""Probes on made-up and real machines."""
