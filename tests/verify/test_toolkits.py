"""Which nvcc is tried with which host compiler for which GPU, and what is said of each; by scripted compilers and a real one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Command, Shell, Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.toolkit import Compiler, Origin, Toolkit
from gpuassist.model.verdict import Cause, Verdict
from gpuassist.model.version import ComputeCapability, Target, Version
from gpuassist.model.words import ENGLISH
from gpuassist.present.toolkit_checks import toolkit_line, toolkits_document
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.kernel_sources import ARRAYS
from gpuassist.verify.runner import Level
from gpuassist.verify.toolkits import ToolkitBegun, ToolkitCheck, ToolkitEvent, check_toolkits
from tests.fakes import put
from tests.values import knowledge

RIGHT = f"echo {ARRAYS.right}"
PATH = "/usr/local/bin:/usr/bin:/bin"
ADA, PASCAL, THOR = (ComputeCapability(*one) for one in ((8, 9), (6, 1), (11, 0)))


class WithDriver(Files):
    """This machine as if a driver were loaded."""

    def exists(self, path: str) -> bool:
        return path == "/dev/nvidiactl" or super().exists(path)


def gpu(name: str, capability: ComputeCapability, uuid: str = "", **facts: Fact[object]) -> Gpu:
    known = Gpu(name=Known(name, "test"), compute_capability=Known(capability, "test"), **facts)  # type: ignore[arg-type]
    return replace(known, uuid=Known(uuid, "test")) if uuid else known


class Bench:
    """A machine of toolkits and compilers that are scripts; all that they were asked stands in `asked`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.toolkits: list[Toolkit] = []
        self.compilers: list[Compiler] = []
        self.gpus: tuple[Gpu, ...] = (gpu("RTX 4090", ADA, "GPU-1"),)
        self.commands: list[Command] = []
        self.variables: tuple[Variable, ...] = (Variable("PATH", PATH),)
        self.heard: list[ToolkitEvent] = []
        self.told: Fact[Terminal] | None = None
        self.path = PATH

    def toolkit(self, version: str, result: str = RIGHT, *, compiles: str = "", **facts: object) -> Toolkit:
        """One whose nvcc runs the lines of `compiles` first, and makes a program of those of `result`."""
        root = f"{self.home}/cuda-{version}"
        asked = f'echo "{version} $* [$NVCC_PREPEND_FLAGS$NVCC_CCBIN]" >> {self.home}/asked'
        nvcc = put(
            self.home, f"cuda-{version}/bin/nvcc", f'#!/bin/sh\n{asked}\n{compiles}\ncp "{root}/result" kernel\n', mode=0o755
        )
        put(self.home, f"cuda-{version}/result", f"#!/bin/sh\n{result}\n", mode=0o755)
        found = Toolkit(root, version=Known(Version.parse(version), "test"), nvcc=Known(str(nvcc), "test"))
        self.toolkits.append(replace(found, **facts))
        return self.toolkits[-1]

    def compiler(self, family: str, version: str, name: str = "", *, typed: bool = False) -> str:
        path = put(self.home, f"bin/{name or f'{family}-{version}'}", "", mode=0o755)
        self.compilers.append(Compiler(family, str(path), Known(Version.parse(version), "test")))
        if typed:
            self.commands.append(Command(family, str(path), str(path)))
        return str(path)

    def types(self, toolkit: Toolkit, *, at: str = "") -> None:
        assert isinstance(toolkit.nvcc, Known)
        self.commands.append(Command("nvcc", at or toolkit.nvcc.value, toolkit.nvcc.value))

    def check(
        self, level: Level = Level.FULL, *, files: Files | None = None, cancelled: Callable[[], bool] = lambda: False
    ) -> tuple[ToolkitCheck, ...]:
        around = Surroundings(str(self.home), "you", os.geteuid(), {"PATH": self.path}, str(self.home), "/bin/bash")
        terminal = self.told or Known(Terminal("/bin/bash", self.variables, tuple(self.commands)), "test")
        machine = Machine(
            gpus=Known(self.gpus, "test"),
            toolkits=Known(tuple(self.toolkits), "test"),
            compilers=Known(tuple(self.compilers), "test"),
            shell=Shell(new_terminal=terminal),
        )
        world = World(around, files or Files())
        return check_toolkits(world, knowledge(), machine, level=level, on_event=self.heard.append, cancelled=cancelled)

    @property
    def asked(self) -> list[str]:
        """The commands without what all have, and with the variables that choose a host compiler."""
        place = self.home / "asked"
        lines = place.read_text().splitlines() if place.exists() else []
        return [line.replace("-o kernel kernel.cu ", "").replace(f"{self.home}/bin/", "") for line in lines]


