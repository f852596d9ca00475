"""Packages that ask for another torch, and a torch that was exchanged for one."""

from __future__ import annotations

from gpuassist.diagnose.signatures.torch_exchange import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problems
from tests.rows import for_each

PINNED = "torch-pinned-by-package"
PIP = (
    "Installing collected packages: torch, {package}\n  Attempting uninstall: torch\n    Found existing installation: torch {was}\n"
    "    Uninstalling torch-{was}:\n      Successfully uninstalled torch-{was}\nSuccessfully installed {package}-0.4.2 torch-{now}"
)


@for_each(
    ("words", "told"),
    [
        (
            "oldnlp 0.1 requires torch<1.6, but you have torch 2.5.1 which is incompatible.",
            {"package": "oldnlp", "version": "0.1", "wanted": "<1.6", "torch": "2.5.1", "comes": "1.5.1", "cuda": "10.2"},
        ),
        (
            "speechkit 1.0.3 has requirement torch==1.13.1, but you have torch 2.9.1+cu128.",
            {
                "package": "speechkit",
                "wanted": "1.13.1",
                "torch": "2.9.1+cu128",
                "public": "2.9.1",
                "comes": "1.13.1",
                "cuda": "11.7",
            },
        ),
        (
            "ERROR: Cannot install oldnlp==0.9.1 and torch==2.4.1 because these package versions have conflicting dependencies.\n"
            "    The user requested torch==2.4.1\n    oldnlp 0.9.1 depends on torch<1.13 and >=1.6",
            {"package": "oldnlp", "version": "0.9.1", "wanted": "<1.13", "torch": "2.4.1"},
        ),
        (
            "Because oldnlp (0.9.1) depends on torch (>=1.6,<1.13)\n and app depends on torch (2.4.1), version solving failed.",
            {"package": "oldnlp", "wanted": ">=1.6,<1.13", "torch": "2.4.1"},
        ),
        (
            "No solution found when resolving dependencies:\n  Because oldnlp==0.9.1 depends on torch<1.13 and your"
            " project depends on torch==2.4.1",
            {"package": "oldnlp", "version": "0.9.1", "wanted": "<1.13", "torch": "2.4.1"},
        ),
        (
            f"Collecting torch<1.6 (from old-tagger)\n{PIP.format(package='old-tagger', was='2.5.1+cu121', now='1.5.1')}",
            {
                "package": "old-tagger",
                "version": "0.4.2",
                "wanted": "<1.6",
                "was": "2.5.1+cu121",
                "now": "1.5.1",
                "was_tag": "cu121",
            },
        ),
        (PIP.format(package="easy-seg", was="2.6.0+cu124", now="2.5.1+cpu"), {"package": "easy-seg", "cpu": "yes"}),
        (
            "$ uv pip install sometts\n + sometts==0.22.0\n - torch==2.7.1+cu128\n + torch==2.1.2\n",
            {"package": "sometts", "version": "0.22.0", "was": "2.7.1+cu128", "now": "2.1.2", "tool": "uv"},
        ),
        ("  - Downgrading torch (2.5.1+cu121 -> 1.13.1)", {"was": "2.5.1+cu121", "now": "1.13.1"}),
        (
            "  pytorch  2.3.1-py3.10_cuda12.1_cudnn8.9.2_0 --> 1.13.1-py3.10_cuda11.7_cudnn8.5.0_0",
            {"was": "2.3.1", "now": "1.13.1", "tool": "conda"},
        ),
    ],
)
def test_who_asks_and_what_is_lost_are_told(words: str, told: dict[str, str]) -> None:
    assert problems(SIGNATURES, words) == {PINNED}
    assert told.items() <= parameters(SIGNATURES, words).items()


@for_each(
    "words",
    [
        "tables 3.9 requires numpy<2, but you have numpy 2.1.0 which is incompatible.",
        "torchvision 0.15.2 requires torch==2.0.1, but you have torch 2.5.1 which is incompatible.",  # told by itself
        PIP.format(package="easy-seg", was="2.5.1", now="2.9.1"),
        f"$ pip install torch==2.0.1 easy-seg\n{PIP.format(package='easy-seg', was='2.5.1', now='2.0.1')}",  # asked for
        "  pytorch  2.3.1-py3.10_cuda12.1_cudnn8.9.2_0 --> 2.1.0-cpu_py310hd11e9c7_0",  # told as a build without CUDA
        "$ uv sync\n - torch==2.7.1+cu128\n + torch==2.1.2\n",  # told as what the lock names
        "oldnlp 0.9.1 depends on torch<1.13 and >=1.6",
    ],
)
def test_what_is_none_of_it_is_left_alone(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
