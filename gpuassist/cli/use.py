"""`gpuassist use cuda VERSION` and `use devices LIST`: what new shells use, or what an environment, a project or a kernel does."""

from __future__ import annotations

import argparse

from gpuassist.changes.wishes import SHELL, LdLibraryPath
from gpuassist.cli import use_cuda, use_devices, use_scope
from gpuassist.cli.context import Context, UsageError
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.system.terminal import SECONDS

NAME = "use"
_SHORTEST_SECONDS, _LONGEST_SECONDS = 0.1, 600
HELP = text("make an installed CUDA toolkit, or some of the GPUs, what new shells use")


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    """Adds the options of `use`."""
    parser.add_argument("what", nargs="?", choices=("cuda", "devices"), help=words(text("what to choose: a toolkit or GPUs")))
    which = words(text("cuda: an installed release, such as 12.4; devices: indices as nvidia-smi counts them, UUIDs, or `all`"))
    parser.add_argument("which", nargs="?", metavar="VERSION|DEVICES", help=which)
    use_scope.arguments(parser, words)
    parser.add_argument(
        "--rc", default="", metavar="FILE", help=words(text("the start-up file to change (default: the login shell's)"))
    )
    choices = tuple(choice.value for choice in LdLibraryPath)
    help_words = words(text("whether the toolkit's libraries go on LD_LIBRARY_PATH (default: auto, normally off)"))
    parser.add_argument("--ld-library-path", choices=choices, default="auto", help=help_words)
    kept = words(text("which lines are kept as they are"))
    parser.add_argument("--keep", metavar="all|FILE:LINE,…", help=kept)
    lines = words(text("which lines are commented out, and no others changed, in place of what is suggested"))
    parser.add_argument("--comment-out", "--retire", dest="comment_out", metavar="all|none|FILE:LINE,…", help=lines)
    replaced = words(text("in which lines the toolkit is replaced by the chosen one"))
    parser.add_argument("--replace", "--rewrite", dest="replace", metavar="FILE:LINE,…", help=replaced)
    parser.add_argument("--also-login", action="store_true", help=argparse.SUPPRESS)  # what is done now without it
    patience = text("how long start-up files may take when a new shell is asked (default: {seconds:.0f})", seconds=SECONDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="N", help=words(patience))
    kernel = words(text("do not compile a kernel for each GPU afterwards"))
    parser.add_argument("--no-kernel", action="store_true", help=kernel)
    parser.add_argument("--dry-run", action="store_true", help=words(text("show what would be done, and do nothing")))
    parser.add_argument("--yes", action="store_true", help=words(text("do it without asking")))
    parser.add_argument("--json", action="store_true", help=words(text("print one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Plans, shows, asks, applies and proves."""
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="use"))
    context = context.for_programs(options)
    if options.scopes is not None:
        return use_scope.show_scopes(options, context)
    if not _SHORTEST_SECONDS <= options.seconds <= _LONGEST_SECONDS:
        most, least = _LONGEST_SECONDS, _SHORTEST_SECONDS
        raise UsageError(text("--seconds takes a number of seconds from {least} to {most}", least=least, most=most))
    if options.what is None or options.which is None:
        raise UsageError(text("what to use is missing: cuda and a version, or devices and which ones"))
    if options.scope != SHELL:
        return use_scope.run(options, context)
    return use_devices.run(options, context) if options.what == "devices" else use_cuda.run(options, context)
