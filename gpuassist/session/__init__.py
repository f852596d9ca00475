"""What a user does, free of Qt: one module for each thing, stringing the stages together."""
