"""What a process used on average over a stretch of time."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.monitor.means import POINTS_AT_MOST, PROCESSES_AT_MOST, ProcessMeans
from tests.ui.made import GIB, gpu, known, process, sample


def means(*gibibytes: float, every: float = 1.0) -> ProcessMeans:
    """One process, so much at each sample."""
    made = ProcessMeans()
    for number, used in enumerate(gibibytes):
        one = replace(process(7, used), gpu_percent=known(int(10 * used)))
        made.add(sample(number * every, gpu(0, one)))
    return made


def test_a_steady_use_is_its_own_mean() -> None:
    mean = means(4, 4, 4, 4).mean((0, 7), 1000, 1003)
    assert mean is not None
    assert (mean.memory_bytes, mean.gpu_percent) == (4 * GIB, 40)


def test_only_the_stretch_counts() -> None:
    mean = means(*[1] * 50, *[3] * 50).mean((0, 7), 1060, 1090)
    assert mean is not None
    assert mean.memory_bytes == 3 * GIB


def test_between_two_points_it_is_taken_as_even() -> None:
    mean = means(*[2] * 10).mean((0, 7), 1002.25, 1002.75)
    assert mean is not None
    assert mean.memory_bytes == pytest.approx(2 * GIB)


def test_whoever_was_not_there_has_none() -> None:
    assert means(1, 1).mean((0, 8), 1000, 1001) is None
    assert means(1, 1).mean((0, 7), 5000, 5001) is None


def test_what_is_not_known_is_not_nothing() -> None:
    made = ProcessMeans()
    for second in range(3):
        made.add(sample(second, gpu(0, process(7, 1))))
    mean = made.mean((0, 7), 1000, 1003)
    assert mean is not None
    assert mean.gpu_percent is None


def test_a_day_is_kept_in_few_points() -> None:
    made = means(*[1, 3] * 5000, every=8.0)
    mean = made.mean((0, 7), 1000, 1000 + 80000)
    assert mean is not None
    assert mean.memory_bytes == pytest.approx(2 * GIB, rel=0.01)
    assert len(made._kept[0, 7]._times) <= POINTS_AT_MOST


def test_a_sleep_of_the_machine_counts_for_nothing() -> None:
    made = means(1, 1)
    made.add(sample(9000, gpu(0, process(7, 9))))
    mean = made.mean((0, 7), 1000, 20000)
    assert mean is not None
    assert mean.memory_bytes == GIB


def test_more_processes_than_places_leave_those_that_were_first_theirs() -> None:
    made = ProcessMeans()
    many = [process(pid, 1) for pid in range(PROCESSES_AT_MOST + 100)]
    for second in range(3):
        made.add(sample(second, gpu(0, *many)))
    known_of = [pid for pid in range(len(many)) if made.mean((0, pid), 1000, 1002) is not None]
    assert known_of == list(range(PROCESSES_AT_MOST))
    made.add(sample(3, gpu(0, process(9000, 1))))
    made.add(sample(4, gpu(0, process(9000, 1))))
    assert made.mean((0, 9000), 1000, 1004) is not None
