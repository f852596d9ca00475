"""The CUDA programs of an environment, and which libraries a new terminal's LD_LIBRARY_PATH makes them load, or lets them find."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.detect.loader import Loader
from gpuassist.model.environment import LoadedLibrary
from gpuassist.system.files import Files

# What loads CUDA's libraries, a file or a pattern in site-packages; torch's own for the CPU needs none of them.
_PROGRAMS = (
    "torch/lib/libtorch_cuda.so",
    "torch/lib/libtorch_cuda_linalg.so",
    "nvidia/cusparse/lib/libcusparse.so.*",
    "nvidia/cusolver/lib/libcusolver.so.*",
    "nvidia/cudnn/lib/libcudnn.so.*",
    "nvidia/cublas/lib/libcublas.so.*",
    "nvidia/cu1[0-9]/lib/libcusparse.so.*",
    "nvidia/cu1[0-9]/lib/libcusolver.so.*",
    "torchvision/_C.so",
    "torchaudio/lib/_torchaudio.so",
    "xformers/_C.so",
    "flash_attn_2_cuda*.so",
    "onnxruntime/capi/libonnxruntime_providers_cuda.so",
    "onnxruntime/capi/libonnxruntime_providers_tensorrt.so",
    "tensorflow/libtensorflow_cc.so.*",
    "tensorflow/python/_pywrap_tensorflow_internal.so",
    "jaxlib/cuda/_solver*.so",
    "jax_cuda1[0-9]_plugin/_solver*.so",
    "cupy_backends/cuda/libs/*.so",
    "llama_cpp/lib/libggml-cuda.so",
    "ctranslate2*.libs/libctranslate2*.so*",
    "bitsandbytes/libbitsandbytes_cuda1[0-9][0-9].so",
)
# A library without these words in its name is none of CUDA's or the driver's.
_CUDA_WORDS = ("libcu", "libnv", "libnccl", "libtensorrt", "libOpenCL")
# The driver's own come with the driver, never from LD_LIBRARY_PATH: whether they are there is asked elsewhere.
_DRIVER = ("libcuda.so", "libnvidia-", "libnvcuvid.so")


def read(files: Files, sites: tuple[str, ...], loader: Loader, library_path: str) -> tuple[LoadedLibrary, ...]:
    """Those where the variable makes a difference, and those that no directory holds; each library of a program once.

    Files are named as they really are, past symlinks, so that the name tells the version.
    """
    found: dict[tuple[str, str], LoadedLibrary] = {}
    for program in programs(files, sites):
        for library in _of_program(files, loader, program, library_path):
            found.setdefault((library.soname, library.taken), library)
    return tuple(found.values())


def programs(files: Files, sites: tuple[str, ...]) -> Iterator[str]:
    """The files of these directories that load CUDA's libraries."""
    for site in sites:
        for pattern in _PROGRAMS:
            yield from files.glob(f"{site}/{pattern}")


def _of_program(files: Files, loader: Loader, program: str, library_path: str) -> Iterator[LoadedLibrary]:
    without = loader.load(program)
    for soname, taken in (loader.load(program, library_path) if library_path else without).items():
        if not (soname.startswith(_CUDA_WORDS) and not soname.startswith(_DRIVER)):
            continue
        own = without[soname].path if soname in without else ""
        real_own, real_taken = (files.real(path) if path else "" for path in (own, taken.path))
        if (taken.by_variable and real_own != real_taken) or not (own or taken.path):
            yield LoadedLibrary(program, soname, real_own, real_taken)
