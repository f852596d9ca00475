"""Every fact as a line, none lost and none made up."""

from __future__ import annotations

from gpuassist.model.driver import DeviceNode, Driver, KernelModule, Library, NvmlStatus
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Known, Unknown
from gpuassist.model.gpu import Gpu, GpuProcess, Holder, PcieLink, PowerState
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.shell import Command, Shell, StartupFile, Terminal, Variable
from gpuassist.model.system_wide import SystemWide, ToolkitLink
from gpuassist.model.text import text
from gpuassist.model.toolkit import Compiler, Toolkit
from gpuassist.model.version import Target, Version
from gpuassist.model.words import ENGLISH
from gpuassist.present.facts import words_of, words_of_field
from gpuassist.present.listing import facts, sections
from tests.rows import for_each

NO = Unknown(text("because"))


def _listed(machine: Machine) -> dict[str, dict[str, str]]:
    return {
        ENGLISH(section.title): {ENGLISH(line.label): ENGLISH(line.value) for line in section.lines}
        for section in sections(machine)
    }


def test_known_fact_has_its_value_and_source() -> None:
    (line,) = facts(Host(kernel=Known("6.8.0", "/proc/version")))
    assert (ENGLISH(line.label), ENGLISH(line.value), line.source, line.known) == ("kernel", "6.8.0", "/proc/version", True)


def test_unknown_fact_has_its_reason() -> None:
    (line,) = facts(Host(kernel=NO))
    assert (ENGLISH(line.value), line.known) == ("because", False)


def test_fact_that_nobody_asked_is_left_out() -> None:
    assert facts(Host(kernel=NOT_ASKED)) == ()


def test_what_counts_for_every_program_has_a_section_where_it_was_looked_at() -> None:
    links = Known((ToolkitLink("/usr/local/cuda", "/usr/local/cuda-12.4", exists=True, alternatives=False),), "/usr/local/cuda")
    told = _listed(Machine(system=SystemWide(links=links, loader=NO)))["For all programs"]
    assert told == {
        "links to toolkits": "/usr/local/cuda → /usr/local/cuda-12.4",
        "directories that the loader searches": "because",
    }


def test_empty_machine_has_every_section() -> None:
    assert list(_listed(Machine())) == [
        "Host",
        "GPUs",
        "Driver",
        "CUDA toolkits",
        "Host compilers",
        "Python environments",
        "Shell",
        "GPU processes",
    ]


def test_what_was_looked_for_and_not_found_says_none() -> None:
    machine = Machine(gpus=Known((), "pci"), toolkits=Known((), "x"), compilers=Known((), "x"), holders=Known((), "x"))
    listed = _listed(machine)
    assert [listed[name]["found"] for name in ("GPUs", "CUDA toolkits", "Host compilers", "GPU processes")] == ["none"] * 4


def test_gpu_is_listed_by_name() -> None:
    gpu = Gpu(
        name=Known("NVIDIA GeForce RTX 4090", "NVML"),
        index=Known(0, "NVML"),
        memory_total_bytes=Known(24 << 30, "NVML"),
        power_state=Known(PowerState.ASLEEP, "sysfs"),
        processes=Known((GpuProcess(7, "compute", Known(1 << 30, "NVML")), GpuProcess(8, "compute")), "NVML"),
    )
    assert _listed(Machine(gpus=Known((gpu,), "pci")))["GPU: NVIDIA GeForce RTX 4090"] == {
        "index": "0",
        "memory": "24 GiB",
        "power state": "asleep",
        "processes on it": "process 7 with 1 GiB, process 8",
    }


def test_toolkit_names_symlinks_and_wrappers() -> None:
    toolkit = Toolkit("/usr/local/cuda-12.4", links=("/usr/local/cuda",), wrappers=("/usr/bin/nvcc",))
    assert _listed(Machine(toolkits=Known((toolkit,), "x")))["CUDA toolkit /usr/local/cuda-12.4"] == {
        "symlinks to it": "/usr/local/cuda",
        "programs that run its nvcc": "/usr/bin/nvcc",
    }


def test_environment_lists_each_torch() -> None:
    torch = Torch("/v/torch", version=Known("2.5.1+cpu", "x"), accelerator=Known(Accelerator.CPU, "x"), targets=Known((), "x"))
    environment = PythonEnvironment("/v", "mine", active=Known(True, "x"), torch=Known((torch,), "x"))
    listed = _listed(Machine(environments=Known((environment,), "x")))["Python environment mine (/v), active"]
    assert listed == {
        "torch": "one",
        "directory of torch": "/v/torch",
        "version": "2.5.1+cpu",
        "computes on": "cpu",
        "architectures": "none",
    }


