"""The proof of a scope: what a shell answers is judged, and no answer is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.plan import Proof
from gpuassist.changes.proof import PROVABLE, prove_scope
from gpuassist.changes.scope_find import Scope
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.words import ENGLISH
from gpuassist.system.processes import Ending, ProcessResult
from tests.changes.homes import world_at

HELD = ScopeValues("/c", "/c/lib64", ("0",))
BEFORE = {"PATH": "/bin"}
INSIDE = {
    "PATH": "/c/bin:/bin",
    "CUDA_HOME": "/c",
    "LD_LIBRARY_PATH": "/c/lib64",
    "CUDA_VISIBLE_DEVICES": "0",
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
}


@dataclass
class Answering:
    """A shell that prints these environments, each before the mark that it was given."""

    states: Sequence[Mapping[str, str]]
    ending: Ending = Ending.EXITED
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        environment: Mapping[str, str],
        directory: str = "/",
        stdin: bytes = b"",
        cancelled: Callable[[], bool] | None = None,
    ) -> ProcessResult:
        self.asked.append(tuple(command))
        mark = command[-2]
        said = "".join("".join(f"{name}={value}\0" for name, value in state.items()) + f"{mark}\0" for state in self.states)
        return ProcessResult(self.ending, 0, said.encode(), b"trouble\n", 0.1)


def _proof(home: Path, *states: Mapping[str, str], held: ScopeValues = HELD, ending: Ending = Ending.EXITED) -> Proof:
    world = replace(world_at(home), processes=Answering(states, ending))
    return prove_scope(world, Scope(Kind.CONDA, "conda:x", "/x"), held)


def test_what_was_chosen_and_put_back_is_proved(home: Path) -> None:
    proof = _proof(home, BEFORE, INSIDE, BEFORE)
    assert proof.holds == Known(value=True, source="bash")
    assert "CUDA_HOME=/c, CUDA_DEVICE_ORDER=PCI_BUS_ID, CUDA_VISIBLE_DEVICES=0" in ENGLISH(proof.words)


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ({**INSIDE, "CUDA_HOME": "/d"}, "in the environment CUDA_HOME is /d"),
        ({**INSIDE, "CUDA_VISIBLE_DEVICES": ""}, "in the environment CUDA_VISIBLE_DEVICES is ''"),
        ({**INSIDE, "PATH": "/d/bin:/c/bin:/bin"}, "in the environment /c/bin is not the first on PATH"),
        ({**INSIDE, "LD_LIBRARY_PATH": "/d"}, "in the environment /c/lib64 is not the first on LD_LIBRARY_PATH"),
        ({}, "in the environment CUDA_HOME is ''"),
    ],
)
def test_what_another_hook_changed_is_said(home: Path, inside: Mapping[str, str], said: str) -> None:
    proof = _proof(home, BEFORE, inside, BEFORE)
    assert (proof.holds, ENGLISH(proof.words)) == (Known(value=False, source="bash"), said)


@pytest.mark.parametrize("name", INSIDE)
def test_what_stays_behind_is_said(home: Path, name: str) -> None:
    proof = _proof(home, BEFORE, INSIDE, {**BEFORE, name: INSIDE[name]})
    assert proof.holds == Known(value=False, source="bash")
    assert f"did not put {name} back: it is {INSIDE[name]}" in ENGLISH(proof.words)


@pytest.mark.parametrize("states", [(), (BEFORE,), (BEFORE, INSIDE)])
def test_a_shell_that_ended_on_the_way_proves_nothing(home: Path, states: tuple[Mapping[str, str], ...]) -> None:
    proof = _proof(home, *states)
    assert isinstance(proof.holds, Unknown)
    assert ENGLISH(proof.words) == "bash could not enter and leave /x: trouble"


@pytest.mark.parametrize("ending", [ending for ending in Ending if ending is not Ending.EXITED])
def test_a_shell_that_did_not_end_by_itself_proves_nothing(home: Path, ending: Ending) -> None:
    assert isinstance(_proof(home, BEFORE, INSIDE, BEFORE, ending=ending).holds, Unknown)


def test_nothing_chosen_is_proved_too(home: Path) -> None:
    proof = _proof(home, BEFORE, BEFORE, BEFORE, held=ScopeValues())
    assert proof.holds == Known(value=True, source="bash")
    assert "nothing is chosen there" in ENGLISH(proof.words)


@pytest.mark.parametrize("kind", Kind)
def test_only_environments_can_be_entered(kind: Kind) -> None:
    assert (kind in PROVABLE) is (kind in {Kind.CONDA, Kind.VENV})
