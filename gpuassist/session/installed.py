"""The packages that an environment holds just now, by the records in its directories."""

from __future__ import annotations

from gpuassist.formats.package_metadata import HEAD_AT_MOST_BYTES, PackageMetadata, read_package_metadata
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Run
from gpuassist.system.files import Files

_METADATA = {".dist-info": "METADATA", ".egg-info": "PKG-INFO"}


def site_directories(files: Files, machine: Machine, run: Run) -> tuple[str, ...]:
    """Where the environment of a step has its packages: as it was detected, else its own directories alone."""
    for one in value_or(machine.environments, ()):
        here = one.prefix == run.environment or value_or(one.interpreter, "") == run.interpreter != ""
        if here and isinstance(one.sites, Known) and one.sites.value:
            return one.sites.value
    prefix = run.environment or run.interpreter.rpartition("/bin/")[0]
    return (*files.glob(f"{prefix}/lib/python3*/site-packages"), *files.glob(f"{prefix}/lib64/python3*/site-packages"))


def installed_in(files: Files, sites: tuple[str, ...]) -> dict[str, PackageMetadata]:
    """What lies there, by its normalised name; of two the first counts, as for Python."""
    found: dict[str, PackageMetadata] = {}
    for site in dict.fromkeys(files.real(one) for one in sites):
        for name in files.names(site):
            one = _read(files, f"{site}/{name}")
            if one is not None:
                found.setdefault(one.name, one)
    return found


def _read(files: Files, record: str) -> PackageMetadata | None:
    name = _METADATA.get(record[-len(".dist-info") :])
    try:
        return read_package_metadata(files.read_text(f"{record}/{name}", HEAD_AT_MOST_BYTES)) if name else None
    except OSError:
        return None  # a record that was left half removed is none for pip, too
