"""The user's start-up files: which are read, what each line does, and whether that holds in a new terminal."""
