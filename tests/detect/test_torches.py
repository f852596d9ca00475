"""What the files of a torch say, and where an environment looks for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpuassist.detect import torches
from gpuassist.detect.prefixes import Prefix
from gpuassist.model.environment import Accelerator, Manager, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.system.files import Files
from tests.detect.made_python import make_torch
from tests.fakes import put, world_under
from tests.torch_environment import NO_TORCH, torch_file

SITE = "/venv/lib/python3.12/site-packages"


def _read(root: Path) -> Torch:
    return torches.read(Files(str(root)), SITE)


def _value(fact: Fact[Any]) -> Any:
    assert isinstance(fact, Known), fact
    return fact.value


def _why(fact: Fact[Any]) -> str:
    assert isinstance(fact, Unknown), fact
    return ENGLISH(fact.reason)


def _sites(root: Path, prefix: Prefix, settings: dict[str, str], python_path: str = "") -> tuple[str, ...]:
    version = Known(Version.parse("3.12.1"), "a test")
    return torches.site_directories(world_under(root), prefix, settings, version=version, python_path=python_path)


def test_cuda_build_tells_everything(tmp_path: Path) -> None:
    make_torch(tmp_path, SITE, "2.5.1+cu124", cuda="12.4", targets="sm_80 sm_90 compute_90")
    found = _read(tmp_path)
    assert (_value(found.version), _value(found.accelerator)) == ("2.5.1+cu124", Accelerator.CUDA)
    assert (str(_value(found.cuda)), [str(target) for target in _value(found.targets)]) == (
        "12.4",
        ["sm_80", "sm_90", "compute_90"],
    )
    assert found.installer == Known("pip", f"{SITE}/torch-2.5.1.dist-info/INSTALLER")


def test_cpu_build_has_no_gpu_code(tmp_path: Path) -> None:
    make_torch(tmp_path, SITE, "2.5.1+cpu", targets="sm_80")
    found = _read(tmp_path)
    assert (_value(found.accelerator), found.cuda, _value(found.targets)) == (Accelerator.CPU, NOT_ASKED, ())


def test_wheel_of_pypi_is_no_cpu_build(tmp_path: Path) -> None:
    make_torch(tmp_path, SITE, "2.9.1", cuda="12.8", targets="sm_70 sm_120")
    assert (_value(_read(tmp_path).accelerator), str(_value(_read(tmp_path).cuda))) == (Accelerator.CUDA, "12.8")


@pytest.mark.parametrize(("name", "accelerator"), [("hip", Accelerator.ROCM), ("xpu", Accelerator.XPU)])
def test_other_accelerators_are_named(tmp_path: Path, name: str, accelerator: Accelerator) -> None:
    put(tmp_path, f"{SITE}/torch/version.py", f"__version__ = '2.9.0'\ncuda = None\n{name} = '6.4'\n")
    found = _read(tmp_path)
    assert (_value(found.accelerator), _value(found.targets)) == (accelerator, ())


def test_library_that_is_gone_leaves_targets_unknown(tmp_path: Path) -> None:
    make_torch(tmp_path, SITE, "2.5.1+cu124", cuda="12.4")
    (tmp_path / SITE.lstrip("/") / "torch/lib/libtorch_python.so").unlink()
    assert "libtorch_python.so could not be read" in _why(_read(tmp_path).targets)


@pytest.mark.parametrize("library", [b"", b"\x7fELF", b"file too short"])
def test_damaged_library_leaves_targets_unknown(tmp_path: Path, library: bytes) -> None:
    make_torch(tmp_path, SITE, "2.5.1+cu124", cuda="12.4", targets="sm_80")
    put(tmp_path, f"{SITE}/torch/lib/libtorch_python.so", library)
    assert "names no architectures" in _why(_read(tmp_path).targets)


@pytest.mark.parametrize("source", ["", "__version__ =", "raise SystemExit\n"])
def test_damaged_version_file_is_unknown(tmp_path: Path, source: str) -> None:
    put(tmp_path, f"{SITE}/torch/version.py", source)
    found = _read(tmp_path)
    assert all("names no version" in _why(fact) for fact in (found.version, found.accelerator, found.targets))


def test_cuda_that_is_no_version_is_unknown(tmp_path: Path) -> None:
    make_torch(tmp_path, SITE, "2.5.1", cuda="none")
    assert "names a CUDA version that is none: none" in _why(_read(tmp_path).cuda)


def test_version_file_that_is_gone_is_unknown(tmp_path: Path) -> None:
    assert "could not be read" in _why(_read(tmp_path).version)


def test_record_of_the_right_release_names_the_installer(tmp_path: Path) -> None:
    make_torch(tmp_path, SITE, "2.5.1+cu124", cuda="12.4", installer="uv")
    put(tmp_path, f"{SITE}/torch-2.4.0.dist-info/INSTALLER", "pip\n")
    assert _value(_read(tmp_path).installer) == "uv"


def test_conda_package_is_installed_by_conda(tmp_path: Path) -> None:
    make_torch(tmp_path, SITE, "2.5.1", cuda="12.4", installer="")
    put(tmp_path, "/venv/conda-meta/pytorch-2.5.1-cuda126_py312h1234_300.json")
    assert _value(_read(tmp_path).installer) == "conda"


def test_torch_that_was_built_in_place_has_no_installer(tmp_path: Path) -> None:
    make_torch(tmp_path, SITE, "2.5.1", installer="")
    assert "no record of who installed it" in _why(_read(tmp_path).installer)


def test_venv_looks_only_into_itself(tmp_path: Path) -> None:
    (tmp_path / SITE.lstrip("/")).mkdir(parents=True)
    assert _sites(tmp_path, Prefix("/venv", Manager.VENV), {"home": "/usr/bin"}) == (SITE,)


def test_venv_with_system_packages_looks_there_last(tmp_path: Path) -> None:
    for site in (SITE, "/usr/lib/python3/dist-packages"):
        (tmp_path / site.lstrip("/")).mkdir(parents=True)
    settings = {"home": "/usr/bin", "include-system-site-packages": "true"}
    user = "/home/you/.local/lib/python3.12/site-packages"
    assert _sites(tmp_path, Prefix("/venv", Manager.VENV), settings) == (SITE, user, "/usr/lib/python3/dist-packages")


def test_conda_looks_into_the_users_own_packages_first(tmp_path: Path) -> None:
    site = "/conda/lib/python3.12/site-packages"
    (tmp_path / site.lstrip("/")).mkdir(parents=True)
    user = "/home/you/.local/lib/python3.12/site-packages"
    assert _sites(tmp_path, Prefix("/conda", Manager.CONDA), {}) == (user, site)


def test_python_path_comes_before_all(tmp_path: Path) -> None:
    (tmp_path / SITE.lstrip("/")).mkdir(parents=True)
    found = _sites(tmp_path, Prefix("/venv", Manager.VENV), {"home": "/usr/bin"}, "/mine::relative:/other")
    assert found == ("/mine", "/other", SITE)


def test_directory_that_two_names_lead_to_counts_once(tmp_path: Path) -> None:
    (tmp_path / SITE.lstrip("/")).mkdir(parents=True)
    (tmp_path / "venv/lib64").symlink_to("lib")
    assert _sites(tmp_path, Prefix("/venv", Manager.VENV), {"home": "/usr/bin"}) == (SITE,)


def test_unknown_python_looks_nowhere(tmp_path: Path) -> None:
    prefix = Prefix("/venv", Manager.VENV)
    assert torches.site_directories(world_under(tmp_path), prefix, {}, version=Unknown(text("no")), python_path="/x") == ()


RECORD = "torch/__init__.py,sha256=x,12\ntorch/lib/libc10.so,sha256=y,4\ntorch/nn/functional.py,sha256=z,9\ntorch/_C.so,,\n"


@pytest.mark.parametrize(
    ("files", "damaged"),
    [
        ({"__init__.py": "import os, sys", "lib/libc10.so": "four"}, ()),
        ({"__init__.py": "edited", "lib/libc10.so": "cut"}, ("torch/lib/libc10.so",)),
        ({"lib/libc10.so": "four"}, ("torch/__init__.py",)),
    ],
)
def test_record_tells_what_is_missing_or_cut_off(tmp_path: Path, files: dict[str, str], damaged: tuple[str, ...]) -> None:
    make_torch(tmp_path, SITE, "2.5.1+cu124", cuda="12.4")
    put(tmp_path, f"{SITE}/torch-2.5.1.dist-info/RECORD", RECORD)
    for name, words in files.items():
        put(tmp_path, f"{SITE}/torch/{name}", words)
    assert _value(_read(tmp_path).damaged) == damaged


def test_missing_record_leaves_damage_unknown(tmp_path: Path) -> None:
    make_torch(tmp_path, SITE, "2.5.1+cu124", cuda="12.4")
    assert "RECORD could not be read" in _why(_read(tmp_path).damaged)


def test_torch_of_conda_is_not_held_against_its_record(tmp_path: Path) -> None:
    make_torch(tmp_path, SITE, "2.5.1", cuda="12.4", installer="conda")
    assert _read(tmp_path).damaged == NOT_ASKED


def test_real_torch_is_read_without_importing_it() -> None:
    version = torch_file("version.py")
    if version is None:
        pytest.skip(NO_TORCH)
    found = torches.read(Files("/"), str(version.parent.parent))
    assert _value(found.version).startswith("2.")
    assert _value(found.accelerator) in (Accelerator.CPU, Accelerator.CUDA)
    assert isinstance(found.targets, Known)
