"""Standard streams of every kind, and the context that writes to them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from gpuassist.cli import streams
from gpuassist.cli.confirm import confirmed
from gpuassist.cli.context import Context, TerminalStreams, UsageError
from gpuassist.context import Session
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.cli.made_session import Screen
from tests.fakes import world_under
from tests.rows import for_each
from tests.values import knowledge


class _Broken(io.StringIO):
    """A stream that fails as it is told to."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, words: str) -> int:
        raise self.error

    def flush(self) -> None:
        raise self.error


def _context(tmp_path: Path, out: io.TextIOBase | None = None, *, interactive: bool = False) -> Context:
    stream = out if isinstance(out, (io.StringIO, io.TextIOWrapper)) else io.StringIO()
    terminal = TerminalStreams(stream, io.StringIO(), colour=False, interactive=interactive)
    return Context(Session(world_under(tmp_path), knowledge(), ENGLISH), terminal)


def _wrapper(encoding: str) -> tuple[io.BytesIO, io.TextIOWrapper]:
    raw = io.BytesIO()
    return raw, io.TextIOWrapper(raw, encoding=encoding)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("plain", b"plain"),
        ("✓ right", b"+ right"),
        ("✗ wrong · 2 × 3 – 4…", b"x wrong - 2 x 3 - 4..."),
        ("caf\u00e9", b"caf\\xe9"),
        ("健康", b"\\u5065\\u5eb7"),
        ("caf\udce9", b"caf<U+DCE9>"),
        ("✓✗✓", b"+x+"),
    ],
)
def test_what_an_encoding_lacks_is_shown_otherwise(monkeypatch: pytest.MonkeyPatch, words: str, shown: bytes) -> None:
    raw, stream = _wrapper("ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    streams.prepare()
    streams.write(stream, words)
    streams.flush(stream)
    assert raw.getvalue() == shown


@pytest.mark.parametrize(("name", "mode"), [("stdin", "r"), ("stdout", "w"), ("stderr", "w")])
def test_closed_stream_is_replaced(monkeypatch: pytest.MonkeyPatch, name: str, mode: str) -> None:
    monkeypatch.setattr(sys, name, None)
    streams.prepare()
    made = getattr(sys, name)
    assert made.mode == mode
    assert made.isatty() is False
    assert made.read() == "" if mode == "r" else made.write("gone")


def test_full_disk_has_its_reason() -> None:
    with pytest.raises(streams.OutputError) as caught:
        streams.write(_Broken(OSError(28, "No space left on device")), "words")
    assert ENGLISH(caught.value.reason) == "the output could not be written: No space left on device"


@pytest.mark.parametrize("act", [lambda stream: streams.write(stream, "words"), streams.flush])
def test_reader_that_has_gone_is_told_apart(act: object) -> None:
    assert callable(act)
    with pytest.raises(BrokenPipeError):
        act(_Broken(BrokenPipeError(32, "Broken pipe")))


@pytest.mark.parametrize(
    ("encoding", "takes"), [("utf-8", True), ("UTF8", True), ("ascii", False), ("latin-1", False), ("gbk", False)]
)
def test_encoding_tells_what_it_takes(encoding: str, takes: bool) -> None:
    assert streams.takes_unicode(_wrapper(encoding)[1]) is takes


def test_line_may_be_a_text_or_words(tmp_path: Path) -> None:
    context = _context(tmp_path)
    context.say(text("{count} things", count=2))
    context.say("plain {braces}")
    context.say()
    assert isinstance(context.terminal.out, io.StringIO)
    assert context.terminal.out.getvalue() == "2 things\nplain {braces}\n\n"


def test_note_goes_to_standard_error_alone(tmp_path: Path) -> None:
    context = _context(tmp_path)
    context.note(text("looking"))
    assert isinstance(context.terminal.out, io.StringIO)
    assert isinstance(context.terminal.err, io.StringIO)
    assert (context.terminal.out.getvalue(), context.terminal.err.getvalue()) == ("", "looking\n")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "gbk"])
def test_document_is_the_same_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    raw, stream = _wrapper(encoding)
    _context(tmp_path, stream).document({"title": "✓ 健康", "path": "caf\u00e9"})
    assert json.loads(raw.getvalue().decode(encoding)) == {"title": "✓ 健康", "path": "caf\u00e9"}


def test_document_can_be_one_line(tmp_path: Path) -> None:
    context = _context(tmp_path)
    context.document({"a": [1, 2]}, indent=None)
    assert isinstance(context.terminal.out, io.StringIO)
    assert context.terminal.out.getvalue() == '{"a": [1, 2]}\n'


def test_window_cannot_be_opened_without_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        _context(tmp_path).open_window(None)
    assert "no window" in ENGLISH(caught.value.reason)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("y\n", True), ("YES\n", True), (" y \n", True), ("是\n", True), ("n\n", False), ("\n", False), ("", False), ("yep\n", False)],
)
def test_only_a_plain_yes_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, answer: bool) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    context = _context(tmp_path, interactive=True)
    assert confirmed(context, text("Change it?")) is answer
    assert isinstance(context.terminal.err, io.StringIO)
    assert context.terminal.err.getvalue() == "Change it? [y/N] "


def test_nobody_to_ask_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        confirmed(_context(tmp_path), text("Change it?"))
    assert "--yes" in ENGLISH(caught.value.reason)


def test_statuses_are_those_of_the_contract() -> None:
    assert [int(one) for one in Exit] == [0, 1, 2, 3, 64, 70, 130, 141]


@for_each(
    ("variables", "on_a_terminal", "expected"),
    (
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"CLICOLOR_FORCE": "1"}, False, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ),
)
def test_who_decides_about_colours(variables: dict[str, str], on_a_terminal: bool, expected: bool) -> None:
    assert streams.wants_colour(Screen() if on_a_terminal else io.StringIO(), variables) is expected
