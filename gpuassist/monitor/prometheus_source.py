"""Samples of GPUs that a Prometheus server watches: what it has kept first, and then what it knows now, again and again.

Nothing is asked before it is known how many GPUs there are, so that a server of a million series is refused with that figure. While
it does not answer, a sample says why; once it does again, what it kept meanwhile comes first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from gpuassist.formats.dcgm import ASKED_FOR, FB_USED, USED_NAMES, host_of
from gpuassist.formats.prometheus import LabelledSeries, PrometheusError, is_page, pattern_of, quoted, read_answer, refusal_in
from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, counted, listed, text
from gpuassist.monitor.prometheus_gpus import GPUS_AT_MOST, RemoteGpus, by_gpu
from gpuassist.monitor.sources import PastSample
from gpuassist.system.clock import Clock
from gpuassist.system.web import Credentials, WebAddress, WebError, WebReader

PAST_SECONDS = 24 * 3600.0
POLLS_A_SECOND = 0.2
HOSTS_AT_MOST = 5000
_NEAR_SECONDS, _NEAR_STEP, _FAR_STEP = 3600.0, 15.0, 120.0
_POINTS_AT_MOST = 200_000  # of all series together, which is some seconds' work; Prometheus itself gives 11,000 of one
_GAP_STEPS = 2.5
_MISSED_SECONDS = 30.0  # less has no history of its own: figures are scraped every fifteen or thirty seconds
_NAMED_AT_MOST = 6
_QUERY, _RANGE = "/api/v1/query", "/api/v1/query_range"
_ONE_GPU = "Hostname, hostname, UUID, GPU_I_ID"


class PrometheusServer(Struct, frozen=True):
    """A server, whose machines are looked at (all where none is named), and how it is asked."""

    address: WebAddress
    hosts: tuple[str, ...] = ()
    credentials: Credentials = Credentials()


class FleetHost(Struct, frozen=True):
    """A machine that a server knows, and how many GPUs it has."""

    name: str
    gpus: int


class PrometheusSource:
    """See `SampleSource`. `past_seconds` is how much of what was before is wanted."""

    def __init__(self, server: PrometheusServer, clock: Clock, *, past_seconds: float = PAST_SECONDS) -> None:
        self._server, self._clock, self._past_seconds = server, clock, past_seconds
        self._web = WebReader(server.address, server.credentials)
        self._gpus = RemoteGpus()
        self._selector = selector(server.hosts)
        self._offset = 0.0  # of the server's clock before ours
        self._last: float | None = None  # by the server's clock: up to when everything was told
        self._why: tuple[Text, ...] = ()
        self._met = False

    def past(self) -> Iterator[PastSample]:
        if self._past_seconds <= 0.0 or (self._last is not None and self._now() - self._last < _MISSED_SECONDS):
            return
        try:
            rows = self._newest()
            now = self._now()
            since = max(now - self._past_seconds, self._last or 0.0)
            stretches = [(*one, self._range(*one)) for one in _stretches(since, now, len(rows))]
        except (PrometheusError, WebError) as error:
            self._why = (self._told(error.reason),)
            return
        self._last = now
        axis = self._clock.since_boot() - self._clock.epoch()
        for _, _, step, found in stretches:
            for sample in self._gpus.samples(found, offset=self._offset, axis=axis):
                yield PastSample(sample, step * _GAP_STEPS)

    def read(self) -> Sample:
        why, self._why = self._why, ()
        if not why:  # else it was asked a moment ago, for what it has kept
            try:
                rows = self._newest()
            except (PrometheusError, WebError) as error:
                why = (self._told(error.reason),)
            else:
                self._last = self._now()
                return self._gpus.sample(by_gpu(rows), self._clock.epoch(), self._clock.since_boot())
        return Sample(self._clock.epoch(), self._clock.since_boot(), (), why)

    def close(self) -> None:
        """Nothing is kept open."""

    def interrupt(self) -> None:
        self._web.interrupt()

    def _now(self) -> float:
        return self._clock.epoch() + self._offset

    def _told(self, reason: Text) -> Text:
        return text("no figures from {address}: {reason}", address=self._server.address.shown, reason=reason)

    def _newest(self) -> tuple[LabelledSeries, ...]:
        if not self._met:
            self._offset = require_few(self._web, self._server) - self._clock.epoch()
            self._met = True
        rows = ask(self._web, _QUERY, {"query": self._selector})
        if not rows:
            self._met = False
            raise PrometheusError(_NO_GPUS)
        self._gpus.meet(row for row in rows if row.name in USED_NAMES)
        return rows

    def _range(self, since: float, until: float, step: float) -> tuple[LabelledSeries, ...]:
        question = {"query": self._selector, "start": f"{since:.3f}", "end": f"{until:.3f}", "step": f"{step:.3f}"}
        return ask(self._web, _RANGE, question)


def hosts_of(server: PrometheusServer) -> tuple[FleetHost, ...]:
    """The machines that a server knows GPUs of, by name; raises `PrometheusError` or `WebError`."""
    return _hosts(WebReader(server.address, server.credentials))


def require_few(web: WebReader, server: PrometheusServer) -> float:
    """The server's clock; raises `PrometheusError` where there is no GPU, or there are more than can be looked at together."""
    (row,) = ask(web, _QUERY, {"query": f"count({_gpus(server.hosts)}) or vector(0)"})[:1] or [None]
    if row is None or not row.points:
        raise PrometheusError(text("what it answers is not what Prometheus answers"))
    time, number = row.points[-1]
    if 0 < number <= GPUS_AT_MOST:
        return time
    if number:
        raise PrometheusError(_too_many(web, round(number)))
    known = _hosts(web) if server.hosts else ()
    if not known:
        raise PrometheusError(_NO_GPUS)
    raise PrometheusError(text("it knows no GPUs of {hosts}, only of {known}", hosts=listed(server.hosts), known=_named(known)))


