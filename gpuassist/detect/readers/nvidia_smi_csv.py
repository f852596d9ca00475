"""The rows of a pasted `nvidia-smi --query-gpu=… --format=csv`, by its heading or by the command above them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.detect.readers.lines import Line, lines
from gpuassist.detect.readers.nvidia_smi import PRODUCT
from gpuassist.detect.readers.nvidia_smi_fields import PROGRAM, added
from gpuassist.model.driver import Driver
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

_FIELDS = {
    "index": "index",
    "name": "name",
    "gpu_name": "name",
    "uuid": "uuid",
    "gpu_uuid": "uuid",
    "pci.bus_id": "pci_address",
    "gpu_bus_id": "pci_address",
    "pci.device_id": "pci_id",
    "memory.total": "memory_total_bytes",
    "memory.used": "memory_used_bytes",
    "compute_cap": "compute_capability",
    "compute_mode": "compute_mode",
    "mig.mode.current": "mig_enabled",
    "display_active": "display_active",
}
_COMMAND = lazy_regex(r"--query-gpu[= ]([\w.,]+)")
_HEADING = lazy_regex(r"^[a-z_.]+(?: \[\w+%?\])?(?:, [a-z_.]+(?: \[[\w%]+\])?)*$")
_UNIT = lazy_regex(r" \[[\w%]+\]$")
_DRIVER = lazy_regex(r"\d{2,4}\.\d[\d.]*")
_KNOWN_ALONE = frozenset(("driver_version", "compute_cap"))
_ROWS_AT_MOST = 64


class _Table(Struct, frozen=True):
    columns: tuple[str, ...]
    rows: tuple[tuple[Line, tuple[str, ...]], ...]


def read(paste: Paste) -> Machine:
    """GPUs and driver of the first such table that names GPUs."""
    if "--query-gpu" not in paste.words and not any(name in paste.words for name in ("driver_version", "compute_cap", "name,")):
        return Machine()
    tables = list(_tables(lines(paste)))
    gpus = next((told for table in tables if isinstance(told := _gpus(table), Known)), NOT_ASKED)
    driver = next((version for table in tables if isinstance(version := _driver(table), Known)), NOT_ASKED)
    return Machine(gpus=gpus, driver=Driver(version=driver))


def _tables(every: tuple[Line, ...]) -> Iterator[_Table]:
    for place, line in enumerate(every):
        columns = _columns(line.words.strip())
        if columns:
            yield _Table(columns, tuple(_rows(every[place + 1 : place + 1 + _ROWS_AT_MOST], columns)))


def _columns(words: str) -> tuple[str, ...]:
    called = _COMMAND.search(words)
    if called:
        return tuple(called[1].split(","))
    if len(words) > 1000 or not _HEADING.match(words):
        return ()
    columns = tuple(_UNIT.sub("", column) for column in words.split(", "))
    several = len(columns) > 1 and sum(column in _FIELDS or column == "driver_version" for column in columns) > 1
    return columns if several or columns[0] in _KNOWN_ALONE else ()


def _rows(below: tuple[Line, ...], columns: tuple[str, ...]) -> Iterator[tuple[Line, tuple[str, ...]]]:
    """Lines of as many values as there are columns; below a command its heading comes first."""
    for line in below:
        values = tuple(value.strip() for value in line.words.split(","))
        if len(values) != len(columns) or not line.words.strip() or _COMMAND.search(line.words):
            return
        if _columns(line.words.strip()) != columns:
            yield line, values


def _gpus(table: _Table) -> Fact[tuple[Gpu, ...]]:
    found = [gpu for line, values in table.rows if (gpu := _gpu(table.columns, line, values)).name != NOT_ASKED]
    first = found[0].name if found else NOT_ASKED
    return Known(tuple(found), first.source) if isinstance(first, Known) else NOT_ASKED


def _gpu(columns: tuple[str, ...], line: Line, values: tuple[str, ...]) -> Gpu:
    gpu = Gpu()
    for column, value in zip(columns, values, strict=True):
        name = _FIELDS.get(column, "")
        if name and (name != "name" or PRODUCT.match(value)):
            gpu = added(gpu, name, line, value)
    return gpu


def _driver(table: _Table) -> Fact[Version]:
    if "driver_version" not in table.columns:
        return NOT_ASKED
    place = table.columns.index("driver_version")
    for line, values in table.rows:
        if _DRIVER.fullmatch(values[place]):
            return line.known(Version.parse(values[place]), PROGRAM)
    return NOT_ASKED
