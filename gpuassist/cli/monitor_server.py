"""`gpuassist monitor --source prometheus:URL`: the GPUs that a server watches, in the place of this machine's."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gpuassist.cli.context import Context, UsageError
from gpuassist.model.text import text
from gpuassist.model.words import Words

if TYPE_CHECKING:  # HTTP is what few samples need
    from gpuassist.monitor.prometheus_source import PrometheusServer
    from gpuassist.session.navigation import Destination
    from gpuassist.session.prometheus import ServerWish

SERVER = "prometheus:"


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    host = words(text("with prometheus: only the GPUs of this machine; more than once for several"))
    parser.add_argument("--host", action="append", default=[], metavar="NAME", help=host)
    token = words(text("with prometheus: a file that holds the bearer token (user and password stand in ~/.netrc)"))
    parser.add_argument("--token-file", default="", metavar="FILE", help=token)


def is_server(options: argparse.Namespace) -> bool:
    """Whether a server is asked; raises `UsageError` for options that do not go together."""
    served = bool(options.source.startswith(SERVER))
    if not served and (options.host or options.token_file):
        raise UsageError(text("--host and --token-file need a server: --source prometheus:URL"))
    return served


def wish_of(options: argparse.Namespace) -> ServerWish:
    from gpuassist.session.prometheus import ServerWish

    return ServerWish(options.source.removeprefix(SERVER), tuple(options.host), options.token_file)


def server(options: argparse.Namespace, context: Context) -> PrometheusServer:
    """Who is asked; raises `UsageError`. A password that everybody can see is told of."""
    from gpuassist.session.prometheus import PASSWORD_SEEN, has_password, server_of
    from gpuassist.system.web import WebError

    wish = wish_of(options)
    try:
        found = server_of(context.session.world, wish)
    except WebError as error:
        raise UsageError(error.reason) from error
    if has_password(wish):
        context.note(PASSWORD_SEEN)
    return found


def in_window(options: argparse.Namespace, context: Context) -> Destination:
    """Where the window shows it."""
    from gpuassist.session.navigation import ToServer

    server(options, context)
    wish = wish_of(options)
    return ToServer(wish.address, wish.hosts, wish.token_file)
