"""A message that is only talked of is no message."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.nvcc import SIGNATURES
from tests.diagnose.signatures.reading import problem, read

MESSAGE = "nvcc fatal : Unsupported gpu architecture 'compute_86'"


@pytest.mark.parametrize(
    "before",
    [
        "If you get `",
        "- If you see an error like ",
        "When you run into ",
        "in case your build stops with ",
        "Some errors, such as ",
        "如果你看到 ",
        "If your nvcc is old, you may meet ",
    ],
)
def test_message_in_a_manual_is_none(before: str) -> None:
    assert read(SIGNATURES, f"{before}{MESSAGE}`, upgrade your toolkit.") == ()


@pytest.mark.parametrize(
    "before",
    [
        "",
        "$ make\n",
        "I get ",
        "When I build it: ",
        "If you can help, please do. I get ",
        "Tell me if you know this.\n",
        "编译时报错: ",
        "> ",
    ],
)
def test_message_that_somebody_reports_is_one(before: str) -> None:
    assert problem(SIGNATURES, f"{before}{MESSAGE}") == "nvcc-arch-too-new"
