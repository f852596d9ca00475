"""Every torch build, release and bad pair that ships: whole, sourced, and at one with the rest of the base."""

from __future__ import annotations

import ast
import re
from collections import Counter
from itertools import pairwise

import pytest

from gpuassist.formats.torch import parse_version_file
from gpuassist.formats.torch_version import read_torch_version
from gpuassist.knowledge.records import BadPair, Companion, TorchBuild, TorchRelease
from gpuassist.knowledge.specifier import admits
from gpuassist.model.version import Code, Target, Version
from tests.knowledge.shipped import KNOWLEDGE, cubins, version
from tests.rows import for_each
from tests.torch_environment import NO_TORCH, torch_file

DAY = re.compile(r"20\d\d-\d\d-\d\d")
MACHINES = ("x86_64", "aarch64")
FIRST_IN_DETAIL = version("1.12")
BUILDS = KNOWLEDGE.torch_builds()
CUDA_BUILDS = [build for build in BUILDS if build.cuda is not None]
RELEASES = KNOWLEDGE.torch_releases()
OWN_TORCH = torch_file("cuda/__init__.py")
DETAILED = [one for one in RELEASES if one.known_in_detail]


def named(build: TorchBuild) -> str:
    return f"{build.release}+{build.tag} {build.machine}"


def build_of(release: str, tag: str, machine: str = "x86_64") -> TorchBuild:
    return next(one for one in KNOWLEDGE.torch_builds(version(release)) if (one.tag, one.machine) == (tag, machine))


def companions(release: TorchRelease, name: str) -> list[Companion]:
    return [one for one in release.companions if one.name == name]


def test_releases_reach_from_the_first_to_the_newest() -> None:
    assert str(RELEASES[0].release) == "0.4"
    assert [one.release for one in RELEASES] == sorted(one.release for one in RELEASES)
    assert {one.release for one in DETAILED} == {build.release for build in BUILDS}


def test_every_release_since_1_12_is_known_in_detail() -> None:
    assert all(one.known_in_detail == (one.release >= FIRST_IN_DETAIL) for one in RELEASES)


@for_each("release", RELEASES)
def test_release_has_day_source_and_ordered_patches(release: TorchRelease) -> None:
    assert DAY.fullmatch(release.published)
    assert release.source
    assert DAY.fullmatch(release.checked)
    assert list(release.patches) == sorted(set(release.patches))
    assert {patch.release for patch in release.patches} == {release.release}


def test_releases_were_published_in_their_order() -> None:
    days = [one.published for one in RELEASES]
    assert days == sorted(days)


@for_each("release", DETAILED)
def test_newest_patch_of_every_build_is_the_releases(release: TorchRelease) -> None:
    assert {build.newest for build in KNOWLEDGE.torch_builds(release.release)} == {release.patches[-1]}


@for_each("release", DETAILED)
def test_pythons_of_every_build_are_the_releases(release: TorchRelease) -> None:
    every = {python for build in KNOWLEDGE.torch_builds(release.release) for python in build.pythons}
    assert every == set(release.pythons)
    assert list(release.pythons) == sorted(release.pythons)


@for_each("release", DETAILED)
def test_every_patch_has_its_torchvision(release: TorchRelease) -> None:
    assert [one.torch for one in companions(release, "torchvision")] == list(release.patches)


def test_torchaudio_ends_with_2_11() -> None:
    with_audio = [one.release for one in DETAILED if companions(one, "torchaudio")]
    assert with_audio == [one.release for one in DETAILED if one.release <= version("2.11")]


def test_triton_comes_with_2_0() -> None:
    assert all(bool(companions(one, "triton")) == (one.release >= version("2.0")) for one in DETAILED)


@for_each("release", DETAILED)
def test_companions_belong_to_patches_and_can_be_read(release: TorchRelease) -> None:
    assert all(one.torch in release.patches and admits(one.version, version("1.0")) in {True, False} for one in release.companions)
    assert max(Counter((one.name, one.torch) for one in release.companions).values()) == 1


