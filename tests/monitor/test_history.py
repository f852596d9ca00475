"""The memory of every GPU over time."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.sample import TorchMemory
from gpuassist.monitor.history import COMMANDS_AT_MOST, SHARES_AT_MOST, History, Series
from gpuassist.monitor.pyramid import Window
from tests.monitor.samples import gpu, known, process, sample

MINUTE = Window(60, 600)
HELD = st.lists(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 1000)), max_size=10), min_size=1, max_size=30)


def test_a_gpu_never_seen_has_revision_zero_and_no_curve() -> None:
    history = History()
    assert history.revision(3, MINUTE) == 0
    assert len(history.curve(3, MINUTE).times) == 0
    assert history.stack(3, MINUTE).bands == ()


def test_each_gpu_has_its_own_curve() -> None:
    history = History()
    history.add(sample(1.0, gpu(5), gpu(9, index=1)))
    assert history.gpus == (0, 1)
    assert list(history.curve(1, MINUTE).high) == [9.0]


def test_an_unknown_reading_leaves_a_gap() -> None:
    history = History(gap_seconds=1.5)
    for time, used in ((1.0, 5), (2.0, None), (3.0, 6)):
        history.add(sample(time, gpu(used)))
    assert history.curve(0, MINUTE).breaks == (1,)


def test_a_long_silence_is_a_gap() -> None:
    history = History(gap_seconds=3.0)
    for time in (1.0, 2.0, 60.0):
        history.add(sample(time, gpu(5)))
    assert history.curve(0, MINUTE).breaks == (2,)


def test_a_slow_tick_is_no_gap() -> None:
    history = History(gap_seconds=3.0)
    for time in (1.0, 3.5):
        history.add(sample(time, gpu(5)))
    assert history.curve(0, MINUTE).breaks == ()


def test_a_pause_is_a_gap_however_short() -> None:
    history = History()
    history.add(sample(1.0, gpu(5)))
    history.interrupt()
    history.add(sample(2.0, gpu(5)))
    assert history.curve(0, MINUTE).breaks == (1,)


def test_a_window_ends_at_the_newest_sample() -> None:
    history = History()
    for second in range(100):
        history.add(sample(float(second), gpu(second)))
    assert list(history.curve(0, Window(3, 100)).high) == [96.0, 97.0, 98.0, 99.0]
    assert history.until == 99.0


def test_a_window_may_stand_still() -> None:
    history = History()
    for second in range(100):
        history.add(sample(float(second), gpu(second)))
    assert list(history.curve(0, Window(3, 100, until=10.0)).high) == [7.0, 8.0, 9.0, 10.0]


def test_processes_stack_greatest_first() -> None:
    history = History()
    history.add(sample(1.0, gpu(100, process(11, 20), process(12, 60))))
    stack = history.stack(0, MINUTE)
    assert [(band.pid, list(band.values)) for band in stack.bands] == [(12, [60.0]), (11, [20.0])]
    assert list(stack.others) == [20.0]


def test_what_no_band_shows_is_among_the_others() -> None:
    history = History()
    history.add(sample(1.0, gpu(100, process(11, 20), process(12, 60), process(13))))
    assert list(history.stack(0, MINUTE, bands=1).others) == [40.0]


def test_a_process_that_came_later_is_zero_before() -> None:
    history = History()
    history.add(sample(1.0, gpu(10)))
    history.add(sample(2.0, gpu(30, process(5, 20))))
    assert list(history.stack(0, MINUTE).bands[0].values) == [0.0, 20.0]


def test_bands_are_those_of_the_moment_of_the_peak() -> None:
    history = History()
    history.add(sample(1.00, gpu(90, process(5, 80))))
    history.add(sample(1.05, gpu(70, process(6, 60))))
    assert [band.pid for band in history.stack(0, MINUTE).bands] == [5]


@given(HELD)
def test_bands_and_others_add_up_to_the_total(held: list[list[tuple[int, int]]]) -> None:
    history = History()
    for second, shares in enumerate(held):
        by_pid = dict(shares)
        processes = [process(pid, used) for pid, used in by_pid.items()]
        history.add(sample(float(second), gpu(sum(by_pid.values()) + 7, *processes)))
    stack = history.stack(0, MINUTE, bands=3)
    for place, total in enumerate(stack.curve.high):
        assert math.isclose(sum(band.values[place] for band in stack.bands) + stack.others[place], total)


def test_others_never_fall_below_zero() -> None:
    history = History()
    history.add(sample(1.0, gpu(10, process(5, 25))))  # a process list read a moment after the total
    assert list(history.stack(0, MINUTE).others) == [0.0]


def test_many_processes_are_kept_by_their_greatest() -> None:
    history = History()
    history.add(sample(1.0, gpu(10**6, *(process(pid, pid) for pid in range(1, 101)))))
    kept = [band.pid for band in history.stack(0, MINUTE, bands=100).bands]
    assert kept == list(range(100, 100 - SHARES_AT_MOST, -1))


def test_unchanged_shares_are_one_object() -> None:
    history = History()
    for second in range(3):
        history.add(sample(float(second), gpu(10**9, process(5, 2 << 30), process(6, second << 30))))
    history.add(sample(3.0, gpu(10**9, process(5, 2 << 30), process(6, 2 << 30))))
    shares = history._gpus[0].pyramids[Series.MEMORY].parts(MINUTE, 3.0)
    assert shares[2] is shares[3]


def test_what_is_known_can_be_drawn() -> None:
    history = History(gap_seconds=1.5)
    for second, watts in ((1, 300.5), (2, None), (3, 310.0)):
        power: Fact[float] = NOT_ASKED if watts is None else Known(watts, "test")
        history.add(sample(float(second), replace(gpu(5), power_watts=power, utilization_percent=known(97))))
    assert history.series(0) == (Series.MEMORY, Series.UTILIZATION, Series.POWER)
    curve = history.curve(0, MINUTE, Series.POWER)
    assert (list(curve.high), curve.breaks) == ([300.5, 310.0], (1,))
    assert history.curve(0, MINUTE, Series.UTILIZATION).breaks == ()
    assert history.revision(0, MINUTE, Series.FAN) == 0


def test_torch_is_summed_over_the_processes_that_tell_it() -> None:
    history = History()
    torch = Known(TorchMemory(3, 4, 5, 6, 3, 0), "test")
    history.add(sample(1.0, gpu(90, *(replace(process(pid, 9), torch=torch) for pid in (1, 2)), process(3, 9))))
    assert list(history.curve(0, MINUTE, Series.TORCH_ALLOCATED).high) == [6.0]
    assert list(history.curve(0, MINUTE, Series.TORCH_RESERVED).high) == [10.0]


def test_figures_that_cannot_be_are_no_share() -> None:
    history = History()
    history.add(sample(1.0, gpu(90, process(-1, 5), process(5, -5), process(6, 1 << 64))))
    assert history.stack(0, MINUTE).bands == ()


def test_the_command_of_a_process_is_remembered() -> None:
    history = History()
    history.add(sample(1.0, gpu(10, process(5, 1, "python train.py"))))
    history.add(sample(2.0, gpu(10)))
    assert history.command(5) == "python train.py"
    assert history.command(6) == ""


def test_commands_are_bounded() -> None:
    history = History()
    for pid in range(COMMANDS_AT_MOST + 10):
        history.add(sample(float(pid), gpu(10, process(pid, 1, f"job {pid}"))))
    assert history.command(5) == ""
    assert history.command(COMMANDS_AT_MOST + 9) == f"job {COMMANDS_AT_MOST + 9}"


def test_a_flat_curve_is_not_drawn_anew_at_every_tick() -> None:
    history, window = History(), Window(3600, 1200)
    revisions = set()
    for tick in range(100):
        history.add(sample(tick / 10, gpu(5)))
        revisions.add(history.revision(0, window))
    assert len(revisions) == 3  # 10 s in buckets of 4 s


def test_a_time_that_cannot_be_is_left_out() -> None:
    history = History()
    for time in (math.nan, math.inf, -1.0, 1e12):
        history.add(sample(time, gpu(5)))
    assert history.gpus == ()
