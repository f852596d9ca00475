"""What speaks against a step, told from what an environment holds now and would hold then."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.formats.packages import PackageMetadata
from gpuassist.install.dry_run_process import DryRunView
from gpuassist.install.preview import judge
from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Proves, Step, StepKind, StepProof
from gpuassist.model.solve import PackageChange
from gpuassist.model.text import text
from gpuassist.model.version import Version
from tests.solving import said
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Recipe, knowledge, machine

Packages = dict[str, PackageMetadata]
RIG = machine(Recipe())
STEP = Step(StepKind.COMMAND, text("Do it"))


def packages(*names: str) -> Packages:
    """From `torchvision==0.24.1: torch==2.9.1, numpy`."""
    found = {}
    for one in names:
        package, _, asks = one.partition(": ")
        name, _, version = package.partition("==")
        found[name] = PackageMetadata(name, version, tuple(asks.split(", ")) if asks else ())
    return found


def seen(before: Packages, after: Packages) -> DryRunView:
    moved = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    held = ({name: one.version for name, one in held.items()} for held in (before, after))
    now, then = held
    changes = (PackageChange(name, now.get(name, ""), then.get(name, "")) for name in moved)
    return DryRunView(before, after, tuple(changes), ("pip install",), installs=True, python=Version.parse("3.12"))


def stops(before: Packages, after: Packages, *, on: Machine = RIG, step: Step = STEP) -> list[str]:
    return said(judge(knowledge(), on, step, seen(before, after)).stops)


def warnings(before: Packages, after: Packages, *, on: Machine = RIG, step: Step = STEP) -> list[str]:
    return said(judge(knowledge(), on, step, seen(before, after)).warnings)


def proving(wanted: str) -> Step:
    return replace(STEP, proof=StepProof(Proves.TORCH, "/e/bin/python", wanted))


def of_conda(version: str, build: str, channel: str = "conda-forge") -> DryRunView:
    change = PackageChange("pytorch", "", version, "", build, None, channel)
    return DryRunView({}, packages(f"torch=={version}"), (change,), ("conda install",), installs=True, python=Version.parse("3.12"))


@pytest.mark.parametrize(
    ("torch", "gpus", "expected"),
    [
        ("2.9.1+cu128", (RTX_5090,), []),
        ("2.9.1+cu126", (RTX_5090,), ["torch 2.9.1+cu126 holds no code that runs on RTX 5090 (compute capability 12.0)"]),
        ("2.9.1+cu126", (GTX_1080_TI, RTX_4090), []),
        (
            "2.9.1+cu130",
            (GTX_1080_TI, RTX_4090),
            ["torch 2.9.1+cu130 holds no code that runs on GTX 1080 Ti (compute capability 6.1)"],
        ),
        ("2.9.1+rocm6.4", (RTX_4090,), ["torch would come as 2.9.1+rocm6.4, a build for the GPUs of another maker"]),
        ("2.9.1+xpu", (RTX_4090,), ["torch would come as 2.9.1+xpu, a build for the GPUs of another maker"]),
        ("2.9.1+cpu", (RTX_4090,), ["torch would come as 2.9.1+cpu, a build for the processor alone"]),
        ("2.9.1+cpu", (), []),
        ("2.9.1+rocm6.4", (), []),
    ],
)
def test_build_is_held_against_every_gpu(torch: str, gpus: tuple[str, ...], expected: list[str]) -> None:
    assert stops({}, packages(f"torch=={torch}"), on=machine(Recipe(gpus=gpus))) == expected


@pytest.mark.parametrize(
    ("torch", "warned"),
    [
        ("99.0+cu150", True),
        ("2.9.1+cu126", False),
        ("2.9.0a0+gitabc", True),
    ],
)
def test_build_that_nobody_knows_is_said_to_be_unknown(torch: str, *, warned: bool) -> None:
    found = warnings({}, packages(f"torch=={torch}: nvidia-cublas"))
    assert (found == [f"gpuassist does not know which GPUs torch {torch} was built for"]) is warned


@pytest.mark.parametrize(
    ("company", "named"),
    [
        (("torch==2.9.1: nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime-cu12==12.8.90"), []),
        (("torch==2.9.1: nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime-cu12==12.6.77"), ["2.9.1 (cu126)"]),
        (("torch==2.9.1: filelock",), ["2.9.1 (cpu)"]),
        (("torch==2.9.1: triton; sys_platform == 'win32'",), ["2.9.1 (cpu)"]),
        (("torch==1.12.1: typing-extensions",), ["1.12.1 (cu102)"]),  # held all of CUDA itself, and knows no 12.0
    ],
)
def test_build_of_a_version_without_a_tag_is_told_by_its_company(company: tuple[str, ...], named: list[str]) -> None:
    found = stops({}, packages(*company), on=machine(Recipe(gpus=(RTX_5090,))))
    mine = [one for one in found if "torch " in one and ("holds no code" in one or "would come" in one)]
    assert [name in one for name, one in zip(named, mine, strict=True)] == [True] * len(named)


def test_torch_that_stays_is_judged_where_the_step_is_about_it() -> None:
    same = packages("torch==2.9.1+cpu")
    assert stops(same, same) == []
    assert stops(same, same, step=proving("2.9.1+cu128")) == [
        "torch would stay as it is, 2.9.1+cpu, a build for the processor alone"
    ]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("2.9.1+cu128", []),
        ("2.9.1", []),
        ("2.8.0+cu128", ["torch would be 2.9.1+cu128, not 2.8.0+cu128, which the plan is made for"]),
        ("2.9.1+cu129", ["torch would be 2.9.1+cu128, not 2.9.1+cu129, which the plan is made for"]),
    ],
)
def test_other_build_than_planned_is_told(wanted: str, expected: list[str]) -> None:
    assert warnings({}, packages("torch==2.9.1+cu128"), step=proving(wanted)) == expected


@pytest.mark.parametrize(
    ("companion", "expected"),
    [
        ("torchvision==0.24.1+cu128", []),
        ("torchvision==0.24.1", []),
        ("torchvision==0.23.0+cu128", ["torchvision 0.23.0+cu128 does not belong to torch 2.9.1+cu128: that would be 0.24.1"]),
        ("torchaudio==2.8.0", ["torchaudio 2.8.0 does not belong to torch 2.9.1+cu128: that would be 2.9.1"]),
        ("torchvision==0.24.1+cu126", ["torchvision 0.24.1+cu126 is built for another CUDA than torch 2.9.1+cu128"]),
        ("torchvision==0.24.1+cpu", ["torchvision 0.24.1+cpu is built for another CUDA than torch 2.9.1+cu128"]),
        ("torchvision==mine", []),
    ],
)
def test_companion_of_another_torch_stops_the_step(companion: str, expected: list[str]) -> None:
    before = packages("torch==2.8.0+cu126", companion)
    assert stops(before, {**before, **packages("torch==2.9.1+cu128")}) == expected


def test_companion_that_says_so_itself_is_told_once() -> None:
    before = packages("torch==2.8.0+cu128", "torchvision==0.23.0: torch==2.8.0")
    expected = ["torchvision 0.23.0 would break: it asks for torch==2.8.0, and torch would be 2.9.1+cu128"]
    assert stops(before, {**before, **packages("torch==2.9.1+cu128")}) == expected


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ((), "user 1 would break: it asks for torch>=2, and torch would be gone"),
        (("torch==1.13.1+cu117",), "user 1 would break: it asks for torch>=2, and torch would be 1.13.1+cu117"),
    ],
)
def test_what_others_need_stops_the_step(after: tuple[str, ...], expected: str) -> None:
    before = packages("torch==2.9.1+cu128", "user==1: torch>=2")
    assert expected in stops(before, {**packages("user==1: torch>=2"), **packages(*after)})


def test_what_comes_without_what_it_needs_stops_the_step() -> None:
    assert stops({}, packages("user==1: einops")) == ["user 1 would not work: it asks for einops, which would not be there"]


def test_older_trouble_is_nobodys_fault_now() -> None:
    before = packages("torch==2.8.0+cu128", "user==1: torch<2, absent")
    assert stops(before, {**before, **packages("torch==2.9.1+cu128")}) == []


def test_requirements_are_passed_over_where_the_python_is_not_known() -> None:
    found = replace(seen(packages("torch==2.8.0+cu128", "user==1: torch<2.9"), packages("torch==2.9.1+cu128")), python=None)
    judged = judge(knowledge(), RIG, STEP, found)
    assert (judged.requires, judged.stops) == ((), ())


def test_everybody_who_asks_for_torch_is_told() -> None:
    before = packages("torch==2.8.0+cu128", "user==1: torch<2.9", "other==2: Torch>=2, numpy", "third==3: numpy", "numpy==2.0")
    found = judge(knowledge(), RIG, STEP, seen(before, {**before, **packages("torch==2.9.1+cu128")})).requires
    assert [(one.name, one.wanted, one.met_before, one.met_after) for one in found] == [
        ("user", "torch<2.9", True, False),
        ("other", "Torch>=2", True, True),
    ]


def test_what_is_compiled_for_another_torch_is_told() -> None:
    before = packages("torch==2.8.0+cu128", "flash-attn==2.8.3: torch, einops", "einops==0.8")
    expected = ["flash-attn 2.8.3 is compiled for torch 2.8.0+cu128: it has to be built anew"]
    assert warnings(before, {**before, **packages("torch==2.9.1+cu128")}) == expected
    assert warnings(before, {**before, **packages("torch==2.9.1+cu128", "flash-attn==2.8.4: torch")}) == []


def test_withdrawn_package_is_told() -> None:
    found = replace(seen({}, packages("six==1.17")), yanked=("six 1.17",))
    assert said(judge(knowledge(), RIG, STEP, found).warnings) == ["six 1.17 was withdrawn by its makers"]


@pytest.mark.parametrize(
    ("version", "build", "channel", "gpus", "expected"),
    [
        ("2.5.1", "py3.12_cuda12.4_cudnn9.1.0_0", "pytorch", (RTX_4090,), []),
        ("2.5.1", "py3.12_cuda12.4_cudnn9.1.0_0", "pytorch", (RTX_5090,), []),  # nobody knows whether PTX is in it: a warning
        (
            "2.10.0",
            "cuda130_generic_py312_h3e8b0a4_201",
            "conda-forge",
            (GTX_1080_TI,),
            ["torch 2.10.0 holds no code that runs on GTX"],
        ),
        ("2.9.1", "cuda129_generic_py312_h3e8b0a4_201", "conda-forge", (GTX_1080_TI, RTX_5090), []),
        (
            "2.5.1",
            "py3.12_cpu_0",
            "pytorch",
            (RTX_4090,),
            ["torch would come as 2.5.1, a build for the processor alone, from pytorch"],
        ),
        (
            "2.8.0",
            "cpu_generic_py312_h8a8d4b4_4",
            "conda-forge",
            (RTX_4090,),
            ["torch would come as 2.8.0, a build for the processor"],
        ),
        ("2.8.0", "cpu_generic_py312_h8a8d4b4_4", "conda-forge", (), []),
    ],
)
def test_build_of_conda_is_held_against_every_gpu(
    version: str, build: str, channel: str, gpus: tuple[str, ...], expected: list[str]
) -> None:
    found = said(judge(knowledge(), machine(Recipe(gpus=gpus)), STEP, of_conda(version, build, channel)).stops)
    assert len(found) == len(expected)
    assert all(one.startswith(start) for one, start in zip(found, expected, strict=True))


def test_gpu_whose_capability_is_not_known_stops_nothing() -> None:
    known = machine(Recipe())
    assert isinstance(known.gpus, Known)
    gpus = tuple(replace(one, compute_capability=NOT_ASKED) for one in known.gpus.value)
    rig = replace(known, gpus=Known(gpus, "lspci"))
    assert stops({}, packages("torch==2.9.1+cu126"), on=rig) == []
