"""Samples as rows of one table, for CSV and Parquet: a row for each GPU, each process on it and each event.

The columns are the fields of the values themselves, so that what a sample comes to hold stands in the table, too. What is not
known is empty. The figures of processes stand in columns of their own, so that no sum counts memory twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Union, get_args, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

from gpuassist.formats.visible import on_one_line
from gpuassist.model.fact import Known
from gpuassist.model.sample import Event, GpuSample, ProcessSample, Sample, TorchMemory
from gpuassist.model.words import Words
from gpuassist.system.clock import iso_of

Cell = Union[str, int, float, bool, None]

_BEGINNING = {"run": int, "time": str, "epoch": float, "seconds": float, "kind": str, "gpu": int}
_EVENT = {"event": str, "event_code": str, "event_text": str}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def columns() -> dict[str, type]:
    """The name of each column, and the type of what stands in it."""
    return {**_BEGINNING, **_GPU_COLUMNS, "pid": int, **_PROCESS_COLUMNS, **_TORCH_COLUMNS, **_EVENT}


def rows(samples: Iterable[Sample], words: Words, run: int) -> Iterator[dict[str, Cell]]:
    """Those of one run; a column that is missing in a row is empty. `seconds` counts from the run's first sample."""
    start: float | None = None
    for sample in samples:
        start = sample.monotonic if start is None else start
        common: dict[str, Cell] = {
            "run": run,
            "time": iso_of(sample.time),
            "epoch": sample.time,
            "seconds": sample.monotonic - start,
        }
        for gpu in sample.gpus:
            here = {**common, "gpu": gpu.index}
            yield {**here, "kind": "gpu", **_cells(gpu, _GPU_COLUMNS, "")}
            for process in gpu.processes.value if isinstance(gpu.processes, Known) else ():
                cells = {**here, "kind": "process", "pid": process.pid, **_cells(process, _PROCESS_COLUMNS, "process_")}
                if isinstance(process.torch, Known):
                    cells.update(_cells(process.torch.value, _TORCH_COLUMNS, "torch_"))
                yield cells
        for event in sample.events:
            yield {**common, "seconds": event.monotonic - start, "kind": "event", "gpu": event.gpu, **_event(event, words)}


def csv_cell(cell: Cell) -> Cell:
    """A cell that spreadsheets show and never carry out, on one line: strangers name processes and containers."""
    if not isinstance(cell, str):
        return cell
    shown = on_one_line(cell)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _event(event: Event, words: Words) -> dict[str, Cell]:
    return {"pid": event.pid, "event": event.kind.value, "event_code": event.code, "event_text": words(event.text)}


def _cells(value: Struct, wanted: dict[str, type], prefix: str) -> dict[str, Cell]:
    return {name: _cell(getattr(value, name.removeprefix(prefix))) for name in wanted}


def _cell(value: Any) -> Cell:
    if isinstance(value, Struct):
        return _cell(value.value) if isinstance(value, Known) else None
    if isinstance(value, Enum):
        return str(value.value)
    return "; ".join(map(str, value)) if isinstance(value, tuple) else value


def _columns(kind: type[Struct], prefix: str, *without: str) -> dict[str, type]:
    hints = get_type_hints(kind)
    return {prefix + field.name: _type(hints[field.name]) for field in fields(kind) if field.name not in without}


def _type(hint: Any) -> type:
    """What a cell of it holds: of a fact the value, of a list and of an enum words."""
    inner = [one for one in get_args(hint) if one is not type(None)] or [hint]
    known = next((one for one in inner if getattr(one, "__origin__", None) is Known), None)
    held = inner[0] if known is None else get_args(known)[0]
    return held if held in {int, float, bool} else str


_GPU_COLUMNS = _columns(GpuSample, "", "index", "processes")
_PROCESS_COLUMNS = _columns(ProcessSample, "process_", "pid", "torch")
_TORCH_COLUMNS = _columns(TorchMemory, "torch_")
