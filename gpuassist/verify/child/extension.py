"""A small extension in C++, and one with a CUDA kernel of its own, built and loaded as users do (torch.utils.cpp_extension).

The build runs ninja and compilers, which are grandchildren of whoever started this: they go when the check ends, however it ends.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import signal
import sys
import sysconfig
import tempfile
import threading
import time
import warnings
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .bench import FULL, Bench, Check, Measured, Skipped, same

ELEMENTS = 1 << 16
BUILD_SECONDS = 900.0  # torch's headers take a slow machine some minutes; whoever builds for longer is taken to hang
_TICK_SECONDS = 1.0
_MARK = "GPUASSIST_EXTENSION"
_ROUNDS = 50
_SHOWN_AT_MOST = 3000

# Each element from its own place and its own input, in whole numbers that float holds exactly: which is wrong is known. What is not
# written stays no number.
CPP = """\
#include <limits>
torch::Tensor answer(torch::Tensor x) {
  auto out = torch::full_like(x, std::numeric_limits<double>::quiet_NaN());
  const float *from = x.data_ptr<float>();
  float *to = out.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) { to[i] = 3.0f * from[i] + static_cast<float>(i % 1021); }
  return out;
}
"""
DECLARED = "torch::Tensor answer(torch::Tensor x);\n"
CUDA = """\
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <limits>
__global__ void answer_kernel(const float *from, float *to, int64_t count) {
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) { to[i] = 3.0f * from[i] + static_cast<float>(i % 1021); }
}
torch::Tensor answer(torch::Tensor x) {
  auto out = torch::full_like(x, std::numeric_limits<double>::quiet_NaN());
  const int threads = 256;
  const int blocks = static_cast<int>((x.numel() + threads - 1) / threads);
  auto stream = c10::cuda::getCurrentCUDAStream();
  answer_kernel<<<blocks, threads, 0, stream>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""


def extension(bench: Bench, _kind: str) -> Measured:
    """C++ alone: it computes in the memory of the CPU, and its result goes to the device and is compared there."""
    with _surroundings(bench) as (tools, name):
        module, seconds = _built(bench, tools, name, cpp_sources=[CPP])
        compared = _compare(bench, lambda values: bench.to_device(module.answer(values)))
    return Measured(0.0, 0.0, compared=compared, notes={"build_seconds": round(seconds, 1)})


def extension_kernel(bench: Bench, _kind: str) -> Measured:
    """A kernel that the user's nvcc compiles, launched in torch's own stream on torch's own memory."""
    if getattr(bench.torch.version, "hip", None):
        raise Skipped("this torch is built for ROCm")
    with _surroundings(bench) as (tools, name):
        _require_nvcc(bench, tools)
        module, seconds = _built(bench, tools, name, cpp_sources=[DECLARED], cuda_sources=[CUDA])
        with bench.torch.cuda.device(bench.device):
            compared = _compare(bench, lambda values: module.answer(bench.to_device(values)))
    return Measured(0.0, 0.0, compared=compared, notes={"build_seconds": round(seconds, 1), "cuda_home": str(tools.CUDA_HOME)})


def _compare(bench: Bench, answer: Callable[[Any], Any]) -> int:
    """3 * 2**19 + 1020 is below 2**24, up to which float holds every whole number."""
    torch = bench.torch
    values = bench.whole(-(2**19), 2**19, ELEMENTS)
    expected = bench.to_device((3 * values + torch.arange(ELEMENTS) % 1021).float())
    result = answer(values.float())
    bench.synchronize()
    return same(bench, result, expected)


def _built(bench: Bench, tools: Any, name: str, **sources: List[str]) -> Tuple[Any, float]:
    """The module that torch builds of the sources, and how long that took."""
    began = time.monotonic()
    try:
        module = tools.load_inline(name=name, functions=["answer"], **sources)
    except RuntimeError as error:
        words = str(error)
        if not words.startswith("Error building extension"):
            raise
        # torch puts all that ninja printed behind it, the command lines first.
        raise RuntimeError("{}\n{}".format(_first_error(words), words[-_SHOWN_AT_MOST:])) from error
    bench.tick()
    return module, time.monotonic() - began


def _first_error(words: str) -> str:
    """The line that names the error: neither a command line nor a warning, which come before it."""
    lines = [line.strip() for line in words.splitlines()[1:]]
    told = [line for line in lines if "warning" not in line.lower() and not line.startswith(("[", "FAILED:", "ninja:"))]
    named = [line for line in told if any(sign in line for sign in ("error:", "fatal", ": cannot find", "not found", "#error"))]
    own = [line for line in named if not line.startswith("collect2:")]  # it only repeats that the linker failed
    return (own or named or told or ["the extension was not built"])[0]


def _require_nvcc(bench: Bench, tools: Any) -> None:
    """That there is an nvcc, and that torch takes it: what it refuses, it refuses in its own words."""
    home = tools.CUDA_HOME
    if not home:
        raise Skipped("no nvcc: neither CUDA_HOME nor PATH leads to a CUDA toolkit", "absent")
    if not os.path.isfile(os.path.join(home, "bin", "nvcc")):
        raise Skipped("no nvcc: {} holds none".format(home), "absent")
    # As setup.py does before it compiles; load_inline itself leaves it to the compilers to fail.
    refuse, look = (getattr(tools, one, None) for one in ("_check_cuda_version", "get_compiler_abi_compatibility_and_version"))
    if refuse is not None and look is not None:
        compiler = os.environ.get("CXX", "c++")
        try:
            refuse(compiler, look(compiler)[1])
        except RuntimeError as error:
            if len(error.args) < 2:
                raise
            raise RuntimeError(error.args[0] % error.args[1:]) from error  # torch 2.10 and its like leave that to the reader
    bench.tick()


@contextmanager
def _surroundings(bench: Bench) -> Iterator[Tuple[Any, str]]:
    """torch's own builder, and a name for what is built, in a directory of its own; `Skipped` where something is missing."""
    directory = tempfile.mkdtemp(prefix="extension-", dir=bench.scratch or None)
    mark = secrets.token_hex(8)
    wanted = {"TORCH_EXTENSIONS_DIR": directory, "TMPDIR": directory, _MARK: mark}
    beside = os.path.dirname(os.path.abspath(sys.executable))
    if shutil.which("ninja") is None and os.path.exists(os.path.join(beside, "ninja")):
        wanted["PATH"] = beside + os.pathsep + os.environ.get("PATH", os.defpath)  # as activating the environment does
    before = {name: os.environ.get(name) for name in wanted}
    try:
        os.environ.update(wanted)
        tools = _tools()
        with _guarded(mark, directory), _ticking(bench):
            # Another name each time: a process that loaded one takes the next of that name for a newer version of it.
            yield tools, "gpuassist_extension_" + mark
    finally:
        _put_back(before)
        shutil.rmtree(directory, ignore_errors=True)


def _put_back(before: Dict[str, Any]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _tools() -> Any:
    if shutil.which("ninja") is None:
        raise Skipped("ninja is not installed, without which torch builds no extensions", "absent")
    compiler = shlex.split(os.environ.get("CXX", "")) or ["c++"]
    if shutil.which(compiler[0]) is None:
        raise Skipped("no C++ compiler: there is no {}".format(compiler[0]), "absent")
    headers = sysconfig.get_paths()["include"]
    if not os.path.exists(os.path.join(headers, "Python.h")):
        raise Skipped("Python's own headers are not installed: there is no {}/Python.h".format(headers), "absent")
    try:
        import torch.utils.cpp_extension as tools
    except ModuleNotFoundError as error:
        if error.name not in ("setuptools", "distutils", "packaging"):
            raise
        raise Skipped("{} is not installed, without which torch builds no extensions".format(error.name), "absent") from error
    return tools


@contextmanager
def _ticking(bench: Bench) -> Iterator[None]:
    """Signs of life while compilers run, for as long as a build may take."""
    over = threading.Event()
    until = time.monotonic() + BUILD_SECONDS

    def tick() -> None:
        while not over.wait(_TICK_SECONDS) and time.monotonic() < until:
            bench.tick()

    thread = threading.Thread(target=tick, name="extension", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _guarded(mark: str, directory: str) -> Iterator[None]:
    """A process that waits for this one to be done, or dead, and then ends what still runs of the build and takes its files away:
    ninja gives each compiler a process group of its own, so that whoever kills this process does not reach them.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that threads of other libraries are not in the fork is known
        guard = os.fork()
    if not guard:
        try:
            os.setsid()  # it outlives the group that is killed
            _let_go(reading)
            os.read(reading, 1)
            _end_marked("{}={}".format(_MARK, mark).encode())
            shutil.rmtree(directory, ignore_errors=True)
        finally:
            os._exit(0)
    os.close(reading)
    try:
        yield
    finally:
        os.close(writing)
        os.waitpid(guard, 0)


def _let_go(kept: int) -> None:
    """Closes every other descriptor: nobody must wait for a pipe that only this process holds."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) != kept:
            try:
                os.close(int(name))
            except OSError:
                pass  # the one that listed them


def _end_marked(mark: bytes) -> None:
    """Ends every process that was started with the mark, and what those start meanwhile."""
    for _ in range(_ROUNDS):
        there = [(int(name), _environment(name)) for name in os.listdir("/proc") if name.isdigit()]
        marked = [pid for pid, environment in there if environment and mark in environment]
        # Between the start of a program and its first instruction the kernel shows no environment of it yet.
        if not marked and all(environment for _, environment in there if environment is not None):
            return
        for pid in marked:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass  # it has ended
        time.sleep(0.02)


def _environment(pid: str) -> Optional[List[bytes]]:
    """None of a process that has none to read: another user's, the kernel's own, one that ended."""
    place = "/proc/{}/".format(pid)
    try:
        os.readlink(place + "exe")
        with open(place + "environ", "rb") as file:
            return [one for one in file.read().split(b"\0") if one]
    except OSError:
        return None


CHECKS = (
    Check("extension", "fp32", extension, FULL),
    Check("extension-kernel", "fp32", extension_kernel, FULL, on_cpu=False),
)