@pytest.fixture
def bench(home: Path) -> Bench:
    return Bench(home)


def names(checks: tuple[ToolkitCheck, ...]) -> list[str]:
    return [ENGLISH(check.name) for check in checks]


# What is tried


def test_each_nvcc_is_tried_with_each_host_compiler_that_it_accepts(bench: Bench) -> None:
    bench.types(bench.toolkit("12.4"))
    bench.toolkit("11.8")
    bench.compiler("g++", "12.2.0", "g++", typed=True)
    bench.compiler("gcc", "12.2.0", "gcc", typed=True)
    for version in ("9", "11", "13", "14"):
        bench.compiler("gcc", version)
        bench.compiler("g++", version)
    bench.compiler("clang", "14")
    put(bench.home, "bin/clang++-14", "", mode=0o755)
    bench.compiler("clang", "13")  # without a compiler of C++ beside it
    bench.compiler("clang", "19")
    put(bench.home, "bin/clang++-19", "", mode=0o755)
    checks = bench.check()
    assert bench.asked == [
        "12.4 -arch=sm_89 []",
        "12.4 -arch=sm_89 -ccbin g++-9 []",
        "12.4 -arch=sm_89 -ccbin g++-11 []",
        "12.4 -arch=sm_89 -ccbin g++-13 []",
        "12.4 -arch=sm_89 -ccbin clang++-14 []",
        "11.8 -arch=sm_89 []",
        "11.8 -arch=sm_89 -ccbin g++-9 []",
        "11.8 -arch=sm_89 -ccbin g++-11 []",
        "11.8 -arch=sm_89 -ccbin clang++-14 []",
    ]
    assert names(checks)[:2] == ["nvcc 12.4 with g++ 12 for sm_89", "nvcc 12.4 with g++ 9 for sm_89"]
    assert [check.first for check in checks] == [True] * 5 + [False] * 4


def test_toolkits_own_header_says_more_than_the_table(bench: Bench) -> None:
    bench.toolkit("12.4", gcc_limit=Known(11, "host_config.h"))
    bench.compiler("g++", "12")
    bench.compiler("g++", "11")
    bench.check()
    assert [line for line in bench.asked if "ccbin" in line] == ["12.4 -arch=sm_89 -ccbin g++-11 []"]


def test_release_that_nobody_knows_is_tried_with_its_own_host_compiler(bench: Bench) -> None:
    bench.toolkit("99.0")
    bench.compiler("g++", "11")
    bench.check()
    assert bench.asked == ["99.0 -arch=sm_89 []"]


def test_quick_tries_what_a_new_terminal_finds(bench: Bench) -> None:
    bench.toolkit("12.8")
    bench.types(bench.toolkit("12.4"))
    bench.compiler("g++", "11")
    assert names(bench.check(Level.QUICK)) == ["nvcc 12.4 with the host compiler that it takes for sm_89"]
    assert bench.asked == ["12.4 -arch=sm_89 []"]


def test_quick_without_an_nvcc_has_nothing_to_try(bench: Bench) -> None:
    bench.toolkit("12.8")
    assert bench.check(Level.QUICK) == ()


def test_nvcc_of_no_toolkit_that_was_found_is_tried_by_its_path(bench: Bench) -> None:
    one = bench.toolkit("12.4")
    bench.toolkits.clear()
    bench.types(one)
    assert names(bench.check()) == [f"{bench.home}/cuda-12.4/bin/nvcc with the host compiler that it takes for sm_89"]


def test_wrapper_is_called_as_it_is_typed(bench: Bench) -> None:
    wrapper = put(bench.home, "bin/nvcc", f'#!/bin/sh\nexec {bench.home}/cuda-12.4/bin/nvcc --via "$@"\n', mode=0o755)
    bench.types(bench.toolkit("12.4", wrappers=(str(wrapper),)), at=str(wrapper))
    bench.check()
    assert bench.asked == ["12.4 --via -arch=sm_89 []"]


