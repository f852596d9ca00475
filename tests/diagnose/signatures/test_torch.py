"""What torch says of itself: without CUDA, or without code for this GPU."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.torch import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_5090, Recipe, machine

LACKS, TOO_OLD, CPU, NO_GPU = "torch-lacks-sm", "gpu-too-old-for-torch", "torch-cpu-only", "no-nvidia-gpu"
NOT_COMPILED = "AssertionError: Torch not compiled with CUDA enabled"


def _incompatible(gpu: str, code: str, listed: str) -> str:
    return (
        f"UserWarning: \n{gpu} with CUDA capability {code} is not compatible with the current PyTorch installation.\n"
        f"The current PyTorch install supports CUDA capabilities {listed}.\n"
        f"If you want to use the {gpu} GPU with PyTorch, please check the instructions at https://pytorch.org/get-started/locally/"
    )


@pytest.mark.parametrize(
    ("gpu", "code", "listed", "expected"),
    [
        ("NVIDIA GeForce RTX 5090", "sm_120", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90", ("12.0", True)),
        ("NVIDIA GeForce RTX 3090", "sm_86", "sm_37 sm_50 sm_60 sm_70", ("8.6", True)),
        ("NVIDIA H100 PCIe", "sm_90", "sm_37 sm_50 sm_60 sm_61 sm_70 sm_75 sm_80 sm_86 compute_37", ("9.0", True)),
        ("NVIDIA B200", "sm_100", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90", ("10.0", True)),
        ("Tesla V100-SXM2-16GB", "sm_70", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", ("7.0", False)),
        ("NVIDIA GeForce GTX 1080 Ti", "sm_61", "sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120", ("6.1", False)),
    ],
)
def test_build_without_code_for_the_gpu_is_newer_or_older(gpu: str, code: str, listed: str, expected: tuple[str, bool]) -> None:
    words = _incompatible(gpu, code, listed)
    capability, newer = expected
    told = {"gpu": gpu, "capability": capability, "newer" if newer else "dropped": "yes"}
    assert problem(SIGNATURES, words) == LACKS
    assert told.items() <= parameters(SIGNATURES, words).items()


def test_card_below_every_build_is_the_cause_itself() -> None:
    assert problem(SIGNATURES, _incompatible("GeForce GTX 660", "sm_30", "sm_50 sm_60 sm_70")) == TOO_OLD


@pytest.mark.parametrize(
    ("capability", "expected"), [("3.5", TOO_OLD), ("3.0", TOO_OLD), ("2.1", TOO_OLD), ("5.0", LACKS), ("6.1", LACKS)]
)
def test_warning_of_old_cards_is_judged_by_the_capability(capability: str, expected: str) -> None:
    words = (
        f"Found GPU0 NVIDIA GTX TITAN Black which is of cuda capability {capability}.\n    PyTorch no longer "
        f"supports this GPU because "
        "it is too old.\n    The minimum cuda capability supported by this library is 7.0."
    )
    assert problem(SIGNATURES, words) == expected
    assert parameters(SIGNATURES, words)["gpu"] == "NVIDIA GTX TITAN Black"


def test_warning_of_torch_2_8_is_known() -> None:
    words = (
        "    Found GPU0 NVIDIA GeForce GTX 1080 Ti which is of cuda capability 6.1.\n    Minimum and Maximum "
        "cuda capability supported "
        "by this version of PyTorch is\n    (7.0) - (12.0)"
    )
    assert problem(SIGNATURES, words) == LACKS
    told = {"gpu": "NVIDIA GeForce GTX 1080 Ti", "capability": "6.1", "dropped": "yes"}
    assert told.items() <= parameters(SIGNATURES, words).items()


def test_warning_of_torch_2_11_is_known() -> None:
    words = (
        "Found GPU0 NVIDIA GeForce RTX 5090 which is of compute capability (CC) 12.0.\nThe following list "
        "shows the CCs this version of "
        "PyTorch was built for and the hardware CCs it supports:\n- 7.5 which supports hardware CC >=7.5,<8.0\n"
        "- 8.0 which supports hardware CC >=8.0,<9.0 except {8.7}\n- 9.0 which supports hardware CC >=9.0,<10.0"
    )
    told = {"gpu": "NVIDIA GeForce RTX 5090", "capability": "12.0", "newer": "yes"}
    assert told.items() <= parameters(SIGNATURES, words).items()


def test_advice_of_torch_2_13_is_known() -> None:
    words = (
        "Your installed torch==2.13.0+cu132 does not include kernels for this GPU. Reinstall the same version against a CUDA build"
    )
    assert parameters(SIGNATURES, words) == {"torch": "2.13.0+cu132"}
    words = "No published PyTorch CUDA builds for release 2.13.0 support this GPU. Visit https://pytorch.org/get-started/locally/"
    assert problem(SIGNATURES, words) == LACKS


def test_build_for_the_driver_of_the_machine_is_chosen() -> None:
    new = _incompatible("NVIDIA GeForce RTX 5090", "sm_120", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90")
    told = parameters(SIGNATURES, new, machine(Recipe(gpus=(RTX_5090,), driver="570.124.06", cuda="12.8")))
    assert told["tag"] in {"cu128", "cu129"}
    old = _incompatible("NVIDIA GeForce GTX 1080 Ti", "sm_61", "sm_75 sm_80 sm_90")
    assert parameters(SIGNATURES, old, machine(Recipe(gpus=(GTX_1080_TI,))))["tag"] == "cu126"


@for_each(
    "words",
    [
        NOT_COMPILED,
        "AssertionError: \nTorch not compiled with CUDA enabled",
        "AttributeError: module 'torch._C' has no attribute '_cuda_setDevice'",
        "AttributeError: module 'torch._C' has no attribute '_cuda_getDeviceCount'",
        "ImportError: cannot import name '_cuda_isDriverSufficient' from 'torch._C'",
        "RuntimeError: PyTorch was not compiled with CUDA support",
        "RuntimeError: Cannot initialize CUDA without ATen_cuda library. PyTorch splits its backend into two shared libraries",
        ">>> torch.__version__\n'2.3.1+cpu'\n>>> torch.cuda.is_available()\nFalse",
        "PyTorch version: 2.13.0+cpu\nIs debug build: False\nCUDA used to build PyTorch: Could not collect",
        "torch                    2.1.0+cpu\n>>> torch.cuda.is_available() False",
        "torch 2.1.0+cpu, GPU is not used",
        "2.4.0+cpu False",
        '>python -c "import torch; print(torch.__version__); print(torch.cuda.is_available())"\n2.3.0+cpu\nFalse',
        "torch.cuda.is_available()发现是False\n>>> torch.__version__\n'2.0.1+cpu'",
        '$ python -c "import torch; print(torch.__version__, torch.cuda.is_available())"\n2.5.1+cpu False',
    ],
)
def test_build_without_cuda_is_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == CPU


def test_build_without_cuda_is_told_with_its_version() -> None:
    assert parameters(SIGNATURES, f"{NOT_COMPILED}\ntorch==2.3.1+cpu") == {"torch": "2.3.1+cpu"}


@pytest.mark.parametrize(
    "said",
    [
        "# Mac M1",
        "on my MacBook Pro",
        "macOS 14.2",
        "I am on a mac",
        "Apple M2",
        "# no GPU in this machine",
        "my laptop has no NVIDIA GPU",
    ],
)
def test_machine_without_a_gpu_is_the_cause(said: str) -> None:
    assert problem(SIGNATURES, f"{said}\n{NOT_COMPILED}") == NO_GPU
    assert problems(SIGNATURES, f"{said}\n{NOT_COMPILED}") == {NO_GPU, CPU}


@pytest.mark.parametrize("said", ["machine learning", "if you don't have a GPU, use --cpu", "the machinery", "Macro expanded"])
def test_words_that_only_resemble_it_are_not_taken_for_that(said: str) -> None:
    assert problem(SIGNATURES, f"{said}\n{NOT_COMPILED}") == CPU


def test_program_that_wants_a_gpu_and_sees_none_has_several_causes() -> None:
    words = (
        "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
        "False. If you are running on "
        "a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
    )
    assert problems(SIGNATURES, words) >= {CPU, "no-driver"}
    assert problem(SIGNATURES, f"torch==2.1.0+cpu\n{words}") == CPU


def test_card_that_triton_does_not_serve_is_only_possibly_too_old() -> None:
    words = (
        "Found Quadro P1000 which is too old to be supported by the triton GPU compiler, which is used as the backend. Triton only "
        "supports devices of CUDA Capability >= 7.0, but your device is of CUDA capability 6.1"
    )
    assert [(clue.problem, clue.weight) for clue in read(SIGNATURES, words)] == [(TOO_OLD, Weight.STATE)]


@pytest.mark.parametrize(
    "words",
    [
        "UserWarning: 1Torch was not compiled with flash attention. (Triggered internally at sdp_utils.cpp:263.)",
        "torch 2.1.0+cpu",
        "Successfully installed torch-2.1.0+cpu torchvision-0.16.0+cpu",
        "torch.cuda.is_available() True",
        "torch==2.5.1+cu124",
        "This GPU is not compatible with the current version of the game",
        "AssertionError: expected 3, got 4",
        "mlx is not compatible with the current Python installation",
        "OpenCV was not compiled with GUI support",
    ],
)
def test_other_words_about_torch_are_no_message(words: str) -> None:
    assert read(SIGNATURES, words) == ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("PyTorch not linked with CUDA", "torch-cpu-only"),
        ("torch was not built with CUDA", "torch-cpu-only"),
        ("ATen not built with CUDA", "torch-cpu-only"),
        ("PyTorch is built without CUDA", "torch-cpu-only"),
        ("Torch is not able to use GPU; add --skip-torch-cuda-test", "torch-cpu-only"),
        ("Cannot access accelerator device when none is available.", "torch-cpu-only"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "PyTorch is built with CUDA",
        "not built with care, without cuda cores",
        "torch is able to use the GPU",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


@pytest.mark.parametrize(
    ("capability", "highest", "rest", "cause"),
    [
        ("12.1", "12.0", "", "healthy"),
        ("8.9", "8.6", "Epoch 1 loss 0.9", "healthy"),
        ("12.1", "9.0", "", "torch-lacks-sm"),
        ("12.1", "12.0", "no kernel image is available for execution on the device", "torch-lacks-sm"),
    ],
)
def test_warning_about_a_gpu_that_the_code_runs_on_is_no_fault(capability: str, highest: str, rest: str, cause: str) -> None:
    words = (
        f"Found GPU0 NVIDIA GB10 which is of cuda capability {capability}.\n    Minimum and Maximum cuda capability supported by"
        f" this version of PyTorch is\n    (5.0) - ({highest})\n{rest}"
    )
    assert problem(SIGNATURES, words) == cause
