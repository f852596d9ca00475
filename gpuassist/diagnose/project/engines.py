"""The inference engines that a project asks for beside torch: whether their release fits driver, CUDA, torch, GPU and Python.

`engine_checks` is the one place to judge them from a table: it is handed the set with all its requirements, the torch that would be
installed with them, and the machine. What it does not know it names, and leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.project.sets import InstallSet
from gpuassist.diagnose.project.stock import Pick, TorchStock, applies
from gpuassist.formats.project.values import AskedAs
from gpuassist.model.project import CheckId, LinkState, ProjectCheck
from gpuassist.model.text import text

ENGINES = frozenset(
    [
        "vllm",
        "sglang",
        "llama-cpp-python",
        "bitsandbytes",
        "deepspeed",
        "onnxruntime-gpu",
        "tensorrt",
        "tensorrt-cu12",
        "tensorrt-cu13",
        "tensorrt-llm",
        "torch-tensorrt",
        "jax",
        "jaxlib",
        "tensorflow",
        "tensorflow-gpu",
        "isaacgym",
        "isaaclab",
        "isaacsim",
        "nvidia-curobo",
    ]
)


def engine_checks(one: InstallSet, found: Pick | None, stock: TorchStock, case: RuleInput) -> Iterator[ProjectCheck]:
    for each in one.requirements:
        if each.name in ENGINES and each.origin is AskedAs.INSTALL and applies(each, stock):
            words = text("whether {name} fits is not known here", name=f"{each.name}{each.versions}")
            yield ProjectCheck(CheckId.ENGINE, LinkState.UNKNOWN, words, each.spot.file, each.spot.line)
