"""The packages that an environment holds just now, by the records in its directories."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuassist.formats.package_metadata import HEAD_AT_MOST_BYTES, PackageMetadata, read_package_metadata
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Run
from gpuassist.model.version import Version
from gpuassist.system.files import Files

_RELEASE = re.compile(r"/python(\d{1,9}\.\d{1,9})t?/")
_METADATA = {".dist-info": "METADATA", ".egg-info": "PKG-INFO"}


@dataclass(frozen=True, slots=True)
class Held:
    """An environment: whether it is there, where Python looks in it, its packages with their records (paths), and its Python's
    version; None where that is not known.
    """

    there: bool = True
    sites: tuple[str, ...] = ()
    packages: Mapping[str, PackageMetadata] = field(default_factory=dict)
    records: Mapping[str, str] = field(default_factory=dict)
    python: Version | None = None


def held_by(files: Files, machine: Machine, run: Run) -> Held:
    """What the environment of a step holds."""
    prefix = run.environment or run.interpreter.rpartition("/bin/")[0]
    if not files.exists(run.interpreter or prefix):
        return Held(there=False)
    every = value_or(machine.environments, ())
    known = next(
        (one for one in every if one.prefix == run.environment or value_or(one.interpreter, "") == run.interpreter != ""), None
    )
    sites = known.sites.value if known and isinstance(known.sites, Known) and known.sites.value else _own(files, prefix)
    packages: dict[str, PackageMetadata] = {}
    records: dict[str, str] = {}
    for site in dict.fromkeys(files.real(one) for one in sites):
        for name in files.names(site):
            one = _read(files, f"{site}/{name}")
            if one is not None and one.name not in packages:  # of two the first counts, as for Python
                packages[one.name], records[one.name] = one, f"{site}/{name}"
    return Held(sites=sites, packages=packages, records=records, python=_python(known, sites))


def _own(files: Files, prefix: str) -> tuple[str, ...]:
    return (*files.glob(f"{prefix}/lib/python3*/site-packages"), *files.glob(f"{prefix}/lib64/python3*/site-packages"))


def _python(known: PythonEnvironment | None, sites: tuple[str, ...]) -> Version | None:
    if known and isinstance(known.python_version, Known):
        return known.python_version.value
    found = (match for site in sites if (match := _RELEASE.search(site)))
    return next((Version.parse(match[1]) for match in found), None)


def _read(files: Files, record: str) -> PackageMetadata | None:
    name = next((inside for ending, inside in _METADATA.items() if record.endswith(ending)), "")
    try:
        return read_package_metadata(files.read_text(f"{record}/{name}", HEAD_AT_MOST_BYTES)) if name else None
    except OSError:
        return None  # a record that was left half removed is none for pip, too
