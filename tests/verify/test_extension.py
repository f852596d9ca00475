"""An extension built and loaded: what it needs, what is said of a build that fails, and that nothing of it stays behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpuassist.verify.child import extension
from gpuassist.verify.child.bench import Bench, Skipped
from tests.fakes import put
from tests.torch_environment import surroundings, torch_python
from tests.waiting import until

ROOT = Path(__file__).resolve().parent.parent.parent


def bench(folder: Path, ticks: list[int] | None = None) -> Bench:
    heard: list[int] = [] if ticks is None else ticks
    return Bench(
        SimpleNamespace(version=SimpleNamespace(cuda="12.4")), "cuda:0", 1, 1, tick=lambda: heard.append(1), scratch=str(folder)
    )


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory where programs are found; ninja and a C++ compiler are there."""
    folder = tmp_path / "bin"
    for name in ("ninja", "c++"):
        put(folder, name, "#!/bin/sh\n", mode=0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv/bin/python"))
    return folder


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch, on_path: Path) -> SimpleNamespace:
    """torch's, which is not in the environment of the tests."""
    found = SimpleNamespace(CUDA_HOME=None)
    for name in ("torch", "torch.utils"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(__path__=[]))
    monkeypatch.setitem(sys.modules, "torch.utils.cpp_extension", found)
    monkeypatch.setattr(sys.modules["torch"], "utils", sys.modules["torch.utils"], raising=False)
    monkeypatch.setattr(sys.modules["torch.utils"], "cpp_extension", found, raising=False)
    headers = on_path.parent / "include"
    put(headers, "Python.h")
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(headers)})
    return found


def skipped(folder: Path) -> Skipped:
    with pytest.raises(Skipped) as caught, extension._surroundings(bench(folder)):
        pass
    return caught.value


# What it needs


@pytest.mark.parametrize("missing", ["ninja", "c++"])
def test_what_is_not_installed_is_named(tmp_path: Path, builder: SimpleNamespace, on_path: Path, missing: str) -> None:
    (on_path / missing).unlink()
    reason = skipped(tmp_path)
    assert (reason.cause, missing in str(reason)) == ("absent", True)


def test_compiler_that_the_user_chose_is_what_it_needs(
    tmp_path: Path, builder: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "my-c++ -O2")
    assert "my-c++" in str(skipped(tmp_path))


def test_headers_of_python_are_needed(tmp_path: Path, builder: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(tmp_path / "none")})
    assert "Python.h" in str(skipped(tmp_path))


def test_ninja_of_an_environment_that_is_not_active_is_found(tmp_path: Path, builder: SimpleNamespace, on_path: Path) -> None:
    (on_path / "ninja").rename(put(tmp_path / "venv/bin", "ninja"))
    before = dict(os.environ)
    with extension._surroundings(bench(tmp_path)) as (tools, name):
        assert tools is builder
        assert name.isidentifier()
        assert os.environ["PATH"] == f"{tmp_path}/venv/bin:{on_path}"
        assert Path(os.environ["TORCH_EXTENSIONS_DIR"]).parent == tmp_path
    assert dict(os.environ) == before


def test_toolkit_is_needed_for_a_kernel(tmp_path: Path, builder: SimpleNamespace) -> None:
    with pytest.raises(Skipped) as caught:
        extension._require_nvcc(bench(tmp_path), builder)
    assert caught.value.cause == "absent"
    builder.CUDA_HOME = str(tmp_path)  # as in an image with the libraries alone
    with pytest.raises(Skipped) as caught:
        extension._require_nvcc(bench(tmp_path), builder)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [("The detected CUDA version (13.0) mismatches 12.4",), ("The detected CUDA version (%s) mismatches %s", "13.0", "12.4")],
)
def test_what_torch_refuses_is_said_in_its_words(tmp_path: Path, builder: SimpleNamespace, arguments: tuple[str, ...]) -> None:
    def refuse(compiler: str, version: str) -> None:
        assert (compiler, version) == ("c++", "12.2")
        raise RuntimeError(*arguments)

    put(tmp_path, "bin/nvcc")
    builder.CUDA_HOME, builder._check_cuda_version = str(tmp_path), refuse
    builder.get_compiler_abi_compatibility_and_version = lambda _: (True, "12.2")
    with pytest.raises(RuntimeError, match=r"The detected CUDA version \(13\.0\) mismatches 12\.4"):
        extension._require_nvcc(bench(tmp_path), builder)


def test_torch_that_refuses_nothing_beforehand_is_taken(tmp_path: Path, builder: SimpleNamespace) -> None:
    put(tmp_path, "bin/nvcc")
    builder.CUDA_HOME = str(tmp_path)
    extension._require_nvcc(bench(tmp_path), builder)


# What fails


_NINJA = """Error building extension 'one': [1/2] c++ -MMD -Werror=format -c main.cpp -o main.o
FAILED: main.o
c++ -MMD -Werror=format -c main.cpp -o main.o
cc1plus: warning: command-line option is odd
{line}
ninja: build stopped: subcommand failed.
"""


