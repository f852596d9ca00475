"""What changed on a machine: two looks at it, joined with what the package logs tell."""
