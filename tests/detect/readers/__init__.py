"""Readers of pasted texts under test."""
