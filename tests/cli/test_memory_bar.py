"""The card's memory on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.app import compose
from gpuassist.cli import explain
from tests import memory_messages as messages
from tests.cli.made_session import run_live


def printed(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, columns: int = 80) -> list[str]:
    """The lines that `explain` prints of a text, on a terminal of this width."""
    monkeypatch.setenv("COLUMNS", str(columns))
    file = folder / "pasted.txt"
    file.write_text(words, "utf-8")
    return run_live(explain, str(file), session=compose("en"), machine_file="none").out.splitlines()


def _bar(lines: list[str]) -> str:
    return next(line for line in lines if line.startswith("  ["))


def test_bar_stands_before_the_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(messages.TORCH_2_5, tmp_path, monkeypatch)
    title = lines.index("The memory of GPU 0 when it failed")
    assert lines[title + 1] == _bar(lines)
    assert lines[title + 2 : title + 8] == [
        "  █ in use by your tensors  14.0 GiB",
        "  ▒ reserved, but in pieces  5.8 GiB",
        "  ░ CUDA itself  0.5 GiB",
        "  # process 39021  3.2 GiB",
        "  · free  0.4 GiB",
        "  wanted: 1.50 GiB in one piece · card: 23.99 GiB",
    ]
    assert title < next(place for place, line in enumerate(lines) if line.startswith("✗"))


@pytest.mark.parametrize(("columns", "width"), [(200, 80), (80, 80), (60, 60), (40, 40), (5, 20)])
def test_bar_is_no_wider_than_the_terminal(columns: int, width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(_bar(printed(messages.TORCH_2_5, tmp_path, monkeypatch, columns=columns))) == width


def test_a_message_without_device_has_a_plain_title(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "Free memory on device (10.20/23.99 GiB) on startup is less than desired GPU memory utilization (0.9, 21.59 GiB)."
    assert "The card's memory when it failed" in printed(words, tmp_path, monkeypatch)


def test_notes_stand_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(messages.CONTAINER, tmp_path, monkeypatch)
    assert "  Process 76883 is this process itself: a container numbers its processes anew." in lines


def test_other_problems_have_no_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed("nvcc fatal   : Unsupported gpu architecture 'compute_89'", tmp_path, monkeypatch)
    assert not any(line.startswith("  [") for line in lines)
