"""What a new terminal's variables do to CUDA programs: LD_LIBRARY_PATH, by which other libraries win, and CUDA_VISIBLE_DEVICES."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.verdicts import Verdict, finding, listed, proof, undetermined
from gpuassist.formats.devices import read_visible_devices
from gpuassist.formats.toolkit import holds_stubs
from gpuassist.model.environment import LoadedLibrary
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Passed
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text, verbatim
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version

_LIBRARIES = "LD_LIBRARY_PATH"
_DEVICES = "CUDA_VISIBLE_DEVICES"
_VERSION = lazy_regex(r"\.so\.(\d{1,9}(?:\.\d{1,9}){0,4})$")


def library_path_is_sound(case: RuleInput) -> Iterator[Verdict]:
    """Each element of LD_LIBRARY_PATH is searched before the system's own libraries by most programs."""
    terminal = case.terminal
    if isinstance(terminal, Unknown):
        yield from undetermined("ld-library-path-empty-element", text("LD_LIBRARY_PATH in a new terminal"), terminal)
        return
    value = terminal.value.variable(_LIBRARIES)
    if not value:
        return
    missing = case.machine.shell.directories_missing
    yield from undetermined("ld-library-path-missing-directory", text("which folders of LD_LIBRARY_PATH exist"), missing)
    yield from list(_faults(case, terminal, value)) or [Passed(verbatim(_LIBRARIES))]


def visible_devices_are_there(case: RuleInput) -> Iterator[Verdict]:
    """CUDA_VISIBLE_DEVICES hides GPUs from every program, silently."""
    terminal = case.terminal
    if not case.usable:
        return
    if isinstance(terminal, Unknown):
        yield from undetermined("cuda-visible-devices-bad", text("CUDA_VISIBLE_DEVICES in a new terminal"), terminal)
        return
    if not terminal.value.is_set(_DEVICES):
        yield Passed(verbatim(_DEVICES))
        return
    value, cards = terminal.value.variable(_DEVICES), case.usable
    unnamed = [card.gpu.uuid for card in cards if isinstance(card.gpu.uuid, Unknown)]
    if unnamed and value.strip().startswith(("GPU-", "MIG-")):
        yield from undetermined("cuda-visible-devices-bad", text("the UUIDs that {value} is about", value=value), *unnamed)
        return
    uuids = [card.gpu.uuid.value for card in cards if isinstance(card.gpu.uuid, Known)]
    instances = [uuid for card in cards for uuid in value_or(card.gpu.mig_uuids, ())]
    read = read_visible_devices(value, len(cards), (*uuids, *instances))
    if read.fault is None:
        yield Passed(verbatim(_DEVICES))
        return
    yield finding(
        "cuda-visible-devices-bad",
        proof(verbatim(_DEVICES), terminal, verbatim(value) if value else text("set, but empty")),
        proof(text("GPUs that CUDA can use"), case.machine.gpus, verbatim(str(len(cards)))),
        value=value,
        element=read.element,
        visible=str(read.visible) if read.visible else "",
        count=str(len(cards)),
        last=str(len(cards) - 1),
        fault=read.fault.value,
        **{read.fault.value.replace("-", "_"): "yes"},
    )


def own_libraries_win(case: RuleInput) -> Iterator[Verdict]:
    """An older library in place of an environment's own lacks symbols that the program was built against."""
    for environment in value_or(case.machine.environments, ()):
        replaced = [library for library in value_or(environment.libraries, ()) if older(library)]
        if replaced:
            first = replaced[0]
            assert isinstance(environment.libraries, Known)
            yield finding(
                "ld-library-path-shadows-bundled-libs",
                *(
                    proof(
                        text("{library} of {program}", library=one.soname, program=one.program.rpartition("/")[2]),
                        environment.libraries,
                        text("{taken} in place of {own}", taken=one.taken, own=one.own),
                    )
                    for one in replaced
                ),
                library=first.soname,
                directory=first.taken.rpartition("/")[0],
                python=value_or(environment.interpreter, "python"),
            )


def older(library: LoadedLibrary) -> bool:
    """Whether an older file, or one of another major release, takes the place of the program's own; by their names."""
    own, taken = _parts(library.own), _parts(library.taken)
    both = min(len(own), len(taken))  # a name that ends with the major release tells no more than that
    return bool(both) and (taken[:both] < own[:both] or taken[0] != own[0])


def _parts(path: str) -> tuple[int, ...]:
    found = _VERSION.search(path)
    return Version.parse(found[1]).parts if found else ()


def _faults(case: RuleInput, terminal: Known[Terminal], value: str) -> Iterator[Verdict]:
    shown = proof(verbatim(_LIBRARIES), terminal, verbatim(value))
    elements = tuple(dict.fromkeys(element.rstrip("/") or "/" for element in value.split(":") if element))
    # The loader reads an empty element as the current directory; a variable that is empty altogether it does not (ld.so(8)).
    if "" in value.split(":"):
        yield finding("ld-library-path-empty-element", shown, value=value)
    for element in elements:
        if holds_stubs(element):
            yield finding("ld-library-path-stubs", shown, directory=element, cached="", file="")
    gone = [element for element in elements if element in value_or(case.machine.shell.directories_missing, ())]
    if gone:
        yield finding("ld-library-path-missing-directory", shown, directories=listed(gone))
    wins = case.toolkit
    owners = ((element, _owner(case, element)) for element in elements)
    for element, owner in owners:
        if wins is not None and owner is not None and owner.root != wins.root:
            yield finding(
                "ld-library-path-other-toolkit",
                shown,
                proof(text("nvcc in a new terminal"), wins.version),
                directory=element,
                other=str(value_or(owner.version, Version(())).release),
                nvcc=str(value_or(wins.version, Version(())).release),
            )
            return


def _owner(case: RuleInput, directory: str) -> Toolkit | None:
    for toolkit in value_or(case.machine.toolkits, ()):
        if any(f"{directory}/".startswith(f"{root}/") for root in (toolkit.root, *toolkit.links)):
            return toolkit
    return None


RULES = (library_path_is_sound, visible_devices_are_there)
