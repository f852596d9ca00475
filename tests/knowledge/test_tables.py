"""Every record that ships is whole and sourced, is found by its keys, and one bad line costs one record."""

from __future__ import annotations

import json
import re
import time

import pytest

from gpuassist.knowledge.compatibility import driver_floor
from gpuassist.knowledge.messages import LANGUAGES
from gpuassist.knowledge.records import ModuleFlavour
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.version import Code, ComputeCapability
from gpuassist.model.words import ENGLISH
from gpuassist.system.resources import Resources
from tests.knowledge.shipped import KNOWLEDGE, capability, damaged_at, version
from tests.rows import for_each

KINDS = (
    "gpus",
    "architectures",
    "drivers",
    "toolkits",
    "wheels",
    "torch",
    "torch_releases",
    "bad_pairs",
    "image_tags",
    "images",
    "systems",
    "gcc_packages",
    "python_packages",
    "conda",
    "commands",
    "xids",
    "codes",
    "code_states",
    "compat_packages",
    "windows_drivers",
    "jetpacks",
    "baseboards",
    "server_gpus",
    "gpu_rates",
    "sm_rates",
    "reached_rates",
    "message_marks",
    "resident_programs",
    "qt_libraries",
    *(f"messages/{language}" for language in LANGUAGES),
)
DAY = re.compile(r"20\d\d-\d\d-\d\d")


def lines(kind: str) -> list[str]:
    return Resources().read(f"knowledge/{kind}.json").decode().splitlines()


@for_each("kind", KINDS)
def test_file_holds_one_record_a_line(kind: str) -> None:
    written = lines(kind)
    assert (written[0], written[-1]) == ("[", "]")
    assert all(isinstance(json.loads(line.rstrip(",")), dict) for line in written[1:-1])


@for_each("kind", KINDS)
def test_every_source_is_named_dated_and_used(kind: str) -> None:
    header, *rows = (json.loads(line.rstrip(",")) for line in lines(kind)[1:-1])
    assert {row["source"] for row in rows} == set(header["sources"])
    assert all(source["text"] and DAY.fullmatch(source["checked"]) for source in header["sources"].values())


def test_no_shipped_line_is_damaged() -> None:
    assert KNOWLEDGE.damaged() == ()


def test_every_record_has_source_and_day() -> None:
    records: list[tuple[str, str]] = [(one.source, one.checked) for one in KNOWLEDGE.gpus()]
    records += [(one.source, one.checked) for one in KNOWLEDGE.architectures()]
    records += [(one.source, one.checked) for one in KNOWLEDGE.branches()]
    records += [(one.source, one.checked) for one in KNOWLEDGE.toolkits()]
    records += [(one.source, one.checked) for one in KNOWLEDGE.torch_builds()]
    records += [(one.source, one.checked) for one in KNOWLEDGE.images()]
    records += [(one.source, one.checked) for one in KNOWLEDGE.systems()]
    records += [(one.source, one.checked) for one in KNOWLEDGE.conda()]
    records += [(one.source, one.checked) for one in KNOWLEDGE.commands.records]
    assert all(source and DAY.fullmatch(checked) for source, checked in records)


def test_pci_ids_are_unique_and_well_formed() -> None:
    ids = [gpu.pci_id for gpu in KNOWLEDGE.gpus() if gpu.pci_id]
    assert len(ids) == len(set(ids)) > 900
    assert all(re.fullmatch(r"10de:[0-9a-f]{4}", pci_id) for pci_id in ids)


def test_more_than_five_hundred_names_are_known() -> None:
    assert len({gpu.name for gpu in KNOWLEDGE.gpus()}) > 500


def test_only_systems_on_a_chip_lack_a_pci_id() -> None:
    assert all(gpu.integrated for gpu in KNOWLEDGE.gpus() if not gpu.pci_id)


def test_every_architecture_has_a_capability() -> None:
    assert all(architecture.capabilities for architecture in KNOWLEDGE.architectures())


