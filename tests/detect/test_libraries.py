"""Which of an environment's CUDA libraries LD_LIBRARY_PATH decides on."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.detect import libraries
from gpuassist.detect.loader import Loader
from gpuassist.model.environment import LoadedLibrary
from gpuassist.system.files import Files
from tests.fakes import link, put
from tests.formats.made_elf import shared_object

SITE = "/env/lib/python3.11/site-packages"
TORCH = f"{SITE}/torch/lib/libtorch_cuda.so"
TOOLKIT = "/usr/local/cuda-12.1/lib64"


def read(root: Path, library_path: str = TOOLKIT) -> tuple[LoadedLibrary, ...]:
    files = Files(str(root))
    return libraries.read(files, (SITE,), Loader(files), library_path)


def versioned(root: Path, directory: str, soname: str, version: str) -> str:
    """A library with its version in its name, and the link by its soname."""
    real = f"{directory}/{soname.partition('.so')[0]}.so.{version}"
    put(root, real, shared_object(soname=soname))
    link(root, f"{directory}/{soname}", real.rsplit("/", 1)[-1])
    return real


@pytest.fixture(params=["rpath", "runpath"])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A torch that brings libnvJitLink 12.4 along, found by RPATH (2.6 and newer) or by RUNPATH (a wheel of nvidia's)."""
    put(tmp_path, TORCH, shared_object(("libnvJitLink.so.12", "libc.so.6"), **{request.param: "$ORIGIN/../../nvidia/lib"}))
    versioned(tmp_path, f"{SITE}/nvidia/lib", "libnvJitLink.so.12", "12.4.127")
    versioned(tmp_path, TOOLKIT, "libnvJitLink.so.12", "12.1.105")
    return str(request.param)


def test_only_a_runpath_gives_way_to_the_variable(tmp_path: Path, kind: str) -> None:
    own = f"{SITE}/nvidia/lib/libnvJitLink.so.12.4.127"
    shadowed = LoadedLibrary(TORCH, "libnvJitLink.so.12", own, f"{TOOLKIT}/libnvJitLink.so.12.1.105")
    assert read(tmp_path) == ((shadowed,) if kind == "runpath" else ())


@pytest.mark.usefixtures("kind")
def test_without_the_variable_nothing_is_decided_by_it(tmp_path: Path) -> None:
    assert read(tmp_path, "") == ()


@pytest.mark.usefixtures("kind")
def test_link_to_the_same_file_is_no_other(tmp_path: Path) -> None:
    link(tmp_path, "/same", f"{SITE}/nvidia/lib")
    assert read(tmp_path, "/same") == ()


def test_program_that_finds_its_library_by_the_variable_alone_is_told(tmp_path: Path) -> None:
    provider = f"{SITE}/onnxruntime/capi/libonnxruntime_providers_cuda.so"
    put(tmp_path, provider, shared_object(("libcublasLt.so.12",)))
    real = versioned(tmp_path, TOOLKIT, "libcublasLt.so.12", "12.1.3.1")
    assert read(tmp_path) == (LoadedLibrary(provider, "libcublasLt.so.12", "", real),)
    assert read(tmp_path, "") == (LoadedLibrary(provider, "libcublasLt.so.12", "", ""),)


def test_missing_driver_is_none_of_this(tmp_path: Path) -> None:
    put(tmp_path, TORCH, shared_object(("libcuda.so.1", "libnvidia-ml.so.1", "libfoo.so")))
    assert read(tmp_path) == ()


def test_environment_without_such_programs_has_none(tmp_path: Path) -> None:
    put(tmp_path, f"{SITE}/numpy/core.so", shared_object(("libcublas.so.12",)))
    assert read(tmp_path) == ()
