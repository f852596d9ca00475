"""What cannot be right about the CUDA libraries of a process, and what the user's variables change about them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from itertools import groupby

from gpuassist.formats.toolkit import holds_stubs
from gpuassist.model.libraries import LibraryDifference, LibraryFault, LibraryLoaded, Way
from gpuassist.model.text import Parameters, Text, enumerated, text, verbatim
from gpuassist.model.version import Version, VersionError
from gpuassist.verify.provenance import (
    CUDNN,
    LIBRARY_PATH,
    PRELOAD,
    PYTHON_PATH,
    ProcessLibraries,
    elements_of,
    libraries_of,
    place_of,
)

# The package that torch pins for a library, without `-cu12`.
_PACKAGES = {
    **dict.fromkeys(("libcublas", "libcublasLt"), "nvidia-cublas"),
    **dict.fromkeys(("libcufft", "libcufftw"), "nvidia-cufft"),
    **dict.fromkeys(("libcusolver", "libcusolverMg"), "nvidia-cusolver"),
    **dict.fromkeys(("libnvrtc", "libnvrtc-builtins"), "nvidia-cuda-nvrtc"),
    "libcudart": "nvidia-cuda-runtime",
    "libcupti": "nvidia-cuda-cupti",
    "libcurand": "nvidia-curand",
    "libcusparse": "nvidia-cusparse",
    "libcusparseLt": "nvidia-cusparselt",
    "libnccl": "nvidia-nccl",
    "libnvJitLink": "nvidia-nvjitlink",
    "libnvshmem_host": "nvidia-nvshmem",
    "libcufile": "nvidia-cufile",
    "libnvToolsExt": "nvidia-nvtx",
}
# What is taken away for the run that is compared with; CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER choose devices, so they stay.
_CLEANED = (LIBRARY_PATH, PRELOAD, PYTHON_PATH)
_DRIVER = ("libcuda", "libnvidia-ml")
_CHOOSE_DEVICES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")


def faults_of(process: ProcessLibraries) -> tuple[LibraryFault, ...]:
    """Two copies of a library, cuDNN's parts apart, a stub for the driver, what is older than torch was built with."""
    libraries = libraries_of(process)
    return (*_twice(libraries), *_parts_apart(process, libraries), *_stubs(libraries), *_too_old(process, libraries))


def _twice(libraries: tuple[LibraryLoaded, ...]) -> Iterator[LibraryFault]:
    for name, group in groupby(sorted(libraries, key=lambda one: one.name), lambda one: one.name):
        paths = list(dict.fromkeys(f"{one.path} ({one.version})" if one.version else one.path for one in group))
        if len(paths) > 1:
            told = text("{library} is loaded more than once: {files}", library=name, files=enumerated(paths))
            yield LibraryFault(told, (name,))


def _parts_apart(process: ProcessLibraries, libraries: tuple[LibraryLoaded, ...]) -> Iterator[LibraryFault]:
    cudnn = next((one for one in libraries if one.name == CUDNN and one.way is not Way.BUILT_IN), None)
    if cudnn is None:
        return
    home = posixpath.dirname(cudnn.path)
    parts = [one for one in libraries if one.name.startswith(f"{CUDNN}_") and posixpath.dirname(one.path) != home]
    awaited = [path for path in process.awaited if posixpath.dirname(path) != home]
    paths = [one.path for one in parts] or awaited
    if not paths:
        return
    # One part of each place is enough to see where they come from.
    some = enumerated(sorted({posixpath.dirname(path): path for path in reversed(paths)}.values()))
    if parts:
        told = text("cuDNN is put together from different places: {cudnn}, and {parts}", cudnn=cudnn.path, parts=some)
    else:
        told = text("{cudnn} is loaded, and LD_LIBRARY_PATH leads to parts of another cuDNN: {parts}", cudnn=cudnn.path, parts=some)
    by_variable = not parts or parts[0].variable == LIBRARY_PATH
    names = (CUDNN, *dict.fromkeys(posixpath.basename(path).partition(".so")[0] for path in paths))
    yield LibraryFault(told, names, *(_shadows(paths[0]) if by_variable else ()))


def _shadows(path: str) -> tuple[str, Parameters]:
    """The problem that another library than the program's own came by LD_LIBRARY_PATH, with its parameters."""
    directory, _, library = path.rpartition("/")
    return "ld-library-path-shadows-bundled-libs", (("library", library), ("directory", directory))


def _stubs(libraries: tuple[LibraryLoaded, ...]) -> Iterator[LibraryFault]:
    for one in libraries:
        if one.name in _DRIVER and holds_stubs(posixpath.dirname(one.path)):
            words = {"path": one.path, "library": one.name}
            told = text("{path} is a stub, made for linking only; the driver's own {library} was not taken", **words)
            directory = ("directory", posixpath.dirname(one.path))
            yield LibraryFault(
                told, (one.name,), *(("ld-library-path-stubs", (directory,)) if one.variable == LIBRARY_PATH else ())
            )


def _too_old(process: ProcessLibraries, libraries: tuple[LibraryLoaded, ...]) -> Iterator[LibraryFault]:
    for one in libraries:
        wanted = _wanted(process, one.name)
        if _older(one.version, wanted):
            told = text(
                "{library} {version} is older than the {wanted} that this torch was built with ({path})",
                library=one.name,
                version=one.version,
                wanted=wanted,
                path=one.path,
            )
            yield LibraryFault(told, (one.name,), *_problem(one, wanted))


