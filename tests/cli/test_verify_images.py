"""`gpuassist verify --in`: what a person and a program are told, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuassist.cli import verify
from gpuassist.cli.context import UsageError
from gpuassist.present.marks import Exit
from tests.cli.made_session import run_live
from tests.scripted_engines import Engines
from tests.verify.lines import BEGIN, DONE, END, FAIL, IMPORTED, PASS, START

CPU = {"device": "cpu"}
ON_CPU = {**START, "cuda": "", "accelerators": 0, "devices": [{**START["devices"][0], **CPU, "name": "x86_64"}]}
CPU_RUN = (IMPORTED, ON_CPU, *({**line, **CPU} for line in (BEGIN, PASS, DONE)), END)
BAD_RUN = (IMPORTED, ON_CPU, *({**line, **CPU} for line in (BEGIN, FAIL, DONE)), END)


@pytest.fixture
def engines(tmp_path: Path) -> Engines:
    return Engines(tmp_path)


def test_the_image_is_named_and_the_status_is_that_of_any_verification(engines: Engines) -> None:
    engines.says("docker", status=0, report=CPU_RUN)
    found = run_live(verify, "--in", "docker:a:1", "--device", "cpu", session=engines.session())
    assert (found.exit, found.out.splitlines()[0]) == (Exit.HEALTHY, "Verifying in docker:a:1")


def test_a_wrong_result_there_fails(engines: Engines) -> None:
    engines.says("docker", status=0, report=BAD_RUN)
    assert run_live(verify, "--in", "docker:a:1", "--device", "cpu", session=engines.session()).exit is Exit.PROBLEMS


def test_several_places_are_one_document(engines: Engines) -> None:
    engines.says("docker", status=0, report=CPU_RUN)
    engines.says("podman", "Error: b:latest: image not known")
    found = run_live(verify, "--json", "--in", "docker:a", "--in", "podman:b", "--device", "cpu", session=engines.session())
    document = json.loads(found.out)
    assert [one["image"] for one in document["environments"]] == ["docker:a", "podman:b"]
    assert [one["id"] for one in document["environments"][1]["findings"]] == ["image-missing"]
    assert [device["interpreter"] for device in document["devices"]] == ["docker:a"]
    assert found.exit is Exit.UNDETERMINED


def test_what_stands_in_the_way_is_said_with_what_to_do(engines: Engines) -> None:
    engines.says("podman", "Error: b:latest: image not known")
    found = run_live(verify, "--in", "podman:b", "--device", "cpu", session=engines.session())
    assert found.exit is Exit.UNDETERMINED
    assert "       podman pull b" in found.out.splitlines()


def test_no_engine_has_the_page_that_says_how_to_get_one(engines: Engines) -> None:
    found = run_live(verify, "--in", "docker:b", "--device", "cpu", session=engines.session())
    assert found.exit is Exit.UNDETERMINED
    assert "  https://docs.docker.com/engine/install/" in found.out.splitlines()


def test_what_names_no_place_is_wrong_usage() -> None:
    with pytest.raises(UsageError):
        run_live(verify, "--in", "nowhere")