@for_each("release", [one for one in DETAILED if one.release >= version("2.0")])
def test_companion_triton_is_the_one_that_the_default_build_pins(release: TorchRelease) -> None:
    default = next(one for one in KNOWLEDGE.torch_builds(release.release) if one.default and one.machine == "x86_64")
    assert dict(default.pins or ())["triton"] == companions(release, "triton")[-1].version


def test_ancient_releases_are_known_by_name_alone() -> None:
    ancient = [one for one in RELEASES if not one.known_in_detail]
    assert not any(one.companions or KNOWLEDGE.torch_builds(one.release) for one in ancient)
    assert all(one.patches for one in ancient)


@for_each("build", BUILDS)
def test_build_has_source_day_and_pythons(build: TorchBuild) -> None:
    assert build.source
    assert DAY.fullmatch(build.checked)
    assert build.pythons
    assert list(build.pythons) == sorted(set(build.pythons))


def test_one_build_is_the_default_of_each_machine() -> None:
    counted = Counter((build.release, build.machine) for build in BUILDS if build.default)
    assert counted == {(one.release, machine): 1 for one in DETAILED for machine in MACHINES}


def test_default_never_goes_back_to_an_older_cuda() -> None:
    for machine in MACHINES:
        defaults = [build.cuda for build in BUILDS if build.default and build.machine == machine and build.cuda]
        assert defaults == sorted(defaults)


def test_pythons_only_move_forward() -> None:
    for before, after in pairwise(DETAILED):
        assert before.pythons[0] <= after.pythons[0]
        assert before.pythons[-1] <= after.pythons[-1]


@for_each("build", BUILDS)
def test_tag_names_the_cuda_release(build: TorchBuild) -> None:
    read = read_torch_version(f"{build.newest}+{build.tag}")
    assert read is not None
    assert (read.tag, read.cuda) == (build.tag, build.cuda)


@for_each("build", BUILDS)
def test_only_cuda_builds_have_targets_in_order(build: TorchBuild) -> None:
    assert bool(build.targets) == (build.cuda is not None)
    assert list(build.targets) == sorted(set(build.targets), key=_place)


@for_each("build", CUDA_BUILDS)
def test_toolkit_that_compiled_a_build_knows_its_targets(build: TorchBuild) -> None:
    assert build.cuda is not None
    toolkit = KNOWLEDGE.toolkit(build.cuda)
    assert toolkit is not None
    known = {one.capability for one in toolkit.targets}
    assert {one.capability for one in build.targets} <= known


@for_each("build", CUDA_BUILDS)
def test_ptx_is_that_of_the_newest_target_alone(build: TorchBuild) -> None:
    ptx = [one.capability for one in build.targets if one.code is Code.PTX]
    assert ptx in ([], [max(one.capability for one in build.targets)])


@for_each("build", [one for one in CUDA_BUILDS if one.pins])
def test_pins_belong_to_the_cuda_major(build: TorchBuild) -> None:
    assert build.cuda is not None
    majors = {int(found[1]) for name, _ in build.pins or () if (found := re.search(r"-cu(\d\d)$", name))}
    assert majors <= {build.cuda.major}


@for_each("build", [one for one in CUDA_BUILDS if one.pins])
def test_pinned_toolkit_is_that_of_the_build(build: TorchBuild) -> None:
    pins = dict(build.pins or ())
    suffix = f"-cu{build.cuda.major}" if build.cuda and build.cuda.major < 13 else ""
    named_by = pins.get("cuda-toolkit") or pins.get(f"nvidia-cuda-runtime{suffix}")
    assert named_by is None or Version.parse(named_by).release == build.cuda


