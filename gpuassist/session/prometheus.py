"""A Prometheus server in the place of this machine's GPUs: what the user calls it, how it is asked, what is remembered of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import asdict, replace

from gpuassist.context import Session
from gpuassist.model.text import Text, text
from gpuassist.monitor.prometheus_source import (
    PAST_SECONDS,
    POLLS_A_SECOND,
    FleetHost,
    PrometheusServer,
    PrometheusSource,
    hosts_of,
)
from gpuassist.session.settings import read_own_object, write_own_object
from gpuassist.session.watch import Watch
from gpuassist.system.clock import LongerClock
from gpuassist.system.web import WebError, netrc_of, read_address, token_in
from gpuassist.system.world import World

PREFIX = "prometheus:"
_NAME = "prometheus.json"

PASSWORD_SEEN = text(
    "every user of this machine can see a password that stands in a command line: ~/.netrc keeps it, as `machine HOST login USER"
    " password PASSWORD`"
)


PASSWORD_KEPT = text("The password is not remembered: ~/.netrc keeps it.")


class ServerWish(Struct, frozen=True):
    """A server as the user names it; `token_file` holds a bearer token. Only the address may hold a secret, a password."""

    address: str = ""
    hosts: tuple[str, ...] = ()
    token_file: str = ""


def server_of(world: World, wish: ServerWish) -> PrometheusServer:
    """Who that is, with the user's own credentials: of the address, the token file, or netrc. Raises `WebError`."""
    address, credentials = read_address(wish.address.removeprefix(PREFIX))
    around = world.surroundings
    if wish.token_file:
        credentials = token_in(wish.token_file)
    elif not credentials.header:
        credentials = netrc_of(address.host, around.variables, around.home)
    if wish.hosts and not all(wish.hosts):
        raise WebError(text("the name of a machine is missing"))
    return PrometheusServer(address, tuple(wish.hosts), credentials)


def has_password(wish: ServerWish) -> bool:
    """Whether the address holds one."""
    try:
        return bool(read_address(wish.address.removeprefix(PREFIX))[1].header)
    except WebError:
        return False


def found_hosts(world: World, wish: ServerWish) -> tuple[FleetHost, ...]:
    """Which machines the server knows; raises `WebError` or `PrometheusError`."""
    return hosts_of(server_of(world, replace(wish, hosts=())))


def in_time(session: Session) -> Session:
    """The session on whose axis what the server has kept has its place."""
    world = session.world
    return replace(session, world=replace(world, clock=LongerClock(world.clock, PAST_SECONDS + 3600.0)))


def server_watch(session: Session, server: PrometheusServer, *, hz: float = POLLS_A_SECOND) -> Watch:
    """A watch of its GPUs; `session` is one of `in_time`."""
    return Watch(session, hz=hz, source=lambda world: PrometheusSource(server, world.clock), server=server.address.shown)


def title_of(server: PrometheusServer) -> Text:
    """What is looked at, in a line."""
    return text("Prometheus at {address}", address=server.address.shown)


def remember(world: World, wish: ServerWish) -> None:
    """For the next time; a password in the address is not kept."""
    try:
        address, _ = read_address(wish.address.removeprefix(PREFIX))
    except WebError:
        return
    write_own_object(world, _NAME, asdict(replace(wish, address=address.shown)))


def remembered(world: World) -> ServerWish:
    """What was looked at last; empty where nothing was."""
    found = read_own_object(world, _NAME)
    address, hosts, token_file = (found.get(name) for name in ("address", "hosts", "token_file"))
    return ServerWish(_words(address), _names(hosts), _words(token_file))


def _words(value: object) -> str:
    return value if isinstance(value, str) else ""


def _names(value: object) -> tuple[str, ...]:
    return (
        tuple(one for one in value if isinstance(one, str) and one)
        if isinstance(value, Sequence) and not isinstance(value, str)
        else ()
    )
