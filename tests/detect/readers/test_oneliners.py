"""torch asked in every manner: `python -c`, a here-document, `>>>`, IPython, a notebook's cell; its answers become facts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers import oneliners, read_all
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import ComputeCapability, Target, Version
from tests.rows import for_each
from tests.values import knowledge

ONE_LINE = """\
(base) me@host:~$ python -c "import torch; print(torch.__version__, torch.cuda.is_available(), torch.version.cuda)"
2.5.1+cu124 True 12.4
"""
SESSION = """\
Python 3.10.12 (main, Nov 20 2023, 15:14:05) [GCC 11.4.0] on linux
>>> import torch
>>> torch.__version__
'2.5.1+cu124'
>>> torch.cuda.get_device_name(0)
'NVIDIA GeForce RTX 5090'
>>> torch.cuda.get_device_capability()
(12, 0)
>>> torch.cuda.get_arch_list()
['sm_50', 'sm_60', 'sm_70', 'sm_75', 'sm_80', 'sm_86', 'sm_90']
"""


def told(words: str) -> Machine:
    return oneliners.read(Paste(words))


def environment(words: str) -> PythonEnvironment:
    return value_or(told(words).environments, (PythonEnvironment("", ""),))[0]


def torch(words: str) -> Torch:
    return value_or(environment(words).torch, (Torch(""),))[0]


def gpus(words: str) -> tuple[Gpu, ...]:
    return value_or(told(words).gpus, ())


def version(words: str) -> str:
    return value_or(torch(words).version, "")


def test_one_line_tells_version_and_cuda() -> None:
    found = torch(ONE_LINE)

    assert found.version == Known("2.5.1+cu124", "pasted Python, line 2")
    assert found.cuda == Known(Version((12, 4)), "pasted Python, line 2")
    assert value_or(found.accelerator, None) is Accelerator.CUDA


@pytest.mark.parametrize(
    ("answer", "accelerator"),
    [
        ("2.5.1+cpu False None", Accelerator.CPU),
        ("2.5.1 False None", Accelerator.CPU),
        ("2.5.1+rocm6.2 True None", Accelerator.ROCM),
        ("2.8.0+xpu False None", Accelerator.XPU),
        ("2.5.1+cu124 False 12.4", Accelerator.CUDA),
    ],
)
def test_build_without_cuda_is_what_its_tag_says(answer: str, accelerator: Accelerator) -> None:
    found = torch(ONE_LINE.replace("2.5.1+cu124 True 12.4", answer))

    assert value_or(found.accelerator, None) is accelerator


@for_each(
    "words",
    [
        "$ python3 -c 'import torch; print(torch.__version__)'\n2.5.1+cu124\n",
        "python -c 'import torch; print(torch.__version__)'\n2.5.1+cu124\n",
        "> $ python3.11 -c 'import torch; print(torch.__version__)'\n> 2.5.1+cu124\n",
        '$ python -c "\nimport torch\nprint(torch.__version__)\n"\n2.5.1+cu124\n',
        '$ python -u -c "import torch; print(torch.__version__)"\n2.5.1+cu124\n',
        '$ python -c "import torch; print(\\"v\\", torch.__version__)"\nv 2.5.1+cu124\n',
        "$ python - <<'EOF'\nimport torch\nprint(torch.__version__)\nEOF\n2.5.1+cu124\n",
        "$ python -c 'import torch; print(torch.__version__)'\n/x/y.py:1: UserWarning: hm\n  warnings.warn(\n2.5.1+cu124\n",
        ">>> import torch\n>>> print(torch.__version__)\n2.5.1+cu124\n",
        "> >>> import torch\n> >>> torch.__version__\n> '2.5.1+cu124'\n",
        ">>> import torch as t\n>>> t.__version__\n'2.5.1+cu124'\n",
        ">>> import torch\n>>> print(\n...     torch.__version__\n... )\n2.5.1+cu124\n",
        "In [1]: import torch\n\nIn [2]: torch.__version__\nOut[2]: '2.5.1+cu124'\n",
        "In [1]: import torch\n   ...: print(torch.__version__)\n2.5.1+cu124\n",
        "我的输出：\nimport torch\nprint(torch.__version__)\nprint(torch.cuda.is_available())\n2.5.1+cu124\nFalse\n",
        '!python -c "import torch; print(torch.__version__)"\n2.5.1+cu124\n',
    ],
)
def test_version_is_read_in_every_manner(words: str) -> None:
    assert version(words) == "2.5.1+cu124"


@pytest.mark.parametrize(
    "words",
    [
        "$ python -c 'import torch; print(torch.__version__)'\nTraceback (most recent call last):\nImportError: no\n",
        "$ python -c 'import torch; print(torch.__version__)'\n$ ls\n2.5.1\n",
        "Run python -c 'import torch; print(torch.__version__)' and tell us.\nThanks!\n",
        ">>> import torch\n>>> x = torch.__version__\n>>> 2.5\n2.5\n",
        ">>> import torch\n>>> torch.__version__\n",
        "import torch\nprint(torch.__version__)\n",
        "torch 2.5.1 is out\n",
        "$ python -c 'print(1)'\n2.5.1\n",
    ],
)
def test_no_version_is_invented(words: str) -> None:
    assert version(words) == ""


def test_session_tells_the_gpu() -> None:
    (gpu,) = gpus(SESSION)

    assert gpu.name == Known("NVIDIA GeForce RTX 5090", "pasted Python, line 6")
    assert value_or(gpu.compute_capability, None) == ComputeCapability(12, 0)
    assert gpu.index is NOT_ASKED


def test_session_tells_what_torch_was_compiled_to() -> None:
    targets = value_or(torch(SESSION).targets, ())

    assert [str(one) for one in targets] == ["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"]


def test_each_device_is_a_gpu_of_its_own() -> None:
    found = gpus(
        ">>> import torch\n>>> torch.cuda.get_device_name(0)\n'Tesla T4'\n>>> torch.cuda.get_device_name(1)\n'Tesla V100'\n"
    )

    assert [value_or(gpu.name, "") for gpu in found] == ["Tesla T4", "Tesla V100"]


def test_properties_of_a_device_are_read() -> None:
    (gpu,) = gpus(
        "_CudaDeviceProperties(name='NVIDIA GeForce RTX 4090', major=8, minor=9, total_memory=24217MB, multi_processor_count=128)\n"
    )

    assert value_or(gpu.name, "") == "NVIDIA GeForce RTX 4090"
    assert value_or(gpu.compute_capability, None) == ComputeCapability(8, 9)
    assert value_or(gpu.memory_total_bytes, 0) == 24217 << 20


def test_configuration_tells_cuda_and_targets() -> None:
    found = torch(
        "PyTorch built with:\n  - GCC 9.3\n  - CUDA Runtime 11.8\n"
        "  - NVCC architecture flags: -gencode;arch=compute_80,code=sm_80;-gencode;arch=compute_90,code=compute_90\n"
    )

    assert value_or(found.cuda, None) == Version((11, 8))
    assert value_or(found.targets, ()) == (Target.parse("sm_80"), Target.parse("compute_90"))


def test_python_that_answers_is_told() -> None:
    found = environment(
        "$ python -c 'import torch, sys; print(torch.__version__); print(sys.version)'\n2.5.1\n3.11.9 (main, Apr  6 2024)\n"
    )

    assert value_or(found.python_version, None) == Version((3, 11, 9))


def test_answers_of_two_readers_are_one_torch() -> None:
    machine = read_all(Paste(f"{ONE_LINE}$ pip list | grep torch\ntorch     2.5.1\n"), knowledge())

    (one,) = value_or(machine.environments, ())
    assert [value_or(each.version, "") for each in value_or(one.torch, ())] == ["2.5.1+cu124"]


@given(st.integers(0, 10))
def test_cut_session_names_nothing_else(end: int) -> None:
    cut = "".join(SESSION.splitlines(keepends=True)[:end])

    assert version(cut) in {"", "2.5.1+cu124"}
    assert {value_or(gpu.name, "") for gpu in gpus(cut)} <= {"NVIDIA GeForce RTX 5090"}


@given(st.text(alphabet="torch.>In[1]: \n'\"()print", max_size=200))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(told(f">>> import torch\n>>> {words}\npython -c '{words}\n{words}"), Machine)


def test_very_many_lines_of_code_are_survived() -> None:
    assert version("print(torch.x)\nprint(torch.__version__)\n" * 5000) == ""
