"""Values only: frozen, typed, without behaviour that touches the world."""
