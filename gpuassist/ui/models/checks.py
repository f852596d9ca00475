"""The checks of a verification as rows of a table: what, on which format, what came of it, how far off, how fast."""

from __future__ import annotations

from gpuassist.model.text import text
from gpuassist.model.verdict import Check
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark, mark_of
from gpuassist.present.verification import VERDICT_WORDS, measured, rate_words
from gpuassist.session.verify import CheckLine, CheckState, VerifyProgress, check_label
from gpuassist.ui.models.rows import Cell, Row

HEADINGS = (text("Check"), text("format"), text("device"), text("result"), text("error of bound"), text("rate"))

# As wide as the columns are made, whatever comes.
COLUMN_SAMPLES = (
    Cell("Functions of each element"),
    Cell("int64"),
    Cell("cuda:0"),
    Cell("skipped", mark=Mark.ABSENT),
    Cell("8.8e-08 of 8.8e-08", mono=True),
    Cell("88.8 TFLOP/s", mono=True),
)

_STATE_WORDS = {CheckState.WAITING: text("waiting"), CheckState.RUNNING: text("running…"), CheckState.LEFT: text("not run")}


def check_rows(progress: VerifyProgress, words: Words) -> tuple[Row, ...]:
    """All checks, device by device."""
    return tuple(_row(line, words) for line in progress.lines)


def _row(line: CheckLine, words: Words) -> Row:
    label = words(check_label(line.planned))
    why = words(line.check.error) if line.check is not None and line.check.error is not None else ""
    head = (
        Cell(label[:1].upper() + label[1:], after=why, tip=why),
        Cell(line.planned.dtype, quiet=True),
        Cell(line.device, quiet=True),
    )
    if line.check is None:
        return (*head, Cell(words(_STATE_WORDS[line.state]), quiet=True), Cell(""), Cell(""))
    return (*head, *_result(line.check, words))


def _result(check: Check, words: Words) -> Row:
    mark, verdict = mark_of(check.verdict), VERDICT_WORDS[check.verdict]
    distance = measured(check)
    return (
        Cell(words(verdict), mark=mark),
        Cell(words(distance) if distance is not None else "", mono=True, quiet=True),
        Cell(rate_words(check), mono=True),
    )
