"""Copies, order and memory of a device, what is recorded and what is compiled: right when emulated, and no wrong element passes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.torch_environment import CHILD, ReadyTorch
from tests.verify.conftest import PROJECT, Corrupted

pytestmark = pytest.mark.slow

# The allocator's account is not emulated.
COPIES = ("copy-to-device", "copy-from-device", "pinned-to-device", "pinned-from-device", "copy-on-device")
TRANSFERS = tuple(f"{name} int64" for name in COPIES)
EXECUTION = ("streams int64", "cuda-graph fp32", "memory-across-streams int64")

_HEAD = f"""
import os
sys.path.insert(0, {PROJECT!r})
import torch
torch.set_num_threads(1)
from gpuassist.verify.child import compilers, endurance, execution
from gpuassist.verify.child.bench import FULL, Bench
from tests.verify.corrupting import DEVICE, emulated

told = {{}}
def tell(name, run, *given):
    try:
        told[name] = ["passed", str(run(*given))]
    except Exception as error:
        told[name] = [type(error).__name__, getattr(error, "cause", ""), str(error)]
gpu, cpu = Bench(torch, DEVICE, 64, 2, FULL, endure=0.0), Bench(torch, torch.device("cpu"), 64, 2, FULL, endure=0.0)
"""


@pytest.fixture
def told(ready_torch: ReadyTorch, tmp_path: Path) -> Any:
    """What code with `tell` says, by name; it runs where torch is."""

    def run(code: str, **files: str) -> dict[str, list[str]]:
        for name, words in files.items():
            (tmp_path / f"{name}.py").write_text(words, "utf-8")
        head = f"{_HEAD}\nfolder = {str(tmp_path)!r}\nsys.path.insert(0, folder)\n"
        python = ready_torch.runs(tmp_path, f"{head}\n{code}\nprint(json.dumps(told))")
        done = subprocess.run([python, CHILD, "1"], capture_output=True, text=True, check=True, timeout=100)
        found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
        return found

    return run


@pytest.mark.parametrize(("family", "names"), [("transfers", TRANSFERS), ("execution", EXECUTION), ("endurance", ())])
def test_no_wrong_element_passes(corrupted: Corrupted, family: str, names: tuple[str, ...]) -> None:
    found = corrupted(family, size=32, drawn=2, names=names)
    assert {name: came for name, came in found["clean"].items() if came != "passed"} == {}
    assert found["let_pass"] == []
    assert found["unread"] == []
    assert found["tried"] == 2 * len(found["clean"])


def test_a_device_that_finds_everything_alike_is_not_believed(told: Any) -> None:
    found = told(
        """
from gpuassist.verify.child import transfers
tell("sound", lambda: transfers.comparison(cpu, "int64").error)
real = torch.equal
torch.equal = lambda left, right: True
tell("blind", transfers.comparison, cpu, "int64")
torch.equal = lambda left, right: real(left >> 1, right >> 1)
tell("blind for a bit", transfers.comparison, cpu, "int64")
"""
    )
    assert found["sound"] == ["passed", "0.0"]
    assert (found["blind"][0], found["blind for a bit"][0]) == ("Wrong", "Wrong")


def test_a_leak_and_an_account_that_does_not_grow(told: Any) -> None:
    found = told(
        """
size = 4 * 8 * 64 * execution._WORDS
def account(*values):  # before, with the tensors, after; twice
    left = iter(values)
    torch.cuda.memory_allocated = lambda device: next(left)
    torch.cuda.memory_reserved = lambda device: 0
    return execution.memory_returned(gpu, "int64").error
with emulated():
    tell("sound", account, 0, size, 512, 512, 512 + size, 512)
    tell("leak", account, 0, size, 0, 0, size, 4096)
    tell("no account", account, 0, size, 0, 0, 0, 0)
    os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
    tell("off", account)
"""
    )
    assert found["sound"] == ["passed", "0.0"]
    assert found["leak"] == ["passed", "4096.0"]  # bytes, of which none are allowed
    assert found["no account"][0] == "Wrong"
    assert found["off"][:2] == ["Skipped", "format"]


def test_times_of_the_device_that_cannot_be(told: Any) -> None:
    found = told(
        """
class At:
    def __init__(self, at):
        self.at = at
    def elapsed_time(self, later):
        return later.at - self.at
class Off(At):
    def elapsed_time(self, later):
        return later.at - self.at + 1.0
tell("sound", execution._plausible, [At(0.0), At(1.0), At(2.5)], 3.0)
tell("backwards", execution._plausible, [At(0.0), At(1.0), At(0.5)], 3.0)
tell("stands", execution._plausible, [At(0.0), At(0.0), At(0.5)], 3.0)
tell("parts", execution._plausible, [At(0.0), Off(1.0), At(2.5)], 3.0)
tell("host", execution._plausible, [At(0.0), At(1.0), At(2.5)], 2.0)
"""
    )
    assert {name: said[0] for name, said in found.items()} == {
        "sound": "passed",
        **dict.fromkeys(("backwards", "stands", "parts", "host"), "Wrong"),
    }


def test_memory_that_others_hold_is_left_to_them(told: Any) -> None:
    found = told(
        """
