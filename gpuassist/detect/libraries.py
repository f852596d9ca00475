"""CUDA's libraries where programs of an environment find them: by a terminal's LD_LIBRARY_PATH, or in a project's own directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from gpuassist.detect.loader import Loader
from gpuassist.detect.prefixes import Prefix
from gpuassist.formats.elf import read_dynamic
from gpuassist.model.driver import Library
from gpuassist.model.environment import LoadedLibrary, Manager
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.world import World

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
        without = loader.load(program)
        for soname, taken in (loader.load(program, library_path) if library_path else without).items():
            if not soname.startswith(_CUDA_WORDS) or soname.startswith(_DRIVER):
                continue
            own = without[soname].path if soname in without else ""
            real_own, real_taken = (files.real(path) if path else "" for path in (own, taken.path))
            if (taken.by_variable and real_own != real_taken) or not (own or taken.path):
                found.setdefault((soname, real_taken), LoadedLibrary(program, soname, real_own, real_taken))
    return tuple(found.values())


def programs(files: Files, sites: tuple[str, ...]) -> Iterator[str]:
    """The files of these directories that load CUDA's libraries."""
    for site in sites:
        for pattern in _PROGRAMS:
            yield from files.glob(f"{site}/{pattern}")


# The cuDNN that LD_LIBRARY_PATH leads to, which programs may load in place of their own.


_STEM = "libcudnn.so."
_DIRECTORIES_AT_MOST = 40  # directories: a module system can put hundreds there


def cudnn_on_path(world: World, terminal: Fact[Terminal]) -> Fact[tuple[Library, ...]]:
    """One for each major version of each directory, in the order in which they are searched."""
    if isinstance(terminal, Unknown):
        return terminal
    elements = dict.fromkeys(part.rstrip("/") for part in terminal.value.variable("LD_LIBRARY_PATH").split(":") if part[:1] == "/")
    found = tuple(one for directory in list(elements)[:_DIRECTORIES_AT_MOST] for one in _cudnn_in(world.files, directory))
    return Known(found, "LD_LIBRARY_PATH")


def _cudnn_in(files: Files, directory: str) -> Iterator[Library]:
    """By the name that programs ask for, `libcudnn.so.9`, and the full version in the name of the file behind it."""
    for name in files.names(directory):
        if name.startswith(_STEM) and name.removeprefix(_STEM).isdecimal():
            path = f"{directory}/{name}"
            real = files.real(path)
            words = PurePosixPath(real).name.removeprefix(_STEM)
            if not PurePosixPath(real).name.startswith(_STEM) or not words[:1].isdecimal() or "." not in words:
                version: Fact[Version] = Unknown(text("the name of {path} holds no full version", path=real))
            else:
                version = Known(Version.parse(words), real)
            yield Library(path, version)


# What lies in a project's own directory, where an environment has wheels that search the current directory.


# Of the driver, of the toolkit and of what torch brings: names that its import asks the loader for.
_CUDA_NAME = lazy_regex(
    r"lib(?:cuda|cudart|nvidia-\w+|nvrtc\S*|nvJitLink|cublas\w*|cudnn\w*|cufft\w*|curand|cusolver\w*|cusparse\w*|cupti|nccl|cufile\w*)"
    r"\.so(?:\.\d+)*"
)


def stray(files: Files, prefix: Prefix, sites: tuple[str, ...]) -> Fact[tuple[str, ...]]:
    """The files of the directory that a virtual environment lies in; the wheels are looked at only where there are any."""
    directory = str(PurePosixPath(prefix.path).parent)
    names = files.names(directory) if prefix.manager in {Manager.VENV, Manager.UV} else ()
    found = tuple(f"{directory}/{name}" for name in names if _CUDA_NAME.fullmatch(name) and files.is_file(f"{directory}/{name}"))
    for path in (path for site in sites for path in files.glob(f"{site}/nvidia/*/lib/*.so*") if found):
        # The loader reads an empty element of RPATH or RUNPATH as the current directory.
        if any(value and "" in value.split(":") for value in _search_paths(files, path)):
            return Known(found, f"{directory}, RUNPATH of {path}")
    return Known((), directory)


def _search_paths(files: Files, path: str) -> tuple[str, ...]:
    try:
        dynamic = read_dynamic(lambda offset, size: files.read_part(path, offset, size))
    except OSError:
        return ()
    return (dynamic.rpath, dynamic.runpath) if dynamic is not None else ()