def test_no_chip_belongs_to_two_architectures() -> None:
    chips = [chip.chip for architecture in KNOWLEDGE.architectures() for chip in architecture.chips]
    assert len(chips) == len(set(chips))


def test_no_capability_belongs_to_two_architectures() -> None:
    capabilities = [one for architecture in KNOWLEDGE.architectures() for one in architecture.capabilities]
    assert len(capabilities) == len(set(capabilities))


def test_architectures_stand_oldest_first() -> None:
    lowest = [architecture.capabilities[0] for architecture in KNOWLEDGE.architectures() if architecture.name != "Rubin"]
    assert lowest == sorted(lowest)


def test_legacy_architectures_cannot_have_open_modules() -> None:
    for architecture in KNOWLEDGE.architectures():
        assert (architecture.last_branch is not None) == (architecture.module is ModuleFlavour.OPEN_IMPOSSIBLE)


@for_each(
    ("pci_id", "name", "chip", "capable"),
    [
        ("10de:2684", "GeForce RTX 4090", "AD102", "8.9"),
        ("10de:2b85", "GeForce RTX 5090", "GB202", "12.0"),
        ("10de:2c05", "GeForce RTX 5070 Ti", "GB203", "12.0"),
        ("10de:2f04", "GeForce RTX 5070", "GB205", "12.0"),
        ("10de:1b06", "GeForce GTX 1080 Ti", "GP102", "6.1"),
        ("10de:1d81", "TITAN V", "GV100", "7.0"),
        ("10de:102d", "Tesla K80", "GK210", "3.7"),
        ("10de:20b0", "A100 SXM4 40GB", "GA100", "8.0"),
        ("10de:2330", "H100 SXM5 80GB", "GH100", "9.0"),
        ("10de:2e12", "GB10", "GB20B", "12.1"),
        ("10de:1024", "Tesla K40c", "GK180", "3.5"),
        ("10de:1eb8", "Tesla T4", "TU104", "7.5"),
        ("10de:31c2", "GB300", "GB110", "10.3"),
    ],
)
def test_gpu_is_found_by_pci_id(pci_id: str, name: str, chip: str, capable: str) -> None:
    gpu = KNOWLEDGE.gpu(pci_id)
    assert gpu is not None
    assert (gpu.name, gpu.chip, str(gpu.compute_capability)) == (name, chip, capable)


def test_pci_id_may_be_upper_case() -> None:
    assert KNOWLEDGE.gpu("10DE:2B85") == KNOWLEDGE.gpu("10de:2b85")


@pytest.mark.parametrize("pci_id", ["", "10de:ffff", "8086:2684", "10de:22ba", "10de:1af1", "words"])
def test_other_pci_devices_are_no_gpu(pci_id: str) -> None:
    assert KNOWLEDGE.gpu(pci_id) is None


@for_each(
    ("name", "capable"),
    [
        ("NVIDIA GeForce RTX 4090", "8.9"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"),
        ("NVIDIA GeForce RTX 3050 A Laptop GPU", "8.9"),
        ("NVIDIA GeForce RTX 2050", "8.6"),
        ("NVIDIA GeForce RTX 2080 Super with Max-Q Design", "7.5"),
        ("NVIDIA GeForce RTX 5090 D v2", "12.0"),
        ("NVIDIA GeForce GTX 1080 Ti", "6.1"),
        ("GeForce GTX 980M", "5.2"),
        ("GeForce GTX TITAN X", "5.2"),
        ("NVIDIA TITAN Xp", "6.1"),
        ("NVIDIA TITAN RTX", "7.5"),
        ("Tesla P100-PCIE-16GB", "6.0"),
        ("Tesla V100-SXM2-16GB", "7.0"),
        ("Tesla K40m", "3.5"),
        ("Tesla M60", "5.2"),
        ("NVIDIA A100 80GB PCIe", "8.0"),
        ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "8.0"),
        ("NVIDIA A10G", "8.6"),
        ("NVIDIA L40S", "8.9"),
        ("NVIDIA H100 80GB HBM3", "9.0"),
        ("NVIDIA H100 NVL", "9.0"),
        ("NVIDIA GH200 480GB", "9.0"),
        ("NVIDIA B200", "10.0"),
        ("NVIDIA GB200", "10.0"),
        ("NVIDIA GB300", "10.3"),
        ("NVIDIA GB10", "12.1"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "12.0"),
        ("NVIDIA RTX 6000 Ada Generation", "8.9"),
        ("NVIDIA RTX A6000", "8.6"),
        ("Quadro RTX 8000", "7.5"),
        ("Quadro P2000", "6.1"),
        ("Orin (nvgpu)", "8.7"),
        ("Xavier", "7.2"),
        ("NVIDIA Thor", "11.0"),
    ],
)
def test_gpu_is_found_by_name_of_nvml(name: str, capable: str) -> None:
    gpu = KNOWLEDGE.gpu_named(name)
    assert gpu is not None
    assert str(gpu.compute_capability) == capable


