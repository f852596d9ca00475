"""What JAX and TensorFlow say when they compute on the processor."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.jax_tensorflow import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.values import Recipe, machine

JAX, LIBRARIES = "jax-cpu-only", "tensorflow-cuda-libs-missing"
FELL_BACK = "WARNING:absl:No GPU/TPU found, falling back to CPU. (Set TF_CPP_MIN_LOG_LEVEL=0 and rerun for more info.)"
NO_DRIVERS = "tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, GPU will not be used."


def _dynamic(library: str) -> str:
    return (
        f"Could not load dynamic library '{library}'; dlerror: {library}: cannot open shared object file: No such file or directory"
    )


@pytest.mark.parametrize(
    "words",
    [
        "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.",
        "Unable to initialize backend 'cuda': NOT_FOUND: Could not find registered platform with name: "
        '"cuda". Available platform names',
        "RuntimeError: Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are "
        "present. Platforms present are: cpu",
        "RuntimeError: Unknown backend cuda. Known backends are: cpu",
        "RuntimeError: Backend 'cuda' is not in the list of known backends: cpu, tpu.",
        FELL_BACK,
        ">>> jax.devices()\n[CpuDevice(id=0)]",
        ">>> jax.devices()\n[TFRT_CPU_0]",
        "torch and tensorflow use the GPU, jax does not",
        "jax does not see my GPU",
        "jax only runs on the CPU",
    ],
)
def test_jax_without_cuda_is_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == JAX


def test_fall_back_behind_an_error_of_the_driver_only_follows() -> None:
    words = f"failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n{FELL_BACK}"
    assert {clue.weight for clue in read(SIGNATURES, words)} == {Weight.ASIDE}
    assert {clue.weight for clue in read(SIGNATURES, FELL_BACK)} == {Weight.CONSEQUENCE}


def test_jax_on_a_mac_misses_the_gpu() -> None:
    words = "# Mac M1\na CUDA-enabled jaxlib is not installed"
    assert problem(SIGNATURES, words) == "no-nvidia-gpu"


@pytest.mark.parametrize(
    "library", ["libcudart.so.11.0", "libcudnn.so.8", "libcusolver.so.11", "libcublas.so.10", "cudart64_101.dll"]
)
def test_library_that_tensorflow_misses_is_told(library: str) -> None:
    assert problem(SIGNATURES, _dynamic(library)) == LIBRARIES
    assert parameters(SIGNATURES, f"{_dynamic(library)}\ntensorflow==2.4.1") == {"library": library, "tensorflow": "2.4.1"}


@pytest.mark.parametrize("library", ["libnvinfer.so.7", "libnvinfer_plugin.so.7"])
def test_tensorrt_is_no_library_that_tensorflow_needs(library: str) -> None:
    assert [(clue.problem, clue.weight) for clue in read(SIGNATURES, _dynamic(library))] == [("healthy", Weight.ASIDE)]


def test_library_of_the_driver_points_to_the_driver() -> None:
    assert problem(SIGNATURES, _dynamic("libcuda.so.1")) == "no-driver"


@pytest.mark.parametrize(
    "words",
    [
        "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly",
        "DNN library is not found.",
        "libdevice not found at ./libdevice.10.bc",
        "Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice.",
        "Num GPUs Available:  0",
        ">>> tf.config.list_physical_devices('GPU')\n[]",
        NO_DRIVERS,
    ],
)
def test_missing_libraries_are_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == LIBRARIES


def test_driver_that_is_there_leaves_the_libraries() -> None:
    assert problems(SIGNATURES, NO_DRIVERS) == {LIBRARIES, "no-driver"}
    assert problems(SIGNATURES, NO_DRIVERS, machine(Recipe())) == {LIBRARIES}


@pytest.mark.parametrize(
    "words",
    [
        "Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
        "TF-TRT Warning: Could not find TensorRT",
        "Your kernel may not have been built with NUMA support.",
        "successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA "
        "node, so returning NUMA node zero",
        "Not creating XLA devices, tf_xla_enable_xla_devices not set",
        "This TensorFlow binary is optimized to use available CPU instructions in performance-critical operations: AVX2 FMA",
        "UserWarning: 1Torch was not compiled with flash attention.",
    ],
)
def test_lines_that_only_look_like_errors_are_harmless(words: str) -> None:
    assert [(clue.problem, clue.weight) for clue in read(SIGNATURES, words)] == [("healthy", Weight.ASIDE)]


@pytest.mark.parametrize(
    "words",
    [
        "Num GPUs Available:  1",
        "[CudaDevice(id=0)]",
        "jax 0.4.30, jaxlib 0.4.30",
        "jax does not support this dtype",
        ">>> tf.config.list_physical_devices('GPU')\n[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]",
        "ModuleNotFoundError: No module named 'jax'",
        "ModuleNotFoundError: No module named 'tensorflow'",
        "Could not load dynamic module foo",
        "Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so",
    ],
)
def test_other_words_about_them_are_no_message(words: str) -> None:
    assert read(SIGNATURES, words) == ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("jaxlib was built without CUDA", "jax-cpu-only"),
        ("jaxlib is compiled for cpu", "jax-cpu-only"),
        ("RuntimeError: Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are present", "jax-cpu-only"),
        ("Couldn't get ptxas version string", "tensorflow-cuda-libs-missing"),
        ("tf.test.is_gpu_available()\nFalse", "tensorflow-cuda-libs-missing"),
        ("tf.test.is_built_with_cuda()\nFalse", "tensorflow-cuda-libs-missing"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "jaxlib is 0.4.30",
        "jaxlib was built with CUDA",
        "Unknown backend agg",
        "tf.test.is_gpu_available()\nTrue",
        "ptxas was found",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
