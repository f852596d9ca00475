"""What changed, in sentences: when as people say it, who did it, and what stands under it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from msgspec.structs import replace

from gpuassist.diagnose.past.compare import compare
from gpuassist.model.past import Direction, MachineChange, Past, Subject
from gpuassist.model.words import ENGLISH
from gpuassist.present.past import (
    beside_words,
    change_document,
    change_words,
    detail_words,
    explained_words,
    past_document,
    title,
    when_words,
)
from tests.histories import EVERY
from tests.rows import for_each

NOW = datetime(2026, 11, 23, 9, 0, tzinfo=timezone(timedelta(hours=1)))
DRIVER = MachineChange(
    Subject.DRIVER,
    Direction.UPGRADED,
    "driver",
    "570.86",
    "580.95",
    at="2026-11-23T03:12:04+01:00",
    by="unattended-upgrade",
    waits=True,
)


@for_each(
    "at, wanted",
    (
        ("2026-11-23T03:12:04+01:00", "today at 03:12"),
        ("2026-11-23T02:12:04+00:00", "today at 03:12"),  # pacman and dnf write UTC
        ("2026-11-22T17:40:00+01:00", "yesterday at 17:40"),
        ("2026-11-14T18:00:00.000+01:00", "14 November, 18:00"),
        ("2025-11-14T18:00:00+01:00", "14 November 2025, 18:00"),
        ("2026-06-14T18:00:00+02:00", "14 June, 18:00"),  # by the clock on the wall then
        ("soon", "soon"),
    ),
)
def test_a_moment_is_told_as_people_say_it(at: str, wanted: str) -> None:
    assert ENGLISH(when_words(at, NOW)) == wanted


def test_a_change_is_one_line() -> None:
    assert ENGLISH(change_words(DRIVER, NOW)) == "driver 570.86 → 580.95 (unattended-upgrade, today at 03:12)"


def test_a_finding_is_told_what_was_done_by_whom_and_that_a_restart_waits() -> None:
    assert ENGLISH(explained_words(DRIVER, NOW)) == (
        "The driver was upgraded from 570.86 to 580.95 today at 03:12 by unattended-upgrade, "
        "and the computer was not restarted since."
    )


def test_a_change_between_two_looks_says_after_which() -> None:
    seen = replace(DRIVER, at="", by="", waits=False, earliest="2026-11-14T18:00:00+01:00", latest="2026-11-23T09:00:00+01:00")
    assert ENGLISH(change_words(seen, NOW)) == "driver 570.86 → 580.95 (after 14 November, 18:00)"
    assert (
        ENGLISH(explained_words(seen, NOW)) == "The driver was upgraded from 570.86 to 580.95 some time after 14 November, 18:00."
    )


def test_a_card_in_another_slot_and_an_environment_that_went_are_told_as_that() -> None:
    moved = MachineChange(Subject.GPU, Direction.CHANGED, "GeForce RTX 3090", "0000:01:00.0", "0000:21:00.0")
    assert ENGLISH(change_words(moved)) == "PCI address of the GeForce RTX 3090 0000:01:00.0 → 0000:21:00.0"
    gone = MachineChange(Subject.ENVIRONMENT, Direction.REMOVED, "/h/e", "torch 2.6.0", place="/h/e")
    assert ENGLISH(change_words(gone)) == "environment /h/e is gone, with torch 2.6.0"


def test_what_is_counted_is_named_in_a_line() -> None:
    def words(*names: str) -> str:
        one = MachineChange(Subject.SYSTEM_PACKAGE, Direction.UPGRADED, names[0], "1", "2", packages=names[1:])
        told = beside_words(Past("", kept=True, changes=(), beside=(one, one)))
        return ENGLISH(told) if told is not None else ""

    assert beside_words(Past("", kept=True, changes=())) is None
    start = "Also changed, and seldom the cause of trouble with a GPU:"
    assert words("kmod", "+docker.io 26.1") == f"{start} kmod, docker.io."
    assert words("kmod", "−a 1", "b 1 → 2", "c 1") == f"{start} kmod, a, b and 1 more package."


def test_packages_of_one_version_are_told_by_name() -> None:
    packages = tuple(f"libnvidia-{name} 570 → 580" for name in ("compute", "gl", "extra", "fbc1"))
    told = [ENGLISH(one) for one in detail_words(replace(DRIVER, waits=False, packages=packages))]
    assert told == ["With it libnvidia-compute, libnvidia-gl, libnvidia-extra and 1 more"]


def test_what_is_ours_says_how_it_is_taken_back() -> None:
    ours = replace(
        DRIVER, subject=Subject.STARTUP_FILE, name="/h/.bashrc", place="/h/.bashrc:12", by="gpuassist", undo="gpuassist undo 1"
    )
    assert ENGLISH(change_words(ours, NOW)) == "/h/.bashrc, line 12 was changed (by gpuassist, today at 03:12)"
    assert "To undo it: gpuassist undo 1" in [ENGLISH(one) for one in detail_words(ours)]


def test_the_title_says_what_is_compared_with() -> None:
    past = Past("2026-11-14T18:00:00+01:00", kept=True, changes=(DRIVER,), by="doctor")
    assert ENGLISH(title(past, NOW)) == "Since 14 November, 18:00, when doctor found no problem"
    same = replace(past, unchanged_since="2026-11-22T10:00:00+01:00")
    assert ENGLISH(title(same, NOW)) == "Nothing changed since yesterday at 10:00. Before that, since 14 November, 18:00"
    titles = {
        ENGLISH(title(one, NOW))
        for one in (
            past,
            same,
            replace(past, changes=()),
            replace(same, changes=()),
            replace(past, kept=False, by=""),
            replace(past, by="verify"),
            replace(past, by="recording"),
            replace(past, by="recording", since=""),
        )
    }
    assert len(titles) == 8


@for_each("one", EVERY)
def test_every_history_is_told_whole_in_words_and_as_a_document(one: object) -> None:
    changes = compare(one.before, one.now, one.history)  # type: ignore[attr-defined]
    for change in changes:
        for words in (change_words(change, NOW), change_words(change), explained_words(change, NOW), *detail_words(change)):
            assert "{" not in ENGLISH(words), change
            assert "  " not in ENGLISH(words).replace("   ", ""), change
        document = change_document(change, ENGLISH)
        assert isinstance(document, dict)
        assert "" not in [value for value in document.values() if isinstance(value, str)]
    whole = past_document(Past("", kept=True, changes=changes), ENGLISH)
    assert set(whole) == {"schema", "since", "unchanged_since", "changes", "beside", "notes"}
