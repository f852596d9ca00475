"""What is known, asked by name: one module for each kind of record."""
