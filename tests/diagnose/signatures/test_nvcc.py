"""What compilers say of architectures: one message, opposite cures."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.nvcc import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_5090, Recipe, machine

NEWER, DROPPED = "nvcc-arch-too-new", "nvcc-arch-dropped"
CUDA_8 = "Cuda compilation tools, release 8.0, V8.0.61"
CUDA_12_1 = "Cuda compilation tools, release 12.1, V12.1.105"
CUDA_13 = "Cuda compilation tools, release 13.0, V13.0.88"


def _refused(name: str) -> str:
    return f"nvcc fatal   : Unsupported gpu architecture '{name}'"


@for_each(
    "words",
    [
        "nvcc fatal   : Unsupported gpu architecture 'compute_86'",
        "nvcc fatal : Unsupported gpu architecture 'compute_89'",
        "nvcc fatal   : Unsupported gpu architecture 'compute_90a'",
        "nvcc fatal   : Unsupported gpu architecture 'sm_120'",
        "nvcc fatal   : Unsupported gpu architecture ‘compute_120’",
        "nvcc fatal   : Unsupported gpu architecture `compute_90`",
        "Unsupported gpu architecture compute_89",
        "nvcc fatal : Unsupported gpu architecture 'compute 86'",
        "nvcc fatal   : Unsupported gpu architecture 'compute_86\nerror: command '/usr/bin/nvcc' failed with exit status 1",
        "nvcc fatal   : Unsupported gpu\narchitecture 'compute_86'".replace("gpu\n", "gpu "),
        "nvcc fatal   : Value 'sm_120' is not defined for option 'gpu-architecture'",
        "nvcc fatal   : Value 'compute_120' is not defined for option 'gpu-architecture'",
        "nvcc fatal   : Value 'sm_86' is not defined for option 'gpu-code'",
        "ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'",
        "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'",
        "ptxas t.ptx, line 2; fatal   : Unsupported .target 'sm_100'",
        "clang: error: unsupported CUDA gpu architecture: sm_120",
        "nvcc fatal   : Value 'native' is not defined for option 'gpu-architecture'",
        "nvcc fatal   : Value 'all-major' is not defined for option 'gpu-architecture'",
        "nvcc fatal   : Unsupported gpu architecture 'compute_native'",
    ],
)
def test_architecture_that_is_newer_is_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == NEWER


@pytest.mark.parametrize(
    "words",
    [
        "nvcc fatal   : Unsupported gpu architecture 'compute_20'",
        "nvcc fatal   : Unsupported gpu architecture 'compute_13'",
        "nvcc fatal   : Unsupported gpu architecture 'compute_30'",
        "nvcc fatal   : Unsupported gpu architecture 'compute_35'",
        "nvcc fatal   : Unsupported gpu architecture 'sm_52'",
        "nvcc fatal   : Value 'sm_37' is not defined for option 'gpu-architecture'",
        "ptxas fatal   : Value 'sm_30' is not defined for option 'gpu-name'",
        "clang: error: GPU arch sm_20 is supported by CUDA versions between 7.0 and 8.0 (inclusive), but installation at "
        "/usr/local/cuda is 9.0; use '--cuda-path' to specify a different CUDA install",
    ],
)
def test_architecture_that_no_release_has_any_more_was_dropped(words: str) -> None:
    assert problem(SIGNATURES, words) == DROPPED


@for_each(
    ("release", "expected"),
    [
        (CUDA_8, NEWER),
        (CUDA_13, DROPPED),
        ("(CUDA v8.0)", NEWER),
        ("# CUDA toolkit 13.0", DROPPED),
        ("CUDA Version: 8.0", NEWER),
        ("/usr/local/cuda-8.0/bin/nvcc -c t.cu", NEWER),
        ("/usr/local/cuda-13.1/bin/nvcc -c t.cu", DROPPED),
        ("-- The CUDA compiler identification is NVIDIA 13.0.48", DROPPED),
        ('-- Found CUDA: /usr/local/cuda (found version "8.0")', NEWER),
        ("I have cuda 13.0 and a V100", DROPPED),
        ("I use CUDA 8.0 with gcc 5", NEWER),
        (r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v13.0\bin\nvcc.exe -c t.cu", DROPPED),
    ],
)
def test_release_of_the_toolkit_decides(release: str, expected: str) -> None:
    assert problem(SIGNATURES, f"{release}\n{_refused('compute_70')}") == expected
    assert problems(SIGNATURES, f"{_refused('compute_70')}\n{release}") == {expected}


@pytest.mark.parametrize(
    "said",
    [
        "i use GTX 1060 with nvidia driver 390 and CUDA 9.1",
        "I have Ubuntu 16.04 and an Nvidia P6000",
        "/usr/bin/nvcc, Ubuntu 14.04.5 LTS",
        "OS: Ubuntu 20.04.6 LTS (x86_64)",
    ],
)
def test_old_system_has_no_release_that_dropped_it(said: str) -> None:
    assert problem(SIGNATURES, f"{said}\n{_refused('compute_61')}") == NEWER


def test_number_that_never_was_is_taken_for_dropped() -> None:
    assert problem(SIGNATURES, _refused("compute_51")) == DROPPED


def test_list_of_nvcc_itself_decides() -> None:
    assert problem(SIGNATURES, f"{_refused('compute_70')}\n$ nvcc --list-gpu-arch\ncompute_75\ncompute_80\ncompute_90\n") == DROPPED
    assert problem(SIGNATURES, f"{_refused('compute_70')}\n$ nvcc --list-gpu-arch\ncompute_52\ncompute_60\n") == NEWER


def test_toolkit_of_the_machine_decides_where_the_text_does_not() -> None:
    assert problem(SIGNATURES, _refused("compute_61"), machine(Recipe(toolkits=("13.0",)))) == DROPPED


def test_architectures_before_it_in_the_command_tell_its_age() -> None:
    words = f"nvcc -gencode arch=compute_61,code=sm_61 -gencode arch=compute_70,code=sm_70 t.cu\n{_refused('compute_70')}"
    assert problem(SIGNATURES, words) == NEWER


def test_without_a_release_the_other_cause_is_named_as_less_likely() -> None:
    found = read(SIGNATURES, _refused("compute_61"))
    assert [(clue.problem, clue.weight) for clue in found] == [(DROPPED, Weight.CAUSE), (NEWER, Weight.STATE)]


def test_release_that_knows_the_architecture_is_not_the_one_that_refused() -> None:
    words = f"# cuda 12.4 is installed\n{_refused('compute_89')}"
    assert problem(SIGNATURES, words) == NEWER
    assert "nvcc" not in parameters(SIGNATURES, words)


def test_cuda_of_the_driver_is_not_that_of_nvcc() -> None:
    table = "| NVIDIA-SMI 580.65.06    Driver Version: 580.65.06    CUDA Version: 13.0     |"
    assert problem(SIGNATURES, f"{table}\n{CUDA_8}\n{_refused('compute_70')}") == NEWER
    assert "nvcc" not in parameters(SIGNATURES, f"{table}\n{_refused('compute_86')}")


def test_cuda_of_torch_is_not_that_of_nvcc() -> None:
    words = f"PyTorch version: 2.9.0+cu130\nCUDA used to build PyTorch: 13.0\n{_refused('compute_89')}"
    assert "nvcc" not in parameters(SIGNATURES, words)


def test_what_is_known_of_a_newer_architecture_is_told() -> None:
    told = parameters(SIGNATURES, f"{CUDA_12_1}\nptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'")
    assert told == {"capability": "12.0", "architecture": "120", "nvcc": "12.1", "edge": "12.8", "newest": "9.0"}


def test_what_is_known_of_a_dropped_architecture_is_told() -> None:
    told = parameters(SIGNATURES, f"{CUDA_13}\n{_refused('compute_61')}")
    assert told == {"capability": "6.1", "architecture": "61", "nvcc": "13.0", "edge": "12.9", "oldest": "7.5"}


@for_each(
    ("name", "edge"),
    [
        ("compute_86", "11.1"),
        ("compute_87", "11.4"),
        ("compute_89", "11.8"),
        ("compute_90", "11.8"),
        ("compute_90a", "12.0"),
        ("compute_100", "12.8"),
        ("compute_120", "12.8"),
        ("compute_103", "12.9"),
        ("compute_121", "12.9"),
        ("compute_120f", "12.9"),
        ("compute_110", "13.0"),
        ("compute_107", "13.4"),
        ("compute_75", "10.0"),
    ],
)
def test_first_release_of_an_architecture_is_told(name: str, edge: str) -> None:
    assert parameters(SIGNATURES, _refused(name))["edge"] == edge


@pytest.mark.parametrize(
    ("name", "edge"),
    [("compute_20", "8.0"), ("compute_30", "10.2"), ("compute_35", "11.8"), ("compute_50", "12.9"), ("compute_70", "12.9")],
)
def test_last_release_of_an_architecture_is_told(name: str, edge: str) -> None:
    told = parameters(SIGNATURES, f"{CUDA_13}\n{_refused(name)}")
    assert told["edge"] == edge


def test_name_that_a_release_changed_was_dropped() -> None:
    assert problem(SIGNATURES, f"{CUDA_13}\n{_refused('compute_101')}") == DROPPED


def test_gpu_of_the_machine_is_named_with_what_it_can_run() -> None:
    told = parameters(SIGNATURES, f"{CUDA_12_1}\n{_refused('compute_120')}", machine(Recipe(gpus=(RTX_5090,))))
    assert (told["gpu"], told["nearest"]) == ("RTX 5090", "9.0")


def test_last_release_is_the_one_to_install_for_the_card_of_the_machine() -> None:
    told = parameters(SIGNATURES, f"{CUDA_13}\n{_refused('compute_61')}", machine(Recipe(gpus=(GTX_1080_TI,))))
    assert (told["gpu"], told["install"]) == ("GTX 1080 Ti", "12.9")


@pytest.mark.parametrize(
    "words",
    [
        "nvcc fatal   : Unsupported gpu architecture 'compute_'",
        "nvcc fatal   : Unsupported gpu architecture 'sm_'",
        "CMAKE_CUDA_ARCHITECTURES must be non-empty if set.",
        'CMake Error in CMakeLists.txt:\n  CUDA_ARCHITECTURES is empty for target "kernels".',
        "    arch_list[-1] += '+PTX'\nIndexError: list index out of range",
        "  File cpp_extension.py, line 1960, in _get_cuda_arch_flags\n    arch_list[-1] += '+PTX'\n    ~~~~~~~~~^^^^\n"
        "IndexError: list index out of range",
    ],
)
def test_empty_list_of_architectures_is_known(words: str) -> None:
    assert problem(SIGNATURES, words) == "nvcc-arch-empty"


def test_native_without_a_gpu_is_told() -> None:
    words = "nvcc warning : Cannot find valid GPU for '-arch=native', default arch is used"
    assert problem(SIGNATURES, words) == "nvcc-native-without-gpu"


@pytest.mark.parametrize(
    ("ptx", "own", "release"),
    [("8.4", "8.0", "12.0"), ("7.3", "7.2", "11.2"), ("8.7", "8.5", "12.5"), ("9.1", "9.0", "13.0"), ("6.5", "6.3", "10.0")],
)
def test_older_ptxas_is_told_with_its_release(ptx: str, own: str, release: str) -> None:
    words = f"ptxas /tmp/t.ptx, line 5; fatal   : Unsupported .version {ptx}; current version is '{own}'"
    assert problem(SIGNATURES, words) == "ptxas-older-than-ptx"
    assert parameters(SIGNATURES, words) == {"ptx": ptx, "ptxas": release}


def test_ptxas_of_triton_is_told_apart() -> None:
    words = (
        "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error\n`ptxas` stderr:\n"
        "ptxas /tmp/tmpk.ptx, line 5; fatal   : Unsupported .version 8.4; current version is '8.0'"
    )
    assert parameters(SIGNATURES, words)["triton"] == "yes"


@pytest.mark.parametrize(
    "words",
    [
        "nvcc warning : The 'compute_35', 'compute_37', 'sm_35', and 'sm_37' architectures are deprecated, and may be removed in a "
        "future release (Use -Wno-deprecated-gpu-targets to suppress warning).",
        "nvcc warning : Support for offline compilation for architectures prior to '<compute/sm/lto>_75' will "
        "be removed in a future "
        "release (Use -Wno-deprecated-gpu-targets to suppress warning).",
        "nvcc warning : The 'compute_20', 'sm_20', and 'sm_21' architectures are deprecated, and may be "
        "removed in a future release",
    ],
)
def test_warning_of_what_will_be_dropped_is_no_problem(words: str) -> None:
    found = read(SIGNATURES, words)
    assert [(clue.problem, clue.weight) for clue in found] == [("healthy", Weight.ASIDE)]


@pytest.mark.parametrize(
    "words",
    [
        "nvcc -gencode arch=compute_86,code=sm_86 t.cu",
        "-- CUDA_ARCHITECTURES=50;60;70",
        "gcc: error: unrecognized argument in option '-march=native2'",
        "clang: error: unsupported argument 'x86-64-v9' to option '-march='",
        "error: unsupported architecture 'armv6'",
        "Value 'foo' is not defined for option 'output-format'",
        "rustc: error: unknown target CPU 'sm'",
        "nvcc fatal   : No input files specified; use option --help for more information",
        "AMDGPU: unsupported gpu architecture gfx1100",
        "hipcc: error: unsupported HIP gpu architecture: gfx906",
    ],
)
def test_other_words_about_architectures_are_no_message(words: str) -> None:
    assert read(SIGNATURES, words) == ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("CMake Error: Failed to detect a default CUDA architecture.", "nvcc-arch-empty"),
        ("RuntimeError: Unknown CUDA arch () or GPU not supported", "nvcc-arch-empty"),
        ("nvcc fatal : Value 'sm_' is not defined for option 'gpu-architecture'", "nvcc-arch-empty"),
        ('CUDA_ARCHITECTURES is set to "", which is not valid', "nvcc-arch-empty"),
        ("the target requires CUDA_ARCHITECTURES to be non-empty", "nvcc-arch-empty"),
        ('CUDA_ARCHITECTURES "native" but no GPU was found', "nvcc-native-without-gpu"),
        ("CMAKE_CUDA_ARCHITECTURES=native could not be detected", "nvcc-native-without-gpu"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "Unknown CUDA arch (9.0)",
        'CUDA_ARCHITECTURES "80;90"',
        "Value 'c++20' is not defined for option 'std'",
        "detected a default CUDA architecture",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
