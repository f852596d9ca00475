"""What follows from the packages with parts of CUDA: which of them holds a library, and which overwrite each other's files."""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.knowledge.records import WheelRecord


def holding(library: str, wheels: Iterable[WheelRecord]) -> tuple[WheelRecord, ...]:
    """The packages that hold a library, by its soname (`libcudnn.so.9`) or by the name of its file (`libcudnn.so.9.1.0`)."""
    return tuple(wheel for wheel in wheels if any(library == one or library.startswith(f"{one}.") for one in wheel.libraries))


def overwriting(wheel: WheelRecord, wheels: Iterable[WheelRecord]) -> tuple[WheelRecord, ...]:
    """The other packages that may put a file of the same name into the same directory.

    pip does not mind: the one installed last wins, and removing either takes the file away from the other too.
    """
    files = set(_files(wheel))
    return tuple(other for other in wheels if other.distribution != wheel.distribution and not files.isdisjoint(_files(other)))


def _files(wheel: WheelRecord) -> tuple[tuple[str, str], ...]:
    return tuple((wheel.directory, name) for name in (*wheel.libraries, *wheel.compilers))
