"""CUDA libraries that lie in a project's own directory, where an environment has wheels that search the current directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from gpuassist.detect.prefixes import Prefix
from gpuassist.formats.elf import read_dynamic
from gpuassist.model.environment import Manager
from gpuassist.model.fact import Fact, Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.system.files import Files

# Of the driver, of the toolkit and of what torch brings: names that its import asks the loader for.
_CUDA_NAME = lazy_regex(
    r"lib(?:cuda|cudart|nvidia-\w+|nvrtc\S*|nvJitLink|cublas\w*|cudnn\w*|cufft\w*|curand|cusolver\w*|cusparse\w*|cupti|nccl|cufile\w*)"
    r"\.so(?:\.\d+)*"
)


def probe(files: Files, prefix: Prefix, sites: tuple[str, ...]) -> Fact[tuple[str, ...]]:
    """The files of the directory that a virtual environment lies in; the wheels are looked at only where there are any."""
    directory = str(PurePosixPath(prefix.path).parent)
    names = files.names(directory) if prefix.manager in {Manager.VENV, Manager.UV} else ()
    stray = tuple(f"{directory}/{name}" for name in names if _CUDA_NAME.fullmatch(name) and files.is_file(f"{directory}/{name}"))
    wheel = next(_searching(files, sites), "") if stray else ""
    return Known(stray, f"{directory}, RUNPATH of {wheel}") if wheel else Known((), directory)


def _searching(files: Files, sites: tuple[str, ...]) -> Iterator[str]:
    """The libraries of wheels whose RPATH or RUNPATH has an empty element, which the loader reads as the current directory."""
    for path in (path for site in sites for path in files.glob(f"{site}/nvidia/*/lib/*.so*")):
        if any(value and "" in value.split(":") for value in _search_paths(files, path)):
            yield path


def _search_paths(files: Files, path: str) -> tuple[str, ...]:
    try:
        dynamic = read_dynamic(lambda offset, size: files.read_part(path, offset, size))
    except OSError:
        return ()
    return (dynamic.rpath, dynamic.runpath) if dynamic is not None else ()
