"""What a text says of where it comes from is read, and no more than that."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuassist.diagnose import hints
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.rows import for_each
from tests.values import RTX_3090, RTX_4090, Env, Recipe, knowledge, machine

Question = Callable[[SignatureInput], bool]


def _setting(words: str, one: Machine | None = None) -> SignatureInput:
    return SignatureInput(Paste(words), RuleInput(one or Machine(), knowledge()))


@for_each(
    ("question", "words"),
    [
        (hints.in_wsl, "Linux 5.15.90.1-microsoft-standard-WSL2"),
        (hints.in_wsl, "# WSL2"),
        (hints.in_wsl, "I use wsl 2 on Windows"),
        (hints.in_wsl, "latest Docker Desktop"),
        (hints.in_wsl, "export LD_LIBRARY_PATH=/usr/lib/wsl/lib"),
        (hints.in_container, "$ docker run -it image"),
        (hints.in_container, "inside the container"),
        (hints.in_container, "在容器里运行"),
        (hints.in_container, "podman, rootless"),
        (hints.given_to_container, "docker run --gpus all x"),
        (hints.given_to_container, "--runtime=nvidia"),
        (hints.given_to_container, "capabilities: [gpu]"),
        (hints.slept, "after suspend"),
        (hints.slept, "the laptop resumed from sleep"),
        (hints.slept, "it woke up from sleep"),
        (hints.slept, "hibernation"),
        (hints.slept, "电脑休眠之后"),
        (hints.without_driver, "bash: nvidia-smi: command not found"),
        (hints.with_compat, "LD_LIBRARY_PATH=/usr/local/cuda-12.4/compat"),
        (hints.with_compat, "cuda-compat-12-4 is installed"),
        (hints.with_mig, "MIG devices:"),
        (hints.with_mig, "sudo nvidia-smi -mig 1"),
        (hints.with_blackwell, "# 5090, driver 570"),
        (hints.with_blackwell, "NVIDIA GeForce RTX 5070 Ti"),
        (hints.with_blackwell, "RTX PRO 6000 Blackwell"),
    ],
)
def test_hint_is_read(question: Question, words: str) -> None:
    assert question(_setting(words))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (hints.in_wsl, "github.com/awslabs/gluon"),
        (hints.in_wsl, "Microsoft Visual C++"),
        (hints.in_container, "std::vector contains 3 elements"),
        (hints.given_to_container, "device = 0"),
        (hints.slept, "time.sleep(3)"),
        (hints.slept, "resuming from checkpoint 12"),
        (hints.without_driver, "nvidia-smi shows two GPUs"),
        (hints.with_compat, "not compatible with the current PyTorch"),
        (hints.with_mig, "migrating the database"),
        (hints.with_blackwell, "iteration 15090, loss 0.5"),
        (hints.with_blackwell, "RTX 3090"),
    ],
)
def test_what_only_looks_like_it_is_not(question: Question, words: str) -> None:
    assert not question(_setting(words))


@pytest.mark.parametrize(
    ("question", "recipe"),
    [
        (hints.in_wsl, Recipe(wsl=2)),
        (hints.in_container, Recipe(container="docker")),
        (hints.with_blackwell, Recipe(gpus=("10de:2b85",))),
    ],
)
def test_facts_of_the_machine_count_as_well(question: Question, recipe: Recipe) -> None:
    assert question(_setting("", machine(recipe)))


def test_tool_that_is_missing_beside_a_running_driver_proves_nothing() -> None:
    assert not hints.without_driver(_setting("nvidia-smi: command not found", machine(Recipe())))


def test_only_card_is_named_and_one_of_several_is_not() -> None:
    assert hints.card_name(_setting("", machine(Recipe()))) == "RTX 4090"
    assert hints.card_name(_setting("", machine(Recipe(gpus=(RTX_4090, RTX_3090))))) == ""
    assert hints.card_name(_setting("")) == ""


def test_driver_and_cuda_of_torch_are_named_where_they_are_known() -> None:
    known = _setting("", machine(Recipe(driver="550.54.14", environments=(Env("a", "2.5.1+cu124", active=True),))))
    assert (hints.driver_version(known), hints.torch_cuda(known)) == ("550.54.14", "12.4")
    assert (hints.driver_version(_setting("")), hints.torch_cuda(_setting(""))) == ("", "")


def test_what_is_no_version_is_none() -> None:
    assert version_in("550.54.14") is not None
    assert version_in("newest") is None


def test_text_is_searched_for_a_hint_once() -> None:
    setting = _setting("docker run")
    assert hints.in_container(setting)
    assert hints.in_container(setting)
    assert len(setting.answered) == 1