def test_shadowed_torch_is_counted() -> None:
    environment = PythonEnvironment("/v", "mine", torch=Known((Torch("/a"), Torch("/b")), "x"))
    listed = _listed(Machine(environments=Known((environment,), "x")))["Python environment mine (/v)"]
    assert listed["torch"] == "2, of which the first is imported"


def test_shell_lists_the_new_terminal_beside_our_own() -> None:
    terminal = Terminal("/bin/bash", (Variable("CUDA_HOME", "/new"),), (Command("nvcc", "/a/nvcc", "/b/nvcc"),))
    own = Terminal("/bin/bash", (Variable("CUDA_HOME", "/own"),), ())
    files = (StartupFile("/home/you/.bashrc", True), StartupFile("/home/you/.profile", False))
    shell = Shell(startup_files=Known(files, "x"), new_terminal=Known(terminal, "x"), own=Known(own, "x"))
    assert _listed(Machine(shell=shell))["Shell"] == {
        "start-up files that exist": "/home/you/.bashrc",
        "CUDA_HOME in a new terminal": "/new",
        "nvcc in a new terminal": "/a/nvcc, which is /b/nvcc",
        "CUDA_HOME of gpuassist itself": "/own",
    }


def test_terminal_that_could_not_be_asked_says_why() -> None:
    assert _listed(Machine(shell=Shell(new_terminal=NO)))["Shell"] == {"new terminal": "because"}


def test_compilers_and_holders_are_named() -> None:
    gcc, gpp = Compiler("gcc", "/usr/bin/gcc", Known(Version((13, 3)), "x")), Compiler("g++", "/usr/bin/g++", NO)
    holder = Holder(7, "you", "python train.py", ("/dev/nvidia0", "/dev/nvidiactl"))
    listed = _listed(Machine(compilers=Known((gcc, gpp), "x"), holders=Known((holder,), "x")))
    assert listed["Host compilers"] == {"gcc at /usr/bin/gcc": "13.3", "g++ at /usr/bin/g++": "because"}
    assert listed["GPU processes"] == {"process 7 of you": "python train.py, on /dev/nvidia0, /dev/nvidiactl"}


def test_driver_parts_are_said_in_a_line_each() -> None:
    driver = Driver(
        loaded=Known((KernelModule("/sys/module/nvidia", Known(Version((580,)), "x"), open_flavour=Known(True, "x")),), "x"),
        libcuda=Known((Library("/usr/lib/libcuda.so.580"),), "x"),
        nvml_status=Known(NvmlStatus(0, "NVML_SUCCESS"), "x"),
        device_nodes=Known((DeviceNode("/dev/nvidia0", 0o660, "root:video", False, False),), "x"),
    )
    assert _listed(Machine(driver=driver))["Driver"] == {
        "loaded NVIDIA modules": "580, open (/sys/module/nvidia)",
        "libcuda": "/usr/lib/libcuda.so.580",
        "device nodes": "/dev/nvidia0: not usable by this user (root:video, 0660)",
        "NVML": "NVML_SUCCESS (0)",
    }


@for_each(
    ("value", "words"),
    [
        (True, "yes"),
        (False, "no"),
        ("", "none"),
        ((), "none"),
        (0, "0"),
        (Target.parse("sm_90a"), "sm_90a"),
        (("a", "b", "c"), "a, b, c"),
        ("{braces}", "{braces}"),
        (Distribution("debian", (), "12", "Debian 12"), "Debian 12"),
        (PcieLink(8, 16, 2.5, 16.0), "×8 at 2.5 GT/s (at most ×16 at 16 GT/s)"),
        (KernelModule("/m", Known(Version((580,)), "x"), open_flavour=Known(False, "x")), "580, proprietary (/m)"),
        (KernelModule("/m"), "? (/m)"),
        (DeviceNode("/dev/nvidia0", 0o666, "root:root", True, True), "/dev/nvidia0: usable"),
        (Command("gcc", "/usr/bin/gcc", "/usr/bin/gcc"), "/usr/bin/gcc"),
    ],
)
def test_value_in_words(value: object, words: str) -> None:
    assert ENGLISH(words_of(value)) == words


def test_zero_of_wsl_means_none() -> None:
    assert [ENGLISH(words_of_field("wsl", number)) for number in (0, 2)] == ["none", "2"]