@pytest.mark.parametrize(
    "name", ["", "NVIDIA", "GPU", "NVIDIA Graphics Device", "GeForce", "llvmpipe", "AMD Radeon RX 7900", "80GB", "4090 MiB"]
)
def test_other_names_are_no_gpu(name: str) -> None:
    assert KNOWLEDGE.gpu_named(name) is None


@pytest.mark.parametrize("name", ["GeForce GT 730", "GeForce GT 630"])
def test_name_of_different_chips_decides_nothing(name: str) -> None:
    assert KNOWLEDGE.gpu_named(name) is None
    assert len({gpu.compute_capability for gpu in KNOWLEDGE.gpus_named(name)}) > 1


def test_own_name_never_leads_to_another_capability() -> None:
    for gpu in KNOWLEDGE.gpus():
        found = KNOWLEDGE.gpu_named(gpu.name)
        assert found is None or gpu.unlisted or found.compute_capability == gpu.compute_capability


def test_grace_hopper_needs_open_modules() -> None:
    gpus = [KNOWLEDGE.gpu(pci_id) for pci_id in ("10de:2342", "10de:2331")]
    assert [gpu.module for gpu in gpus if gpu] == [ModuleFlavour.OPEN_REQUIRED, ModuleFlavour.OPEN_POSSIBLE]


@pytest.mark.parametrize("name", ["Ada Lovelace", "ada lovelace", "Blackwell", "Kepler"])
def test_architecture_is_found_by_name(name: str) -> None:
    architecture = KNOWLEDGE.architecture(name)
    assert architecture is not None
    assert architecture.name.lower() == name.lower()


@pytest.mark.parametrize(
    ("capable", "name"), [("8.9", "Ada Lovelace"), ("12.1", "Blackwell"), ("3.7", "Kepler"), ("8.7", "Ampere")]
)
def test_architecture_is_found_by_capability(capable: str, name: str) -> None:
    architecture = KNOWLEDGE.architecture_of(capability(capable))
    assert architecture is not None
    assert architecture.name == name


def test_unknown_architecture_is_none() -> None:
    assert KNOWLEDGE.architecture("Feynman") is None
    assert KNOWLEDGE.architecture_of(ComputeCapability(99, 0)) is None


def test_toolkits_reach_from_nine_to_the_newest() -> None:
    releases = [toolkit.release for toolkit in KNOWLEDGE.toolkits()]
    assert releases == sorted(set(releases))
    assert (str(releases[0]), str(releases[-1])) == ("9.0", "13.5")


def test_toolkit_is_found_by_any_patch() -> None:
    assert KNOWLEDGE.toolkit(version("12.4.131")) == KNOWLEDGE.toolkit(version("12.4"))
    assert KNOWLEDGE.toolkit(version("12.7")) is None


def test_toolkits_target_ptx_names_without_variants() -> None:
    for toolkit in KNOWLEDGE.toolkits():
        assert toolkit.targets == tuple(sorted(set(toolkit.targets)))
        assert {(one.code, one.suffix) for one in toolkit.targets} == {(Code.PTX, "")}
        assert set(toolkit.deprecated or ()) <= set(toolkit.targets)


