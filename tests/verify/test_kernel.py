"""A kernel compiled and run: by scripted compilers, and by a real nvcc where one is there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.model.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.kernel import KernelCheck, KernelVerdict, KernelWish, check_kernel
from gpuassist.verify.kernel_sources import ANSWER, ARRAYS, KernelProgram
from tests.fakes import put

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
COMPILES = 'test "$*" = "-arch=sm_89 -o kernel kernel.cu" && grep -q __global__ kernel.cu && cp "$(dirname "$0")/result" kernel'


def check(
    home: Path, compiler: str, result: str = "echo 42", *, devices: tuple[str, ...] = (), architecture: str = "sm_89"
) -> KernelCheck:
    """With a compiler that runs these shell lines, and a kernel's program that runs those."""
    nvcc = put(home, "bin/nvcc", f"#!/bin/sh\n{compiler}\n", mode=0o755)
    put(home, "bin/result", f"#!/bin/sh\n{result}\n", mode=0o755)
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    return check_kernel(world, KernelWish(str(nvcc), architecture, ENVIRONMENT, devices))


def test_kernel_is_compiled_for_its_architecture(home: Path) -> None:
    done = check(home, COMPILES)
    assert (done.verdict, done.passed) == (KernelVerdict.COMPILED, True)
    assert "not run" in ENGLISH(done.words)
    assert done.command[1:] == ("-arch=sm_89", "-o", "kernel", "kernel.cu")


def test_kernel_runs_on_every_device(home: Path) -> None:
    done = check(
        home, COMPILES, f'echo "$CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER" >> {home}/log; echo 42', devices=("GPU-1", "GPU-2")
    )
    assert done.verdict is KernelVerdict.RAN
    assert (home / "log").read_text() == "GPU-1 PCI_BUS_ID\nGPU-2 PCI_BUS_ID\n"


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("echo 'CUDA error 35: CUDA driver version is insufficient' >&2; exit 1", "it failed: CUDA error 35: CUDA driver"),
        ("kill -11 $$", "was killed by signal 11"),
    ],
)
def test_kernel_that_does_not_run_is_no_proof(home: Path, result: str, words: str) -> None:
    done = check(home, COMPILES, result, devices=("0",))
    assert (done.verdict, done.passed) == (KernelVerdict.DID_NOT_RUN, False)
    assert words in ENGLISH(done.words)


@pytest.mark.parametrize(("result", "shown"), [("echo 0", "0"), (":", "''"), ("echo 42; echo 42", "42; 42")])
def test_wrong_result_is_no_message_to_explain(home: Path, result: str, shown: str) -> None:
    done = check(home, COMPILES, result, devices=("0",))
    assert (done.verdict, done.passed, done.said) == (KernelVerdict.WRONG, False, "")
    assert f"the result was {shown} and not 42" in ENGLISH(done.words)


def test_what_was_said_beside_a_wrong_result_is_kept(home: Path) -> None:
    done = check(home, COMPILES, "echo 0; echo 'libcuda: odd' >&2", devices=("0",))
    assert (done.verdict, done.said) == (KernelVerdict.WRONG, "libcuda: odd")


def test_kernel_that_never_ends_hangs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.verify.kernel.RUN_SECONDS", 0.2)
    assert check(home, COMPILES, "exec sleep 60", devices=("0",)).verdict is KernelVerdict.HUNG


def test_one_that_left_the_group_holds_nothing(home: Path) -> None:
    """It keeps the compiler's pipes, and is ended with the rest."""
    done = check(home, f"{COMPILES}; setsid sleep 600 & echo $! > {home}/pid")
    assert done.passed
    (pid,) = (home / "pid").read_text().split()
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] in "ZX"