@for_each("build", [one for one in BUILDS if one.pins is not None])
def test_pins_are_of_nvidia_and_triton_and_can_be_read(build: TorchBuild) -> None:
    for name, versions in build.pins or ():
        assert re.fullmatch(r"nvidia-[a-z0-9-]+|cuda-(toolkit|bindings)|triton", name)
        assert versions
        assert admits(versions, version("0")) is False


def test_cpu_builds_pin_nothing() -> None:
    assert {build.pins for build in BUILDS if build.cuda is None} == {()}


def test_default_builds_all_have_their_pins() -> None:
    assert not [named(build) for build in BUILDS if build.default and build.pins is None]


def test_builds_of_one_toolkit_pin_the_same_cublas() -> None:
    """A toolkit's own libraries do not change with torch, unless the wheel asks for a patch of the toolkit (2.4 for 12.4.0)."""
    found: dict[Version, set[str]] = {}
    for build in CUDA_BUILDS:
        pins = dict(build.pins or ())
        for name in ("nvidia-cuda-nvrtc-cu11", "nvidia-cuda-nvrtc-cu12"):
            if name in pins and build.cuda is not None:
                found.setdefault(build.cuda, set()).add(pins[name])
    assert {str(cuda): nvrtc for cuda, nvrtc in found.items() if len(nvrtc) > 1} == {
        "12.4": {"12.4.99", "12.4.127"},
        "12.8": {"12.8.61", "12.8.93"},
    }


@pytest.mark.parametrize(
    ("release", "tag", "machine", "targets"),
    [
        ("1.12", "cu102", "x86_64", ("3.7", "5.0", "6.0", "7.0")),
        ("1.12", "cu116", "x86_64", ("3.7", "5.0", "6.0", "7.0", "7.5", "8.0", "8.6")),
        ("2.6", "cu126", "aarch64", ("9.0",)),
        ("2.7", "cu126", "x86_64", ("5.0", "6.0", "7.0", "7.5", "8.0", "8.6", "9.0")),
        ("2.9", "cu126", "aarch64", ("8.0", "9.0")),
        ("2.15", "cu132", "x86_64", ("7.5", "8.0", "8.6", "9.0", "10.0", "12.0")),
    ],
)
def test_targets_are_those_that_were_compiled(release: str, tag: str, machine: str, targets: tuple[str, ...]) -> None:
    assert build_of(release, tag, machine).targets == cubins(*targets)


@pytest.mark.parametrize(
    ("release", "tag", "pins"),
    [
        ("1.13", "cu117", {"nvidia-cudnn-cu11": "8.5.0.96", "nvidia-cublas-cu11": "11.10.3.66"}),
        ("2.6", "cu124", {"nvidia-cudnn-cu12": "9.1.0.70", "nvidia-nccl-cu12": "2.21.5", "triton": "3.2.0"}),
        ("2.7", "cu128", {"nvidia-cudnn-cu12": "9.7.1.26", "nvidia-cublas-cu12": "12.8.3.14", "triton": "3.3.1"}),
        ("2.10", "cu130", {"nvidia-cudnn-cu13": "9.15.1.9", "nvidia-cublas": "13.1.0.3"}),
        ("2.15", "cu132", {"cuda-toolkit": "13.2.2", "nvidia-cudnn-cu13": "9.26.0.51", "triton": "~=3.9.0"}),
    ],
)
def test_pins_are_those_of_the_wheel(release: str, tag: str, pins: dict[str, str]) -> None:
    found = dict(build_of(release, tag).pins or ())
    assert {name: found.get(name) for name in pins} == pins


def test_wheels_with_bundled_libraries_pin_none() -> None:
    assert build_of("1.12", "cu113").pins == ()
    assert build_of("2.1", "cu118").pins == (("triton", "2.1.0"),)


