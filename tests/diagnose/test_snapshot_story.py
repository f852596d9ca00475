"""What a memory snapshot means: lifetimes, the peak and whose it is, growth, gaps, failures, and what to change first."""

from __future__ import annotations

import pickle

from gpuassist.diagnose.snapshot.lines import StackLines, is_users, line_of
from gpuassist.diagnose.snapshot.segments import owner_of
from gpuassist.diagnose.snapshot.shares import growth, shares_at
from gpuassist.diagnose.snapshot.story import story_of
from gpuassist.formats.torch_snapshot.event_range import EventRange
from gpuassist.model.memory_snapshot import MemorySnapshot, StackFrame
from gpuassist.model.memory_story import DeviceStory, MemoryKind
from tests.rows import for_each
from tests.snapshots import CALL, KEPT, MIB, MODEL, TRAIN, MadeSnapshot, read_bytes, training


def _device(snapshot: MemorySnapshot) -> DeviceStory:
    (device,) = story_of(snapshot).devices
    return device


def _ids(snapshot: MemorySnapshot, card: int | None = None) -> list[str]:
    return [finding.id for finding in story_of(snapshot, card).findings]


def test_curve_peak_and_whose_it_is() -> None:
    device = _device(training(3).read())
    assert device.active.tolist()[:9] == [MIB * held for held in (0, 8, 16, 24, 32, 48, 64, 80, 96)]
    assert device.peak.bytes == device.active.max() == 256 * MIB
    assert (device.active[-1], device.allocated_bytes) == (96 * MIB, 96 * MIB)
    told = [(share.line.line if share.line else 0, share.bytes // MIB, share.kind) for share in device.peak.shares]
    assert told == [(TRAIN[1], 160, MemoryKind.FORWARD), (TRAIN[1], 64, MemoryKind.OPTIMIZER), (MODEL[1], 32, MemoryKind.UNKNOWN)]


def test_allocation_of_before_and_free_that_waits() -> None:
    made = training(2)
    waits = made.alloc(MIB, TRAIN)
    made.free(waits)
    made.events = made.events[8:]  # the model and the optimizer were there before
    device = _device(made.read())
    assert device.earlier_bytes == 96 * MIB
    assert device.active[-1] == 96 * MIB
    last = device.allocations
    assert (last.requested[-1], last.end[-1]) == (device.events - 1, device.events)


@for_each("wanted", (EventRange(15, 25), EventRange(-17), EventRange(9)))
def test_a_part_of_the_events_has_the_same_curve(wanted: EventRange) -> None:
    made = training(4)
    for skipped in ("nothing", "free_completed"):
        made.events = [event for event in made.events if event["action"] != skipped]
        whole, part = _device(made.read()), _device(made.read(wanted))
        first = wanted.first if wanted.first >= 0 else whole.events + wanted.first
        assert part.active.tolist() == whole.active[first : first + part.events + 1].tolist()


def test_what_grows_and_what_does_not() -> None:
    assert "snapshot-grows" not in _ids(training(16).read())
    assert "snapshot-grows" not in _ids(training(1).read())
    (found,) = [one for one in story_of(training(16, leaks=True).read()).findings if one.id == "snapshot-grows"]
    assert found.frame == StackFrame(*KEPT)
    assert found.bytes >= 40 * MIB


def test_many_lines_for_one_end_are_told_together() -> None:
    made = MadeSnapshot()
    for line in range(10):
        made.alloc(64 * MIB, CALL, ("/home/me/model.py", line, "forward"))
    (found,) = [one for one in story_of(made.read()).findings if one.id == "snapshot-peak-kind"]
    assert found.bytes == 640 * MIB


def test_a_line_that_grows_is_told_once() -> None:
    made = training(60, leaks=True)
    assert [one for one in _ids(made.read()) if one in {"snapshot-grows", "snapshot-peak-line"}] == ["snapshot-grows"]


def test_growth_between_moments() -> None:
    snapshot = training(4, leaks=True).read()
    device, lines = _device(snapshot), StackLines(snapshot)
    grown = growth(*(shares_at(device.allocations, lines, moment) for moment in (8, device.events)))
    assert [(share.line, share.grown_bytes) for share in grown] == [(StackFrame(*KEPT), 12 * MIB)]


def test_owner_of_an_address() -> None:
    made = training(1)
    address = made.alloc(5 * MIB, TRAIN)
    snapshot = made.read()
    device = _device(snapshot)
    owner = owner_of(snapshot, device.allocations, address + 1000)
    assert snapshot.frames_of(owner.stack)[0].line == TRAIN[1]
    assert owner.segment == 0
    assert owner_of(snapshot, device.allocations, 12).segment is None
    assert owner_of(snapshot, device.allocations, address, moment=3).allocation is None


def test_failures_gaps_and_totals() -> None:
    made = training(1)
    made.oom(1 << 33, 300 * MIB, TRAIN)
    snapshot = made.read()
    assert _ids(snapshot)[0] == "snapshot-out-of-memory"
    (failed,) = _device(snapshot).out_of_memory
    assert (failed.asked_bytes, failed.free_bytes, failed.allocated_bytes) == (1 << 33, 300 * MIB, 96 * MIB)
    pieces = _device(snapshot).fragmentation
    assert pieces.reserved_bytes == pieces.allocated_bytes + pieces.inactive_bytes
    assert pieces.split_bytes == pieces.inactive_bytes
    assert "snapshot-above-card" in _ids(snapshot, 100 * MIB)
    assert "snapshot-above-card" not in _ids(snapshot, 1 << 40)


def test_history_that_is_missing_is_said() -> None:
    made = MadeSnapshot()
    made.alloc(MIB, TRAIN)
    made.events = []
    assert _ids(made.read()) == ["snapshot-no-history"]
    made = training(120)
    made.events = made.events[-1000:]
    (late,) = [one for one in story_of(made.read()).findings if one.id == "snapshot-history-begins-late"]
    assert "max_entries" in late.explanation.message


@for_each(
    "file, own",
    (
        ("/home/me/torch/train.py", True), ("<ipython-input-3-ab>", True), ("/tmp/ipykernel_4/123.py", True), ("??", False),
        ("/v/lib/python3.11/site-packages/x.py", False), ("/usr/lib/python3.11/threading.py", False), ("/b/aten/x.cpp", False),
        ("/src/pytorch/torch/nn/functional.py", False), ("<eval_with_key>.0", False),
    ),
)  # fmt: skip
def test_whose_line_it_is(file: str, own: bool) -> None:
    assert is_users(StackFrame(file, 1, "f")) is own


def _frame(name: str, file: str = "??", line: int = 0) -> StackFrame:
    return StackFrame(file, line, name)


@for_each(
    "frames, told",
    (
        ((_frame("torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)"),), "AddmmBackward0"),
        ((_frame("at::detail::empty_cuda(long)"), _frame("SoftmaxBackward0", "/v/site-packages/torch/_native/r.py", 9),
          _frame("torch::autograd::generated::SoftmaxBackward0::apply(x)")), "SoftmaxBackward0"),
        ((_frame("backward", "/v/site-packages/flash/f.py", 3), _frame("torch::autograd::generated::X::apply(x)")), "backward"),
        ((_frame("at::detail::empty_cuda(long)"),
          _frame("void at::native::(anonymous namespace)::kernel<float, at::F<int (*)(long)> >(a, b) [clone .isra.0]", "x.cpp")),
         "at::native::kernel"),
        ((_frame("at::detail::empty_cuda(long)"),), "at::detail::empty_cuda"),
    ),
)  # fmt: skip
def test_who_is_named_where_no_line_is_the_users(frames: tuple[StackFrame, ...], told: str) -> None:
    line, own = line_of(frames)
    assert line is not None
    assert (line.function, own) == (told, False)
    assert "??" not in line.file


def test_frees_that_were_not_recorded() -> None:
    """`skip_actions`: without completed frees the requests count, without both nothing is called kept."""
    made, whole = training(30), _device(training(30).read())
    made.events = [event for event in made.events if event["action"] != "free_completed"]
    assert _device(made.read()).peak.bytes == whole.peak.bytes
    assert "snapshot-grows" not in _ids(made.read())
    made.events = [event for event in made.events if event["action"] == "alloc"]
    assert "snapshot-frees-missing" in _ids(made.read())
    assert "snapshot-grows" not in _ids(made.read())


def test_pages_of_an_expandable_segment_can_be_given_back() -> None:
    made = MadeSnapshot()
    large, kept = made.alloc(900 * MIB, TRAIN), made.alloc(3 * MIB, TRAIN)
    made.free(large)
    told = made.told
    assert "snapshot-fragmented" in _ids(read_bytes(pickle.dumps(told)))
    told["segments"][0]["is_expandable"] = True
    snapshot = read_bytes(pickle.dumps(told))
    assert "snapshot-fragmented" not in _ids(snapshot)
    pieces = _device(snapshot).fragmentation
    assert pieces.split_bytes + pieces.empty_bytes == pieces.inactive_bytes
    assert (pieces.empty_bytes, kept > large) == (900 * MIB, True)


def test_all_that_grew_is_counted_and_what_a_validation_keeps_is_named() -> None:
    (grows,) = [one for one in story_of(training(30, leaks=True).read()).findings if one.id == "snapshot-grows"]
    assert grows.bytes >= 28 * 3 * MIB
    made = training(10)
    for _ in range(20):
        made.alloc(4 * MIB, CALL, KEPT)
    _steps(made, 10)
    (kept,) = [one for one in story_of(made.read()).findings if one.id == "snapshot-grows"]
    assert (kept.frame, kept.bytes) == (StackFrame(*KEPT), 80 * MIB)


def _steps(made: MadeSnapshot, count: int) -> None:
    for _ in range(count):
        for act in [made.alloc(32 * MIB, CALL, TRAIN) for _ in range(5)]:
            made.free(act, TRAIN)


def test_the_line_that_held_most_at_a_failure_is_named() -> None:
    made = training(1)
    made.oom(380 * MIB, 300 * MIB, TRAIN)
    first = story_of(made.read()).findings[0]
    assert dict(first.change.parameters)["place"] == "train.py:10 step"
    made.events = [event for event in made.events if event["action"] not in {"alloc", "oom"}]
    assert not _device(made.read()).has_history
