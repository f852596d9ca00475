"""Texts from files and pipes of any length."""

from __future__ import annotations

import os
from itertools import repeat
from pathlib import Path
from threading import Thread

import pytest

from gpuassist.model.words import ENGLISH
from gpuassist.session.explain import PasteError, gathered, read_file
from gpuassist.system.files import Files


def test_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"one\r\ntwo\n")
    assert read_file(Files(), str(tmp_path / "log")).words == "one\ntwo\n"


def test_of_a_long_file_both_ends_are_read(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"first\n" + b"".join(b"line %07d\n" % place for place in range(600_000)) + b"last\n")
    paste = read_file(Files(), str(tmp_path / "log"))
    assert paste.words.startswith("first\nline 0000000\n")
    assert paste.words.endswith("line 0599999\nlast\n")
    assert 0 <= os.path.getsize(tmp_path / "log") - len(paste.words) - paste.left_out < 100


def test_long_file_reads_like_a_long_pipe(tmp_path: Path) -> None:
    content = b"".join(b"step %07d of the training\n" % place for place in range(250_000))
    (tmp_path / "log").write_bytes(content)
    piped = gathered(content[place : place + 65536] for place in range(0, len(content), 65536))
    from_file = read_file(Files(), str(tmp_path / "log"))
    assert piped.words[-1000:] == from_file.words[-1000:]
    assert piped.words[:1000] == from_file.words[:1000]


def test_endless_pipe_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.session.explain._MOST", 8 << 20)

    assert gathered(repeat(b"tick\n" * 200_000)).left_out > 0


def test_named_pipe_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_bytes, args=(b"CUDA out of memory\n",), daemon=True)
    writer.start()
    assert read_file(Files(), str(tmp_path / "pipe")).words == "CUDA out of memory\n"
    writer.join()


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_what_is_no_file_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(PasteError) as error:
        read_file(Files(), str(tmp_path / name))
    assert "could not be read" in ENGLISH(error.value.reason)