@pytest.mark.parametrize(
    ("torch", "name", "companion"),
    [
        ("1.12.1", "torchvision", "0.13.1"),
        ("2.0.1", "torchaudio", "2.0.2"),
        ("2.3.0", "torchtext", "0.18.0"),
        ("2.4.1", "xformers", "0.0.28.post1"),
        ("2.7.0", "torchvision", "0.22.0"),
        ("2.7.1", "torchvision", "0.22.1"),
        ("2.7", "triton", "3.3.1"),
        ("2.7.9", "triton", "3.3.1"),
        ("2.11.0", "torchvision", "0.26.0"),
        ("2.15.0", "torchvision", ">=0.29.1"),
    ],
)
def test_companion_follows_the_patch(torch: str, name: str, companion: str) -> None:
    release = KNOWLEDGE.torch_release(version(torch))
    assert release is not None
    assert [one.version for one in release.companions_of(version(torch)) if one.name == name] == [companion]


@pytest.mark.parametrize(
    ("words", "release"), [("2.7", "2.7"), ("2.7.1", "2.7"), ("0.4.1", "0.4"), ("2.10.0", "2.10"), ("2", "2.0")]
)
def test_release_is_found_by_any_of_its_versions(words: str, release: str) -> None:
    found = KNOWLEDGE.torch_release(version(words))
    assert found is not None
    assert str(found.release) == release


@pytest.mark.parametrize("words", ["0.3", "1.99", "2.16", "3.0"])
def test_unknown_release_is_none(words: str) -> None:
    assert KNOWLEDGE.torch_release(version(words)) is None


@for_each("pair", KNOWLEDGE.bad_pairs())
def test_bad_pair_says_what_why_and_where_from(pair: BadPair) -> None:
    assert all((pair.key, pair.symptom, pair.why, pair.remedy, pair.source, DAY.fullmatch(pair.checked)))
    assert re.search(r"[\w.-]+/[\w.-]+#\d+", pair.source), "every pair cites a repository and a number"


def test_no_pair_is_told_twice() -> None:
    pairs = KNOWLEDGE.bad_pairs()
    assert len({pair.key for pair in pairs}) == len({(pair.one, pair.other) for pair in pairs}) == len(pairs) >= 10


@for_each("release", DETAILED)
def test_no_build_pins_a_bad_pair(release: TorchRelease) -> None:
    """What one wheel asks for together must not stand among what does not work together."""
    for build in KNOWLEDGE.torch_builds(release.release):
        installed = {"torch": str(build.newest), **dict(build.pins or ())}
        exact = {name: version(words) for name, words in installed.items() if words[0].isdigit()}
        bad = [
            pair.key
            for pair in KNOWLEDGE.bad_pairs()
            if all(one.name in exact and admits(one.versions, exact[one.name]) for one in (pair.one, pair.other))
        ]
        assert bad in ([], ["conv3d-cudnn"])


@pytest.mark.skipif(OWN_TORCH is None, reason=NO_TORCH)
def test_builds_are_those_that_torch_itself_lists() -> None:
    """Since 2.13 torch tells which of its builds serve a GPU, by CUDA release and machine."""
    release, own = _own_table()
    listed = {(cuda, machine): codes for cuda, by_machine in own.items() for machine, codes in by_machine.items()}
    builds = [one for one in KNOWLEDGE.torch_builds(release) if one.cuda]
    found = {
        (str(build.cuda), build.machine): {one.capability.major * 10 + one.capability.minor for one in build.targets}
        for build in builds
    }
    assert found == listed


def _own_table() -> tuple[Version, dict[str, dict[str, set[int]]]]:
    assert OWN_TORCH is not None
    said = parse_version_file((OWN_TORCH.parent.parent / "version.py").read_text("utf-8"))
    for node in ast.parse(OWN_TORCH.read_text("utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "PYTORCH_RELEASES_CODE_CC":
            assert node.value is not None
            return Version.parse(said["__version__"]), ast.literal_eval(node.value)
    raise AssertionError("torch.cuda has no PYTORCH_RELEASES_CODE_CC any more")


def _place(target: Target) -> tuple[bool, Target]:
    return target.code is Code.PTX, target
