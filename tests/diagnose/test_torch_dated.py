"""The NCCL that a text names dates the torch that brings it."""

from __future__ import annotations

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.diagnose.torch_dated import Runs, carriers
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import ComputeCapability, Version
from tests.rows import for_each
from tests.values import knowledge


@for_each(
    ("words", "nccl", "releases"),
    [
        ("unhandled cuda error, NCCL version 2.7.8", "2.7.8", "1.7 to 1.9"),
        ("unhandled cuda error, NCCL version 2.4.8", "2.4.8", "1.2 to 1.6"),
        ("unhandled cuda error, NCCL version 21.0.3", "2.10.3", "1.10 to 1.12"),  # as torch 1.10 writes 2.10.3
        ("NCCL version 2.7.8+cuda11.0", "2.7.8", "1.7"),
        ("unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.26.2", "2.26.2", "2.7"),
        ("unhandled cuda error, NCCL version 2.99.1", "", ""),
        ("unhandled cuda error", "", ""),
    ],
)
def test_nccl_names_the_releases_that_bring_it(words: str, nccl: str, releases: str) -> None:
    told = carriers(SignatureInput(Paste(words), RuleInput(Machine(), knowledge())))
    assert (told.nccl, told.releases) == (nccl, releases)


@for_each(
    ("nccl", "capability", "runs"),
    [
        ("2.7.8", "7.5", Runs(by_default=True, others=(Version((11, 0)), Version((11, 1)), Version((11, 3))))),
        ("2.7.8", "8.9", Runs(by_default=False, others=(Version((11, 0)), Version((11, 1)), Version((11, 3))))),
        ("2.7.8", "12.0", Runs(by_default=False, others=())),
        ("2.26.2", "12.0", Runs(by_default=False, others=(Version((12, 8)),))),
    ],
)
def test_builds_that_bring_it_have_code_or_not(nccl: str, capability: str, runs: Runs) -> None:
    told = carriers(SignatureInput(Paste(f"NCCL version {nccl}"), RuleInput(Machine(), knowledge())))
    assert told.runs(knowledge(), ComputeCapability.parse(capability)) == runs