def test_toolkit_floors_agree_with_the_arithmetic() -> None:
    for toolkit in KNOWLEDGE.toolkits():
        assert toolkit.driver_floor == driver_floor(toolkit.release)
        assert toolkit.native_driver is None or toolkit.native_driver >= toolkit.driver_floor or toolkit.release.parts == (11, 0)


def test_compiler_limits_never_fall() -> None:
    for limits in ([one.gcc_limit for one in KNOWLEDGE.toolkits()], [one.clang_limit for one in KNOWLEDGE.toolkits()]):
        known = [limit for limit in limits if limit is not None]
        assert known == sorted(known)


def test_every_toolkit_names_its_gcc_limit() -> None:
    assert all(toolkit.gcc_limit for toolkit in KNOWLEDGE.toolkits())


@pytest.mark.parametrize(
    ("release", "gcc", "clash"),
    [
        ("11.2", 10, "2.41"),
        ("12.3", 12, "2.41"),
        ("12.4", 13, "2.41"),
        ("12.9", 14, "2.41"),
        ("13.1", 15, "2.42"),
        ("13.5", 16, ""),
    ],
)
def test_toolkit_knows_its_compiler_traps(release: str, gcc: int, clash: str) -> None:
    toolkit = KNOWLEDGE.toolkit(version(release))
    assert toolkit is not None
    assert (toolkit.gcc_limit, str(toolkit.glibc_clash or "")) == (gcc, clash)


def test_branches_are_unique_and_in_order() -> None:
    numbers = [branch.branch for branch in KNOWLEDGE.branches()]
    assert numbers == sorted(set(numbers))
    assert {390, 470, 535, 550, 570, 580, 590, 595, 610, 615, 620} <= set(numbers)


def test_newer_branches_know_newer_cuda() -> None:
    known = [branch.cuda for branch in KNOWLEDGE.branches() if branch.cuda]
    assert known == sorted(known)


@pytest.mark.parametrize(
    ("number", "ended"), [(535, True), (580, False), (590, True), (595, False), (610, True), (470, True), (615, False)]
)
def test_branch_knows_whether_it_has_ended(number: int, ended: bool) -> None:
    branch = KNOWLEDGE.branch(number)
    assert branch is not None
    assert branch.has_ended("2026-11-21") is ended


def test_branch_lives_until_the_end_of_its_month() -> None:
    branch = KNOWLEDGE.branch(595)
    assert branch is not None
    assert [branch.has_ended(day) for day in ("2027-03-31", "2027-04-01")] == [False, True]


def test_last_branches_are_known_branches() -> None:
    last = {one.last_branch for one in KNOWLEDGE.architectures() if one.last_branch}
    assert last <= {branch.branch for branch in KNOWLEDGE.branches()}


def test_torch_builds_are_unique() -> None:
    keys = [(build.release, build.tag, build.machine) for build in KNOWLEDGE.torch_builds()]
    assert len(keys) == len(set(keys))


def test_torch_has_one_default_a_machine() -> None:
    builds = KNOWLEDGE.torch_builds()
    for release in {build.release for build in builds}:
        for machine in ("x86_64", "aarch64"):
            assert sum(one.default for one in builds if (one.release, one.machine) == (release, machine)) == 1


def test_torch_tag_and_cuda_agree() -> None:
    for build in KNOWLEDGE.torch_builds():
        assert build.tag == (f"cu{build.cuda}".replace(".", "") if build.cuda else "cpu")
        assert bool(build.targets) == (build.cuda is not None)
        assert build.newest.release == build.release
        assert build.pythons


def test_torch_never_targets_what_its_cuda_cannot_build() -> None:
    for build in KNOWLEDGE.torch_builds():
        toolkit = KNOWLEDGE.toolkit(build.cuda) if build.cuda else None
        if toolkit:
            assert {one.capability for one in build.targets} <= {one.capability for one in toolkit.targets}


