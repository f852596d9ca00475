"""Tests of the knowledge base, its arithmetic and its choices."""
