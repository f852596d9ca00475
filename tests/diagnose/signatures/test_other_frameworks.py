"""What TensorRT, ONNX Runtime, CuPy and llama.cpp say of what does not fit."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.other_frameworks import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, read

ENGINE = "tensorrt-version-mismatch"


@pytest.mark.parametrize(
    ("words", "found", "built"),
    [
        (
            "Error Code 1: Serialization (Serialization assertion stdVersionRead == kSERIALIZATION_VERSION "
            "failed.Version tag does not "
            "match. Note: Current Version: 237, Serialized Engine Version: 239)",
            "237",
            "239",
        ),
        (
            "[E] 1: [stdArchiveReader.cpp::StdArchiveReader::32] Error Code 1: Serialization (Version tag does not match. "
            "Note: Current Version: 205, Serialized Engine Version: 213)",
            "205",
            "213",
        ),
        (
            "INVALID_CONFIG: The engine plan file is not compatible with this version of TensorRT, expecting "
            "library version 8.2.1 got "
            "8.0.1, please rebuild.",
            "8.2.1",
            "8.0.1",
        ),
        (
            "The engine plan file is not compatible with this version of TensorRT, expecting version 5.1.5.0 "
            "got 5.0.6.3, please rebuild.",
            "5.1.5.0",
            "5.0.6.3",
        ),
    ],
)
def test_engine_of_another_release_is_told_with_both_versions(words: str, found: str, built: str) -> None:
    assert problem(SIGNATURES, words) == ENGINE
    told = parameters(SIGNATURES, words)
    assert (told["found"], told["built"]) == (found, built)


@pytest.mark.parametrize(
    "words",
    [
        "INVALID_CONFIG: The engine plan file is generated on an incompatible device, expecting compute 7.5 "
        "got compute 8.6, please rebuild.",
        "Serialization assertion magicTagRead == kMAGIC_TAG failed.Magic tag does not match",
        "Platform specific tag mismatch detected. TensorRT plan files are only supported on the target runtime "
        "platform they were created on.",
        "safeVersionRead == kSAFE_SERIALIZATION_VERSION failed.Version tag does not match.",
        "Target GPU SM 120 is not supported by this TensorRT release.",
        "[TRT] Unsupported SM: 0x809",
        'Assertion `size >= bsize && "Mismatch between allocated memory size and expected size of serialized engine."\' failed.',
        "Serialization assertion postDeserializationCheck() failed.Post deserialization check failure",
        "Error Code 4: Internal Error (Engine deserialization failed.)",
        "AttributeError: 'NoneType' object has no attribute 'create_execution_context'",
    ],
)
def test_engine_or_card_that_does_not_fit_is_known(words: str) -> None:
    assert problem(SIGNATURES, words) == ENGINE


def test_kernel_that_llama_cpp_lacks_is_told_with_the_capability() -> None:
    words = (
        "ERROR: CUDA kernel flash_attn_vec_ext_f32 has no device code compatible with CUDA arch 520. "
        "ggml-cuda.cu was compiled for: 600"
    )
    assert problem(SIGNATURES, words) == "no-kernel-image"
    assert parameters(SIGNATURES, words) == {"package": "llama.cpp", "capability": "5.2"}


def test_provider_that_cannot_start_misses_a_library() -> None:
    words = "Failed to create CUDAExecutionProvider. Require cuDNN 9.* and CUDA 12.*, and the latest MSVC runtime."
    assert problem(SIGNATURES, words) == "missing-cuda-runtime-lib"
    named = f"libcublasLt.so.12: cannot open shared object file: No such file or directory\n{words}"
    assert {clue.weight for clue in read(SIGNATURES, named)} == {Weight.ASIDE}


def test_two_cupy_packages_are_in_each_others_way() -> None:
    words = "UserWarning: CuPy may not function correctly because multiple CuPy packages are installed in your environment:"
    assert parameters(SIGNATURES, words) == {"package": "cupy", "twice": "yes"}


@pytest.mark.parametrize(
    "words",
    [
        "warning: llama.cpp was compiled without GPU support",
        "warning: not compiled with GPU offload support, --gpu-layers option will be ignored",
        "ValueError: CTranslate2 package was built without CUDA support",
    ],
)
def test_program_that_was_built_without_cuda_is_known(words: str) -> None:
    assert problem(SIGNATURES, words) == "program-without-cuda"


@pytest.mark.parametrize(
    "words",
    [
        "[TRT] Using an engine plan file across different models of devices is not recommended",
        "[I] Loading engine: model.plan",
        "pickle.UnpicklingError: invalid load key",
        "Serialization error in JSON: Object of type float32 is not JSON serializable",
        "git: version tag v1.2 already exists",
        "CUDAExecutionProvider is available",
    ],
)
def test_other_words_about_them_are_no_message(words: str) -> None:
    assert read(SIGNATURES, words) == ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("The engine was built with a different version of TensorRT", "tensorrt-version-mismatch"),
        ("the engine was built with an older TensorRT", "tensorrt-version-mismatch"),
        ("Could not deserialize engine", "tensorrt-version-mismatch"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "the engine was built with care",
        "deserialized the engine",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problem(SIGNATURES, words) == ""
