"""Verdicts on GPU code equal those of an installed torch, which is asked itself: `_check_capability` and its table of devices.

Every compute capability against every list of architectures that a wheel has had, and against each architecture alone.
"""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import Any

import pytest

from gpuassist.knowledge.compatibility import cubin_runs, kernels_run
from gpuassist.model.version import Code, ComputeCapability, Target, Version
from tests.knowledge.shipped import KNOWLEDGE
from tests.torch_environment import surroundings, torch_python

# Fakes of CUDA stand in for a device of each capability; what torch then warns of is its verdict.
_ASK = """
import json, sys, warnings
import torch
cuda = torch.cuda
lists = json.load(sys.stdin)
devices = lists.pop()
torch.version.cuda = "13.0"
cuda.device_count = lambda: 1
cuda.get_device_name = lambda index: "GPU"
answers = []
for names in lists:
    cuda.get_arch_list = lambda: names
    row = []
    for major, minor in devices:
        cuda.get_device_capability = lambda index: (major, minor)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            cuda._check_capability()
        row.append(not told)
    answers.append(row)
print(json.dumps({"answers": answers, "table": sorted(cuda.DEVICE_REQUIREMENT)}))
"""
CAPABILITIES = sorted({capability for one in KNOWLEDGE.architectures() for capability in one.capabilities if capability.major >= 3})
WHEELS = sorted({tuple(one for one in build.targets if one.code is Code.CUBIN) for build in KNOWLEDGE.torch_builds()} - {()})


@cache
def oracle(lists: tuple[tuple[str, ...], ...]) -> tuple[list[list[bool]], frozenset[int]]:
    """For each list whether torch takes each capability, and the architectures that it has a rule for."""
    devices = [(one.major, one.minor) for one in CAPABILITIES]
    asked = json.dumps([*lists, devices])
    done = subprocess.run(
        [torch_python(), "-c", _ASK], input=asked, capture_output=True, text=True, check=True, env=surroundings(), timeout=120
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told["answers"], frozenset(told["table"])


def known_to_torch(targets: tuple[Target, ...]) -> bool:
    """Whether torch has a rule for each; one that it does not know it guesses, and warns of."""
    _, table = oracle((("sm_80",),))
    return all(10 * one.capability.major + one.capability.minor in table for one in targets)


@pytest.mark.timeout(180)
def test_every_wheel_on_every_gpu_is_judged_as_torch_does() -> None:
    wheels = sorted({tuple(one for one in wheel if known_to_torch((one,))) for wheel in WHEELS})
    answers, _ = oracle(tuple(tuple(map(str, wheel)) for wheel in wheels))
    ours = [[kernels_run(capability, wheel) for capability in CAPABILITIES] for wheel in wheels]
    assert ours == answers
    assert {"sm_50", "sm_70", "sm_90", "sm_120"} <= {str(one) for wheel in wheels for one in wheel}


@pytest.mark.timeout(180)
def test_every_architecture_alone_is_judged_as_torch_does() -> None:
    _, table = oracle((("sm_80",),))
    targets = [Target(ComputeCapability(*divmod(number, 10)), Code.CUBIN) for number in sorted(table)]
    answers, _ = oracle(tuple((str(target),) for target in targets))
    ours = [[cubin_runs(capability, target) for capability in CAPABILITIES] for target in targets]
    differing = [
        (str(target), str(capability))
        for target, mine, theirs in zip(targets, ours, answers, strict=True)
        for capability, one, other in zip(CAPABILITIES, mine, theirs, strict=True)
        if one != other
    ]
    assert differing == []


def test_what_torch_has_no_rule_for_is_left_out_by_name() -> None:
    strange = {str(one) for wheel in WHEELS for one in wheel if not known_to_torch((one,))}
    assert strange <= {"sm_37"}  # the last builds with it are older than torch's table


def test_cuda_13_2_lets_server_code_run_on_orin() -> None:
    orin, server = ComputeCapability(8, 7), Target(ComputeCapability(8, 0), Code.CUBIN)
    assert not cubin_runs(orin, server, cuda=Version((13, 0)))
    assert cubin_runs(orin, server, cuda=Version((13, 2)))
