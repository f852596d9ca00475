"""Qt models over tuples of frozen rows: what tables and lists of the pages show."""
