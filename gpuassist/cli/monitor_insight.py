"""What `monitor` says of its samples beside them: alerts, growth, what the GPUs wait for, and the moment of an out-of-memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gpuassist.cli.context import Context, UsageError
from gpuassist.model.codec import Json
from gpuassist.model.sample import Event, EventKind, Sample
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.monitor.alerts import Threshold, ThresholdError, read_threshold
from gpuassist.monitor.bottleneck import LEAST_SECONDS, Bound
from gpuassist.monitor.growth import Shape
from gpuassist.present.sample_document import event_document
from gpuassist.session.insight import Insight
from gpuassist.system.files import NOWHERE, Files

if TYPE_CHECKING:
    from gpuassist.context import Session
    from gpuassist.session.alert_notices import AlertNotices

_LAST_NOTICE_SECONDS = 2.0


def thresholds(alerts: Iterable[str]) -> tuple[Threshold, ...]:
    """What `--alert` asks for."""
    try:
        return tuple(map(read_threshold, alerts))
    except ThresholdError as error:
        raise UsageError(error.reason) from error


class InsightLines:
    """Judges samples as they come, and says what changed since the one before."""

    def __init__(self, context: Context, words: Words, alerts: tuple[Threshold, ...]) -> None:
        self._words, self._knowledge = words, context.session.knowledge
        self._insight = Insight(context.session.world.files if context.other is None else Files(NOWHERE), alerts)
        self._notices = _notices(context.session) if alerts else None
        self._shapes: dict[tuple[int, int], Shape] = {}
        self._bounds: dict[int, Bound] = {}
        self._context, self._awaited = context, {one.gpu for one in alerts if one.gpu is not None}
        trouble = self._notices.trouble if self._notices is not None else None
        if trouble is not None:
            context.note(text("alerts are printed only: {reason}", reason=trouble))

    def take(self, sample: Sample) -> Sample:
        if sample.gpus and self._awaited:
            for index in sorted(self._awaited - {gpu.index for gpu in sample.gpus}):
                self._context.note(text("there is no GPU {index} to be told of, unless it comes later", index=index))
            self._awaited.clear()
        judged = self._insight.take(sample)
        if self._notices is not None:
            self._notices.take(judged)
        return judged

    def lines(self, sample: Sample) -> Iterator[Json]:
        """A document for each event, and for each verdict that is another one than before."""
        yield from self._events(sample)
        shapes = {(one.gpu, one.pid): one for one in self._insight.growths}
        for key, one in shapes.items():
            if self._shapes.get(key) is not one.growth.shape:
                from gpuassist.present.insight import growth_document  # words that most lines have none of

                since = sample.time - (sample.monotonic - one.growth.since)
                yield growth_document(one, sample.time, since, self._words)
        self._shapes = {key: one.growth.shape for key, one in shapes.items()}
        for gpu, found in self._insight.bottlenecks.items():
            if found.means.seconds < LEAST_SECONDS:
                continue
            # What cannot be told at first is no news.
            if found.bound is not self._bounds.get(gpu, Bound.UNDECIDED):
                from gpuassist.present.insight import bound_document

                yield bound_document(found, gpu, sample.time, self._words)
            self._bounds[gpu] = found.bound

    def replayed(self, sample: Sample) -> Iterator[Json]:
        """A document for each event of a sample that was recorded."""
        self._insight.replay(sample)
        yield from self._events(sample)

    def _events(self, sample: Sample) -> Iterator[Json]:
        return (self._event(event, sample) for event in sample.events)

    def close(self) -> None:
        if self._notices is not None:
            self._notices.wait(_LAST_NOTICE_SECONDS)

    def _event(self, event: Event, sample: Sample) -> Json:
        document = event_document(event, sample, self._words)
        if event.kind is EventKind.OUT_OF_MEMORY:
            moment = next((one for one in reversed(self._insight.moments) if _is_of(event, one.monotonic, one.pid)), None)
            told = document["event"]
            if moment is not None and isinstance(told, dict):
                from gpuassist.present.insight import moment_document

                document["event"] = {**told, **moment_document(moment, self._words, self._knowledge.commands)}
        return document


def _notices(session: Session) -> AlertNotices:
    from gpuassist.session.alert_notices import AlertNotices  # which most have no use for

    return AlertNotices(session)


def _is_of(event: Event, monotonic: float, pid: int | None) -> bool:
    return event.monotonic == monotonic and event.pid == pid
