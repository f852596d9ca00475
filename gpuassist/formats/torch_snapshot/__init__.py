"""torch's memory snapshots, read as a stream of pickle opcodes: no event becomes an object, and nothing of the file is ever run."""
