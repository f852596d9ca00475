"""The live plot. Modules here that import numpy are imported by nothing that runs before the first paint."""