def test_users_choice_of_a_host_compiler_holds_for_the_default_alone(bench: Bench) -> None:
    bench.variables = (*bench.variables, Variable("NVCC_PREPEND_FLAGS", "-ccbin g++-10"))
    bench.types(bench.toolkit("12.4"))
    bench.compiler("g++", "12.2", "g++", typed=True)
    checks = bench.check()
    assert bench.asked == ["12.4 -arch=sm_89 [-ccbin g++-10]", "12.4 -arch=sm_89 -ccbin g++ []"]
    assert "NVCC_PREPEND_FLAGS" in names(checks)[0]


def test_gcc_beside_nvcc_is_what_it_takes(bench: Bench) -> None:
    """As in Debian's package."""
    bench.compiler("g++", "14.1", "g++", typed=True)
    older = bench.compiler("g++", "12")
    bench.types(bench.toolkit("12.4"))
    (bench.home / "cuda-12.4/bin/g++").symlink_to(older)
    assert names(bench.check()) == ["nvcc 12.4 with g++ 12 for sm_89"]


def test_nvcc_of_conda_is_tried_as_in_its_environment(bench: Bench) -> None:
    bench.toolkit("12.4", origin=Known(Origin.CONDA, "test"))
    put(bench.home, "cuda-12.4/conda-meta/history")
    put(bench.home, "cuda-12.4/bin/x86_64-conda-linux-gnu-c++", "", mode=0o755)
    bench.compiler("g++", "11")
    bench.check()
    assert bench.asked == [f"12.4 -arch=sm_89 [-ccbin={bench.home}/cuda-12.4/bin/x86_64-conda-linux-gnu-c++]"]


@pytest.mark.parametrize("place", ["lib", "lib64", "targets/x86_64-linux/lib"])
def test_part_of_a_toolkit_among_packages_is_skipped(bench: Bench, place: str) -> None:
    part = bench.toolkit("13.0", origin=Known(Origin.WHEEL, "test"))
    (check,) = bench.check()
    assert (check.verdict, check.cause, bench.asked) == (Verdict.SKIPPED, Cause.ABSENT, [])
    put(bench.home, "cuda-13.0/include/cuda_runtime.h")
    assert "libcudart_static.a" in ENGLISH(bench.check()[0].reason or text(""))
    put(bench.home, f"cuda-13.0/{place}/libcudart_static.a")
    bench.check()
    assert bench.asked == ["13.0 -arch=sm_89 []"]
    bench.types(part)  # and what a terminal finds is tried whatever it lacks
    (bench.home / "cuda-13.0/include/cuda_runtime.h").unlink()
    bench.check()
    assert len(bench.asked) == 2


# For which GPUs


def test_each_architecture_is_compiled_once_and_run_on_each_of_its_gpus(bench: Bench) -> None:
    bench.gpus = (gpu("RTX 4090", ADA, "GPU-1"), gpu("GTX 1080 Ti", PASCAL, "GPU-2"), gpu("RTX 4080", ADA, "GPU-3"))
    bench.toolkit("12.4", f"echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER >> {bench.home}/ran; {RIGHT}")
    checks = bench.check(files=WithDriver())
    assert bench.asked == ["12.4 -arch=sm_89 []", "12.4 -arch=sm_61 []"]
    assert (bench.home / "ran").read_text().splitlines() == [f"GPU-{number} PCI_BUS_ID" for number in (1, 3, 2)]
    assert [(check.verdict, check.device, check.gpu) for check in checks] == [
        (Verdict.PASS, "GPU-1", "RTX 4090"),
        (Verdict.PASS, "GPU-3", "RTX 4080"),
        (Verdict.PASS, "GPU-2", "GTX 1080 Ti"),
    ]