@pytest.mark.parametrize(
    ("compiler", "words"),
    [
        (
            "echo \"nvcc fatal   : Unsupported gpu architecture 'compute_89'\" >&2; exit 1",
            "not compiled: nvcc fatal   : Unsupported gpu architecture 'compute_89'",
        ),
        ("echo 'x.h(3): warning: odd'; echo '#error -- unsupported GNU version!' >&2; exit 1", "unsupported GNU version"),
        (
            "{ echo '/usr/bin/ld: warning: odd'; echo '/usr/bin/ld: cannot find -lcudart_static'; "
            "echo 'collect2: error: ld returned 1 exit status'; } >&2; exit 1",
            "not compiled: /usr/bin/ld: cannot find -lcudart_static",
        ),
        ("echo 'x.h(3): warning: will be an error'; echo 'x.h(9): error: bad' >&2; exit 1", "not compiled: x.h(9): error: bad"),
        ("echo 'sh: 1: cicc: not found' >&2; exit 1", "not compiled: sh: 1: cicc: not found"),
        ("exit 1", "/bin/nvcc said nothing (exit status 1)"),
        ("kill -9 $$", "was killed by signal 9"),
    ],
)
def test_compiler_that_fails_says_why(home: Path, compiler: str, words: str) -> None:
    done = check(home, compiler)
    assert (done.verdict, done.passed) == (KernelVerdict.NOT_COMPILED, False)
    assert words in ENGLISH(done.words)


def test_compiler_that_is_not_there_is_said(home: Path) -> None:
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    done = check_kernel(world, KernelWish("/no/nvcc", "sm_89", ENVIRONMENT))
    assert "could not be started" in ENGLISH(done.words)


def test_nothing_is_left_behind(home: Path) -> None:
    check(home, COMPILES)
    assert list((home / ".cache/gpuassist").iterdir()) == []


def test_host_compiler_is_handed_on(home: Path) -> None:
    nvcc = put(home, "bin/nvcc", f"#!/bin/sh\nprintf '%s\\n' \"$*\" > {home}/asked\n: > kernel\n", mode=0o755)
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    put(home, "bin/g++-11", "", mode=0o755)
    check_kernel(world, KernelWish(str(nvcc), "sm_89", ENVIRONMENT, host=f"{home}/bin/g++-11"))
    assert (home / "asked").read_text().split()[:3] == ["-arch=sm_89", "-ccbin", f"{home}/bin/g++-11"]


# What a GPU would do, in loops: each block twice, once up to where its threads wait for each other.
_LOOPS = """
#include <cstdlib>
#include <cstring>
static struct { unsigned x; } blockIdx, threadIdx, blockDim = {256};
typedef int cudaError_t;
enum { cudaSuccess = 0 };
enum Way { cudaMemcpyDeviceToHost };
static const char *cudaGetErrorString(int) { return ""; }
template <class T> int cudaMalloc(T **there, size_t size) { *there = (T *)malloc(size); return 0; }
static int cudaMemset(void *there, int value, size_t size) { memset(there, value, size); return 0; }
static int cudaMemcpy(void *to, const void *from, size_t size, Way) { memcpy(to, from, size); return 0; }
static int cudaGetLastError() { return 0; }
static int cudaDeviceSynchronize() { return 0; }
static unsigned held[256];
static int second;
static void flipped(void *array, const char *name, size_t size) {
    if (const char *place = getenv(name)) { ((unsigned char *)array)[atoi(place) * size + size - 2] ^= 8; }
}
"""
_LAUNCH = """\
    for (unsigned block = 0; block < BLOCKS; ++block)
        for (second = 0; second < 2; ++second)
            for (unsigned thread = 0; thread < THREADS; ++thread) {
                blockIdx.x = block; threadIdx.x = thread;
                if (!getenv("NOTHING")) fill(a, b, c);
            }
    flipped(a, "INT", 4); flipped(b, "FLOAT", 4); flipped(c, "DOUBLE", 8);
"""


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arrays")
    source = ARRAYS.source.replace("__global__ ", "").replace("    __shared__ unsigned held[THREADS];\n", "")
    source = source.replace("__syncthreads();", "if (!second) { return; }")
    source = source.replace("    fill<<<BLOCKS, THREADS>>>(a, b, c);\n", _LAUNCH)
    (folder / "arrays.cpp").write_text(_LOOPS + source)
    subprocess.run(["g++", "-o", folder / "arrays", folder / "arrays.cpp"], check=True)
    return folder / "arrays"


