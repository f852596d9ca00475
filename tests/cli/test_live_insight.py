"""What the samples mean, on the live table."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.cli.live_layout import LiveLayout
from gpuassist.cli.live_view import LiveView, LowerPart, TableScene
from gpuassist.model.fact import Known
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessSample, Sample
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.bottleneck import Bottleneck, Bound, Means
from gpuassist.monitor.history import History
from gpuassist.present.insight import bound_words, growth_next, growth_words, moment_title, until_full
from gpuassist.session.insight import Insight
from gpuassist.system.files import Files
from tests.cli.test_live_layout import words_of
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

MIB, GIB = 1 << 20, 1 << 30
MESSAGE = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24.00 GiB of which 1.00 GiB is free."
GROWS = 240
LAYOUT = LiveLayout(ENGLISH, KNOWLEDGE.commands, unicode=True)


def growing(events: tuple[Event, ...] = (), gpus: int = 1) -> Iterator[Sample]:
    for second in range(GROWS):
        used = 6 * GIB + second * 30 * MIB
        cards = []
        for index in range(gpus):
            listed = ProcessSample(7 + index, command=Known("python train.py", "made"), memory_used_bytes=Known(used, "made"))
            cards.append(
                GpuSample(
                    index,
                    memory_total_bytes=Known(24 * GIB, "made"),
                    memory_used_bytes=Known(used, "made"),
                    memory_free_bytes=Known(24 * GIB - used, "made"),
                    processes=Known((listed,), "made"),
                )
            )
        yield Sample(1e9 + second, 50.0 + second, tuple(cards), events=events if second == GROWS - 1 else ())


def scene(*events: Event, gpus: int = 1) -> TableScene:
    view, history, insight = LiveView(), History(), Insight(Files("/nowhere"))
    for sample in growing(events, gpus):
        view.take(insight.take(sample))
        history.add(sample)
    end = 50.0 + GROWS
    return TableScene(view, history, {}, 50.0, 1e9, 1e9 + GROWS, end, insight=insight)


def shown(made: TableScene, height: int = 60) -> str:
    return " ".join(line.strip() for line in words_of(LAYOUT.screen(made, 100, height)))


FAILED = Event(50.0 + GROWS - 1, EventKind.OUT_OF_MEMORY, verbatim(MESSAGE), 0, 7, "test")


def test_growth_stands_in_the_head_with_the_time_that_is_left_and_the_next_step_on_its_page() -> None:
    made = scene()
    assert made.insight is not None
    (found,) = made.insight.growths
    full = until_full(found)
    assert full is not None
    for words in (growth_words(found, 1e9 - 50.0 + found.growth.since), full):
        assert ENGLISH(words) in shown(made)
    made.view.press("w", 0.0)
    assert ENGLISH(growth_next(found)) in shown(made)


def test_a_failure_is_news_until_somebody_looked() -> None:
    made = scene(FAILED)
    assert made.insight is not None
    title = ENGLISH(moment_title(made.insight.moments[-1]))
    assert f"{title} · w:" in shown(made)
    assert MESSAGE not in shown(made)  # as long as a page
    printed = " ".join(words_of(LAYOUT.whole(made, 100)))
    assert title in printed
    assert "w:" not in printed
    made.view.press("w", 0.0)
    page = shown(replace(made, answer=("what helps",)))
    for words in (title, "Tried to allocate 2.00 GiB", "[", "card: 24.00 GiB", "what helps"):
        assert words in page
    made.view.press("w", 0.0)
    assert title not in shown(made)


def test_in_a_recording_it_is_told_at_its_time_and_not_before() -> None:
    made = scene(FAILED)
    assert made.insight is not None
    title = ENGLISH(moment_title(made.insight.moments[-1]))
    recorded = replace(made, replay=text("recording"))
    for after, expected in ((-1.0, False), (0.0, True), (59.0, True), (61.0, False)):
        at = FAILED.monotonic + after
        made.view.stand(made.view.sample, at, ())
        assert (title in shown(replace(recorded, now=at))) is expected


@for_each("bound", tuple(Bound))
def test_a_verdict_is_brief_beside_many_gpus_and_whole_where_one_is_alone(bound: Bound) -> None:
    made = scene(gpus=2)
    assert made.insight is not None
    found = Bottleneck(bound, Means(seconds=60, power=20.0))
    made.insight.bottlenecks = {0: found}
    silent = bound in {Bound.IDLE, Bound.UNDECIDED}
    assert any(words in shown(made) for words in ("busy", "waits: ")) is not silent
    made.view.press("0", 0.0)
    assert (ENGLISH(bound_words(found, "0")) in shown(made)) is not silent
    made.view.press("w", 0.0)
    assert ENGLISH(bound_words(found, "0")) in shown(made)


def test_what_happened_names_its_gpu() -> None:
    assert "GPU 0: Xid 79" in shown(scene(Event(50.0 + GROWS - 1, EventKind.XID, text("Xid 79"), 0)))


def test_the_bar_of_a_failure_is_as_wide_in_ascii() -> None:
    made = scene(FAILED)
    made.view.press("w", 0.0)
    bars = [
        next(
            line
            for line in words_of(LiveLayout(ENGLISH, KNOWLEDGE.commands, unicode=unicode).screen(made, 60, 40))
            if "  [" in line
        )
        for unicode in (True, False)
    ]
    assert len(bars[0]) == len(bars[1])
    assert bars[1].isascii()


@for_each(("width", "height"), ((80, 24), (80, 10), (40, 24), (20, 5), (1, 1)))
def test_news_leave_room_for_the_figures(width: int, height: int) -> None:
    made = scene(FAILED, gpus=2)
    for part in LowerPart:
        made.view.shown = part
        lines = LAYOUT.screen(made, width, height)
        assert len(lines) == height
    made.view.shown, made.view.read = LowerPart.TABLE, None
    if height >= 10:
        assert any(line.startswith("0 ") for line in words_of(LAYOUT.screen(made, width, height)))
