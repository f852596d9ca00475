"""Drivers, toolkits and torch: from a goal to steps that are looked at before they run, put on record, and taken back."""
