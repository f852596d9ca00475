"""A table of resources/knowledge as the refreshing programs read and write it, and the options that they share."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def read_table(place: Path) -> tuple[Row, list[Row]]:
    """The header of a table, and its rows."""
    header, *rows = json.loads(place.read_text("utf-8"))
    return header, rows


def write_table(place: Path, header: Row, rows: Iterable[Row], *, ascii_only: bool = True) -> None:
    """One record a line, so that a change is a line of a difference."""
    lines = (json.dumps(row, ensure_ascii=ascii_only) for row in (header, *rows))
    place.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


def options_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What was given, with `--check` and `--checked`; ends the program where a table would be written without its day."""
    parser.add_argument("--checked", default="", help="today, as YYYY-MM-DD; needed to write")
    parser.add_argument("--check", action="store_true", help="write nothing; a difference is exit status 1")
    options = parser.parse_args()
    if not options.check and not options.checked:
        parser.error("--checked is needed to write the table")
    return options
