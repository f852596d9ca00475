"""What keys do to the live table."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.cli.live_view import LiveView, LowerPart
from gpuassist.model.sample import Sample
from gpuassist.model.text import text
from gpuassist.monitor.means import ProcessMean
from gpuassist.present.process_means import SpanColumn, SpanFigures
from gpuassist.present.process_table import Grouping, ProcessColumn
from tests.monitor.samples import gpu, process, sample

SEVEN = tuple(process(pid, 100 - pid, f"python job-{pid}.py") for pid in range(7))


def view(*keys: str) -> LiveView:
    made = LiveView()
    made.take(sample(1.0, gpu(1000, *SEVEN), gpu(5, index=1)))
    press(made, *keys)
    return made


def press(made: LiveView, *keys: str) -> None:
    for key in keys:
        assert made.press(key, 5.0)


def shown(made: LiveView) -> list[int]:
    return [part.process.pid for row in made.rows() for part in row.parts]


def test_q_ends_it() -> None:
    assert not view().press("q", 0.0)


def test_arrows_walk_and_stop_at_the_ends() -> None:
    made = view("down")
    assert made.place() == 0
    press(made, "down", "down")
    assert made.place() == 2
    press(made, "end", "down")
    assert made.place() == 6
    press(made, "home", "up")
    assert made.place() == 0


def test_the_chosen_row_is_followed_when_the_order_changes() -> None:
    made = view("down", "down")
    press_before = made.chosen
    made.take(sample(2.0, gpu(1000, *reversed([process(pid, pid) for pid in range(7)]))))
    assert made.chosen == press_before
    assert made.place() == 5


def test_s_chooses_the_next_column_and_shift_s_the_one_before() -> None:
    assert view("s").order is ProcessColumn.GPU_PERCENT
    assert view("s", "S").order is ProcessColumn.MEMORY
    assert view("S").order is ProcessColumn.PID


def test_g_goes_round() -> None:
    kinds = [view(*("g",) * times).grouping for times in range(5)]
    assert kinds == [*Grouping, Grouping.NONE]


def test_a_filter_is_typed_and_cleared() -> None:
    made = view("/", *"job-3q")
    assert shown(made) == []
    press(made, "backspace")
    assert shown(made) == [3]
    press(made, "enter", "down", "enter")
    assert made.shown is LowerPart.DETAILS
    press(made, "escape", "escape")
    assert len(shown(made)) == 7


def test_a_digit_shows_one_gpu_and_the_same_one_all() -> None:
    made = view("1")
    assert [one.index for one in made.gpus()] == [1]
    press(made, "1")
    assert len(made.gpus()) == 2
    press(made, "9")
    assert len(made.gpus()) == 2  # there is no such GPU
    press(made, "right", "right")
    assert [one.index for one in made.gpus()] == [1]
    press(made, "right")
    assert len(made.gpus()) == 2


def test_a_pause_keeps_what_is_seen_and_going_on_shows_the_newest() -> None:
    made = view(" ")
    made.take(sample(2.0, gpu(7)))
    assert (_time(made), made.window(80, 0.0, 9.0).until) == (1.0, 5.0)
    press(made, " ")
    assert (_time(made), made.window(80, 0.0, 9.0).until) == (2.0, 9.0)


def _time(made: LiveView) -> float:
    assert made.sample is not None
    return made.sample.monotonic


def test_plus_and_minus_change_the_time_that_is_shown() -> None:
    assert view("+").seconds == 900
    assert view("-", "-", "-", "-").seconds == 30
    assert view().window(80, 0.0, 45.0).seconds == 60


def test_a_sample_that_tells_nothing_leaves_the_figures() -> None:
    made = view()
    made.take(Sample(2.0, 2.0, (), (text("gone"),)))
    assert made.trouble == (text("gone"),)
    assert len(shown(made)) == 7


def test_keys_without_a_sample_do_nothing() -> None:
    made = LiveView()
    press(made, *"sg1 +-?", "enter", "down", "page-up", "left", "escape", "end", "redraw", "nonsense")
    assert made.rows() == ()


def test_instances_of_mig_stand_below_their_gpu() -> None:
    made = LiveView()
    made.take(sample(1.0, gpu(5), gpu(6, index=1), replace(gpu(1, index=1000), parent=0)))
    assert [one.index for one in made.gpus()] == [0, 1000, 1]
    press(made, "right", "right")
    assert [one.index for one in made.gpus()] == [1000]


def test_rows_are_sorted_by_their_means_where_a_time_is_shown() -> None:
    made = view("s", "s", "s")
    assert made.order is SpanColumn.MEAN
    means = {(0, pid): ProcessMean(float(pid), None) for pid in (2, 5, 3)}
    made.span = SpanFigures({}, means.get)
    made.take(sample(2.0, gpu(1000, *SEVEN)))
    assert shown(made) == [5, 3, 2, 0, 1, 4, 6]
    made.span = None
    made.take(sample(3.0, gpu(1000, *SEVEN)))
    assert shown(made) == list(range(7))