@pytest.mark.parametrize(
    ("release", "machine", "tag"),
    [
        ("2.5", "x86_64", "cu124"),
        ("2.7", "x86_64", "cu126"),
        ("2.10", "x86_64", "cu128"),
        ("2.10", "aarch64", "cpu"),
        ("2.11", "aarch64", "cu130"),
        ("2.14", "x86_64", "cu130"),
        ("2.15", "x86_64", "cu132"),
    ],
)
def test_default_of_pip_is_known(release: str, machine: str, tag: str) -> None:
    builds = KNOWLEDGE.torch_builds(version(release))
    assert [one.tag for one in builds if one.default and one.machine == machine] == [tag]


def test_no_default_build_holds_ptx() -> None:
    assert not [one for one in KNOWLEDGE.torch_builds() if one.default and any(target.code is Code.PTX for target in one.targets)]


def test_torch_release_is_found_by_any_patch() -> None:
    assert KNOWLEDGE.torch_builds(version("2.7.1+cu128")) == KNOWLEDGE.torch_builds(version("2.7"))


def _named(kind: str, line: int, words: bytes) -> list[str]:
    """What is said of that file with that line; the others are empty, for reading them all takes most of the time."""
    file = f"knowledge/{kind}.json"
    read = damaged_at(file, line, words)
    return [ENGLISH(said) for said in Knowledge(lambda name: read(name) if name == file else b"[]").damaged()]


@for_each("kind", KINDS, every=3)
def test_damaged_line_is_named_and_the_rest_works(kind: str) -> None:
    knowledge = Knowledge(damaged_at(f"knowledge/{kind}.json", 4, b'{"broken'))
    assert f"knowledge/{kind}.json, line 4 is damaged and was skipped" in [ENGLISH(words) for words in knowledge.damaged()]


@for_each("kind", KINDS)
@for_each(
    "words",
    [b'{"source": "nowhere"},', b"{},", b'{"source": 3, "chip": [], "release": {}, "branch": "x", "key": null, "number": "x"},'],
)
def test_line_that_is_no_record_is_named(kind: str, words: bytes) -> None:
    assert f"knowledge/{kind}.json, line 3 is damaged and was skipped" in _named(kind, 3, words)


def test_damaged_gpu_costs_only_itself() -> None:
    knowledge = Knowledge(damaged_at("knowledge/gpus.json", 3, b"{"))
    assert len(knowledge.gpus()) == len(KNOWLEDGE.gpus()) - 1


def test_chip_of_a_damaged_architecture_is_no_crash() -> None:
    knowledge = Knowledge(damaged_at("knowledge/architectures.json", 10, b"{"))
    assert knowledge.architecture("Ada Lovelace") is None
    assert knowledge.gpu("10de:2684") is None


def test_file_that_cannot_be_read_is_named() -> None:
    def read(name: str) -> bytes:
        raise FileNotFoundError(2, "No such file", name)

    knowledge = Knowledge(read)
    assert knowledge.gpu("10de:2684") is None
    assert knowledge.gpu_named("NVIDIA GeForce RTX 4090") is None
    assert len(knowledge.damaged()) >= len(KINDS)


def test_only_the_asked_kind_is_read() -> None:
    asked: list[str] = []

    def read(name: str) -> bytes:
        asked.append(name)
        return Resources().read(name)

    Knowledge(read).toolkits()
    assert asked == ["knowledge/toolkits.json"]


def test_each_file_is_read_once() -> None:
    asked: list[str] = []

    def read(name: str) -> bytes:
        asked.append(name)
        return Resources().read(name)

    knowledge = Knowledge(read)
    assert knowledge.damaged() == knowledge.damaged()
    assert len(asked) == len(set(asked))
    assert {f"knowledge/{kind}.json" for kind in KINDS} <= set(asked)


def test_a_thousand_rows_load_fast() -> None:
    best = min(_seconds_to_load() for _ in range(5))
    assert best < 0.06  # 4 ms measured; the margin is for a busy machine


def _seconds_to_load() -> float:
    began = time.thread_time()
    assert Knowledge(Resources().read).gpu("10de:2684")
    return time.thread_time() - began
