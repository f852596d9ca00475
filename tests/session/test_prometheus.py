"""A server as the user names it, what is remembered of it, and a watch that holds its past."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.sample import Sample
from gpuassist.monitor.pyramid import Window
from gpuassist.session.prometheus import (
    ServerWish,
    found_hosts,
    has_password,
    in_time,
    remember,
    remembered,
    server_of,
    server_watch,
)
from gpuassist.system.web import WebError, basic
from tests.changes.homes import world_at
from tests.cli.made_session import live_session
from tests.monitor.scripted_prometheus import MIB, ScriptedPrometheus, card
from tests.scripted_http import Reply, serving
from tests.waiting import until


@pytest.fixture
def session(home: Path) -> Session:
    return replace(live_session(), world=world_at(home))


def test_a_server_is_remembered_and_its_password_is_not(session: Session, home: Path) -> None:
    wish = ServerWish("https://me:secret@prom:9090/a", ("n1", "n2"), "/run/token")
    assert has_password(wish)
    remember(session.world, wish)
    assert remembered(session.world) == replace(wish, address="https://prom:9090/a")
    assert not any(b"secret" in one.read_bytes() for one in home.rglob("*") if one.is_file())
    for content in ("{", '{"address": 7, "hosts": "n1", "token_file": null}', "[]"):
        next(home.rglob("prometheus.json")).write_text(content)
        assert remembered(session.world) == ServerWish()


def test_credentials_come_from_the_address_a_token_or_netrc(session: Session, home: Path) -> None:
    (home / ".netrc").write_text("machine prom login me password word\n")
    (home / ".netrc").chmod(0o600)
    (home / "token").write_text("abc\n")

    def header(address: str, token_file: str = "") -> str:
        return server_of(session.world, ServerWish(address, (), token_file)).credentials.header

    assert header("prometheus:prom:9090") == basic("me", "word").header
    assert header("http://you:other@prom") == basic("you", "other").header
    assert header("prom", str(home / "token")) == "Bearer abc"
    with pytest.raises(WebError):
        header("prom", str(home / "nothing"))


def test_a_watch_begins_with_what_was_and_goes_on_after_an_outage(session: Session) -> None:
    now = time.time()
    script = ScriptedPrometheus([card("n1", 0, 1000)], now=now, past={now - 80_000.0: 10, now - 60.0: 20})
    with serving(script) as http:
        server = server_of(session.world, ServerWish(http.address))
        watch = server_watch(in_time(session), server, hz=100.0)
        seen: list[Sample] = []
        watch.start(seen.append)
        try:
            assert until(lambda: watch.history.gpus == (0,) and watch.history.greatest(0, Window(5.0, 10)) == 1000 * MIB)
            day = watch.history.curve(0, Window(24 * 3600.0, 2000))
            assert set(day.low) >= {10.0 * MIB, 20.0 * MIB}
            assert day.breaks  # nothing was told between
            assert watch.peaks.gpus == {0: 1000 * MIB}
            assert watch.server == http.address
            script.instead = Reply(b"", 503)
            assert until(lambda: seen[-1].trouble)
            script.instead = None
            assert until(lambda: seen[-1].gpus)
        finally:
            assert watch.stop()


def test_the_machines_that_a_server_knows(session: Session) -> None:
    with serving(ScriptedPrometheus([card("n2", 0), card("n1", 0), card("n1", 1)])) as http:
        found = found_hosts(session.world, ServerWish(http.address, ("n2",)))
    assert [(one.name, one.gpus) for one in found] == [("n1", 2), ("n2", 1)]
