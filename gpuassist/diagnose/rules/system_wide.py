"""Do the files that count for every program agree with the driver that runs and the toolkit that a new terminal finds?"""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.rules.shell import library_path_is_sound
from gpuassist.diagnose.rules.toolkit import (
    best_installed,
    cuda_home_agrees,
    driver_serves_nvcc,
    for_everybody,
    nvcc_knows_gpus,
    right_toolkit_wins,
)
from gpuassist.diagnose.verdicts import Verdict, finding, listed, proof, undetermined
from gpuassist.formats.toolkit import holds_compatibility, holds_stubs
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Evidence, Finding
from gpuassist.model.text import text, verbatim
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version

_CUDA_LINK = "/usr/local/cuda"
_LIBRARIES = "LD_LIBRARY_PATH"
_PLACES = ("PATH", "CUDA_HOME", "CUDA_PATH", _LIBRARIES)


def toolkit_links_lead_somewhere(case: RuleInput) -> Iterator[Verdict]:
    """A link that outlives its toolkit is where torch's extension builder and cmake look in the end."""
    best = best_installed(case)
    for link in value_or(case.machine.system.links, ()):
        if not link.exists:
            yield finding(
                "cuda-link-dangling",
                proof(
                    verbatim(link.path),
                    case.machine.system.links,
                    text("leads to {target}, which is not there", target=link.target),
                ),
                link=link.path,
                target=link.target,
                used=listed([name for name in _PLACES if _names(case.variable(name), link.path)]),
                better_root=best.root if best else "",
                alternatives="yes" if link.alternatives else "",
            )


def several_toolkits_are_told(case: RuleInput) -> Iterator[Verdict]:
    """Several toolkits are no fault; which one wins is worth knowing, where no finding says so already."""
    wins, every = case.toolkit, for_everybody(case)
    if wins is None or len(every) < 2 or not isinstance(wins.version, Known) or _is_told(case):
        return
    link = next((one for one in value_or(case.machine.system.links, ()) if one.path == _CUDA_LINK and one.exists), None)
    others = [one for one in every if one.root != wins.root]
    yield finding(
        "several-toolkits",
        *(Evidence(text("CUDA toolkit"), verbatim(_version(one)), one.root) for one in (wins, *others)),
        nvcc=str(wins.version.value.release),
        root=wins.root,
        others=listed([f"CUDA {_version(one)} ({one.root})" for one in others]),
        link=_CUDA_LINK,
        link_root=link.target if link and any(one.root == link.target for one in others) else "",
    )


def loader_offers_the_same_cuda(case: RuleInput) -> Iterator[Verdict]:
    """NVIDIA's packages add their own toolkit for every program; it matters where another one compiles."""
    wins = case.toolkit
    for one in value_or(case.machine.system.loader, ()):
        owner = next((toolkit for toolkit in case.toolkits if f"{one.real}/".startswith(f"{toolkit.root}/")), None)
        if wins is not None and owner is not None and owner.root != wins.root and _major(owner) == _major(wins) != 0:
            yield finding(
                "loader-cache-other-cuda",
                proof(verbatim(one.file), case.machine.system.loader, verbatim(one.directory)),
                proof(text("nvcc in a new terminal"), wins.version),
                file=one.file,
                directory=one.directory,
                other=_version(owner),
                nvcc=_version(wins),
            )
            return


def compatibility_library_serves_gpus(case: RuleInput) -> Iterator[Verdict]:
    """cuda-compat's libcuda serves data-centre GPUs; a GeForce refuses it with error 804 (CUDA Compatibility, 3)."""
    named = ((card, value_or(card.gpu.name, "") or (card.record.name if card.record else "")) for card in case.usable)
    cards = [card for card, name in named if "GeForce" in name]
    places = [*_in_library_path(case), *_in_loader(case)]
    if cards and places and not case.wsl:
        place, evidence = places[0]
        yield finding("cuda-compat-conflict", evidence, directory=place, gpu=cards[0].name)