def _run(program: Path, **variables: str) -> str:
    return subprocess.run([program], env=variables, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.needs("g++")
def test_what_is_expected_of_every_element_is_what_the_kernel_computes(arrays: Path) -> None:
    assert _run(arrays) == ARRAYS.right


@pytest.mark.needs("g++")
@pytest.mark.parametrize("kind", ["INT", "FLOAT", "DOUBLE"])
@pytest.mark.parametrize("place", ["0", "255", "256", "40000", "65535"])
def test_any_one_wrong_element_is_named(arrays: Path, kind: str, place: str) -> None:
    told = _run(arrays, **{kind: place})
    assert told.startswith(f"1 of 65536 elements of type {kind.lower()}, the first at [{place}]: ")
    assert "\n" not in told


@pytest.mark.needs("g++")
def test_kernel_that_does_nothing_makes_every_element_wrong(arrays: Path) -> None:
    told = _run(arrays, NOTHING="1")
    assert [line.split(",")[0] for line in told.splitlines()] == [
        f"65536 of 65536 elements of type {kind}" for kind in ("int", "float", "double")
    ]


@pytest.mark.needs("nvcc")
@pytest.mark.parametrize(("program", "kernel"), [(ANSWER, "*answer*"), (ARRAYS, "*fill*")], ids=["answer", "arrays"])
def test_stand_in_driver_runs_what_a_real_compiler_made(home: Path, program: KernelProgram, kernel: str) -> None:
    """Its kernels write 42 to where their first argument points to, and nothing else: right for the one, wrong for the other."""
    if "GPUASSIST_FAKE_CUDA" not in os.environ:
        pytest.skip("NOT RUN: needs GPUASSIST_FAKE_CUDA, the folder of a stand-in driver's libraries")
    fake = {"FAKE_CUDA_DEVICES": "1", "FAKE_CUDA_VERSION": "13.9", "FAKE_CUDA_STRICT_ARCH": "0", "FAKE_CUDA_MEMORY": "1000MiB"}
    variables = {**fake, "PATH": os.environ["PATH"], "LD_LIBRARY_PATH": os.environ["GPUASSIST_FAKE_CUDA"], "FAKE_CUDA_USED": "0"}
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    nvcc = str(shutil.which("nvcc"))
    wish = KernelWish(nvcc, "", {**variables, "FAKE_CUDA_KERNEL": f"{kernel} 0 store=42"}, ("0",), program=program)
    right, nothing = check_kernel(world, wish), check_kernel(world, replace(wish, environment=variables))
    assert right.verdict is (KernelVerdict.RAN if program is ANSWER else KernelVerdict.WRONG), right
    assert nothing.verdict is KernelVerdict.WRONG, nothing
    broken = check_kernel(world, replace(wish, environment={**variables, "FAKE_CUDA_KERNEL": f"{kernel} 700"}))
    assert (broken.verdict, "CUDA error 700" in broken.said) == (KernelVerdict.DID_NOT_RUN, True), broken


@pytest.mark.needs("nvcc")
def test_real_compiler_makes_a_real_kernel(home: Path) -> None:
    nvcc = shutil.which("nvcc")
    assert nvcc is not None
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    done = check_kernel(world, KernelWish(nvcc, "sm_89", {"PATH": os.environ["PATH"]}))
    assert done.passed, done.said


@pytest.mark.parametrize(
    ("compiler", "result", "words"),
    [("exec sleep 60", "echo 42", "cancelled before it was compiled"), (COMPILES, "exec sleep 60", "cancelled before it ran on")],
    ids=["compiling", "running"],
)
def test_what_is_under_way_is_stopped(home: Path, compiler: str, result: str, words: str) -> None:
    nvcc = put(home, "bin/nvcc", f"#!/bin/sh\ntouch {home}/begun\n{compiler}\n", mode=0o755)
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    wish = KernelWish(str(nvcc), "sm_89", ENVIRONMENT, ("0",))
    last = home / "kernel-begun" if compiler == COMPILES else home / "begun"
    put(home, "bin/result", f"#!/bin/sh\ntouch {home}/kernel-begun\n{result}\n", mode=0o755)
    done = check_kernel(world, wish, cancelled=last.exists)
    assert (done.verdict, done.passed) == (KernelVerdict.CANCELLED, False)
    assert words in ENGLISH(done.words)
