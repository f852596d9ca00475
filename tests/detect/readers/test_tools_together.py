"""Several tools in one paste, behind any prompt, quoted, in any language: their facts are one machine, and the rules judge it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.detect.readers import read_all
from gpuassist.diagnose.judge import judge
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.values import knowledge

Wrap = Callable[[str], str]

LSPCI = (
    "lspci -nnk | grep -A3 -i nvidia",
    "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation GA102 [GeForce RTX 3090] [10de:2204] (rev a1)\n"
    "\tKernel driver in use: nvidia\n\tKernel modules: nvidiafb, nouveau, nvidia_drm, nvidia",
)
LSMOD = ("lsmod | grep nvidia", "nvidia_uvm           1527808  0\nnvidia              56717312  120 nvidia_uvm")
UNAME = (
    "uname -a",
    "Linux box 6.8.0-45-generic #45-Ubuntu SMP PREEMPT_DYNAMIC Fri Aug 30 12:02:04 UTC 2024 x86_64 x86_64 x86_64 GNU/Linux",
)
PIP = ("pip list | grep torch", "torch                    2.7.0+cpu\ntorchvision              0.22.0+cpu")
LS = ("ls /usr/local", "bin  cuda  cuda-12.4  etc  lib")
WHICH = ("which nvcc", "/usr/local/cuda/bin/nvcc")
PYTHON = ('python -c "import torch; print(torch.__version__, torch.cuda.is_available())"', "2.7.0+cpu False")
RUNS = (LSPCI, LSMOD, UNAME, PIP, LS, WHICH, PYTHON)

PROMPTS = ["$ ", "# ", "me@box:~$ ", "(base) me@box:~/x$ ", "[me@box x]$ ", "➜  x ", "❯ ", "!", "In [4]: !"]


def paste(prompt: str, runs: tuple[tuple[str, str], ...] = RUNS) -> str:
    return "".join(f"{prompt}{command}\n{output}\n" for command, output in runs) + f"{prompt}true\n"


def read(words: str) -> Machine:
    return read_all(Paste(words), knowledge())


def torch(machine: Machine) -> Torch:
    environment = value_or(machine.environments, (PythonEnvironment("", ""),))[0]
    return value_or(environment.torch, (Torch(""),))[0]


def facts(machine: Machine) -> tuple[object, ...]:
    gpus, toolkits = value_or(machine.gpus, ()), value_or(machine.toolkits, ())
    return (
        [(value_or(gpu.name, ""), value_or(gpu.kernel_driver, "?")) for gpu in gpus],
        value_or(machine.host.kernel, ""),
        bool(value_or(machine.driver.loaded, ())),
        [(one.root, str(value_or(one.version, ""))) for one in toolkits],
        (value_or(torch(machine).version, ""), value_or(torch(machine).accelerator, None)),
    )


EXPECTED = (
    [("GeForce RTX 3090", "nvidia")],
    "6.8.0-45-generic",
    True,
    [("/usr/local/cuda-12.4", "12.4")],
    ("2.7.0+cpu", Accelerator.CPU),
)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_prompt_changes_nothing(prompt: str) -> None:
    assert facts(read(paste(prompt))) == EXPECTED


@pytest.mark.parametrize("mark", ["> ", ">", "> > ", ">> "])
def test_quotation_changes_nothing(mark: str) -> None:
    assert facts(read("\n".join(mark + line for line in paste("$ ").split("\n")))) == EXPECTED


@pytest.mark.parametrize(
    "prose",
    [
        "Hello, my GPU is not used. Here is everything I was asked for:\n\n```\n{}```\nThanks!\n",
        "你好，我的显卡用不了，下面是输出：\n{}谢谢大家\n",
        "Bonjour, voici les sorties :\n{}Merci d'avance\n",
        "Всем привет, вот вывод команд:\n{}Спасибо\n",
        "お世話になります。出力は以下の通りです。\n{}よろしくお願いします。\n",
    ],
)
def test_prose_around_changes_nothing(prose: str) -> None:
    assert facts(read(prose.replace("{}", paste("$ ")))) == EXPECTED


@given(st.permutations(RUNS))
@settings(deadline=None)  # the machine may be busy
def test_order_changes_nothing(runs: list[tuple[str, str]]) -> None:
    assert facts(read(paste("$ ", tuple(runs)))) == EXPECTED


@given(st.integers(0, 40))
@settings(deadline=None)
def test_text_that_ends_early_says_nothing_else(end: int) -> None:
    cut = "".join(paste("$ ").splitlines(keepends=True)[:end])

    machine = read(cut)
    for fact, whole in (
        (machine.host.kernel, "6.8.0-45-generic"),
        (torch(machine).version, "2.7.0+cpu"),
        (torch(machine).accelerator, Accelerator.CPU),
    ):
        assert fact == NOT_ASKED or (isinstance(fact, Known) and fact.value == whole)


def test_facts_together_prove_the_cpu_build() -> None:
    machine = read(paste("$ "))

    assert [one.problem for one in judge(machine, knowledge()).findings][:1] == ["torch-cpu-only"]


def test_link_of_the_listing_leads_nvcc_to_its_toolkit() -> None:
    machine = read(paste("$ ", (LS, WHICH)))

    terminal = value_or(machine.shell.new_terminal, None)
    assert terminal is not None
    command = terminal.command("nvcc")
    assert command is not None
    assert command.real_path == "/usr/local/cuda-12.4/bin/nvcc"


def test_version_of_nvcc_belongs_to_the_toolkit_that_is_found() -> None:
    version = ("nvcc --version", "Cuda compilation tools, release 12.4, V12.4.131\nBuild cuda_12.4.r12.4/compiler.34097967_0")
    machine = read(paste("$ ", (LS, WHICH, version)))

    (toolkit,) = value_or(machine.toolkits, ())
    assert (toolkit.root, str(value_or(toolkit.version, ""))) == ("/usr/local/cuda-12.4", "12.4.131")


@pytest.mark.parametrize(
    ("runs", "problem"),
    [
        ((("lspci | grep -i nvidia", ""),), "no-nvidia-gpu"),
        ((LSPCI, ("lsmod | grep nvidia", ""), ("modinfo nvidia", "modinfo: ERROR: Module nvidia not found.")), "no-driver"),
        (((LSPCI[0], LSPCI[1].replace("in use: nvidia", "in use: nouveau")),), "nouveau-active"),
        (
            (LSPCI, ("lsmod | grep nvidia", ""), ("dkms status", "nvidia/550.107.02, 6.8.0-45-generic, x86_64: installed")),
            "driver-not-loaded",
        ),
        ((LS, ("nvcc --version", "bash: nvcc: command not found")), "nvcc-not-on-path"),
        (
            (("gpustat", "box  Mon Aug 22 15:23:57 2022  470.82.01\n[0] NVIDIA A100-SXM4-40GB | 27'C,   0 % |     3 / 40960 MB |"),
             ("pip list | grep torch", "torch   2.1.0+cu121")),
            "driver-too-old-for-cuda",
        ),
        (
            (("python -c 'import torch; print(torch.__version__); print(torch.cuda.get_device_name(0))'",
              "2.5.1+cu124\nNVIDIA GeForce RTX 5090"),),
            "torch-lacks-sm",
        ),
    ],
)  # fmt: skip
def test_rules_judge_what_the_tools_tell(runs: tuple[tuple[str, str], ...], problem: str) -> None:
    words = paste("$ ", tuple((command, output) for command, output in runs)).replace("\n\n", "\n")

    assert problem in {one.problem for one in judge(read(words), knowledge()).findings}


@pytest.mark.parametrize(
    "runs",
    [
        (LSPCI, LSMOD, UNAME),
        (LS, WHICH),
        (UNAME, PIP),
        (("python --version", "Python 3.11.4"), ("gcc --version", "gcc (Ubuntu 13.2.0-23ubuntu4) 13.2.0")),
        (LSPCI, ("pip list | grep torch", "torch   2.5.1+cu124")),
    ],
)
def test_sound_tools_prove_nothing_wrong(runs: tuple[tuple[str, str], ...]) -> None:
    assert judge(read(paste("$ ", runs)), knowledge()).findings == ()
