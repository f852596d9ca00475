"""The packages around torch: whole, alone, and made for it; each rule on its problem and on the neighbour that has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.catalogue_entry import read_entry
from gpuassist.diagnose.judge import judge
from gpuassist.diagnose.rules.packages import OF_NVIDIA, OWN_ENTRY
from gpuassist.model.driver import Library
from gpuassist.model.environment import LoadedLibrary, Manager, Package, PythonEnvironment, Torch, TorchAsker
from gpuassist.model.fact import Known
from gpuassist.model.finding import Finding
from gpuassist.model.machine import Machine
from gpuassist.model.version import Version
from gpuassist.system.resources import Resources
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_5090, Env, knowledge, machine

RTX_2080 = "10de:1e82"
PINS = {
    "nvidia-cublas-cu12": "12.4.5.8",
    "nvidia-nvjitlink-cu12": "12.4.127",
    "nvidia-cudnn-cu12": "9.1.0.70",
    "nvidia-nccl-cu12": "2.21.5",
    "triton": "3.1.0",
    "torchvision": "0.20.1",
    "torchaudio": "2.5.1",
    "numpy": "1.26.4",
}


def _with(packages: dict[str, str], *, torch: str = "2.5.1+cu124", of_conda: Iterable[Package] = (), **recipe: Any) -> Machine:
    manager = recipe.pop("manager", Manager.VENV)
    one = machine(environments=(Env("train", torch, active=True, manager=manager),), toolkits=(), nvcc="", **recipe)
    assert isinstance(one.environments, Known)
    found = tuple(Package(name, version) for name, version in packages.items())
    environment = replace(one.environments.value[0], packages=Known((*found, *of_conda), "site-packages"))
    return replace(one, environments=Known((environment,), "/home/you"))


def _changed(one: Machine, **torch: Any) -> Machine:
    assert isinstance(one.environments, Known)
    environment = one.environments.value[0]
    assert isinstance(environment.torch, Known)
    return _of(one, replace(environment, torch=Known((replace(environment.torch.value[0], **torch),), "site-packages")))


def _of(one: Machine, environment: PythonEnvironment) -> Machine:
    return replace(one, environments=Known((environment,), "/home/you"))


def _findings(one: Machine) -> tuple[Finding, ...]:
    return judge(one, knowledge()).findings


def _found(one: Machine) -> list[str]:
    return [finding.problem for finding in _findings(one)]


def _told(one: Machine) -> dict[str, Any]:
    (found,) = _findings(one)
    assert all(evidence.source for evidence in found.evidence)
    return {name: value for name, value in found.parameters if value}


@for_each(
    ("packages", "problem"),
    [
        (PINS, ""),
        ({}, ""),
        ({"nvidia-cublas-cu12": "12.1.3.1"}, "mixed-nvidia-pip-wheels"),
        ({"nvidia-nvjitlink-cu12": "12.9.86"}, "mixed-nvidia-pip-wheels"),
        ({"nvidia-cudnn-cu12": "9.15.1.9"}, ""),
        ({"nvidia-cudnn-cu12": "8.9.2.26"}, "mixed-nvidia-pip-wheels"),
        ({"nvidia-nccl-cu12": "2.26.2"}, ""),
        ({"nvidia-ml-py": "12.560.30"}, ""),
        ({"triton": "3.2.0"}, "triton-torch-mismatch"),
        ({"triton": "3.1.1"}, ""),
        ({"torchvision": "0.19.1"}, "torchvision-torch-mismatch"),
        ({"torchvision": "0.20.0"}, ""),
        ({"torchvision": "unknown"}, ""),
        ({"torchaudio": "2.4.1"}, "torchvision-torch-mismatch"),
        ({"setuptools": "82.0.0"}, ""),
        ({"numpy": "2.1.0"}, ""),
        ({"bitsandbytes": "0.44.1", "triton": "3.2.0"}, "triton-torch-mismatch bitsandbytes-triton-mismatch"),
        ({"onnxruntime": "1.20.1"}, ""),
        ({"onnxruntime-gpu": "1.20.1"}, ""),
        ({"onnxruntime": "1.20.1", "onnxruntime-gpu": "1.20.1"}, "onnxruntime-cpu-build"),
        ({"flash-attn": "2.7.4"}, ""),
    ],
)
def test_packages_are_held_against_torch(packages: dict[str, str], problem: str) -> None:
    assert " ".join(_found(_with({**PINS, **packages} if packages else {}))) == problem


@pytest.mark.parametrize(
    ("torch", "packages", "pair"),
    [
        ("2.2.2+cu121", {"numpy": "2.1.0"}, "torch-numpy2"),
        ("2.1.2+cu121", {"setuptools": "75.0.0"}, "torch-setuptools70"),
        ("2.12.1+cu126", {"setuptools": "82.0.1"}, "torch-setuptools82"),
        ("2.9.1+cu128", {"nvidia-cudnn-cu12": "9.10.2.21"}, "conv3d-cudnn"),
    ],
)
def test_bad_pair_is_named(torch: str, packages: dict[str, str], pair: str) -> None:
    told = _told(_with(packages, torch=torch))
    assert told["pair"] == pair
    assert told["one"].startswith("torch ")


@pytest.mark.parametrize("pair", sorted({pair.key for pair in knowledge().bad_pairs()} - set(OWN_ENTRY) - OF_NVIDIA))
def test_every_bad_pair_has_words_of_its_own(pair: str) -> None:
    entry = read_entry(Resources().read("problems/known-bad-pair.toml"))
    assert [condition.value for sentence in entry.explanation for condition in sentence.when].count(pair) == 1
    assert [condition.value for remedy in entry.remedies for condition in remedy.when].count(pair) == 1


def test_triton_without_the_gpu_is_a_bad_pair() -> None:
    one = _with({"triton": "3.2.0"}, torch="2.7.1+cu128", gpus=(RTX_5090,), driver="580.95.05", cuda="13.0", open_module=True)
    pairs = [dict(found.parameters) for found in _findings(one) if found.problem == "known-bad-pair"]
    assert [(pair["pair"], pair["one"], pair["other"]) for pair in pairs] == [("triton-blackwell", "triton 3.2.0", "RTX 5090")]


def test_nvidia_pair_is_told_as_mixed_wheels() -> None:
    told = _told(_with({"nvidia-nccl-cu11": "2.19.3", "nvidia-nccl-cu12": "2.21.5"}))
    assert (told["package"], told["installed"], told["seen"]) == ("nvidia-nccl-cu12", "2.21.5", "yes")


def test_wheel_that_was_exchanged_is_named_with_the_wanted_one() -> None:
    told = _told(_with({**PINS, "nvidia-cublas-cu12": "12.1.3.1"}))
    assert (told["package"], told["installed"], told["wanted"], told["torch"]) == (
        "nvidia-cublas-cu12",
        "12.1.3.1",
        "12.4.5.8",
        "2.5.1",
    )


def test_pins_are_those_of_every_patch_of_a_release() -> None:
    assert _found(_with(PINS, torch="2.5.0+cu124")) == []
    assert _told(_with({**PINS, "nvidia-cublas-cu12": "12.1.3.1"}, torch="2.5.0+cu124"))["wanted"] == "12.4.5.8"


CU11 = {name.replace("-cu12", "-cu11"): "11.8.89" for name in PINS}


@for_each(
    ("torch", "packages", "told"),
    [
        ("2.5.1+cu121", CU11, {"majors": "11", "cuda": "12.1", "tag": "cu121"}),
        ("2.5.1", CU11, {"majors": "11", "cuda": "12.4", "tag": "cu124"}),
        ("2.10.0+cu130", PINS, {"majors": "12", "cuda": "13.0", "tag": "cu130"}),
        ("2.5.1+cu124", {**PINS, "nvidia-cudnn-cu11": "9.1.0.70"}, {"package": "nvidia-cudnn-cu12", "stray": "nvidia-cudnn-cu11"}),
        ("2.5.1+cu124", {**PINS, "nvidia-cudnn-cu11": "8.9.6.50"}, {}),  # its files have other names
        ("2.1.2+cu118", PINS, {}),  # that build brings all of CUDA itself
        ("2.5.1+cu121", {"nvidia-nccl-cu11": "2.21.5"}, {}),  # as XGBoost brings it
        ("2.5.1+cpu", PINS, {}),
    ],
)
def test_wheels_are_held_against_torchs_cuda_first(torch: str, packages: dict[str, str], told: dict[str, str]) -> None:
    found = [dict(one.parameters) for one in _findings(_with(packages, torch=torch)) if one.problem == "mixed-nvidia-pip-wheels"]
    assert [{name: one[name] for name in told} for one in found] == ([told] if told else [])


def test_wanted_companion_is_told() -> None:
    told = _told(_with({**PINS, "torchvision": "0.19.1"}))
    assert (told["torchvision"], told["wanted"], told["tag"]) == ("0.19.1", "0.20.1", "cu124")


@pytest.mark.parametrize(("torch", "problem"), [("2.11.0+cu126", ""), ("2.12.1+cu126", "torchaudio-without-successor")])
def test_last_torchaudio_beside_a_newer_torch_is_told(torch: str, problem: str) -> None:
    assert " ".join(_found(_with({"torchaudio": "2.11.0"}, torch=torch))) == problem


def test_packages_of_conda_are_not_held_against_the_wheels() -> None:
    one = _changed(_with({**PINS, "triton": "3.3.0", "numpy": "2.1.0"}, manager=Manager.CONDA), installer=Known("conda", "x"))
    assert _found(one) == []


@pytest.mark.parametrize(("gpus", "told"), [((RTX_2080,), True), ((RTX_2080, "10de:2684"), False)])
def test_flash_attention_needs_one_gpu_that_has_it(gpus: tuple[str, ...], told: bool) -> None:
    assert ("flash-attention-needs-ampere" in _found(_with({"flash-attn": "2.7.4"}, gpus=gpus))) is told


def test_flash_attention_on_pascal_names_the_card() -> None:
    told = _told(_with({"flash-attn": "2.7.4"}, gpus=(GTX_1080_TI,)))
    assert (told["gpu"], told["capability"]) == ("GTX 1080 Ti", "6.1")


def test_build_of_the_old_channel_is_told() -> None:
    old = Package("pytorch", "2.5.1", "py3.11_cuda12.4_cudnn9.1.0_0")
    one = _changed(_with({}, of_conda=(old,), manager=Manager.CONDA), installer=Known("conda", "x"))
    assert _told(one) == {"torch": "2.5.1", "seen": "yes"}


def test_build_of_conda_forge_is_no_old_one() -> None:
    new = Package("pytorch", "2.13.0", "cuda129_mkl_py312_h55f3ff4_300")
    assert _found(_changed(_with({}, of_conda=(new,), manager=Manager.CONDA), installer=Known("conda", "x"))) == []


def test_pip_over_conda_is_two_torches() -> None:
    of_conda = Package("pytorch", "2.4.1", "cuda126_generic_py311_h1234567_300")
    told = _told(_with({}, of_conda=(of_conda,), manager=Manager.CONDA))
    assert (told["first"], told["second"], told["seen"]) == ("2.5.1+cu124", "pytorch 2.4.1", "both")


def _two(first: str, second: str, version: str) -> Machine:
    one = _with({}, manager=Manager.CONDA)
    assert isinstance(one.environments, Known)
    environment = one.environments.value[0]
    assert isinstance(environment.torch, Known)
    own = environment.torch.value[0]
    torches = (replace(own, path=first), Torch(second, Known(version, second), installer=Known("pip", second)))
    return _of(one, replace(environment, torch=Known(torches, "site-packages")))


OWN, USER = "/home/you/miniforge3/envs/train/lib/python3.11/site-packages/torch", "/home/you/.local/lib/torch"


@pytest.mark.parametrize(
    ("first", "second", "version", "problem"),
    [
        (USER, OWN, "2.4.0+cu121", "duplicate-torch-installs"),
        (USER, OWN, "2.5.1+cu124", ""),
        (OWN, USER, "2.4.0+cu121", ""),
    ],
)
def test_torch_outside_that_comes_first_is_told(first: str, second: str, version: str, problem: str) -> None:
    assert " ".join(_found(_two(first, second, version))) == problem


@pytest.mark.parametrize(
    ("version", "problem"),
    [("9.0.0", "cudnn-version-mismatch"), ("9.1.0", ""), ("9.5.1", ""), ("8.9.7", "")],
)
def test_older_cudnn_of_the_same_name_is_told(version: str, problem: str) -> None:
    library = Library("/opt/cudnn/lib/libcudnn.so.9", Known(Version.parse(version), f"/opt/cudnn/lib/libcudnn.so.{version}"))
    assert " ".join(_found(replace(_with(PINS), path_libraries=Known((library,), "LD_LIBRARY_PATH")))) == problem


def test_directory_of_the_older_cudnn_is_named() -> None:
    library = Library("/opt/cudnn/lib/libcudnn.so.9", Known(Version.parse("9.0.0"), "/opt/cudnn/lib/libcudnn.so.9.0.0"))
    told = _told(replace(_with(PINS), path_libraries=Known((library,), "LD_LIBRARY_PATH")))
    assert (told["found"], told["built"], told["directory"]) == ("9.0.0", "9.1.0.70", "/opt/cudnn/lib")


@pytest.mark.parametrize(("stray", "problem"), [((), ""), (("/p/libcuda.so.1",), "library-in-project-directory")])
def test_library_in_the_project_is_told(stray: tuple[str, ...], problem: str) -> None:
    one = _with({})
    assert isinstance(one.environments, Known)
    environment = replace(one.environments.value[0], stray=Known(stray, "/p, RUNPATH of a wheel"))
    assert " ".join(_found(_of(one, environment))) == problem


def test_cudnn_that_the_loader_takes_is_told_once() -> None:
    library = Library("/opt/cudnn/lib/libcudnn.so.9", Known(Version.parse("9.0.0"), "/opt/cudnn/lib/libcudnn.so.9.0.0"))
    one = replace(_with(PINS), path_libraries=Known((library,), "LD_LIBRARY_PATH"))
    assert isinstance(one.environments, Known)
    taken = LoadedLibrary("libtorch_cuda.so", "libcudnn.so.9", "/own/libcudnn.so.9.1.0", "/opt/cudnn/lib/libcudnn.so.9.0.0")
    environment = replace(one.environments.value[0], libraries=Known((taken,), "LD_LIBRARY_PATH"))
    assert _found(_of(one, environment)) == ["ld-library-path-shadows-bundled-libs"]


@pytest.mark.parametrize(("damaged", "problem"), [((), ""), (("torch/lib/libc10.so",), "torch-install-damaged")])
def test_damage_is_told(damaged: tuple[str, ...], problem: str) -> None:
    assert " ".join(_found(_changed(_with({}), damaged=Known(damaged, "RECORD")))) == problem


def _asked_by(*askers: TorchAsker, torch: str = "2.9.1+cu128", **recipe: Any) -> Machine:
    return machine(environments=(Env("train", torch, active=True, askers=askers),), toolkits=(), nvcc="", **recipe)


@for_each(
    ("asker", "problem"),
    [
        (TorchAsker("vllm", "0.11.0", "==2.8.0"), "torch-pinned-by-package"),
        (TorchAsker("vllm", "0.16.0", "==2.9.1"), ""),
        (TorchAsker("xformers", "0.0.35", ">=2.10"), "torch-pinned-by-package"),
        (TorchAsker("bitsandbytes", "0.50.2", "<3,>=2.4"), ""),
        (TorchAsker("fairseq", "0.10.0", "<1.6"), "torch-pinned-by-package"),
        (TorchAsker("lightning", "2.5.0", "~=2.1"), ""),
        (TorchAsker("odd", "1", "===2.9.1+cu128"), ""),
        (TorchAsker("torchvision", "0.23.0", "==2.8.0"), ""),
    ],
)
def test_package_that_asks_for_another_torch_is_named(asker: TorchAsker, problem: str) -> None:
    assert _found(_asked_by(asker)) == ([problem] if problem else [])


def test_what_would_be_lost_is_told_with_who_else_asks() -> None:
    askers = (TorchAsker("vllm", "0.8.5", "==2.6.0"), TorchAsker("xformers", "0.0.29.post3", "==2.6.0"))
    made = _asked_by(*askers, gpus=(RTX_5090,), driver="580.95.05", cuda="13.0", open_module=True)
    told = _told(made)
    assert (told["package"], told["wanted"], told["public"], told["engine"]) == ("vllm", "2.6.0", "2.9.1", "vllm")
    assert (told["comes"], told["cuda"], told["lost"]) == ("2.6.0", "12.4", "sm_120")
    assert told["others"] == "xformers (==2.6.0)"


def test_a_torch_that_no_release_of_torch_is_leaves_open_what_comes() -> None:
    told = _told(_asked_by(TorchAsker("own", "1.0", "==9.9")))
    assert {"comes", "cuda", "lost", "engine"}.isdisjoint(told)


def test_a_recording_from_before_says_nothing_of_who_asks() -> None:
    assert _found(_asked_by()) == []
