"""Which builds of torch a set of NVIDIA's packages belongs to."""

from __future__ import annotations

from gpuassist.diagnose.package_lists import builds_of, in_words
from tests.rows import for_each
from tests.values import knowledge

CU118 = {
    "nvidia-cublas-cu11": "11.11.3.6",
    "nvidia-cuda-runtime-cu11": "11.8.89",
    "nvidia-cudnn-cu11": "9.1.0.70",
    "nvidia-nccl-cu11": "2.21.5",
}


@for_each(
    ("packages", "words"),
    [
        (CU118, "torch 2.5, 2.6 or 2.7 (cu118)"),
        ({**CU118, "nvidia-cudnn-cu11": "8.7.0.84", "nvidia-nccl-cu11": "2.20.5"}, "torch 2.3 (cu118)"),
        ({**CU118, "numpy": "2.1.0", "nvidia-ml-py": "12.560.30"}, "torch 2.5, 2.6 or 2.7 (cu118)"),
        ({**CU118, "nvidia-cublas-cu12": "12.4.5.8"}, ""),
        ({"nvidia-cublas-cu11": "11.11.3.6", "nvidia-cudnn-cu11": "9.1.0.70"}, ""),
    ],
)
def test_set_names_the_builds_that_ask_for_it(packages: dict[str, str], words: str) -> None:
    assert in_words(builds_of(knowledge(), packages)) == words
