"""Which release of an engine fits what: rows that somebody looked up, and what holds for every row of the table."""

from __future__ import annotations

import re

import pytest

from gpuassist.knowledge.engine_records import EngineRelease
from gpuassist.knowledge.engines import (
    EngineHost,
    builds_for,
    clashes,
    engine_fit,
    floor_of,
    python_fits,
    releases_named,
    torch_fits,
)
from gpuassist.model.version import ComputeCapability, Version
from gpuassist.model.words import ENGLISH
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

EVERY = [one for engine in KNOWLEDGE.engines() for one in KNOWLEDGE.engine_releases(engine.key)]
version = Version.parse
NEW = EngineHost("x86_64", (ComputeCapability(8, 9),), version("595.45.04"), python=version("3.12"))


def release(goal: str) -> EngineRelease:
    name, _, wanted = goal.partition("==")
    engine = KNOWLEDGE.engine(name)
    assert engine is not None
    variants = [one for one in KNOWLEDGE.engine_releases(engine.key) if "[" not in name or one.package == name]
    return releases_named(variants, wanted)[0]


def host(python: str = "3.12", torch: str = "", driver: str = "595.45.04", gpu: str = "8.9", machine: str = "x86_64") -> EngineHost:
    number, _, tag = torch.partition("+")
    build = next((one for one in KNOWLEDGE.torch_builds(version(number)) if one.tag == tag), None) if torch else None
    return EngineHost(
        machine,
        (ComputeCapability.parse(gpu),),
        version(driver) if driver else None,
        build.cuda if build else None,
        version(number) if torch else None,
        version(python) if python else None,
    )


@for_each(
    ("goal", "around", "holds", "said"),
    [
        ("xformers==0.0.34", host(torch="2.10.0+cu128"), True, ""),
        ("xformers==0.0.34", host(torch="2.9.1+cu128"), False, "asks for torch 2.10.0, not 2.9.1"),
        ("xformers==0.0.35", host(torch="2.13.0+cu130"), True, ""),
        ("xformers==0.0.33.post2", host(torch="2.9.1+cu128", gpu="7.0"), False, "compute capability 7.5 and newer"),
        ("xformers==0.0.30", host(torch="2.7.0+cu128", python="3.13"), False, "Python 3.9, 3.10, 3.11, 3.12, not for 3.13"),
        ("xformers==0.0.34", host(torch="2.10.0+cu128", machine="aarch64"), False, "no wheels for aarch64"),
        ("vllm==0.33.0", host(torch="2.14.0+cu130"), True, ""),
        ("vllm==0.33.0", host(torch="2.14.0+cu130", driver="550.54.14"), False, "driver 580.65.06 or newer, not 550.54.14"),
        ("vllm==0.33.0", host(torch="2.14.0+cu126"), False, "built for CUDA 13, and torch for CUDA 12.6"),
        ("vllm==0.33.0", host(torch="2.14.0+cu130", python="3.10"), False, "not for 3.10"),
        ("vllm==0.33.0", host(torch="2.14.0+cu130", driver=""), None, "driver"),
        ("vllm==0.33.0", host(torch="2.14.0+cu130", python=""), None, "Python"),
        ("vllm==0.33.0", host(), None, "torch"),
        ("flash-attn==2.8.3.post1", host(torch="2.8.0+cu128"), True, ""),
        ("flash-attn==2.8.3.post1", host(torch="2.9.1+cu128"), False, "asks for torch 2.4, 2.5, 2.6, 2.7, 2.8"),
        ("flash-attn==2.8.3.post1", host(torch="2.8.0+cu128", gpu="7.5"), False, "8.0 and newer"),
        ("bitsandbytes==0.50.2", host(torch="2.9.1+cu130"), True, ""),
        ("bitsandbytes==0.47.0", host(torch="2.9.1+cu130"), False, "built for CUDA 11, 12"),
        ("torch-tensorrt==2.9.0", host(torch="2.9.1+cu130"), True, ""),
        ("torch-tensorrt==2.9.0", host(torch="2.9.1+cu128"), False, "built for CUDA 13"),
        ("jax[cuda13]", host(driver="575.57.08"), False, "driver 580.65.06"),
        ("jax[cuda12]", host(driver="575.57.08"), True, ""),
        ("jax[cuda12]", host(gpu="5.0"), False, "5.2 and newer"),
        ("tensorrt-cu12==10.4.0", host(gpu="7.0"), True, ""),
        ("tensorrt-cu12==10.5.0", host(gpu="7.0"), False, "7.5 and newer"),
        ("isaac-gym", host(python="3.8"), True, ""),
        ("isaac-gym", host(python="3.10"), False, "Python 3.6, 3.7, 3.8"),
        ("isaac-gym", host(python="3.8", driver="460.32.03"), False, "driver 470"),
        ("deepspeed", host(torch="2.9.1+cu128"), True, ""),
        ("triton==3.5.1", host(torch="2.9.1+cu128"), True, ""),
        ("triton==3.5.0", host(torch="2.9.1+cu128"), False, "asks for torch 2.9.0, not 2.9.1"),
        ("llama-cpp-python", host(gpu="6.1"), False, "7.5 and newer"),
    ],
)
def test_releases_fit_as_their_pages_say(goal: str, around: EngineHost, holds: bool | None, said: str) -> None:
    one = release(goal)
    engine = KNOWLEDGE.engine(one.engine)
    assert engine is not None
    fit = engine_fit(engine, one, around)
    assert fit.holds is holds, ENGLISH(fit.reason)
    assert said in ENGLISH(fit.reason)


