"""`gpuassist monitor --export HOST:PORT`: what is sampled, for Prometheus to scrape."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from gpuassist.cli.context import Context, UsageError
from gpuassist.model.sample import Sample
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.system.interrupts import ending_in_order

Take = Callable[[Sample], None]


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    export = words(
        text("also answer http://HOST:PORT/metrics in dcgm-exporter's names, for Prometheus; without HOST on loopback only")
    )
    parser.add_argument("--export", metavar="HOST:PORT", help=export)


@contextmanager
def exported(options: argparse.Namespace, context: Context) -> Iterator[Take]:
    """What takes each sample; says where it is answered, and who can read it there."""
    if options.export is None:
        yield lambda _: None
        return
    from gpuassist.present.metrics import SampleMetrics
    from gpuassist.system.metrics_server import ListenError, MetricsServer, read_listen_address

    world = context.session.world
    metrics = SampleMetrics(_labels(world.surroundings.variables), world.clock, hz=options.hz)
    try:
        server = MetricsServer(read_listen_address(options.export), metrics)
    except ListenError as error:
        raise UsageError(error.reason) from error
    context.note(text("{address} answers for Prometheus", address=server.address.shown))
    if not server.address.is_loopback:
        context.note(text("whoever reaches that port can read the figures: it asks for no password, and nothing is encrypted"))
    try:
        with ending_in_order():
            yield metrics.take
    finally:
        server.stop()


def _labels(variables: Mapping[str, str]) -> dict[str, str]:
    """As dcgm-exporter's: a node's name goes before the machine's own, which in a pod is the pod's."""
    return {
        "Hostname": variables.get("NODE_NAME") or os.uname().nodename,
        "namespace": variables.get("POD_NAMESPACE", ""),
        "pod": variables.get("POD_NAME", ""),
        "hpc_job": variables.get("SLURM_JOB_ID", ""),
    }
