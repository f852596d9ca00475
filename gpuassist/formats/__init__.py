"""Pure readers of foreign text and bytes that more than one stage needs."""
