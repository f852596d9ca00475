"""Live lines on a terminal, in a file, and where nobody reads any more."""

from __future__ import annotations

import io

import pytest

from gpuassist.cli.context import Context, TerminalStreams
from gpuassist.cli.live_lines import LiveLines
from gpuassist.formats.terminal_output import Printed
from tests.cli.made_session import Screen, live_session

LINES = (Printed("10%", ended=False), Printed("20%", ended=False), Printed("done"), Printed("above", back=1))


class Gone(io.StringIO):
    """A reader that has gone, or a disk that is full."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error
        self.writes = 0

    def write(self, words: str) -> int:
        self.writes += 1
        raise self.error


def shown(out: io.StringIO, *lines: Printed, on_error: bool = False) -> str:
    live = LiveLines(Context(live_session(), TerminalStreams(out, out, colour=False, interactive=False)), on_error=on_error)
    for line in lines:
        live(line)
    live.close()
    return out.getvalue()


def test_in_a_file_only_finished_lines() -> None:
    assert shown(io.StringIO(), *LINES) == "  │ done\n  │ above\n"


def test_on_a_terminal_each_state_takes_the_place_of_the_last() -> None:
    assert shown(Screen(), *LINES[:3]) == "  │ 10%\r\x1b[K  │ 20%\r\x1b[K  │ done\n"


def test_on_a_terminal_lines_above_are_drawn_anew() -> None:
    assert shown(Screen(), *LINES[2:]) == "  │ done\n\r\x1b[1A\x1b[J  │ above\n"


def test_a_long_line_never_takes_two() -> None:
    assert max(map(len, shown(Screen(), Printed("x" * 5_000)).splitlines())) < 100


def test_progress_that_was_cut_off_leaves_the_cursor_below() -> None:
    assert shown(Screen(), Printed("10%", ended=False)).endswith("\n")


@pytest.mark.parametrize("error", [BrokenPipeError(), OSError(28, "No space left on device")])
def test_a_step_goes_on_where_nobody_reads(error: OSError) -> None:
    out = Gone(error)
    shown(out, *LINES)
    assert out.writes == 1