def test_architecture_that_nvcc_does_not_know_is_skipped(bench: Bench) -> None:
    bench.gpus = (gpu("GTX 1080 Ti", PASCAL), gpu("RTX 4090", ADA))
    bench.toolkit("13.0")
    bench.toolkit("12.4", targets=Known((Target.parse("compute_61"),), "nvcc"))  # what it says itself counts first
    checks = bench.check()
    assert bench.asked == ["13.0 -arch=sm_89 []", "12.4 -arch=sm_61 []"]
    assert [(check.cause, ENGLISH(check.name)) for check in checks if check.cause is Cause.FORMAT] == [
        (Cause.FORMAT, "nvcc 13.0 for sm_61"),
        (Cause.FORMAT, "nvcc 12.4 for sm_89"),
    ]


def test_chip_is_called_what_this_release_calls_it(bench: Bench) -> None:
    bench.gpus = (gpu("Thor", THOR),)
    bench.toolkit("12.9")
    bench.toolkit("13.0")
    bench.check()
    assert bench.asked == ["12.9 -arch=sm_101 []", "13.0 -arch=sm_110 []"]


def test_machine_without_gpus_compiles_for_what_nvcc_chooses(bench: Bench) -> None:
    bench.gpus = ()
    bench.toolkit("12.4")
    (check,) = bench.check()
    assert (bench.asked, check.verdict, check.cause) == (["12.4 []"], Verdict.SKIPPED, Cause.ABSENT)


def test_gpu_that_the_driver_does_not_list_is_not_proved_by_another(bench: Bench) -> None:
    bench.gpus = (gpu("RTX 4090", ADA, "GPU-1"), gpu("GTX 1080 Ti", PASCAL))
    bench.toolkit("12.4")
    one, other = bench.check(files=WithDriver())
    assert (one.verdict, other.verdict, other.cause, other.device) == (Verdict.PASS, Verdict.SKIPPED, Cause.ABSENT, "")


def test_gpu_that_is_divided_is_taken_by_its_instances(bench: Bench) -> None:
    parts = Known(("MIG-1", "MIG-2"), "NVML")
    bench.gpus = (gpu("A100", ComputeCapability(8, 0), "GPU-1", mig_enabled=Known(True, "NVML"), mig_uuids=parts),)
    bench.toolkit("12.4")
    assert [check.device for check in bench.check(files=WithDriver())] == ["MIG-1", "MIG-2"]


# What is said


WRONG = "1 of 65536 elements of type int, the first at [7]: 3 and not 4"
BUSY = "echo 'CUDA error 46: CUDA-capable device(s) is/are busy or unavailable' >&2; exit 1"
OUTCOMES: Mapping[str, tuple[Verdict, Cause | None, str]] = {
    RIGHT: (Verdict.PASS, None, ""),
    f"echo '{WRONG}'": (Verdict.FAIL, None, WRONG),
    "echo 42": (Verdict.FAIL, None, "42"),
    ":": (Verdict.FAIL, None, "''"),
    f"{RIGHT}; exit 1": (Verdict.ERROR, None, ARRAYS.right),
    f"{RIGHT}; kill -11 $$": (Verdict.ERROR, None, "signal 11"),
    "echo 'CUDA error 700: an illegal memory access' >&2; exit 1": (Verdict.ERROR, None, "CUDA error 700"),
    "echo 'CUDA error 2: out of memory' >&2; exit 1": (Verdict.SKIPPED, Cause.MEMORY, "out of memory"),
    BUSY: (Verdict.SKIPPED, Cause.BUSY, "busy"),
    "echo 'CUDA error 35: driver version is insufficient' >&2; exit 1": (Verdict.ERROR, None, "CUDA error 35"),
}


@pytest.mark.parametrize("result", OUTCOMES)
def test_what_the_program_says_is_what_the_check_says(bench: Bench, result: str) -> None:
    bench.toolkit("12.4", result)
    (check,) = bench.check(files=WithDriver())
    verdict, cause, words = OUTCOMES[result]
    assert (check.verdict, check.cause) == (verdict, cause)
    assert (check.reason is None) == (verdict is Verdict.PASS)
    assert words in ENGLISH(check.reason or text(""))


def test_one_gpu_that_is_wrong_does_not_speak_for_the_other(bench: Bench) -> None:
    bench.gpus = (gpu("RTX 4090", ADA, "GPU-1"), gpu("RTX 4090", ADA, "GPU-2"))
    bench.toolkit("12.4", f"test $CUDA_VISIBLE_DEVICES = GPU-1 && echo no || {RIGHT}")
    assert [check.verdict for check in bench.check(files=WithDriver())] == [Verdict.FAIL, Verdict.PASS]


