"""What to change first: the largest part of the time that need not be, never what comes once."""

from __future__ import annotations

from gpuassist.diagnose.profiles import Hint, first_change, profile_parameters
from gpuassist.model.profile import ProfileEntry, ProfileForm, ProfileReading, ShareBasis, TimeKind, TimeShare
from tests.rows import for_each


def reading(
    shares: dict[str, float], *names: tuple[str, str, float], form: str = "torch-trace", basis: str = "moments"
) -> ProfileReading:
    made = tuple(TimeShare(TimeKind(kind), seconds) for kind, seconds in shares.items())
    entries = tuple(ProfileEntry(TimeKind(kind), name, 9, seconds) for kind, name, seconds in names)
    return ProfileReading(ProfileForm(form), ShareBasis(basis), sum(shares.values()), made, entries)


@for_each(
    ("told", "kind", "percent", "hint"),
    [
        (reading({"kernels": 40, "data": 50, "operators": 10}), "data", 50, ""),
        # Starting takes most, and is no part of the work.
        (reading({"kernels": 20, "start": 900, "data": 70, "python": 10}), "data", 70, ""),
        (reading({"kernels": 80, "data": 20}, ("kernels", "ampere_sgemm_128x64", 60.0)), "kernels", 80, "precision"),
        (reading({"kernels": 90, "rest": 10}, ("kernels", "nchwToNhwcKernel", 50.0)), "kernels", 90, "layout"),
        (reading({"kernels": 90, "rest": 10}, ("kernels", "flash_fwd", 50.0)), "kernels", 90, ""),
        (
            reading({"kernels": 40, "copies": 55, "rest": 5}, ("copies", "Memcpy HtoD (Pageable -> Device)", 55.0)),
            "copies",
            55,
            "pageable",
        ),
        (reading({"kernels": 30, "launches": 30, "operators": 30, "rest": 10}), "launches", 70, ""),
        (reading({"kernels": 30, "launches": 60, "rest": 10}, ("launches", "cudaMalloc", 9.0)), "launches", 70, "allocation"),
        (reading({"kernels": 30, "launches": 60, "rest": 10}, ("launches", "cudaMalloc", 1.0)), "launches", 70, ""),
        (reading({"kernels": 30, "launches": 10, "operators": 10, "python": 50}), "python", 70, ""),
        (reading({"kernels": 30, "launches": 10, "rest": 60}), "python", 70, "unseen"),
        (reading({"kernels": 30, "waits": 60, "rest": 10}, ("operators", "aten::item", 5.0)), "waits", 60, "read-back"),
        (reading({"kernels": 50, "communication": 40, "rest": 10}), "communication", 40, ""),
        (reading({"operators": 60, "data": 40}), "operators", 60, ""),
        (reading({"operators": 30, "python": 10, "rest": 60}), "python", 70, "unseen"),
        (reading({"start": 99, "python": 1}, form="cprofile", basis="thread"), "python", 100, ""),
    ],
)
def test_first_change(told: ProfileReading, kind: str, percent: int, hint: str) -> None:
    change = first_change((told,))
    assert change is not None
    assert (change.kind.value, round(100 * change.share), change.hint) == (kind, percent, Hint(hint))


def test_a_table_whose_gpu_worked_for_less_than_its_thread_names_the_thread() -> None:
    thread = reading({"launches": 600, "operators": 300, "waits": 100}, form="torch-table", basis="thread")
    device = reading({"kernels": 100}, form="torch-table", basis="device")
    busy = reading({"kernels": 950}, form="torch-table", basis="device")
    outside = reading({"rest": 550, "launches": 100, "operators": 150, "waits": 200}, form="torch-table", basis="thread")
    third = first_change((outside, device))
    assert third is not None
    assert (third.kind, round(100 * third.share)) == (TimeKind.PYTHON, 80)
    first, second = first_change((thread, device)), first_change((thread, busy))
    assert first is not None
    assert second is not None
    assert (first.kind, second.kind) == (TimeKind.LAUNCHES, TimeKind.KERNELS)


def test_a_table_tells_by_the_gpus_side_whether_reading_back_holds_the_program_up() -> None:
    thread = reading({"launches": 600, "operators": 400}, ("operators", "aten::item", 9.0), form="torch-table", basis="thread")
    device = reading({"kernels": 100}, ("kernels", "sgemm", 100.0), form="torch-table", basis="device")
    first = first_change((thread, device))
    assert first is not None
    assert (first.kind, first.hint) == (TimeKind.LAUNCHES, Hint.READ_BACK)


def test_reading_back_is_named_where_kernels_are_long_enough_to_be_started_ahead() -> None:
    def told(kernel_seconds: float) -> ProfileReading:
        names = (("kernels", "sgemm", kernel_seconds), ("operators", "aten::item", 1e-4))
        return reading({"kernels": 30, "operators": 60, "rest": 10}, *names)

    changes = [first_change((told(seconds),)) for seconds in (9 * 60e-6, 9 * 3e-6)]
    assert [change.hint for change in changes if change] == [Hint.READ_BACK, Hint.NONE]


def test_a_data_set_that_takes_most_of_a_table_is_named() -> None:
    names = (("data", "data.py(8): __getitem__", 40.0), ("operators", "aten::select", 17.0))
    table = reading({"data": 40, "operators": 60}, *names, form="torch-table", basis="thread")
    change = first_change((table,))
    assert change is not None
    assert change.kind is TimeKind.DATA
    assert profile_parameters((table,))["operator"] == "aten::select"


def test_a_pause_and_a_step_of_the_profiler_are_no_operators() -> None:
    names = (("start", "<built-in function sleep>", 60.0), ("rest", "ProfilerStep*", 30.0), ("operators", "aten::add", 10.0))
    told = reading({"start": 60, "rest": 30, "operators": 10}, *names, form="torch-table", basis="thread")
    assert profile_parameters((told,))["operator"] == "aten::add"
    assert "operator" not in profile_parameters((reading({"start": 60}, names[0], form="torch-table", basis="thread"),))


def test_nothing_is_said_of_nothing() -> None:
    assert first_change(()) is None
    assert first_change((ProfileReading(ProfileForm.TORCH_TRACE, ShareBasis.MOMENTS, None, (), ()),)) is None
