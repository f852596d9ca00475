"""A loaded nouveau is the cause where NVIDIA's module is missing, and nothing where that is loaded too."""

from __future__ import annotations

import pytest

from gpuassist.detect.readers import read_all
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.judge import families
from gpuassist.diagnose.signature import SignatureInput, clues
from gpuassist.model.paste import Paste, Weight
from tests.values import knowledge

NOUVEAU = "nouveau              2826240  6\nmxm_wmi                12288  1 nouveau\n"
FAILED = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"


def told(words: str) -> list[tuple[str, Weight]]:
    paste = Paste(words)
    setting = SignatureInput(paste, RuleInput(read_all(paste, knowledge()), knowledge()))
    return [(clue.problem, clue.weight) for one in families()["kernel_module"] for clue in clues(one, setting)]


@pytest.mark.parametrize(
    "words",
    [
        f"$ lsmod | grep nouveau\n{NOUVEAU}$ nvidia-smi\n{FAILED}",
        f"$ lsmod | grep -E 'nvidia|nouveau'\n{NOUVEAU}$ ls\n",
        f"> {FAILED}> nouveau   2826240  6\n",
        f"nouveau  1949696  4 drm,video\n{FAILED}",
    ],
)
def test_nouveau_without_nvidias_module_is_the_cause(words: str) -> None:
    assert told(words) == [("nouveau-active", Weight.CAUSE)]


def test_nouveau_alone_is_a_hint() -> None:
    assert told(NOUVEAU) == [("nouveau-active", Weight.STATE)]


@pytest.mark.parametrize(
    "words",
    [
        f"{NOUVEAU}nvidia              56717312  120 nvidia_uvm\n",
        "nouveau is blacklisted\n",
        "blacklist nouveau\noptions nouveau modeset=0\n",
        "mxm_wmi                12288  1 nouveau\n",
        f"Linux box 5.15.167.4-microsoft-standard-WSL2 #1 SMP x86_64 GNU/Linux\n{NOUVEAU}",
    ],
)
def test_other_text_is_no_fault(words: str) -> None:
    assert told(words) == []
