"""Tests of the models behind tables and lists."""
