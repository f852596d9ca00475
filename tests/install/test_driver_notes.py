"""Beside the steps to another driver stands who uses the one that is loaded, what Secure Boot asks, and whose machine it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gpuassist.model.fact import Fact, Known
from gpuassist.model.gpu import Holder
from gpuassist.model.machine import Distribution
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.values import ARCH, FEDORA, GTX_1080_TI, Recipe, knowledge, machine

SESSION = live_session({})
BARE = Recipe(environments=(), toolkits=(), nvcc="")


def notes(recipe: Recipe = BARE, goal: str = "driver==580", **changes: object) -> list[str]:
    found = plan_goals(SESSION, machine(recipe, **changes), (parse_goal(goal, knowledge()),))
    return [ENGLISH(one) for one in found.notes]


def held(pid: int, command: str, user: str = "you", uid: int = 1000) -> Holder:
    return Holder(pid, user, command, ("/dev/nvidia0",), uid=Known(uid, "test"))


def host(**facts: Any) -> Mapping[str, Fact[Any]]:
    return {name: Known(value, "test") for name, value in facts.items()}


def test_who_uses_the_driver_is_named() -> None:
    found = notes(holders=(held(4321, "python train.py"), held(900, "/usr/lib/xorg/Xorg vt2", "root", 0)))
    assert any("in use by Xorg (900) and python (4321)" in one for one in found)


def test_desktop_leaves_no_way_without_a_restart() -> None:
    found = notes(holders=(held(4321, "python train.py"), held(900, "/usr/lib/xorg/Xorg vt2", "root", 0)))
    assert not any("without a restart" in one for one in found)


def test_machine_without_a_desktop_has_a_way_without_a_restart() -> None:
    found = notes(holders=(held(4321, "python train.py"),))
    assert any("`sudo modprobe nvidia_uvm`" in one and "without a restart" in one for one in found)


def test_many_holders_are_counted() -> None:
    found = notes(holders=tuple(held(pid, "python") for pid in range(100, 110)))
    assert any("and +4" in one for one in found)


def test_idle_driver_is_not_spoken_of() -> None:
    assert not any("in use by" in one for one in notes())


def test_driver_that_stays_has_no_such_notes() -> None:
    assert not any("in use by" in one for one in notes(goal="driver", holders=(held(4321, "python"),)))


def test_signed_modules_are_said_to_be() -> None:
    assert any("signed with the distribution's key" in one for one in notes(secure_boot=True))


def test_arch_has_no_key_that_the_computer_knows() -> None:
    found = notes(distribution=ARCH, gpus=(GTX_1080_TI,), driver="595.45.04", secure_boot=True, goal="driver")
    assert any("must be signed" in one for one in found)


def test_fedora_has_a_step_and_no_note() -> None:
    assert not any("Secure Boot" in one for one in notes(distribution=FEDORA, secure_boot=True))


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"provider": "azure"}, "NvidiaGpuDriverLinux"),
        ({"provider": "hetzner"}, "Hetzner has images"),
        ({"provider": "aws", "product": "g6f.xlarge"}, "AmazonS3ReadOnlyAccess"),
    ],
)
def test_provider_has_its_own_note(facts: dict[str, str], words: str) -> None:
    assert any(words in one for one in notes(host_facts=host(**facts)))


def test_part_of_a_gpu_goes_without_secure_boot() -> None:
    found = notes(host_facts=host(provider="aws", product="g6f.xlarge"), secure_boot=True)
    assert any("switch Secure Boot off in the settings" in one for one in found)


@pytest.mark.parametrize(("distribution", "said"), [(FEDORA, True), (Distribution("ubuntu", (), "24.04", "Ubuntu"), False)])
def test_laptop_needs_nothing_switched(distribution: Distribution, said: bool) -> None:
    found = notes(host_facts=host(hybrid=True), distribution=distribution)
    assert any("two graphics processors" in one for one in found) is said


def test_windows_driver_is_not_spoken_of() -> None:
    found = notes(wsl=2, driver="471.41", cuda="11.4", goal="driver", holders=(held(4321, "python"),))
    assert not any("in use by" in one for one in found)