def selector(hosts: Sequence[str]) -> str:
    """All that is wanted of these machines, in one question."""
    return _any_of(ASKED_FOR, _matchers(hosts) if hosts else ((),))


def _any_of(metrics: Sequence[str], matchers: Sequence[tuple[str, ...]]) -> str:
    names = f"__name__=~{quoted('|'.join(metrics))}"
    return " or ".join("{" + ",".join((names, *one)) + "}" for one in matchers)


def _gpus(hosts: Sequence[str]) -> str:
    """A vector of one for each GPU, however many exporters tell of it."""
    *by_name, by_place = _matchers(hosts)
    named, placed = _any_of(USED_NAMES, by_name), _any_of(USED_NAMES, (by_place,))
    return f"group by ({_ONE_GPU}) ({named}) or group by ({_ONE_GPU}, instance) ({placed})"


def ask(web: WebReader, path: str, question: dict[str, str]) -> tuple[LabelledSeries, ...]:
    """Raises `PrometheusError` and `WebError`."""
    answer = web.get(path, question)
    if answer.status == 200:
        return read_answer(answer.body)
    told = refusal_in(answer.body)
    if answer.status in {401, 403}:
        raise PrometheusError(_NOT_LET_IN if web.says_who else _CREDENTIALS)
    if told is not None:
        raise PrometheusError(told)
    if answer.status == 400 and b"HTTPS" in answer.body:
        raise PrometheusError(_SPEAKS_TLS)
    if answer.status == 404 or (is_page(answer.body) and answer.status < 500):
        raise PrometheusError(_NO_API)
    if answer.status >= 500:
        raise PrometheusError(text("it is there and cannot answer now (status {status})", status=answer.status))
    raise PrometheusError(text("it refuses the question with status {status}", status=answer.status))


def _hosts(web: WebReader) -> tuple[FleetHost, ...]:
    gpus = _gpus(())
    (row,) = ask(web, _QUERY, {"query": f"count(count by (Hostname, hostname) ({gpus})) or vector(0)"})[:1] or [None]
    number = round(row.points[-1][1]) if row is not None and row.points else 0
    if number > HOSTS_AT_MOST:
        raise PrometheusError(text("it knows {count} machines with GPUs: name the one to look at", count=number))
    found: dict[str, int] = {}
    for one in ask(web, _QUERY, {"query": f"count by (Hostname, hostname, instance) ({gpus})"}):
        if one.points:
            name = host_of(one.labels)
            found[name] = found.get(name, 0) + round(one.points[-1][1])
    return tuple(FleetHost(name, found[name]) for name in sorted(found))


def _matchers(hosts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """By the name that the exporter gives the machine (its label is another since dcgm-exporter 4.8.3); where it gives none, by
    where it was scraped.
    """
    names = "|".join(map(pattern_of, hosts))
    here, place = (f"=~{quoted(names)}", f"=~{quoted(f'({names})(:[0-9]+)?')}") if hosts else ('!=""', '!=""')
    return ((f"Hostname{here}",), ('Hostname=""', f"hostname{here}"), ('Hostname=""', 'hostname=""', f"instance{place}"))


def _stretches(since: float, until: float, series: int) -> Iterator[tuple[float, float, float]]:
    """Begin, end and step: the last hour as it was scraped, what is further back at the width of a line; no gap between them."""
    far_step = max(_FAR_STEP, series * (until - since) / _POINTS_AT_MOST)
    near_step = max(_NEAR_STEP, series * min(until - since, _NEAR_SECONDS) / _POINTS_AT_MOST)
    near = until - math.floor(min(until - since, _NEAR_SECONDS) / near_step) * near_step
    end = near - near_step
    if end - since >= far_step:
        yield end - math.floor((end - since) / far_step) * far_step, end, far_step
    yield near, until, near_step


def _too_many(web: WebReader, number: int) -> Text:
    try:
        hosts = _hosts(web)
    except PrometheusError as error:
        return text(
            "it knows {count} GPUs, and {most} can be looked at together: {reason}",
            count=number,
            most=GPUS_AT_MOST,
            reason=error.reason,
        )
    return text(
        "it knows {count} GPUs, and {most} can be looked at together: choose machines with --host, such as {hosts}",
        count=number,
        most=GPUS_AT_MOST,
        hosts=_named(hosts),
    )


def _named(hosts: Sequence[FleetHost]) -> Text:
    names = listed(one.name for one in hosts[:_NAMED_AT_MOST])
    left = len(hosts) - _NAMED_AT_MOST
    return counted("{names} and {count} more", "{names} and {count} more", left, names=names) if left > 0 else names


_NO_GPUS = text(
    "it answers, and knows no GPU: nothing that it scrapes tells {name}, as dcgm-exporter and `gpuassist monitor --export` do",
    name=FB_USED,
)
_CREDENTIALS = text(
    "it wants to know who asks: put `machine HOST login USER password PASSWORD` into ~/.netrc, or name a --token-file"
)
_NOT_LET_IN = text("it does not let you in: the user and password, or the token, that it was given are not right there")
_SPEAKS_TLS = text("it speaks TLS: its address begins with https://")
_NO_API = text("it answers, and not as Prometheus does: is the address right, and a path behind it missing?")
