"""`python -m gpuassist` and the `gpuassist` command."""

from __future__ import annotations

import sys

from gpuassist import app


def main() -> int:
    """The entry point of the installed command."""
    return app.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
