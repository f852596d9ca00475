"""Which framework or program a text is about."""

from __future__ import annotations

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.catalogue import CONTAINER_ENGINE, FRAMEWORK, SETTING, WITH_TORCH
from gpuassist.diagnose.framework import FRAMEWORKS, Framework, terms
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.formats.paste import read_paste
from gpuassist.model.machine import Machine
from tests.rows import for_each
from tests.values import knowledge

TABLE = "| GPU 0 |\n|    0   N/A  N/A      4242      C   /usr/local/bin/ollama       5120MiB |\n"
ROWS = (
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "torch"),
    ("RuntimeError: CUDA error: no kernel image is available", "torch"),
    ("2024-01-01 10:00:00 E tensorflow/stream_executor/cuda/cuda_dnn.cc:329] Could not create cudnn handle", "tensorflow"),
    ("Num GPUs Available:  0\n>>> tf.config.list_physical_devices('GPU')\n[]", "tensorflow"),
    (">>> jax.devices()\n[CpuDevice(id=0)]", "jax"),
    ("cupy_backends.cuda.api.driver.CUDADriverError: CUDA_ERROR_NO_DEVICE", "cupy"),
    ("numba.cuda.cudadrv.error.CudaSupportError: Error at driver init", "numba"),
    ("ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device", "llama.cpp"),
    ('ollama[4242]: level=WARN source=gpu.go msg="unable to load cuda driver"', "ollama"),
    ('  File "/home/u/ComfyUI/execution.py", line 1\ntorch.OutOfMemoryError: Allocation on device', "comfyui"),
    ('File "/home/u/stable-diffusion-webui/webui.py"\nRuntimeError: Torch is not able to use GPU', "webui"),
    ("** (RuntimeError) CUDNN_STATUS_ALLOC_FAILED\n (exla 0.7.0) lib/exla/mlir.ex", "exla"),
    ("julia> using CUDA\nERROR: CUDA error: out of memory (code 2)\n[1] CUDA.jl", "julia"),
    ("thread 'main' panicked at cudarc-0.11/src/driver/sys.rs: DriverError(CUDA_ERROR_NO_DEVICE)", "rust"),
    ("Error using gpuDevice (line 26)\nMATLAB: the CUDA driver could not be loaded", "matlab"),
    ("Blender 4.2: Illegal address in CUDA queue", "blender"),
    ("wine: dxvk: VK_ERROR_INITIALIZATION_FAILED", "game"),
    ("[h264_nvenc @ 0x55] Cannot load libnvidia-encode.so.1", "ffmpeg"),
    ("cv2.error: OpenCV(4.8.0) gpu api call: no CUDA support", "opencv"),
    ("RuntimeError: CUDA failed with error CUDA driver version is insufficient\nfaster_whisper/transcribe.py", "faster-whisper"),
    ("[E:onnxruntime:Default] CUDA failure 35", "onnxruntime"),
    ("xgboost.core.XGBoostError: cudaErrorNoDevice", "xgboost"),
    ("INFO vllm.engine torch.cuda.OutOfMemoryError", "vllm"),
    ("CUDA driver version is insufficient for CUDA runtime version", ""),
    (TABLE + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "torch"),
)


def _terms(words: str) -> dict[str, str]:
    return dict(terms(SignatureInput(read_paste(words), RuleInput(Machine(), knowledge()))))


@for_each(("words", "key"), ROWS)
def test_text_is_about_its_framework(words: str, key: str) -> None:
    assert _terms(words).get(FRAMEWORK, "") == key


@for_each(("words", "key"), ROWS)
def test_torch_is_in_play_where_it_is_named_or_computed_with(words: str, key: str) -> None:
    on_torch = any(one.key == key and one.on_torch for one in FRAMEWORKS)
    assert bool(_terms(words)[WITH_TORCH]) is on_torch


@for_each("one", FRAMEWORKS)
def test_every_framework_is_found_by_its_own_words(one: Framework) -> None:
    assert all(literal == literal.lower() for literal in one.literals)
    assert one.key == one.key.lower()


def test_keys_stand_once() -> None:
    assert len({one.key for one in FRAMEWORKS}) == len(FRAMEWORKS)


def test_terms_are_those_that_conditions_may_ask() -> None:
    assert {name for words, _ in ROWS for name in _terms(f"$ podman run image\n{words}")} <= SETTING


@for_each(
    ("words", "engine"),
    [
        ("$ podman run docker.io/nvidia/cuda nvidia-smi", "podman"),
        ("$ docker run --gpus all image", "docker"),
        ("$ kubectl logs pod", "kubernetes"),
        ("$ apptainer exec --nv image.sif python", "apptainer"),
        ("docker.io/library/ubuntu", ""),
    ],
)
def test_what_started_the_container(words: str, engine: str) -> None:
    assert _terms(words).get(CONTAINER_ENGINE, "") == engine
