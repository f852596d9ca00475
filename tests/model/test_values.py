"""Small behaviour of the values themselves."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from msgspec import Struct

import gpuassist.model
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Finding
from gpuassist.model.shell import Command, Terminal, Variable
from gpuassist.model.text import counted, text
from gpuassist.model.verdict import DeviceVerdict, Verdict, Verification


def _structs() -> Iterator[type[Struct]]:
    for module in pkgutil.iter_modules(gpuassist.model.__path__):
        for value in vars(importlib.import_module(f"gpuassist.model.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, Struct):
                yield value


@pytest.mark.parametrize("kind", sorted({*_structs()} - {Struct}, key=str))
def test_value_is_frozen(kind: type[Struct]) -> None:
    assert kind.__struct_config__.frozen


def test_text_keeps_parameters_in_order() -> None:
    assert text("{b} {a}", b=1, a="x").parameters == (("b", 1), ("a", "x"))


def test_counted_text_carries_its_count() -> None:
    assert counted("{count} GPU", "{count} GPUs", 2).parameters == (("count", 2),)


def test_known_value_wins_over_default() -> None:
    assert value_or(Known(3, "here"), 5) == 3


def test_unknown_takes_default() -> None:
    assert value_or(Unknown(text("why")), 5) == 5


def test_unset_variable_is_empty_and_not_set() -> None:
    terminal = Terminal("bash", (Variable("A", ""),), ())
    assert (terminal.variable("B"), terminal.is_set("B"), terminal.is_set("A")) == ("", False, True)


def test_terminal_finds_its_command() -> None:
    nvcc = Command("nvcc", "/usr/local/bin/nvcc", "/usr/local/cuda-13.0/bin/nvcc")
    terminal = Terminal("bash", (), (nvcc,))
    assert (terminal.command("nvcc"), terminal.command("gcc")) == (nvcc, None)


def test_finding_without_parameter_gives_empty() -> None:
    finding = Finding("no-driver", (("gpu", "RTX 4090"),), ())
    assert (finding.parameter("gpu"), finding.parameter("driver")) == ("RTX 4090", "")


def _verification(*devices: tuple[str, Verdict]) -> Verification:
    return Verification("python", (), tuple(DeviceVerdict(name, "", verdict, ()) for name, verdict in devices))


@pytest.mark.parametrize(
    ("verification", "verified"),
    [
        (_verification(), False),
        (_verification(("cpu", Verdict.PASS)), False),
        (_verification(("cuda:0", Verdict.PASS)), True),
        (_verification(("cuda:0", Verdict.PASS), ("cuda:1", Verdict.FAIL)), False),
        (_verification(("cuda:0", Verdict.SKIPPED)), False),
        (_verification(("cuda:0", Verdict.PASS), ("cpu", Verdict.FAIL)), True),
    ],
)
def test_accelerator_counts_only_when_all_passed(verification: Verification, verified: bool) -> None:
    assert verification.accelerator_verified is verified
