"""`python -m gpuassist` and the `gpuassist` command."""

from __future__ import annotations

import sys


def main() -> int:
    """The entry point of the installed command."""
    if sys.argv[1:] == ["--nvml-report"]:  # what a frozen gpuassist starts itself with: system.nvml_probe
        from gpuassist.system import nvml_report

        return nvml_report.main()
    from gpuassist import app

    return app.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
