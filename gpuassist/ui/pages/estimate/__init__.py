"""Will it fit."""