def _problem(one: LibraryLoaded, wanted: str) -> tuple[str, Parameters] | tuple[()]:
    if one.name.startswith(CUDNN):
        directory = posixpath.dirname(one.path)
        return "cudnn-version-mismatch", (("found", one.version), ("built", wanted), ("directory", directory))
    return _shadows(one.path) if one.variable == LIBRARY_PATH else ()


def _wanted(process: ProcessLibraries, library: str) -> str:
    package = "nvidia-cudnn" if library.startswith(CUDNN) else _PACKAGES.get(library, "")
    return next((one.version for one in process.wanted if package and one.name.partition("-cu1")[0] == package), "")


def _older(version: str, other: str) -> bool:
    """Whether it is, as far as both are told: cublasGetProperty says 12.4.5 of what a wheel calls 12.4.5.8."""
    try:
        one, two = Version.parse(version).parts, Version.parse(other).parts
    except VersionError:
        return False
    both = min(len(one), len(two))
    return one[:both] < two[:both]


# The same without the user's variables.


def clean_variables(variables: Mapping[str, str], mine: ProcessLibraries) -> tuple[dict[str, str], tuple[str, ...]]:
    """The variables without those that choose libraries, and which of them changed.

    A directory of LD_LIBRARY_PATH that leads to the driver's own library stays, alone: without it no GPU would be seen, as on
    clusters and under NixOS, and what is loaded for a GPU could not be compared.
    """
    driver = next((one for one in libraries_of(mine) if one.name == "libcuda" and one.way is Way.LIBRARY_PATH), None)
    kept = {name: value for name, value in variables.items() if name not in _CLEANED and not _overrides(name)}
    if driver is not None:
        elements = elements_of(variables.get(LIBRARY_PATH, ""))
        names = [one.name for one in mine.objects if one.path == driver.path]
        kept[LIBRARY_PATH] = next((one for one in elements if place_of((one,), names[0])), "")
    changed = tuple(sorted(name for name in variables if variables[name] and kept.get(name) != variables[name]))
    return kept, changed


def _overrides(name: str) -> bool:
    return name.startswith("CUDA_") and name not in _CHOOSE_DEVICES


def may_differ(mine: ProcessLibraries) -> bool:
    """Whether a variable decides on anything but where the driver's library comes from: else a second run would show the same."""
    if mine.error or mine.awaited:
        return True
    return any(one.variable for one in libraries_of(mine) if one.name not in _DRIVER or one.variable != LIBRARY_PATH)


def differences(mine: ProcessLibraries, clean: ProcessLibraries) -> tuple[LibraryDifference, ...]:
    """The libraries that both processes have, from different files; what only one of them has come to use is no difference.

    None where another torch is imported altogether, which `torch_words` tells.
    """
    if mine.torch != clean.torch:
        return ()
    without = {one.name: one for one in libraries_of(clean)}
    pairs = [(one, without[one.name]) for one in libraries_of(mine) if one.name in without]
    return tuple(_difference(mine, one, other) for one, other in pairs if one.path != other.path)


def _difference(process: ProcessLibraries, mine: LibraryLoaded, clean: LibraryLoaded) -> LibraryDifference:
    wanted = _wanted(process, mine.name)
    older = _older(mine.version, clean.version) or _older(mine.version, wanted)
    return LibraryDifference(mine, clean, mine.variable, older, wanted)


def difference_words(found: tuple[LibraryDifference, ...]) -> tuple[Text, ...]:
    """What differs, because of what, and whether it matters: a sentence for all libraries that change places together."""

    def together(one: LibraryDifference) -> tuple[str, str, str, str, str, bool]:
        places = (posixpath.dirname(one.mine.path), posixpath.dirname(one.clean.path))
        return (one.variable, *places, one.mine.version, one.clean.version, one.older)

    groups = groupby(sorted(found, key=together), together)
    return tuple(_difference_words(tuple(group)) for _, group in groups)


def _difference_words(group: tuple[LibraryDifference, ...]) -> Text:
    one = group[0]
    words = {
        "mine": _place_and_version(one.mine),
        "clean": _place_and_version(one.clean),
        "libraries": enumerated(each.mine.name for each in group),
    }
    if one.variable:
        told = text("Because of {variable}, {mine} takes the place of {clean} for {libraries}.", variable=one.variable, **words)
    else:
        told = text("With the variables of this environment {mine} takes the place of {clean} for {libraries}.", **words)
    if not one.older:
        return told
    if _older(one.mine.version, one.wanted):
        return text("{told} This torch was built with {wanted}, which is newer.", told=told, wanted=one.wanted)
    return text("{told} That is the older one.", told=told)


def torch_words(mine: ProcessLibraries, clean: ProcessLibraries, changed: tuple[str, ...]) -> Text | None:
    """What the variables do to torch itself, in a sentence: only one of the two imports it, or it is another; None of neither."""
    names = enumerated(changed)
    if mine.error and not clean.error:
        return text(
            "torch cannot be imported with {variables} as set here, and can without: {error}", variables=names, error=mine.error
        )
    if clean.error and not mine.error:
        return text("Without {variables} torch cannot be imported: {error}", variables=names, error=clean.error)
    if mine.torch != clean.torch:
        return text(
            "With {variables} as set here another torch is imported: {mine} in place of {clean}",
            variables=names,
            mine=mine.torch,
            clean=clean.torch,
        )
    return None


def _place_and_version(one: LibraryLoaded) -> Text:
    directory = posixpath.dirname(one.path)
    return text("{version} ({path})", version=one.version, path=directory) if one.version else verbatim(directory)
