"""The kit: widgets that every page is built from, dressed by the theme and handed finished words."""
