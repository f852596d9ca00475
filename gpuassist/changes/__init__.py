"""Changes of the user's files: planned, made, proved, on record, and undone."""
