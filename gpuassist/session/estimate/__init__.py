"""Will it fit: what a model needs of a GPU before it is run, whether this machine has it, and what would make it fit."""
