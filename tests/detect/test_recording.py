"""Recorded machines from files, and files that are none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gpuassist.detect.recording import RecordingError, read_recording
from gpuassist.model.machine import Machine, encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.system.files import Files
from tests.fakes import put


def _why(path: Path) -> str:
    with pytest.raises(RecordingError) as caught:
        read_recording(Files(), str(path))
    return ENGLISH(caught.value.reason)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    machine = Machine(taken_at="2026-11-21T09:00:00.000+00:00", note="a note")
    path = put(tmp_path, "machine.json", json.dumps(encode_machine(machine, ENGLISH)))
    assert encode_machine(read_recording(Files(), str(path)), ENGLISH) == encode_machine(machine, ENGLISH)


def test_missing_file_is_named(tmp_path: Path) -> None:
    assert _why(tmp_path / "gone.json") == f"{tmp_path}/gone.json could not be read: No such file or directory"


def test_directory_is_refused(tmp_path: Path) -> None:
    assert "Is a directory" in _why(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"gpuassist"])
def test_other_content_is_no_json(tmp_path: Path, content: bytes) -> None:
    assert _why(put(tmp_path, "machine.json", content)).endswith("is not a JSON document")


@pytest.mark.parametrize("number", ["9" * 400, "9" * 5000, "1e999", "-1e999", "NaN", "Infinity"])
def test_a_number_that_is_none_is_named_by_its_place(tmp_path: Path, number: str) -> None:
    link = (
        f'{{"value": {{"width": 8, "max_width": 8, "speed_gigatransfers": {number}, "max_speed_gigatransfers": 8}}, "source": "s"}}'
    )
    memory = f'{{"value": {number}, "source": "s"}}'
    for fact, place in (
        (f'"pcie_link": {link}', "pcie_link.value.speed_gigatransfers: expected float"),
        (f'"memory_total_bytes": {memory}', "memory_total_bytes.value: expected int"),
    ):
        content = f'{{"schema": 1, "gpus": {{"value": [{{{fact}}}], "source": "s"}}}}'
        assert _why(put(tmp_path, "machine.json", content)).endswith(f"at $.gpus.value[0].{place}")


@pytest.mark.parametrize("content", ["{}", "[]", "3", '{"schema": 99}', '{"schema": 1, "host": 3}'])
def test_other_document_is_no_machine(tmp_path: Path, content: str) -> None:
    path = put(tmp_path, "machine.json", content)
    assert _why(path).startswith(f"{path}: ")


def test_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "it is not a file" in _why(tmp_path / "pipe")
