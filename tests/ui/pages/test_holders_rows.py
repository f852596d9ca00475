"""Who holds the GPUs as rows: names that tell, shares of a card, and roles that are not told by colour alone."""

from __future__ import annotations

import pytest

from gpuassist.context import Session
from gpuassist.detect.gpu_holders import Role, holding_of
from gpuassist.model.words import ENGLISH
from gpuassist.present.holders import ROLE_WORDS
from gpuassist.ui.pages.holders.detail import COLUMN_SAMPLES, HEADINGS, PROCESS, ROLE_MARKS, holder_rows
from gpuassist.ui.widgets.rows import Row
from tests.ui.holders import ADA, card, holder, machine

MEMORY, WHAT = 4, 6


def row(session: Session, *holders: object, **gibibytes: float) -> Row:
    """The first row of a machine with these."""
    found = holding_of(session, machine(*holders, gpus=(card(**gibibytes),)), live=True)  # type: ignore[arg-type]  # holders
    return holder_rows(found, ENGLISH)[0]


@pytest.mark.parametrize(
    ("command", "name", "after"),
    [
        ("/opt/conda/bin/python train.py --batch 24", "train.py", "--batch 24"),
        ("python -m ipykernel_launcher -f kernel.json", "ipykernel_launcher", "-f kernel.json"),
        ("/usr/lib/xorg/Xorg :0 -seat seat0", "Xorg", ":0 -seat seat0"),
        ("/usr/local/bin/ollama", "ollama", ""),
        ("", "–", ""),
    ],
)
def test_process_is_called_by_what_it_runs(session: Session, command: str, name: str, after: str) -> None:
    cell = row(session, holder(command=command))[PROCESS]
    assert (cell.words, cell.after) == (name, after)


def test_a_command_of_64_kilobytes_is_cut(session: Session) -> None:
    cell = row(session, holder(command="python train.py " + "x" * 65_000))[PROCESS]
    assert len(cell.words) + len(cell.after) < 300


def test_memory_is_a_share_of_its_card(session: Session) -> None:
    cell = row(session, holder(), p42=6)[MEMORY]
    assert (cell.words, cell.share) == ("6.0 GiB", 0.25)


def test_memory_that_is_not_known_has_no_share(session: Session) -> None:
    cell = row(session, holder())[MEMORY]
    assert (cell.words, cell.share, cell.tip) == ("not known", None, "the driver names no memory of this process")


def test_memory_is_known_though_the_size_of_the_card_is_not(session: Session) -> None:
    cell = row(session, holder(), total=0, p42=6)[MEMORY]
    assert (cell.words, cell.share) == ("6.0 GiB", None)


def test_a_share_counts_every_card_that_it_is_on(session: Session) -> None:
    cards = (card(0, p42=12), card(1, p42=24), card(2))
    found = holding_of(session, machine(holder(), gpus=cards), live=True)
    assert holder_rows(found, ENGLISH)[0][MEMORY].share == 0.75


@pytest.mark.parametrize("role", list(Role))
def test_every_role_has_a_word_and_a_mark(role: Role) -> None:
    assert ENGLISH(ROLE_WORDS[role])
    assert role in ROLE_MARKS


def test_the_reason_is_told_by_the_role(session: Session) -> None:
    cell = row(session, holder(uid=ADA))[WHAT]
    assert (cell.words, cell.mark, cell.tip) == (
        "another user's",
        ROLE_MARKS[Role.OTHERS],
        "belongs to ada: please ask them, or the administrator",
    )


def test_every_column_has_a_heading_and_a_width(session: Session) -> None:
    assert len(row(session, holder())) == len(HEADINGS) == len(COLUMN_SAMPLES)
