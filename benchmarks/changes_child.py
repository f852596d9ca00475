"""`gpuassist changes` as the program starts it, on a machine under a root: `python -m benchmarks.changes_child ROOT [OPTION…]`."""

from __future__ import annotations

import sys

from msgspec.structs import replace

from gpuassist.app import compose, open_window
from gpuassist.cli.main import main as command_line
from gpuassist.context import Session
from gpuassist.system.files import Files


def main(root: str, options: list[str]) -> int:
    def made(language: str) -> Session:
        session = compose(language)
        return replace(session, world=replace(session.world, files=Files(root)))

    return command_line(["changes", *options], compose=made, open_window=open_window)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
