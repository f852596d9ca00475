"""Tests of the live plot."""