from types import SimpleNamespace
much = 24 << 30
tell("room", lambda: endurance._plan(much, much // 10))
with emulated():
    torch.cuda.mem_get_info = lambda device: (2 * endurance._SMALL, 16 * endurance._SMALL)
    tell("little", endurance.memory, gpu, "int64")
    tell("of the GPU", lambda: endurance._spare(gpu, much))
    torch.cuda.get_device_properties = lambda device: SimpleNamespace(is_integrated=1)
    tell("of the host", lambda: endurance._spare(gpu, much))
"""
    )
    assert found["little"][:2] == ["Skipped", "memory"]
    assert found["of the GPU"] == ["passed", str((24 << 30) // 10)]
    assert found["of the host"] == ["passed", str(12 << 30)]
    size, count = json.loads(found["room"][1].replace("(", "[").replace(")", "]"))
    assert 0.88 * (24 << 30) < size * (count + 1) <= 0.9 * (24 << 30)


def test_what_is_not_installed_is_skipped_and_what_is_broken_is_not(told: Any) -> None:
    found = told(
        """
with emulated():
    tell("absent", compilers.tensorrt_engine, gpu, "fp32")
    tell("broken", compilers.xformers_attention, gpu, "fp16")
    tell("needs another", compilers.torch_tensorrt_module, gpu, "fp32")
    tell("no triton", compilers.compiled_function, gpu, "fp32")
os.environ["PATH"] = folder
os.environ.pop("CXX", None)
tell("no compiler", compilers.compiled_function, cpu, "fp32")
""",
        xformers="raise OSError('libcudart.so.11.0: cannot open shared object file')",
        torch_tensorrt="import libnvinfer_of_nobody",
    )
    assert {name: said[:2] for name, said in found.items()} == {
        "absent": ["Skipped", "absent"],
        "broken": ["OSError", ""],
        "needs another": ["ModuleNotFoundError", ""],
        "no triton": ["Skipped", "absent"],
        "no compiler": ["Skipped", "absent"],
    }


def test_a_result_that_nobody_compiled_proves_nothing(told: Any) -> None:
    found = told(
        """
import shutil
from types import SimpleNamespace
sys.modules["torch._dynamo"] = SimpleNamespace(config=None)  # whose import takes seconds
shutil.which = lambda name: name
torch.compile = lambda function, **how: function
tell("function", compilers.compiled_function, cpu, "fp32")
torch.compile = lambda function, **how: lambda *given: function(*given) + 1e-5
tell("wrong", compilers.compiled_dynamic, cpu, "fp32")
"""
    )
    assert found["function"][0] == "RuntimeError"
    assert "no code" in found["function"][2]
    assert found["wrong"][0] == "Wrong"


_XFORMERS = """
import torch
def memory_efficient_attention(q, k, v):
    q, k, v = (one.transpose(1, 2) for one in (q, k, v))
    made = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2)
    if wrong:
        made[1, 17, 2, 5] += 0.01
    return made
wrong = False
"""


def test_attention_of_another_package_is_held_against_fp64(told: Any) -> None:
    code = """
import types
package = types.ModuleType("xformers")
sys.modules["xformers"], package.ops = package, ops
sys.modules["xformers.ops"] = ops
with emulated():
    tell("sound", lambda: compilers.xformers_attention(gpu, "fp16").error <= compilers.xformers_attention(gpu, "fp16").tolerance)
    ops.wrong = True
    tell("wrong", lambda: compilers.xformers_attention(gpu, "fp16"))
"""
    found = told("import ops" + code, ops=_XFORMERS)
    assert found["sound"] == ["passed", "True"]
    assert found["wrong"][0] == "Wrong"


_TENSORRT = """
import torch
__version__ = "2.6.0"
def compile(module, ir, inputs, **how):
    return module
def save(module, place, inputs):
    open(place, "w").close()
"""


def test_what_was_saved_is_run_by_another_process(told: Any) -> None:
    found = told(
        """
def answers(status):
    place = os.path.join(folder, "interpreter%d" % status)
    with open(place, "w") as file:
        file.write("#!/bin/sh\\necho '4 of 4096 elements differ'\\nexit %d\\n" % status)
    os.chmod(place, 0o755)
    sys.executable = place
    return compilers.torch_tensorrt_module(gpu, "fp32").compared
with emulated():
    for status in (0, 3, 1):
        tell(str(status), answers, status)
""",
        torch_tensorrt=_TENSORRT,
    )
    assert found["0"][0] == "passed"
    assert found["3"][0] == "Wrong"
    assert found["1"][0] == "RuntimeError"
