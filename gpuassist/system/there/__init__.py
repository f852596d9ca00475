"""What runs on another machine, by its own Python: sent there as text, so that no other module of ours is to be had."""