@pytest.mark.parametrize(
    "line",
    [
        "main.cpp:1:10: fatal error: torch/extension.h: No such file or directory",
        "/usr/bin/ld: cannot find -lcudart: No such file or directory",
        "/bin/sh: 1: /usr/local/cuda/bin/nvcc: not found",
        "/x/host_config.h:143:2: error: #error -- unsupported GNU version!",
        "nvcc fatal   : Unsupported gpu architecture 'compute_120'",
    ],
)
def test_line_that_names_the_error_comes_first(tmp_path: Path, line: str) -> None:
    def load_inline(**_: Any) -> None:
        raise RuntimeError(_NINJA.format(line=line) + "collect2: error: ld returned 1 exit status\n")

    with pytest.raises(RuntimeError) as caught:
        extension._built(bench(tmp_path), SimpleNamespace(load_inline=load_inline), "one")
    assert str(caught.value).splitlines()[0] == line
    assert "ninja: build stopped" in str(caught.value)


def test_error_that_is_none_of_the_build_is_left_alone(tmp_path: Path) -> None:
    def load_inline(**_: Any) -> None:
        raise RuntimeError("CUDA error: out of memory")

    with pytest.raises(RuntimeError, match=r"^CUDA error: out of memory$"):
        extension._built(bench(tmp_path), SimpleNamespace(load_inline=load_inline), "one")


# What stays


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def test_it_ticks_while_compilers_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "_TICK_SECONDS", 0.001)
    ticks: list[int] = []
    with extension._ticking(bench(tmp_path, ticks)):
        assert until(lambda: len(ticks) > 2)


def test_who_builds_for_too_long_is_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "_TICK_SECONDS", 0.001)
    monkeypatch.setattr(extension, "BUILD_SECONDS", 0.0)
    ticks: list[int] = []
    with extension._ticking(bench(tmp_path, ticks)):
        pass
    assert ticks == []


def started(mark: str) -> subprocess.Popen[bytes]:
    """A compiler in a process group of its own, as ninja starts them."""
    return subprocess.Popen(["sleep", "600"], env={**os.environ, "GPUASSIST_EXTENSION": mark}, start_new_session=True)


def test_what_still_runs_of_a_build_ends_with_it(tmp_path: Path) -> None:
    files = put(tmp_path, "build/one.o").parent
    with extension._guarded("this one", str(files)):
        ours, other = started("this one"), started("another")
    try:
        assert ours.wait(10) == -9
        assert other.poll() is None
        assert not files.exists()
    finally:
        other.kill()
        other.wait()


_DIES = """
import os, signal, subprocess, sys
from gpuassist.verify.child import extension
with extension._guarded("a worker's", sys.argv[1]):
    child = subprocess.Popen(["sleep", "600"], env=dict(os.environ, GPUASSIST_EXTENSION="a worker's"), start_new_session=True)
    print(child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_still_runs_of_a_build_ends_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    files = put(tmp_path, "build/one.o").parent
    command = [sys.executable, "-c", _DIES, str(files)]
    worker = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert worker.returncode == -9, worker.stderr
    assert until(lambda: gone(int(worker.stdout)) and not files.exists())


# What it computes


_COMPARES = """
import json, sys, torch
from gpuassist.verify.child import extension
from gpuassist.verify.child.bench import Bench, Wrong
bench, told = Bench(torch, torch.device("cpu"), 192, 1), {}
def answer(values, place):
    result = 3 * values + torch.arange(values.numel()) % 1021
    if place is not None:
        result[place] += 1
    return result
for place in (None, 0, 40000, 65535):
    try:
        told[str(place)] = extension._compare(bench, lambda values: answer(values, place))
    except Wrong as wrong:
        told[str(place)] = str(wrong)
print(json.dumps(told))
"""


def test_every_element_is_looked_at() -> None:
    command = [torch_python(), "-c", _COMPARES]
    done = subprocess.run(command, cwd=ROOT, env=surroundings(), capture_output=True, timeout=300, check=True)
    told = json.loads(done.stdout)
    assert told.pop("None") == extension.ELEMENTS
    for place, words in told.items():
        assert f"1 of 65536 elements differ, the first at [{place}]" in words


_BUILDS = """
import json, sys, torch
from gpuassist.verify.child import extension
from gpuassist.verify.child.bench import Bench
measured = extension.extension(Bench(torch, torch.device("cpu"), 192, 1, "full", scratch=sys.argv[1]), "fp32")
print(json.dumps([measured.error, measured.compared]))
"""


def test_torch_really_builds_it(tmp_path: Path) -> None:
    """A quarter of a minute of compiling, so that it is left to who has a torch for CUDA at hand."""
    if "GPUASSIST_CUDA_TORCH" not in os.environ:
        pytest.skip("NOT RUN: needs GPUASSIST_CUDA_TORCH, an interpreter with a torch for CUDA")
    command = [os.environ["GPUASSIST_CUDA_TORCH"], "-c", _BUILDS, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env={**surroundings(), "CXX": "c++"}, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout.splitlines()[-1]) == [0.0, extension.ELEMENTS]
    assert list(tmp_path.iterdir()) == []
