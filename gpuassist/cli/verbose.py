"""What `--verbose` says on standard error: every record of the log on a line of its own."""

from __future__ import annotations

import logging

from gpuassist.formats.visible import on_one_line


def say_all() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine(logging.BASIC_FORMAT))
    logging.basicConfig(level=logging.DEBUG, handlers=[handler])


class _OneLine(logging.Formatter):
    """A traceback below a record keeps its lines; a name in the record makes none."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 -- the name that the library calls
        return on_one_line(super().formatMessage(record))
