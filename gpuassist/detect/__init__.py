"""From the outside world to a Machine: one module a source, one reader a text."""
