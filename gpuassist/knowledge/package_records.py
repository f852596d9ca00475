"""What can be installed under a name: the compilers that a system's archive holds, and the packages of Python that texts name."""

from __future__ import annotations

from msgspec import Struct


class GccPackages(Struct, frozen=True):
    """The majors of gcc that can be installed beside a system's usual one from its own archive; `conda` is conda-forge's."""

    system: str
    majors: tuple[int, ...]
    source: str
    checked: str


class PythonPackage(Struct, frozen=True):
    """A project of PyPI that is the one which people mean by its name, and the modules that are called otherwise."""

    name: str
    modules: tuple[str, ...]
    source: str
    checked: str
