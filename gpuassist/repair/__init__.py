"""From a wish to a plan, from a plan to a changed file, and back."""
