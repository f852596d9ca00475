"""Samples and their plot as a file for other programs: CSV, Parquet, SVG or PNG, by the name's ending."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO

from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.monitor.pyramid import Window
from gpuassist.present.plot_picture import DrawnRun, picture
from gpuassist.present.sample_rows import Cell, columns, csv_cell, rows
from gpuassist.system.new_file import new_file

TABLES, PICTURES = (".csv", ".parquet"), (".svg", ".png")
_ROWS_AT_ONCE = 20_000

DrawPng = Callable[[str], bytes]
"""Makes a PNG of an SVG document."""


class ExportError(Exception):
    """The file cannot be made; `reason` says why, and nothing of it is left."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def kind_of(path: str) -> str:
    """The ending that says what kind of file it is to be; raises `ExportError` for another."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in {*TABLES, *PICTURES}:
        raise ExportError(text("{path} should end in .csv, .parquet, .svg or .png: that says what is saved", path=path))
    return ending


def export_table(path: str, runs: Iterable[tuple[int, Iterable[Sample]]], words: Words) -> None:
    """The samples of runs, by their numbers, as rows; raises `ExportError`."""
    told = (row for number, samples in runs for row in rows(samples, words, number))
    write = {".csv": _write_csv, ".parquet": _write_parquet}[kind_of(path)]
    _made(path, lambda file: write(file, told))


def export_picture(path: str, runs: Sequence[DrawnRun], window: Window, words: Words, *, draw_png: DrawPng) -> None:
    """The plot of one run, or of several over each other; raises `ExportError`."""
    drawn = picture(runs, window, words)
    content = draw_png(drawn) if kind_of(path) == ".png" else drawn.encode()
    _made(path, lambda file: file.write(content))


def _made(path: str, write: Callable[[BinaryIO], Any]) -> None:
    try:
        with new_file(path) as file:
            write(file)
    except FileExistsError as error:
        raise ExportError(text("{path} is there already: name another file, or remove it first", path=path)) from error
    except OSError as error:
        raise ExportError(text("{path} could not be written: {error}", path=path, error=error.strerror or str(error))) from error


def _write_csv(file: BinaryIO, told: Iterator[dict[str, Cell]]) -> None:
    lines = io.TextIOWrapper(file, "utf-8", errors="backslashreplace", newline="")
    writer = csv.DictWriter(lines, list(columns()), restval="")
    writer.writeheader()
    writer.writerows({name: csv_cell(cell) for name, cell in row.items()} for row in told)
    lines.detach()  # the file is closed by whoever opened it


def _write_parquet(file: BinaryIO, told: Iterator[dict[str, Cell]]) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        reason = text("Parquet needs the Python package pyarrow, which gpuassist[parquet] brings; .csv needs nothing")
        raise ExportError(reason) from error
    kinds: Mapping[type, Any] = {int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_(), str: pyarrow.string()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns().items()])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while chunk := list(islice(told, _ROWS_AT_ONCE)):
            writer.write_table(
                pyarrow.Table.from_pylist([{name: _whole(cell) for name, cell in row.items()} for row in chunk], schema)
            )


def _whole(cell: Cell) -> Cell:
    """Words that UTF-8 has: halves of characters, which stand for bytes of a name, are spelled out."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell
