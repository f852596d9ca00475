"""Lines for whoever draws them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.terminal_output import Printed
from gpuassist.install.run_view import Fresh, RunView


def test_what_was_taken_is_not_given_again() -> None:
    view = RunView()
    view.add_all((Printed("one"), Printed("two")))
    assert view.take() == Fresh(0, 0, ("one", "two"))
    assert view.take() == Fresh(0, 2, ())


def test_an_unfinished_line_is_drawn_anew() -> None:
    view = RunView()
    view.add_all((Printed("one"), Printed("10%", ended=False)))
    view.take()
    view.add(Printed("20%", ended=False))
    assert view.take() == Fresh(0, 1, ("20%",))
    assert view.lines() == ("one", "20%")


def test_an_ended_line_takes_the_place_of_its_progress() -> None:
    view = RunView()
    view.add_all((Printed("10%", ended=False), Printed("done"), Printed("next")))
    assert view.lines() == ("done", "next")


def test_lines_above_are_replaced() -> None:
    view = RunView()
    view.add_all((Printed("one"), Printed("two"), Printed("ONE", back=2), Printed("TWO")))
    assert view.lines() == ("ONE", "TWO")


def test_more_than_the_bound_is_forgotten() -> None:
    view = RunView(at_most=3)
    view.add_all(Printed(str(number)) for number in range(10))
    assert view.take() == Fresh(7, 7, ("7", "8", "9"))


def test_going_up_further_than_is_kept_is_survived() -> None:
    view = RunView(at_most=2)
    view.add_all((Printed("one"), Printed("two"), Printed("three", back=20)))
    assert view.lines() == ("three",)


STATES = st.builds(Printed, st.sampled_from("abc"), st.booleans(), st.integers(0, 3))


@given(st.lists(st.lists(STATES)), st.integers(1, 6))
def test_a_drawing_that_follows_shows_what_is_kept(rounds: list[list[Printed]], at_most: int) -> None:
    view = RunView(at_most=at_most)
    drawn: dict[int, str] = {}
    for lines in rounds:
        view.add_all(lines)
        fresh = view.take()
        drawn = {number: text for number, text in drawn.items() if fresh.first <= number < fresh.start}
        drawn.update(enumerate(fresh.lines, start=fresh.start))
        assert [drawn[number] for number in sorted(drawn)] == list(view.lines())
