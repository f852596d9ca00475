"""What programs print when something is wrong: one module a family, each message behind a cheap literal test."""