@for_each(
    ("name", "key"),
    [
        ("vLLM", "vllm"),
        ("torch_tensorrt", "torch-tensorrt"),
        ("flash_attn", "flash-attn"),
        ("jax[cuda12]", "jax"),
        ("cupy-cuda12x", "cupy"),
        ("tensorrt-cu13", "tensorrt"),
        ("isaacgym", "isaac-gym"),
        ("onnxruntime", "onnxruntime-gpu"),
        ("nvidia-curobo", "curobo"),
        ("LLAMA_CPP_PYTHON", "llama-cpp-python"),
        ("torch", ""),
        ("", ""),
        ("vllms", ""),
    ],
)
def test_engines_go_by_every_name_of_theirs(name: str, key: str) -> None:
    engine = KNOWLEDGE.engine(name)
    assert (engine.key if engine else "") == key


@for_each(
    ("wanted", "first", "count"),
    [("", "0.0.35", None), ("0.0.33", "0.0.33", 1), ("0.0.33.post1", "0.0.33.post1", 1), ("0.0.3", "", 0), ("9", "", 0)],
)
def test_a_release_is_meant_by_itself_or_by_what_begins_so(wanted: str, first: str, count: int | None) -> None:
    found = releases_named(KNOWLEDGE.engine_releases("xformers"), wanted)
    assert (found[0].newest if found else "") == first
    assert count is None or len(found) == count


def test_a_minor_release_means_each_of_its_patches() -> None:
    found = [one.newest for one in releases_named(KNOWLEDGE.engine_releases("vllm"), "0.10")]
    assert found == ["0.10.2", "0.10.1.1", "0.10.1", "0.10.0"]


def test_every_engine_has_releases_and_every_release_an_engine() -> None:
    keys = [one.key for one in KNOWLEDGE.engines()]
    assert len(keys) == len(set(keys))
    assert [key for key in keys if not KNOWLEDGE.engine_releases(key)] == []
    assert [one.package for one in KNOWLEDGE._files.engine_releases.all() if one.engine not in keys] == []
    assert [one.instead for one in KNOWLEDGE.engines() if one.instead and one.instead not in keys] == []


def test_names_of_engines_are_no_kinds_of_goals_and_name_one_each() -> None:
    names = [name for one in KNOWLEDGE.engines() for name in (one.key, *one.aliases)]
    assert len(names) == len(set(names))
    assert {"driver", "cuda", "torch", "gpu", "engine"}.isdisjoint(names)
    assert [one for one in names if re.sub(r"[-_.]+", "-", one).lower() != one] == []


