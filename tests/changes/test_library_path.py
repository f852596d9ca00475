"""A toolkit's directory on LD_LIBRARY_PATH, weighed against the programs of made-up environments."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpuassist.changes.library_path import DirectoryView, choose_loader, look, reason
from gpuassist.changes.wishes import LdLibraryPath
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.detect.test_libraries import SITE, TOOLKIT, versioned
from tests.fakes import ScriptedProcesses, put, world_under
from tests.formats.made_elf import shared_object

PROVIDER = f"{SITE}/onnxruntime/capi/libonnxruntime_providers_cuda.so"
CUSPARSE = f"{SITE}/nvidia/cusparse/lib/libcusparse.so.12"
ENVIRONMENTS: Fact[tuple[PythonEnvironment, ...]] = Known(
    (PythonEnvironment("/env", "train", sites=Known((SITE,), "/env")),), "/home/you"
)


def view(root: Path, environments: Fact[tuple[PythonEnvironment, ...]] = ENVIRONMENTS) -> DirectoryView:
    return look(world_under(root), environments, TOOLKIT)


@pytest.fixture
def toolkit(tmp_path: Path) -> Path:
    """CUDA 12.1 with two of its libraries."""
    versioned(tmp_path, TOOLKIT, "libcublasLt.so.12", "12.1.3.1")
    versioned(tmp_path, TOOLKIT, "libnvJitLink.so.12", "12.1.105")
    return tmp_path


def test_program_that_finds_a_library_nowhere_else_needs_it(toolkit: Path) -> None:
    put(toolkit, PROVIDER, shared_object(("libcublasLt.so.12",)))
    seen = view(toolkit)
    assert [use.library.soname for use in seen.needs] == ["libcublasLt.so.12"]
    assert ENGLISH(reason(seen, on=True)) == (
        f"needed: libonnxruntime_providers_cuda.so in train finds libcublasLt.so.12 nowhere else than in {TOOLKIT}"
    )


def test_library_that_a_wheel_beside_it_brings_is_not_needed(toolkit: Path) -> None:
    put(toolkit, PROVIDER, shared_object(("libcublasLt.so.12",)))
    versioned(toolkit, f"{SITE}/nvidia/cublas/lib", "libcublasLt.so.12", "12.4.5.8")
    assert view(toolkit).needs == ()


def test_older_library_in_place_of_the_own_hurts(toolkit: Path) -> None:
    put(toolkit, CUSPARSE, shared_object(("libnvJitLink.so.12",), runpath="$ORIGIN/../../nvjitlink/lib"))
    own = versioned(toolkit, f"{SITE}/nvidia/nvjitlink/lib", "libnvJitLink.so.12", "12.4.127")
    seen = view(toolkit)
    (use,) = seen.hurts
    assert (use.library.own, use.library.taken) == (own, f"{TOOLKIT}/libnvJitLink.so.12.1.105")
    assert ENGLISH(reason(seen, on=True)).startswith("beware: with it libcusparse.so.12 in train loads")
    assert ENGLISH(reason(seen, on=False)).startswith("left alone: with it libcusparse.so.12 in train would load")


def test_what_one_program_needs_is_left_off_where_it_would_break_another(toolkit: Path) -> None:
    put(toolkit, PROVIDER, shared_object(("libcublasLt.so.12",)))
    put(toolkit, CUSPARSE, shared_object(("libnvJitLink.so.12",), runpath="$ORIGIN/../../nvjitlink/lib"))
    versioned(toolkit, f"{SITE}/nvidia/nvjitlink/lib", "libnvJitLink.so.12", "12.4.127")
    installed = Toolkit(str(Path(TOOLKIT).parent))
    chosen = choose_loader(world_under(toolkit), Machine(environments=ENVIRONMENTS), installed, LdLibraryPath.AUTO)
    assert (chosen.on, chosen.harms) == (False, True)


def test_newer_library_does_not_hurt(toolkit: Path) -> None:
    put(toolkit, CUSPARSE, shared_object(("libnvJitLink.so.12",), runpath="$ORIGIN/../../nvjitlink/lib"))
    versioned(toolkit, f"{SITE}/nvidia/nvjitlink/lib", "libnvJitLink.so.12", "12.0.76")
    assert view(toolkit) == DirectoryView(TOOLKIT, (), (), 1)


def test_nothing_that_needs_it_is_said_with_what_was_looked_at(toolkit: Path) -> None:
    assert "the 1 Python environment that was looked at does not need it" in ENGLISH(reason(view(toolkit), on=False))


def test_machine_without_environments_is_said(toolkit: Path) -> None:
    nowhere = view(toolkit, Unknown(text("not looked")))
    assert "no Python environment of this machine was found" in ENGLISH(reason(nowhere, on=False))


def compiled(place: Path, *arguments: str) -> None:
    """A real library of nothing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "c", "-o", str(place), "/dev/null", *arguments], check=True)


@pytest.mark.needs("gcc")
def test_real_loader_confirms_what_is_needed(home: Path) -> None:
    toolkit, site = home / "cuda/lib64", home / "site-packages"
    compiled(toolkit / "libcublasLt.so.12", "-Wl,-soname,libcublasLt.so.12")
    needs = ("-x", "none", "-Wl,--no-as-needed", str(toolkit / "libcublasLt.so.12"))
    compiled(site / "onnxruntime/capi/libonnxruntime_providers_cuda.so", *needs)
    environment = PythonEnvironment("/env", "train", sites=Known((str(site),), "test"))
    seen = look(World(Surroundings(str(home), "you", 1000)), Known((environment,), "test"), str(toolkit))
    assert [(use.library.soname, use.confirmed) for use in seen.needs] == [("libcublasLt.so.12", True)]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("\tlibcublasLt.so.12 => /elsewhere/libcublasLt.so.12 (0x00007f)\n", False),
        ("\tlibcublasLt.so.12 => not found\n", False),
        ("\tstatically linked\n", True),
        ("", True),
    ],
)
def test_real_loader_has_the_last_word(home: Path, said: str, kept: bool) -> None:
    toolkit, site = home / "cuda/lib64", home / "site-packages"
    put(home, "cuda/lib64/libcublasLt.so.12", shared_object(soname="libcublasLt.so.12"))
    program = put(site, "onnxruntime/capi/libonnxruntime_providers_cuda.so", shared_object(("libcublasLt.so.12",)))
    answers = {f"{loader} --list {program}": said for loader in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")}
    environment = PythonEnvironment("/env", "train", sites=Known((str(site),), "test"))
    world = World(Surroundings(str(home), "you", 1000), processes=ScriptedProcesses(dict(answers)))
    assert bool(look(world, Known((environment,), "test"), str(toolkit)).needs) is kept
