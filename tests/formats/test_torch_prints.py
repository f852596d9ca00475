"""What code prints is read from the code alone: every way to put torch's answers on a line, and code that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.torch_prints import TorchQuestion, expected
from tests.rows import for_each

PRINTED = [
    ("print(torch.__version__)", "2.1.0+cu121", {TorchQuestion.VERSION: "2.1.0+cu121"}),
    ("print(torch.__version__, torch.cuda.is_available(), torch.version.cuda)", "2.5.1 True 12.4", {TorchQuestion.CUDA: "12.4"}),
    ("print(torch.version.cuda)", "None", {TorchQuestion.CUDA: "None"}),
    ("print('torch', torch.__version__)", "torch 2.1.0", {TorchQuestion.VERSION: "2.1.0"}),
    ("print(f'torch {torch.__version__}, CUDA {torch.version.cuda}')", "torch 2.1.0, CUDA 12.1", {TorchQuestion.CUDA: "12.1"}),
    ("print('{} / {}'.format(torch.__version__, torch.version.cuda))", "2.1.0 / 12.1", {TorchQuestion.CUDA: "12.1"}),
    ("print('%s %s' % (torch.__version__, torch.version.cuda))", "2.1.0 12.1", {TorchQuestion.CUDA: "12.1"}),
    ("print('v' + torch.__version__)", "v2.1.0", {TorchQuestion.VERSION: "2.1.0"}),
    ("print('n: ' + str(torch.version.cuda))", "n: 11.8", {TorchQuestion.CUDA: "11.8"}),
    ("print(torch.__version__, torch.version.cuda, sep='|')", "2.1.0|12.1", {TorchQuestion.CUDA: "12.1"}),
    (
        "print(torch.cuda.device_count(), torch.cuda.get_device_name(1))",
        "2 NVIDIA A100-SXM4-80GB",
        {TorchQuestion.NAME: "NVIDIA A100-SXM4-80GB"},
    ),
    ("print(torch.cuda.get_device_capability())", "(8, 9)", {TorchQuestion.CAPABILITY: "(8, 9)"}),
    ("print(torch.cuda.get_arch_list())", "['sm_80', 'compute_90']", {TorchQuestion.TARGETS: "['sm_80', 'compute_90']"}),
    ("print(torch.cuda.get_device_name(0) if torch.cuda.is_available() else 'CPU')", "Tesla T4", {TorchQuestion.NAME: "Tesla T4"}),
    ("import torch as t; print(t.__version__)", "2.1.0", {TorchQuestion.VERSION: "2.1.0"}),
    ("from torch import version, __version__ as v\nprint(version.cuda)", "12.1", {TorchQuestion.CUDA: "12.1"}),
    (
        "import torch, sys; print(sys.version)",
        "3.10.12 (main, Nov 20 2023) [GCC 11.4.0]",
        {TorchQuestion.PYTHON: "3.10.12 (main, Nov 20 2023) [GCC 11.4.0]"},
    ),
    ("print(torch.version.hip)", "6.2.41133-dd7f95766", {TorchQuestion.HIP: "6.2.41133-dd7f95766"}),
    ("print(len(sys.argv), torch.__version__)", "3 2.1.0", {TorchQuestion.VERSION: "2.1.0"}),
]
SHOWN = [
    ("torch.__version__", "'2.1.0+cpu'", TorchQuestion.VERSION, "2.1.0+cpu"),
    ("torch.__version__, torch.cuda.is_available()", "('2.1.0', True)", TorchQuestion.VERSION, "2.1.0"),
    ("torch.version.cuda", "'12.1'", TorchQuestion.CUDA, "12.1"),
    ("torch.cuda.get_device_name(0)", "'NVIDIA GeForce RTX 4090'", TorchQuestion.NAME, "NVIDIA GeForce RTX 4090"),
    ("torch.cuda.get_device_capability(0)", "(8, 9)", TorchQuestion.CAPABILITY, "(8, 9)"),
]


@for_each(("code", "line", "values"), PRINTED)
def test_printed_line_is_foreseen(code: str, line: str, values: dict[TorchQuestion, str]) -> None:
    (one,) = expected(code)

    found = one.pattern.fullmatch(line)
    assert found is not None
    told = {group.asked: value for group, value in zip(one.groups, found.groups(), strict=True)}
    assert values.items() <= told.items()


@pytest.mark.parametrize(("code", "line", "asked", "value"), SHOWN)
def test_shown_value_is_foreseen(code: str, line: str, asked: TorchQuestion, value: str) -> None:
    (one,) = expected(code, echoed=True)

    found = one.pattern.fullmatch(line)
    assert found is not None
    assert (one.groups[0].asked, found[1]) == (asked, value)


@pytest.mark.parametrize(("code", "line"), [
    ("print(torch.__version__)", "torch 2.1.0"),
    ("print(torch.__version__)", "UserWarning: CUDA initialization"),
    ("print(torch.cuda.get_device_name(0))", "Traceback (most recent call last):"),
    ("print(torch.version.cuda)", "True"),
    ("print(torch.cuda.get_arch_list())", "sm_80"),
])  # fmt: skip
def test_other_line_does_not_fit(code: str, line: str) -> None:
    (one,) = expected(code)

    assert one.pattern.fullmatch(line) is None


def test_alternative_without_a_gpu_is_no_name() -> None:
    (one,) = expected("print(torch.cuda.get_device_name(0) if torch.cuda.is_available() else 'no GPU')")

    found = one.pattern.fullmatch("no GPU")
    assert found is not None
    assert found[1] is None


@pytest.mark.parametrize(
    ("call", "device"),
    [("()", 0), ("(1)", 1), ("(device=2)", 2), ("('cuda:3')", 3), ("(torch.device('cuda:1'))", 1), ("(i)", 0), ("('cuda')", 0)],
)
def test_device_is_the_number_that_is_given(call: str, device: int) -> None:
    (one,) = expected(f"print(torch.cuda.get_device_name{call})")

    assert one.groups[0].device == device


@pytest.mark.parametrize(
    "code",
    [
        "torch.__version__",
        "import torch",
        "x = torch.__version__",
        "print('torch')",
        "print(torch.cuda.is_available())",
        "print(torch.__version__",
        "def f():\n    print(torch.__version__)",
        "print(" + "torch.__version__ + " * 8 + "torch.__version__)",
        "torch" * 2000,
        "torch + " + "(" * 900 + ")" * 900,
        "",
    ],
)
def test_code_that_prints_nothing_known_foresees_nothing(code: str) -> None:
    assert expected(code) == ()


def test_line_that_fits_almost_ends() -> None:
    (one,) = expected("print(f'{torch.__version__}{torch.__version__}{torch.__version__}')")

    assert one.pattern.fullmatch("1.1" * 99 + "!") is None


@given(st.text(alphabet="torch.version_ cuda(){}'\"%,+f\n", max_size=120))
def test_any_code_is_survived(code: str) -> None:
    assert isinstance(expected(f"print({code}torch.__version__)", echoed=True), tuple)
