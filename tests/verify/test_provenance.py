"""Why a process has the CUDA libraries that it has: recorded processes of real torches, made-up ones, and the real loader."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.model.codec import decode
from gpuassist.model.libraries import LibraryLoaded, Way
from gpuassist.verify.child import libraries as child
from gpuassist.verify.provenance import Cached, LoadedObject, NamedValue, ProcessLibraries, libraries_of
from tests.formats.made_elf import loader_cache
from tests.torch_environment import ReadyTorch

CASES = Path(__file__).parent.parent / "cases" / "libraries"
SITE = "/home/you/train/lib/python3.11/site-packages"


def recorded(name: str) -> ProcessLibraries:
    """What a real torch reported on a scripted driver, with its paths as those of a user."""
    found = decode(ProcessLibraries, json.loads((CASES / f"{name}.json").read_text("utf-8")))
    assert isinstance(found, ProcessLibraries)
    return found


def by_name(process: ProcessLibraries) -> dict[str, LibraryLoaded]:
    return {one.name: one for one in libraries_of(process)}


@pytest.mark.parametrize(
    ("name", "library", "way", "version"),
    [
        ("torch-2.6", "libcudart", Way.RPATH, "12.4"),
        ("torch-2.6", "libnvJitLink", Way.PATH, "12.4"),
        ("torch-2.6", "libcublas", Way.RPATH, "12.4.5"),
        ("torch-2.6", "libcudnn", Way.RPATH, "9.1.0.70"),
        ("torch-2.6", "libcudnn_graph", Way.RUNPATH, "9.1.0.70"),
        ("torch-2.6", "libcuda", Way.LIBRARY_PATH, "CUDA 12.4"),
        ("torch-2.10", "libcublas", Way.PATH, "12.8.4"),
        ("torch-2.10", "libcusolver", Way.PATH, "11.7.3"),
        ("torch-2.10", "libnccl", Way.PATH, "2.27.5"),
        ("torch-1.13", "libcudart", Way.RPATH, "11.7"),
        ("torch-1.13", "libcublasLt", Way.RUNPATH, "11.10.3"),
        ("torch-1.13", "libnccl", Way.BUILT_IN, "2.14.3"),
        ("cudnn-parts-by-variable", "libcudnn", Way.RPATH, "9.1.0.70"),
        ("cudnn-parts-by-variable", "libcudnn_graph", Way.LIBRARY_PATH, "9.10.2.21"),
        ("older-curand-preloaded", "libcublas", Way.PATH, "12.8.4"),
    ],
)
def test_library_of_a_real_process_has_its_way_and_version(name: str, library: str, way: Way, version: str) -> None:
    found = by_name(recorded(name))[library]
    assert (found.way, found.version) == (way, version)


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.iterdir()))
def test_every_library_of_a_real_process_is_explained(name: str) -> None:
    assert [one.name for one in libraries_of(recorded(name)) if one.way is Way.UNKNOWN] == []


def test_wheel_is_named_beside_the_way() -> None:
    assert by_name(recorded("torch-2.6"))["libcublas"].package == "nvidia-cublas-cu12 12.4.5.8"


def test_element_of_the_variable_is_counted_from_one() -> None:
    (driver,) = (one for one in libraries_of(recorded("cudnn-parts-by-variable")) if one.name == "libcuda")
    assert dict(driver.why.parameters) == {"place": 4, "directory": "/opt/driver/lib64"}


# Made-up processes: the program, what needs a library, and the library.


def process(
    *objects: LoadedObject, variables: Mapping[str, str] | None = None, cached: tuple[Cached, ...] = ()
) -> ProcessLibraries:
    program = LoadedObject("/usr/bin/python3", "/usr/bin/python3")
    named = tuple(NamedValue(name, value) for name, value in (variables or {}).items())
    return ProcessLibraries(objects=(program, *objects), variables=named, cached=cached)


def needer(name: str = "/site/torch/lib/libtorch_cuda.so", *, rpath: str = "", runpath: str = "") -> LoadedObject:
    soname = name.rpartition("/")[2]
    return LoadedObject(name, name, soname, ("libcublas.so.12",), rpath, runpath, "libtorch_cuda")


def cublas(directory: str) -> LoadedObject:
    name = f"{directory}/libcublas.so.12"
    return LoadedObject(name, name, "libcublas.so.12", library="libcublas")


@pytest.mark.parametrize(
    ("one", "variables", "cached", "way", "variable"),
    [
        (process(needer(rpath="/x:$ORIGIN"), cublas("/site/torch/lib")), {}, (), Way.RPATH, ""),
        (process(needer(rpath="/site"), cublas("/site")), {"LD_LIBRARY_PATH": "/site"}, (), Way.RPATH, ""),
        (process(needer(runpath="/site"), cublas("/site")), {"LD_LIBRARY_PATH": "/site"}, (), Way.LIBRARY_PATH, "LD_LIBRARY_PATH"),
        (process(needer(runpath="${ORIGIN}/.."), cublas("/site/torch/lib/..")), {}, (), Way.RUNPATH, ""),
        (process(needer(rpath="/opt", runpath="/x"), cublas("/opt")), {}, ("/opt",), Way.CACHE, ""),
        (process(needer(), cublas("/opt")), {}, ("/opt",), Way.CACHE, ""),
        (process(needer(), cublas("/usr/lib64")), {}, (), Way.DEFAULT, ""),
        (
            process(needer(), cublas("/a/glibc-hwcaps/x86-64-v3")),
            {"LD_LIBRARY_PATH": "/a"},
            (),
            Way.LIBRARY_PATH,
            "LD_LIBRARY_PATH",
        ),
        (process(cublas("/mine"), needer()), {"LD_PRELOAD": "/mine/libcublas.so.12"}, (), Way.PRELOAD, "LD_PRELOAD"),
        (process(cublas("/mine"), needer()), {"LD_PRELOAD": "/a.so:/mine/libcublas.so.12"}, (), Way.PRELOAD, "LD_PRELOAD"),
        (process(cublas("/mine"), needer()), {}, (), Way.PATH, ""),
        (process(cublas("/mine/lib"), needer()), {"PYTHONPATH": "/mine"}, (), Way.PATH, "PYTHONPATH"),
        (process(needer(), cublas("/nowhere")), {}, (), Way.UNKNOWN, ""),
        (process(needer(), cublas(".")), {"LD_LIBRARY_PATH": "/a:"}, (), Way.LIBRARY_PATH, "LD_LIBRARY_PATH"),
    ],
)
def test_order_is_that_of_the_loader(
    one: ProcessLibraries, variables: Mapping[str, str], cached: tuple[str, ...], way: Way, variable: str
) -> None:
    entry = Cached("libcublas.so.12", tuple(f"{directory}/libcublas.so.12" for directory in cached))
    given = tuple(NamedValue(name, value) for name, value in variables.items())
    found = by_name(replace(one, variables=given, cached=(entry,)))["libcublas"]
    assert (found.way, found.variable) == (way, variable)


def test_rpath_is_inherited_from_what_loaded_the_needer() -> None:
    outer = LoadedObject("/site/libouter.so", "/site/libouter.so", "libouter.so", ("libtorch_cuda.so",), "/mine")
    found = by_name(process(outer, needer(), cublas("/mine")))["libcublas"]
    assert (found.way, dict(found.why.parameters)["holder"]) == (Way.RPATH, "libouter.so")


def test_rpath_of_the_program_counts_last() -> None:
    one = process(needer(), cublas("/usr/bin/../lib"))
    program = replace(one.objects[0], rpath="$ORIGIN/../lib")
    assert by_name(replace(one, objects=(program, *one.objects[1:])))["libcublas"].way is Way.RPATH


def test_library_beside_one_that_a_variable_chose_is_that_variables_too() -> None:
    chosen = needer("/other/libtorch_cuda.so", runpath="$ORIGIN")
    first = LoadedObject("/x.so", "/x.so", "x.so", ("libtorch_cuda.so",))
    found = by_name(process(first, chosen, cublas("/other"), variables={"LD_LIBRARY_PATH": "/other"}))
    assert found["libcublas"].variable == "LD_LIBRARY_PATH"


# What the child reads, of this very process and of real libraries.


def test_child_reads_the_loaders_cache(tmp_path: Path) -> None:
    place = tmp_path / "cache"
    place.write_bytes(loader_cache(("liba.so", "/1/liba.so"), ("libb.so", "/b"), ("liba.so", "/2/liba.so")))
    assert child.cached(frozenset({"liba.so"}), str(place)) == {"liba.so": ["/1/liba.so", "/2/liba.so"]}
    place.write_bytes(place.read_bytes()[:60])
    assert child.cached(frozenset({"liba.so"}), str(place)) == {}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a/libcudnn_ops.so.9", "libcudnn_ops"),
        ("/a/libcudart-e409450e.so.11.0", "libcudart"),
        ("/a/libcuda.so.580.95.05", "libcuda"),
        ("/a/libnvidia-ptxjitcompiler.so.1", "libnvidia-ptxjitcompiler"),
        ("/a/libcupti.so.2024.1.1", "libcupti"),
        ("/a/libcurl.so.4", ""),
        ("/a/libtorch_cpu.so", ""),
    ],
)
def test_cuda_library_is_told_by_its_name(path: str, name: str) -> None:
    assert child.library_name(path) == name


@pytest.mark.parametrize(
    ("number", "major", "words"),
    [(90100, 10000, "9.1.0"), (8902, 1000, "8.9.2"), (22105, 10000, "2.21.5"), (2708, 1000, "2.7.8"), (0, 1000, "")],
)
def test_number_of_a_version_is_told_in_parts(number: int, major: int, words: str) -> None:
    assert child.dotted(number, major) == words


SOURCES = {
    "libcudart.so.12": "int cudaRuntimeGetVersion(int *version) { *version = 12040; return 0; }",
    "libtorch_cuda.so": "int cudaRuntimeGetVersion(int *); int ask(void) { int v; return cudaRuntimeGetVersion(&v); }",
}
PROJECT = str(Path(__file__).resolve().parent.parent.parent)
TORCH_REPORT = """
import torch
sys.path.insert(0, {project!r})
from gpuassist.verify.child import libraries
libraries.touch(torch)
say(libraries.report(torch))
"""
OBJECTS = """
import torch
sys.path.insert(0, {project!r})
from gpuassist.verify.child import libraries
say([(one.soname, one.needed) for one in libraries.loaded_objects()])
"""
REPORT = """
import ctypes, json, os, sys
sys.path.insert(0, sys.argv[1])
from gpuassist.verify.child import libraries
ctypes.CDLL(sys.argv[2])
print(json.dumps(libraries.report(None)))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that needs another, which lies in two places: `own`, to which its RPATH or RUNPATH leads, and `other`."""
    compiler, root = shutil.which("gcc"), tmp_path_factory.mktemp("built")
    if compiler is None:
        pytest.skip("NOT RUN: needs gcc, package gcc")

    def build(name: str, place: str, *more: str) -> None:
        (root / place).mkdir()
        command = (compiler, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", str(root / place / name), "-xc", "-", "-xnone", *more)
        subprocess.run(command, input=SOURCES[name], text=True, check=True, timeout=60)

    build("libcudart.so.12", "own")
    for tags in ("disable", "enable"):
        leads = ("-Wl,-rpath,$ORIGIN/../own", f"-Wl,--{tags}-new-dtags")
        build("libtorch_cuda.so", tags, str(root / "own" / "libcudart.so.12"), *leads)
    shutil.copytree(root / "own", root / "other")
    return root


def _asked(program: Path, variables: Mapping[str, str]) -> LibraryLoaded:
    command = [sys.executable, "-I", "-c", REPORT, PROJECT, str(program)]
    bare = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    run = subprocess.run(command, env={**bare, **variables}, capture_output=True, check=True, timeout=60)
    return by_name(decode(ProcessLibraries, json.loads(run.stdout)))["libcudart"]


@pytest.mark.parametrize(
    ("tags", "variable", "place", "way"),
    [
        ("disable", "", "own", Way.RPATH),
        ("disable", "LD_LIBRARY_PATH", "own", Way.RPATH),
        ("enable", "", "own", Way.RUNPATH),
        ("enable", "LD_LIBRARY_PATH", "other", Way.LIBRARY_PATH),
        ("enable", "LD_PRELOAD", "other", Way.PRELOAD),
    ],
)
def test_real_loader_is_understood(built: Path, tags: str, variable: str, place: str, way: Way) -> None:
    words = f"{built}/other/libcudart.so.12" if variable == "LD_PRELOAD" else f"/nowhere:{built}/other"
    found = _asked(built / tags / "libtorch_cuda.so", {variable: words} if variable else {})
    assert (found.path, found.way, found.version) == (os.path.realpath(built / place / "libcudart.so.12"), way, "12.4")
    assert found.variable == (variable if way in {Way.LIBRARY_PATH, Way.PRELOAD} else "")


def test_child_reports_a_torch_without_cuda(tmp_path: Path, ready_torch: ReadyTorch) -> None:
    program = ready_torch.runs(tmp_path, TORCH_REPORT.format(project=PROJECT))
    reading, writing = os.pipe()
    subprocess.run([program, "child.py", str(writing)], pass_fds=(writing,), check=True, timeout=120)
    os.close(writing)
    with os.fdopen(reading, "rb") as lines:
        found = decode(ProcessLibraries, json.loads(lines.read()))
    assert (libraries_of(found), found.error, found.torch.endswith("/torch")) == ((), "", True)


def test_objects_of_a_torch_are_read_from_the_loader(tmp_path: Path, ready_torch: ReadyTorch) -> None:
    program = ready_torch.runs(tmp_path, OBJECTS.format(project=PROJECT))
    reading, writing = os.pipe()
    subprocess.run([program, "child.py", str(writing)], pass_fds=(writing,), check=True, timeout=120)
    os.close(writing)
    with os.fdopen(reading, "rb") as lines:
        rows = {row[0]: row[1] for row in json.loads(lines.read())}
    assert {"libc10.so", "libtorch_cpu.so"} <= rows.keys()
    assert "libc10.so" in rows["libtorch_cpu.so"]
