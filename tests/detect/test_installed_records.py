"""What pip, uv and conda wrote down in environments, and the deployments of an rpm-ostree system."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

from gpuassist.detect.package_history import read_history
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.past import PackageEvent, PackageHistory
from gpuassist.model.words import ENGLISH
from gpuassist.system.processes import Ending, ProcessResult
from tests.fakes import ScriptedProcesses, put, world_under

VENV, SITE = "/home/you/train/.venv", "/home/you/train/.venv/lib/python3.12/site-packages"
CONDA = "/home/you/miniforge3/envs/train"
HISTORY = """\
==> 2026-10-01 08:00:00 <==
# cmd: conda create -n train pytorch=2.6
+conda-forge/linux-64::pytorch-2.6.0-cuda126_py312_1
==> 2026-11-14 06:12:03 <==
# cmd: conda install pytorch=2.7
-conda-forge/linux-64::pytorch-2.6.0-cuda126_py312_1
+conda-forge/linux-64::pytorch-2.7.0-cuda128_py312_0
"""


def machine(*environments: tuple[str, tuple[str, ...]]) -> Machine:
    made = (PythonEnvironment(prefix, prefix.rpartition("/")[2], sites=Known(sites, "")) for prefix, sites in environments)
    return Machine(environments=Known(tuple(made), ""))


def installed(root: Path, site: str, record: str, day: str, installer: str = "pip", address: str = "") -> None:
    files = {"RECORD": "", "METADATA": ""} | ({"INSTALLER": f"{installer}\n"} if installer else {})
    if address:
        files["direct_url.json"] = json.dumps({"url": address})
    for name, content in files.items():
        dated(put(root, f"{site}/{record}.dist-info/{name}", content), day if name != "METADATA" else "2020-01-01")
    dated(root / f"{site}/{record}.dist-info".lstrip("/"), day)


def dated(path: Path, day: str) -> None:
    moment = datetime.fromisoformat(f"{day}T06:12:03+00:00").timestamp()
    os.utime(path, (moment, moment))


def history(root: Path, *environments: tuple[str, tuple[str, ...]], since: str = "") -> PackageHistory:
    return read_history(world_under(root), machine(*environments), since)


def of(events: tuple[PackageEvent, ...]) -> list[tuple[str, str, str, str]]:
    return [(event.at[:10], event.package, event.after, event.by) for event in events]


def test_the_last_installation_of_what_matters(tmp_path: Path) -> None:
    installed(tmp_path, SITE, "torch-2.7.0+cu128", "2026-11-14", address="https://you:secret@index.example/torch-2.7.0.whl")
    installed(tmp_path, SITE, "nvidia_cudnn_cu12-9.7.1.26", "2026-11-13", "uv")
    installed(tmp_path, SITE, "requests-2.31.0", "2026-11-14")
    installed(tmp_path, SITE, "numpy-2.1.0", "2026-11-12", "conda")
    installed(tmp_path, SITE, "triton-3.3.0", "2026-11-11", "")
    told = history(tmp_path, (VENV, (SITE,)))
    assert of(told.events) == [
        ("2026-11-11", "triton", "3.3.0", ""),
        ("2026-11-13", "nvidia-cudnn-cu12", "9.7.1.26", "uv"),
        ("2026-11-14", "torch", "2.7.0+cu128", "pip https://index.example/torch-2.7.0.whl"),
    ]
    assert {event.environment for event in told.events} == {VENV}
    assert told.events[-1].source == f"{SITE}/torch-2.7.0+cu128.dist-info/INSTALLER"
    assert told.covers == ""


def test_since_and_a_site_that_two_environments_share(tmp_path: Path) -> None:
    installed(tmp_path, SITE, "torch-2.7.0", "2026-11-14")
    installed(tmp_path, SITE, "triton-3.3.0", "2026-11-01")
    both = ((VENV, (SITE,)), ("/home/you/other", (SITE,)))
    assert [event.package for event in history(tmp_path, *both, since="2026-11-10").events] == ["torch"]
    dated(tmp_path / SITE.lstrip("/"), "2026-11-02")
    assert history(tmp_path, *both, since="2026-11-10").events == ()


def test_records_of_any_kind(tmp_path: Path) -> None:
    installed(tmp_path, SITE, "torch-2.7.0", "2026-11-14", "\x1b]0;x\x07" * 100)
    for name in ("torch-.dist-info", "torch.dist-info", "torch-2.7.0.egg-info", "torch-" + "9" * 200 + ".dist-info"):
        put(tmp_path, f"{SITE}/{name}/INSTALLER", "pip\n")
    for number, content in enumerate(("[", "3", '{"url": 7}', "[" * 100_000)):
        put(tmp_path, f"{SITE}/torch-3.{number}.dist-info/direct_url.json", content)
        put(tmp_path, f"{SITE}/torch-3.{number}.dist-info/INSTALLER", "pip\n")
    (tmp_path / SITE.lstrip("/") / "torch-4.0.dist-info").symlink_to("torch-4.0.dist-info")
    os.makedirs(tmp_path / SITE.lstrip("/") / "torch-5.0.dist-info")
    os.mkfifo(tmp_path / SITE.lstrip("/") / "torch-5.0.dist-info/INSTALLER")
    put(tmp_path, f"{SITE}/torch-6.0.dist-info", "a file")
    told = history(tmp_path, (VENV, (SITE, "/not/there")), ("/not/there", ()))
    assert {event.after for event in told.events} >= {"2.7.0", "3.0", "3.1", "3.2", "3.3", "5.0"}


def test_conda_tells_before_and_after(tmp_path: Path) -> None:
    put(tmp_path, f"{CONDA}/conda-meta/history", HISTORY)
    told = history(tmp_path, (CONDA, ()))
    assert [(event.before, event.after, event.by, event.environment) for event in told.events] == [
        ("", "2.6.0", "conda create -n train pytorch=2.6", CONDA),
        ("2.6.0", "2.7.0", "conda install pytorch=2.7", CONDA),
    ]
    assert [event.before for event in history(tmp_path, (CONDA, ()), since="2026-11-01").events] == ["2.6.0"]


def test_records_of_pixi_which_writes_no_history(tmp_path: Path) -> None:
    put(tmp_path, f"{CONDA}/conda-meta/history", "// not relevant for pixi but for `conda run -p`\n")
    for name, day in (("pytorch-2.7.0-cuda128_py312_0.json", "2026-11-14"), ("zlib-1.3-h1_0.json", "2026-11-14")):
        dated(put(tmp_path, f"{CONDA}/conda-meta/{name}", "{}"), day)
    assert of(history(tmp_path, (CONDA, ())).events) == [("2026-11-14", "pytorch", "2.7.0", "")]


def test_a_history_that_is_no_file_is_named(tmp_path: Path) -> None:
    put(tmp_path, f"{CONDA}/conda-meta/history/x")
    assert "conda-meta/history" in "\n".join(map(ENGLISH, history(tmp_path, (CONDA, ())).unread))


# rpm-ostree


def deployment(root: Path, name: str, day: str, *, version: str, kernel: str, driver: str) -> None:
    place = f"/ostree/deploy/fedora/deploy/{name}"
    put(root, f"{place}/usr/lib/os-release", f"ID=fedora\nOSTREE_VERSION='{version}'\n")
    put(root, f"{place}/usr/lib/modules/{kernel}/vmlinuz")
    put(root, f"{place}/usr/lib64/libcuda.so.{driver}")
    dated(put(root, f"{place}.origin", "[origin]\ncontainer-image-reference=image\n"), day)


def test_deployments_by_their_files(tmp_path: Path) -> None:
    put(tmp_path, "/run/ostree-booted")
    deployment(tmp_path, "aaaa.0", "2026-11-01", version="42.1", kernel="6.16.1", driver="570.86.15")
    deployment(tmp_path, "9999.0", "2026-11-14", version="42.2", kernel="6.17.1", driver="580.95.05")
    told = history(tmp_path)
    assert [(event.package, event.before, event.after) for event in told.events] == [
        ("ostree-deployment", "42.1", "42.2"),
        ("kernel", "6.16.1", "6.17.1"),
        ("nvidia-driver", "570.86.15", "580.95.05"),
    ]
    assert {event.source for event in told.events} == {"/ostree/deploy/fedora/deploy/9999.0.origin"}
    assert told.unread == ()


def test_deployments_by_what_rpm_ostree_answers(tmp_path: Path) -> None:
    put(tmp_path, "/run/ostree-booted")
    rows = [{"timestamp": 1794636723, "version": "42.2"}, {"timestamp": 1793000000, "version": "42.1"}]
    hung = ProcessResult(Ending.TIMED_OUT, 0, b"", b"", 3.0)
    for answer, expected in ((json.dumps({"deployments": rows}), ["42.2"]), (hung, []), ("[", [])):
        processes = ScriptedProcesses({"rpm-ostree status --json": answer})
        told = read_history(world_under(tmp_path, processes=processes), Machine(), "")
        assert [event.after for event in told.events] == expected
        assert "deployments" in "\n".join(map(ENGLISH, told.unread))
    assert history(tmp_path / "elsewhere").unread == ()
