"""The installed packages that have to do with the GPU, by the names of their records in site-packages and conda-meta."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gpuassist.model.digits import whole_number
from gpuassist.model.environment import Package

# What is judged, or explains a failure: torch, what belongs to a release of it, the libraries that it brings, and frameworks.
_OF_INTEREST = re.compile(
    r"torch|torch-?(?:vision|audio|text|data|codec)|pytorch(?:-(?:cuda|mutex|gpu|cpu|triton\S*|nightly))?|libtorch|cpuonly|cudatoolkit"
    r"|(?:pytorch-)?triton(?:-\S+)?|xformers|flash-attn|bitsandbytes|onnxruntime(?:-\S+)?|nvidia-\S+|cuda-(?:toolkit|version|bindings)"
    r"|cudnn|numpy|setuptools|mkl|jax|jaxlib|tensorflow|tensorrt(?:-\S+)?"
)
_RECORD = re.compile(r"([A-Za-z0-9][\w.-]{0,100}?)-(\d[\w.!+]{0,60})\.(?:dist|egg)-info")
_CONDA_RECORD = re.compile(r"([a-z0-9_][\w.-]{0,100})-(\d[\w.!+]{0,60})-([\w.+]{1,80})\.json")
_VITAL = re.compile(r"torch/(?:\w+\.py|lib/lib[\w.+-]+\.so[\w.]*|_C\.[\w-]+\.so)")
_SEPARATORS = re.compile(r"[-_.]+")


def python_packages(names: Iterable[str]) -> Iterator[Package]:
    """The packages that the `.dist-info` directories among the names are of."""
    for name in sorted(names):
        found = _RECORD.fullmatch(name)
        package = normalised(found[1]) if found else ""
        if found and _OF_INTEREST.fullmatch(package):
            yield Package(package, found[2])


def conda_packages(names: Iterable[str]) -> tuple[Package, ...]:
    """Those that the records in a conda-meta are of, with their build strings."""
    found = (match for name in sorted(names) if (match := _CONDA_RECORD.fullmatch(name)))
    return tuple(
        Package(normalised(match[1]), match[2], match[3]) for match in found if _OF_INTEREST.fullmatch(normalised(match[1]))
    )


def is_of_interest(name: str) -> bool:
    """Whether a package of this name is judged, or explains a failure."""
    return _OF_INTEREST.fullmatch(name) is not None


def normalised(name: str) -> str:
    """A package's name as indexes compare it: PEP 503."""
    return _SEPARATORS.sub("-", name).lower()


def recorded_sizes(record: str) -> dict[str, int]:
    """The modules at the top of torch and its own libraries, with the bytes that a RECORD says they have."""
    lines = (line.rsplit(",", 2) for line in record.splitlines() if line.startswith("torch/"))
    sizes = ((path, whole_number(size)) for path, _, size in filter(_has_three, lines) if _VITAL.fullmatch(path))
    return {path: size for path, size in sizes if size is not None}


def _has_three(parts: list[str]) -> bool:
    return len(parts) == 3
