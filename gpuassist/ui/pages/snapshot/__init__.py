"""A memory snapshot that torch wrote."""
