"""The live plot. Modules here that import numpy or pyqtgraph are imported by nothing that runs before the first paint."""
