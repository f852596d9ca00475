"""The table of scopes: whole, and in words."""

from __future__ import annotations

import pytest

from gpuassist.changes.scopes.kinds import PROGRAMS, SEEN, TITLES, Kind, Sees, ViewingProgram
from gpuassist.model.words import ENGLISH


@pytest.mark.parametrize("kind", Kind)
def test_says_of_every_program_whether_it_sees_the_choice(kind: Kind) -> None:
    assert set(SEEN[kind]) == set(ViewingProgram) == set(PROGRAMS)
    assert ENGLISH(TITLES[kind])


@pytest.mark.parametrize("kind", Kind)
def test_says_when_where_it_depends(kind: Kind) -> None:
    for sight in SEEN[kind].values():
        assert (sight.when is not None) >= (sight.sees is Sees.DEPENDS)
        assert sight.when is None or ENGLISH(sight.when)


@pytest.mark.parametrize("kind", Kind)
def test_no_scope_is_seen_by_nobody(kind: Kind) -> None:
    assert {sight.sees for sight in SEEN[kind].values()} != {Sees.NO}


def test_what_only_a_shell_reads_is_not_seen_by_cron_and_services() -> None:
    assert SEEN[Kind.SHELL][ViewingProgram.CRON].sees is SEEN[Kind.SHELL][ViewingProgram.SERVICE].sees is Sees.NO