def one_libcuda_is_there(case: RuleInput) -> Iterator[Verdict]:
    """Of the libraries of two drivers a program can find the wrong one; that none is of the running one has its own finding."""
    libcuda = case.machine.driver.libcuda
    versions = {one.version.value for one in value_or(libcuda, ()) if isinstance(one.version, Known)}
    if case.wsl or not isinstance(case.driver, Known) or len(versions) < 2 or case.driver.value not in versions:
        return
    strays = [one for one in value_or(libcuda, ()) if isinstance(one.version, Known) and one.version.value != case.driver.value]
    yield finding(
        "libcuda-twice",
        proof(text("driver"), case.driver),
        proof(text("driver libraries on disk"), libcuda, verbatim(listed([one.path for one in value_or(libcuda, ())]))),
        loaded=str(case.driver.value),
        stray=strays[0].path,
    )


def libcuda_is_found(case: RuleInput) -> Iterator[Verdict]:
    """A library that the loader is not led to is as good as none, and a stub in its place too; without a cache nothing tells."""
    libcuda, taken = case.machine.driver.libcuda, case.machine.driver.libcuda_taken
    ours = value_or(libcuda, ())
    if not (case.running or case.wsl) or not ours or case.without_nodes:
        return
    if isinstance(taken, Unknown):
        if taken.asked:
            yield from undetermined("libcuda-not-found", text("which libcuda programs get"), taken)
        return
    directory = taken.value.rpartition("/")[0]
    if not taken.value:
        first = ours[0].path
        yield finding(
            "libcuda-not-found",
            proof(text("driver libraries on disk"), libcuda, verbatim(listed([one.path for one in ours]))),
            proof(text("libcuda that programs get"), taken, text("none")),
            path=first,
            directory=first.rpartition("/")[0],
        )
    elif holds_stubs(directory) and not _names_stubs(case):
        added = next((one.file for one in value_or(case.machine.system.loader, ()) if one.real == directory), "")
        yield finding(
            "ld-library-path-stubs",
            proof(text("libcuda that programs get"), taken),
            proof(verbatim(added), case.machine.system.loader, verbatim(directory)) if added else None,
            directory=directory,
            cached="yes",
            file=added,
        )


def _names_stubs(case: RuleInput) -> bool:
    return any(holds_stubs(element) for element in case.variable(_LIBRARIES).split(":"))


def container_lists_are_current(case: RuleInput) -> Iterator[Verdict]:
    """A CDI specification names files by the driver's version; after an update of the driver they are gone."""
    if case.container or case.wsl or not isinstance(case.driver, Known):
        return
    for one in value_or(case.machine.system.container_lists, ()):
        if isinstance(one.driver, Known) and one.driver.value != case.driver.value:
            yield finding(
                "container-cdi-stale",
                proof(verbatim(one.path), one.driver),
                proof(text("driver"), case.driver),
                file=one.path,
                listed=str(one.driver.value),
                driver=str(case.driver.value),
            )


def _names(value: str, path: str) -> bool:
    return any(element == path or element.startswith(f"{path}/") for element in value.split(":"))


def _is_told(case: RuleInput) -> bool:
    rules = (right_toolkit_wins, driver_serves_nvcc, cuda_home_agrees, nvcc_knows_gpus, library_path_is_sound)
    return any(isinstance(verdict, Finding) for rule in rules for verdict in rule(case))


def _version(toolkit: Toolkit) -> str:
    return str(value_or(toolkit.version, Version(())).release) or "?"


def _major(toolkit: Toolkit) -> int:
    return toolkit.version.value.major if isinstance(toolkit.version, Known) else 0


def _in_library_path(case: RuleInput) -> Iterator[tuple[str, Evidence | None]]:
    missing = case.machine.shell.directories_missing
    if isinstance(missing, Known):
        for element in case.variable(_LIBRARIES).split(":"):
            if holds_compatibility(element) and element not in missing.value:
                yield element, proof(verbatim(_LIBRARIES), case.terminal, verbatim(case.variable(_LIBRARIES)))


def _in_loader(case: RuleInput) -> Iterator[tuple[str, Evidence | None]]:
    loader = case.machine.system.loader
    for one in value_or(loader, ()):
        if holds_compatibility(one.directory) and "libcuda.so" in one.libraries:
            yield one.directory, proof(verbatim(one.file), loader, verbatim(one.directory))


RULES = (
    compatibility_library_serves_gpus,
    one_libcuda_is_there,
    libcuda_is_found,
    container_lists_are_current,
    toolkit_links_lead_somewhere,
    several_toolkits_are_told,
    loader_offers_the_same_cuda,
)