def test_program_that_never_ends_hangs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.verify.kernel.RUN_SECONDS", 0.2)
    bench.toolkit("12.4", "exec sleep 60")
    assert [check.verdict for check in bench.check(files=WithDriver())] == [Verdict.HUNG]


def test_compiler_that_never_ends_hangs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.verify.kernel.COMPILE_SECONDS", 0.2)
    bench.toolkit("12.4", compiles="exec sleep 60")
    assert [check.verdict for check in bench.check()] == [Verdict.HUNG]


def test_what_does_not_compile_is_an_error_in_the_compilers_words(bench: Bench) -> None:
    told = "echo 'x.h(3): warning: odd'; echo 'host_config.h:143:2: error: #error -- unsupported GNU version!' >&2; exit 1"
    bench.toolkit("12.4", compiles=told)
    (check,) = bench.check(files=WithDriver())
    assert (check.verdict, check.device) == (Verdict.ERROR, "")
    assert "unsupported GNU version" in ENGLISH(check.reason or text(""))
    assert "warning: odd" in check.said


def test_what_is_not_run_was_compiled(bench: Bench) -> None:
    bench.toolkit("12.4")
    (check,) = bench.check()
    assert (check.verdict, check.cause, check.device) == (Verdict.SKIPPED, Cause.ABSENT, "")
    assert ENGLISH(check.reason or text("")).startswith("compiled; not run")


# Told while it runs


def test_each_check_begins_and_ends(bench: Bench) -> None:
    bench.toolkit("12.4")
    checks = bench.check(files=WithDriver())
    begun = [(ENGLISH(event.name), event.device) for event in bench.heard if isinstance(event, ToolkitBegun)]
    assert begun == [(ENGLISH(checks[0].name), ""), (ENGLISH(checks[0].name), "GPU-1")]
    assert bench.heard[-1] == checks[0]


def test_once_cancelled_what_was_found_is_kept(bench: Bench) -> None:
    bench.toolkit("12.4")
    bench.toolkit("11.8", compiles="exec sleep 60")
    checks = bench.check(cancelled=lambda: any(line.startswith("11.8") for line in bench.asked))
    assert names(checks) == ["nvcc 12.4 with the host compiler that it takes for sm_89"]


def test_what_has_no_time_left_is_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.verify.toolkits.SECONDS", dict.fromkeys(Level, 0.0))
    bench.toolkit("12.4")
    (check,) = bench.check()
    assert (check.verdict, check.cause, bench.asked) == (Verdict.SKIPPED, Cause.TIME, [])


def test_line_names_the_gpu_and_the_reason(bench: Bench) -> None:
    bench.toolkit("12.4", f"echo '{WRONG}'")
    (check,) = bench.check(files=WithDriver())
    line = ENGLISH(toolkit_line(check))
    assert line.startswith("nvcc 12.4 with the host compiler that it takes for sm_89 on RTX 4090: failed, ")
    assert line.endswith(WRONG)
    (document,) = toolkits_document((check,), ENGLISH)
    assert isinstance(document, dict)
    assert (document["verdict"], document["device"], document["gpu"]) == ("fail", "GPU-1", "RTX 4090")


@pytest.mark.needs("nvcc")
def test_real_compiler_compiles_all_of_it(bench: Bench) -> None:
    nvcc = str(shutil.which("nvcc"))
    bench.commands.append(Command("nvcc", nvcc, nvcc))
    bench.gpus = ()
    bench.variables = (Variable("PATH", os.environ["PATH"]),)
    (check,) = bench.check(Level.QUICK)
    assert (check.verdict, check.cause) == (Verdict.SKIPPED, Cause.ABSENT), check.said


def test_terminal_that_nobody_asked_is_this_ones_own(bench: Bench) -> None:
    bench.toolkit("12.4")
    bench.told = Unknown(text("nobody asked"), asked=False)
    bench.path = f"{bench.home}/cuda-12.4/bin:{PATH}"
    assert [check.first for check in bench.check(Level.QUICK)] == [True]
    assert bench.asked == ["12.4 -arch=sm_89 []"]
