"""Rows become records; a row that lacks a field, or has it wrong, is left out and named, and the others still work."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gpuassist.knowledge import build
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.files import RecordTable
from gpuassist.knowledge.records import BranchKind, GpuRecord, ModuleFlavour
from gpuassist.knowledge.rows import Row, RowError, Source
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.finding import Action
from gpuassist.model.version import Code, ComputeCapability, Version, VersionError
from gpuassist.model.words import ENGLISH
from tests.rows import for_each

Fields = dict[str, Any]
SOURCES = {"list": Source("a list", "2026-11-21")}
ADA: Fields = {
    "architecture": "Ada Lovelace",
    "open_module": "possible",
    "chips": [{"chip": "AD102", "compute_capability": "8.9"}, {"chip": "AD10B", "integrated": True, "first_driver": "580.1"}],
    "source": "list",
}
GPU: Fields = {"pci_id": "10de:2684", "name": "GeForce RTX 4090", "chip": "AD102", "source": "list"}
BRANCH: Fields = {"branch": 580, "branch_kind": "long-term", "cuda": "13.0", "end_of_life": "2028-08", "source": "list"}
TOOLKIT: Fields = {
    "release": "13.0",
    "targets": ["7.5", "8.9"],
    "deprecated": ["7.5"],
    "gcc_limit": 15,
    "driver_floor": "580",
    "source": "list",
}
WHEEL: Fields = {
    "distribution": "nvidia-x-cu12",
    "role": "It is x.",
    "directory": "nvidia/x/lib",
    "cuda_majors": [12],
    "source": "list",
}
TORCH: Fields = {
    "release": "2.9",
    "newest": "2.9.1",
    "tag": "cu130",
    "cuda": "13.0",
    "machine": "x86_64",
    "targets": ["sm_89", "compute_120"],
    "pythons": ["3.10", "3.14"],
    "source": "list",
}
COMMAND: Fields = {"key": "x", "family": "ubuntu", "lines": ["apt install {package}"], "action": "command", "source": "list"}


def _gpu(row: Row, sources: dict[str, Source]) -> GpuRecord:
    ada = build.architecture(Row(1, ADA), SOURCES)
    chips = {chip.chip: (ada, chip) for chip in ada.chips}
    return build.gpu(row, sources, chips.get)


ENGINE: Fields = {
    "key": "vllm",
    "title": "vLLM",
    "aliases": [],
    "asks_torch": True,
    "home": "https://docs.vllm.ai",
    "source": "list",
}
RELEASE: Fields = {
    "engine": "vllm",
    "package": "vllm",
    "releases": ["0.33.0"],
    "torch": ["==2.14.0"],
    "cuda": [13],
    "python": ">=3.10",
    "capability_min": "7.5",
    "libraries": {"nvidia-cublas": "==13.0"},
    "source": "list",
}
Build = Callable[[Row, dict[str, Source]], Any]
KINDS: dict[str, tuple[Build, Fields]] = {
    "gpu": (_gpu, GPU),
    "architecture": (build.architecture, ADA),
    "branch": (build.branch, BRANCH),
    "toolkit": (build.toolkit, TOOLKIT),
    "wheel": (build.wheel, WHEEL),
    "torch": (build.torch, TORCH),
    "command": (build.command, COMMAND),
    "engine": (build.engine, ENGINE),
    "engine_release": (build.engine_release, RELEASE),
}
NEEDED = [
    *(("gpu", field) for field in ("pci_id", "name", "chip", "source")),
    *(("architecture", field) for field in ("architecture", "open_module", "chips", "source")),
    *(("branch", field) for field in ("branch", "branch_kind", "source")),
    *(("toolkit", field) for field in ("release", "driver_floor", "source")),
    *(("wheel", field) for field in ("distribution", "role", "directory", "source")),
    *(("torch", field) for field in ("release", "newest", "tag", "machine", "source")),
    *(("command", field) for field in ("key", "family", "action", "source")),
    *(("engine", field) for field in ("key", "title", "home", "source")),
    *(("engine_release", field) for field in ("engine", "package", "releases", "source")),
]
WRONG: list[tuple[str, str, object]] = [
    ("gpu", "pci_id", 2684),
    ("gpu", "chip", "GX999"),
    ("gpu", "aliases", "Ada"),
    ("gpu", "open_module", "perhaps"),
    ("gpu", "source", "another list"),
    ("architecture", "chips", ["AD102"]),
    ("architecture", "chips", [{"compute_capability": "8.9"}]),
    ("architecture", "chips", [{"chip": "AD102", "compute_capability": "Ada"}]),
    ("architecture", "chips", [{"chip": "AD102", "integrated": "yes"}]),
    ("architecture", "last_branch", "580"),
    ("branch", "branch", "580"),
    ("branch", "branch", True),
    ("branch", "branch_kind", "good"),
    ("branch", "ended", "no"),
    ("branch", "cuda", "newest"),
    ("branch", "end_of_life", 2028),
    ("toolkit", "release", ""),
    ("toolkit", "targets", ["sm_89"]),
    ("toolkit", "codes", ["8.9"]),
    ("toolkit", "deprecated", "7.5"),
    ("wheel", "libraries", "libx.so.1"),
    ("wheel", "cuda_majors", ["12"]),
    ("wheel", "instead", None),
    ("engine", "asks_torch", "yes"),
    ("engine", "aliases", "vllm"),
    ("engine_release", "releases", []),
    ("engine_release", "torch", ["newest"]),
    ("engine_release", "cuda", ["13"]),
    ("engine_release", "python", "newest"),
    ("engine_release", "capability_min", "sm_75"),
    ("engine_release", "libraries", ["nvidia-cublas"]),
    ("toolkit", "targets", [8.9]),
    ("toolkit", "gcc_limit", 15.2),
    ("toolkit", "driver_floor", "any"),
    ("torch", "targets", ["ada"]),
    ("torch", "pythons", "3.10"),
    ("torch", "default", 1),
    ("torch", "checked", 20261121),
    ("command", "family", "gentoo"),
    ("command", "lines", "apt install"),
    ("command", "action", "dance"),
    ("command", "needs_root", "yes"),
]


def _built(kind: str, **changes: object) -> Any:
    builder, fields = KINDS[kind]
    return builder(Row(3, {**fields, **changes}), SOURCES)


@for_each(("kind", "field"), NEEDED)
def test_row_without_a_needed_field_is_refused(kind: str, field: str) -> None:
    builder, fields = KINDS[kind]
    left = {name: value for name, value in fields.items() if name != field}
    with pytest.raises(RowError, match=field):
        builder(Row(3, left), SOURCES)


@for_each(("kind", "field", "value"), WRONG)
def test_row_with_a_wrong_field_is_refused(kind: str, field: str, value: object) -> None:
    with pytest.raises((RowError, VersionError, ValueError)):
        _built(kind, **{field: value})


@for_each(("kind", "field", "value"), WRONG)
def test_wrong_row_is_named_and_the_others_are_kept(kind: str, field: str, value: object) -> None:
    builder, fields = KINDS[kind]
    header = {"kind": kind, "schema": 1, "sources": {"list": {"text": "a list", "checked": "2026-11-21"}}}
    lines = [json.dumps(one) for one in (header, fields, {**fields, field: value}, fields)]
    content = ("[\n" + ",\n".join(lines) + "\n]\n").encode()
    table: RecordTable[Any] = RecordTable(lambda _: content, kind, builder)
    assert [ENGLISH(words) for words in table.damaged()] == [f"knowledge/{kind}.json, line 4 is damaged and was skipped"]
    assert len(table.all()) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_record_has_its_source_and_day(kind: str) -> None:
    record = _built(kind)
    assert (record.source, record.checked) == ("a list", "2026-11-21")


@pytest.mark.parametrize("kind", KINDS)
def test_row_may_have_been_checked_on_a_day_of_its_own(kind: str) -> None:
    assert _built(kind, checked="2026-12-24").checked == "2026-12-24"


def test_gpu_takes_from_its_chip_what_it_can() -> None:
    gpu = _built("gpu", aliases=["RTX 4090"])
    assert (gpu.architecture, gpu.compute_capability, gpu.integrated) == ("Ada Lovelace", ComputeCapability(8, 9), False)
    assert (gpu.module, gpu.aliases) == (ModuleFlavour.OPEN_POSSIBLE, ("RTX 4090",))


def test_gpu_may_have_a_module_of_its_own() -> None:
    assert _built("gpu", open_module="required").module is ModuleFlavour.OPEN_REQUIRED


def test_chip_whose_maker_has_not_said_has_no_capability() -> None:
    chip = _built("architecture").chips[1]
    assert (chip.compute_capability, chip.integrated, chip.first_driver) == (None, True, Version.parse("580.1"))


def test_branch_is_read_whole() -> None:
    branch = _built("branch")
    assert (branch.branch, branch.kind, branch.cuda) == (580, BranchKind.LONG_TERM, Version.parse("13.0"))


def test_branch_without_a_cuda_version_has_none() -> None:
    assert _built("branch", cuda="").cuda is None


def test_toolkit_has_ptx_names() -> None:
    targets = _built("toolkit").targets
    assert [(str(one.capability), one.code) for one in targets] == [("7.5", Code.PTX), ("8.9", Code.PTX)]


def test_toolkit_has_codes_by_their_names() -> None:
    assert [str(one) for one in _built("toolkit", codes=["sm_90", "sm_90a"]).codes] == ["sm_90", "sm_90a"]


def test_nothing_deprecated_is_not_the_same_as_not_known() -> None:
    known = _built("toolkit", deprecated=[]).deprecated
    unknown = build.toolkit(Row(1, {name: value for name, value in TOOLKIT.items() if name != "deprecated"}), SOURCES).deprecated
    assert (known, unknown) == ((), None)


def test_toolkit_says_where_it_was_measured() -> None:
    assert _built("toolkit", measured="nvcc --list-gpu-arch").source == "nvcc --list-gpu-arch; a list"


@pytest.mark.parametrize("field", ["clang_limit", "glibc_clash", "native_driver"])
def test_what_is_not_known_of_a_toolkit_is_none(field: str) -> None:
    assert getattr(_built("toolkit"), field) is None


def test_wheel_is_read_whole() -> None:
    wheel = _built("wheel", libraries=["libx.so.1"], compilers=["ptxas"], measured="wheel 1.0")
    assert (wheel.distribution, wheel.cuda_majors, wheel.libraries, wheel.compilers) == (
        "nvidia-x-cu12",
        (12,),
        ("libx.so.1",),
        ("ptxas",),
    )
    assert (wheel.instead, wheel.source) == ("", "wheel 1.0; a list")


def test_torch_build_is_read_whole() -> None:
    torch = _built("torch")
    assert (torch.cuda, torch.default, list(map(str, torch.pythons))) == (Version.parse("13.0"), False, ["3.10", "3.14"])
    assert [one.code for one in torch.targets][-1] is Code.PTX


def test_command_knows_its_parameters() -> None:
    command = _built("command", needs_root=True)
    assert (command.family, command.parameters, command.needs_root) == (Family.UBUNTU, ("package",), True)
    assert command.action is Action.COMMAND


def test_file_that_cannot_be_read_is_named() -> None:
    def read(path: str) -> bytes:
        raise FileNotFoundError(2, "No such file or directory", path)

    knowledge = Knowledge(read)
    assert knowledge.gpu("10de:2684") is None
    assert knowledge.branches() == ()
    assert all("cannot be read: [Errno 2]" in ENGLISH(words) for words in knowledge.damaged())
