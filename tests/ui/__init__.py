"""Tests of the window, without a display."""
