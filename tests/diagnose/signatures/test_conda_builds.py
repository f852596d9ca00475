"""The builds of torch that `conda search` lists: which of them to ask for."""

from __future__ import annotations

from gpuassist.diagnose.signatures.conda_builds import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem, problems
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_5090, Recipe, machine

HEAD = "$ conda search pytorch -c pytorch\nLoading channels: done\n# Name                       Version           Build  Channel\n"
OLD = "pytorch  1.12.1 py3.9_cuda11.3_cudnn8.3.2_0  pytorch\n"
NEW = "pytorch  2.5.1 py3.12_cuda12.4_cudnn9.1.0_0  pytorch\npytorch  2.5.1 py3.9_cuda11.8_cudnn9.1.0_0  pytorch\n"
CPU = "pytorch  2.3.0 cpu_py312h4a0a8f1_1  pkgs/main\n"
FORGE = "pytorch  2.4.1 cuda120_py312h2d2a9ba_301 (+ 3 builds) conda-forge linux-64\n"


@for_each(
    ("rows", "recipe", "build"),
    [
        (CPU + OLD + NEW, None, "pytorch=2.5.1=py3.12_cuda12.4_cudnn9.1.0_0"),
        (OLD + NEW, Recipe(gpus=(GTX_1080_TI,), driver="470.256.02"), "pytorch=2.5.1=py3.9_cuda11.8_cudnn9.1.0_0"),
        (f"{OLD}{NEW}Python 3.9.18\n", None, "pytorch=2.5.1=py3.9_cuda11.8_cudnn9.1.0_0"),
        (FORGE, None, "pytorch=2.4.1=cuda120_py312h2d2a9ba_301"),
    ],
)
def test_newest_build_that_fits_is_named(rows: str, recipe: Recipe | None, build: str) -> None:
    told = parameters(SIGNATURES, HEAD + rows, machine(recipe) if recipe else None)
    assert told["build"] == build


def test_list_without_a_build_for_the_gpu_names_the_channel() -> None:
    one = machine(Recipe(gpus=(RTX_5090,), driver="580.95.05", open_module=True))
    assert problems(SIGNATURES, HEAD + OLD + NEW, one) == {"conda-channel-frozen"}


def test_list_without_cuda_is_the_channels_fault() -> None:
    assert problem(SIGNATURES, HEAD + CPU) == "conda-resolved-cpu-build"
    assert parameters(SIGNATURES, HEAD + CPU)["channel"] == "pkgs/main"
