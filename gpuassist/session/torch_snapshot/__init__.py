"""torch's memory snapshots: opened in a child of ours with its memory bounded, and what is done with them."""