@for_each("one", EVERY)
def test_rows_are_possible(one: EngineRelease) -> None:
    assert len(set(one.releases)) == len(one.releases)
    assert set(one.machines) <= {"x86_64", "aarch64"}
    assert set(one.cuda or ()) <= {11, 12, 13}
    assert all(python_fits(one, python) for python in one.pythons if not one.python)
    assert one.capability_min is None or one.capability_max is None or one.capability_min <= one.capability_max
    assert one.source
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", one.checked)


@for_each("one", EVERY)
def test_each_release_stands_in_one_row_of_its_package(one: EngineRelease) -> None:
    others = [other for other in KNOWLEDGE.engine_releases(one.engine) if other is not one and other.package == one.package]
    same = [
        other
        for other in others
        if set(other.releases) & set(one.releases) and (other.cuda, other.compiles) == (one.cuda, one.compiles)
    ]
    assert same == []


@for_each("one", [one for one in EVERY if any(words.startswith("==") for words in one.torch) and one.engine != "flash-attn"])
def test_a_torch_that_is_pinned_is_a_release_of_torch(one: EngineRelease) -> None:
    released = {patch for release in KNOWLEDGE.torch_releases() for patch in release.patches}
    assert any(torch_fits(one, patch) for patch in released)


@for_each("one", [one for one in EVERY if one.engine == "xformers"])
def test_xformers_are_those_that_belong_to_a_torch(one: EngineRelease) -> None:
    """The companions of torch_releases.json were looked up by themselves."""
    belonging = {
        (companion.version, companion.torch)
        for release in KNOWLEDGE.torch_releases()
        for companion in release.companions
        if companion.name == "xformers" and companion.version[:1].isdigit()
    }
    for name, torch in belonging:
        if name in one.releases:
            assert torch_fits(one, torch), (name, torch)


def test_a_vllm_of_pypi_is_of_the_cuda_of_pypis_torch() -> None:
    for one in KNOWLEDGE.engine_releases("vllm"):
        pinned = {version(words.removeprefix("==")).release for words in one.torch}
        default = [build for build in KNOWLEDGE.torch_builds() if build.default and build.machine == "x86_64"]
        exact = [build.cuda.major for build in default if build.cuda and build.release in pinned]
        assert set(exact) == set(one.cuda or ()), one.releases


@for_each(
    ("goal", "floor"), [("vllm==0.33.0", "580.65.06"), ("vllm==0.11.0", "525.60.13"), ("isaac-gym", "470"), ("deepspeed", "")]
)
def test_the_driver_follows_from_the_cuda(goal: str, floor: str) -> None:
    assert str(floor_of(release(goal)) or "") == floor


def test_libraries_that_torch_pins_otherwise_clash() -> None:
    builds = {f"{one.newest}+{one.tag}": one for one in KNOWLEDGE.torch_builds() if one.machine == "x86_64"}
    assert [name for name, _, _ in clashes(release("jax[cuda12]==0.10.2"), builds["2.9.1+cu128"])] == []
    assert "nvidia-cudnn-cu12" in [name for name, _, _ in clashes(release("jax[cuda12]==0.10.2"), builds["2.5.1+cu124"])]
    assert clashes(release("jax[cuda12]==0.10.2"), None) == ()


def test_builds_are_those_that_both_have_wheels_for() -> None:
    one = release("vllm==0.11.0")
    found = list(builds_for(one, KNOWLEDGE.torch_builds(), KNOWLEDGE.torch_releases(), machine="x86_64"))
    assert {str(build.newest) for build in found} == {"2.8.0"}
    assert all(python_fits(one, python) for build in found for python in build.pythons)
    assert {build.cuda.major for build in found if build.cuda} == {12}


@pytest.mark.parametrize("words", ["vllm", "xformers"])
def test_an_engine_names_its_page(words: str) -> None:
    engine = KNOWLEDGE.engine(words)
    assert engine is not None
    assert engine.home.startswith("https://")
