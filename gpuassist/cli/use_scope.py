"""`gpuassist use … --scope SCOPE` and `--scopes`: a toolkit or GPUs for an environment, a project, a kernel or the desktop."""

from __future__ import annotations

import argparse
import os

from gpuassist.changes.choice import version_of
from gpuassist.changes.plan_change import plan_change
from gpuassist.changes.scope_find import ListedScope, list_scopes, scopes_json
from gpuassist.changes.scopes.kinds import PROGRAMS, SEEN, TITLES, Kind, Sees
from gpuassist.changes.wishes import SHELL, LdLibraryPath, UseCuda, UseDevices
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.shell_change import PlannedChange
from gpuassist.model.codec import Json
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.session.use import look, look_at_gpus

_GLYPHS = {Sees.YES: "✓", Sees.NO: "✗", Sees.DEPENDS: "~"}


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    scope = words(
        text("what it applies to: shell (default), conda:NAME, venv:PREFIX, envrc:DIR, dotenv:DIR, jupyter:KERNEL, desktop")
    )
    parser.add_argument("--scope", default=SHELL, metavar="SCOPE", help=scope)
    scopes = words(text("show the scopes of this machine, for the project in DIR, and which programs see each"))
    parser.add_argument("--scopes", nargs="?", const=".", metavar="DIR", help=scopes)


def planned(options: argparse.Namespace, context: Context) -> PlannedChange:
    """The change; raises `WishError` and `RepairError` where there is none."""
    if (
        options.rc
        or options.comment_out is not None
        or options.replace is not None
        or options.keep is not None
        or options.also_login
    ):
        raise UsageError(
            text("--rc, --keep, --comment-out, --replace and --also-login are for start-up files: they go with --scope shell")
        )
    session = context.session
    if options.what == "devices":
        plan = plan_change(session.world, look_at_gpus(session), UseDevices(options.which, scope=options.scope))
    else:
        loader = LdLibraryPath(options.ld_library_path)
        wish = UseCuda(options.which, ld_library_path=loader, scope=options.scope)
        plan = plan_change(session.world, look(session), wish)
    chosen = plan.scope
    if chosen is None:
        raise ValueError(plan.command)
    told: dict[str, Json] = {"scope": chosen.scope.words}
    if chosen.devices is not None:
        told |= {"devices": list(chosen.devices.values), "hidden": list(chosen.devices.hidden)}
    if chosen.toolkit is not None:
        told |= {"toolkit": {"root": chosen.toolkit.root, "version": version_of(chosen.toolkit)}}
    return PlannedChange(plan, told)


def show_scopes(options: argparse.Namespace, context: Context) -> Exit:
    """What there is to choose for, and which programs see it."""
    if options.what is not None:
        raise UsageError(text("--scopes only shows: it takes a directory, and nothing else to use"))
    scopes = list_scopes(context.session, os.path.abspath(options.scopes))
    if options.json:
        context.document(scopes_json(scopes, context.session.words))
        return Exit.HEALTHY
    for kind in Kind:
        _show_kind(context, kind, tuple(one for one in scopes if one.kind is kind))
    return Exit.HEALTHY


def _show_kind(context: Context, kind: Kind, scopes: tuple[ListedScope, ...]) -> None:
    words = context.session.words
    context.say(f"{kind.value}: {words(TITLES[kind])}")
    for one in scopes:
        chosen = ", ".join(f"{name}={value}" for name, value in one.held.variables)
        context.say(f"  --scope {one.words}" + (f"  ({chosen})" if chosen else ""))
        if one.obstacle is not None:
            context.say(f"      {words(one.obstacle)}")
    if not scopes:
        context.say(text("  none was found here"))
    for program, sight in SEEN[kind].items():
        when = f": {words(sight.when)}" if sight.when is not None else ""
        context.say(f"    {_GLYPHS[sight.sees]} {words(PROGRAMS[program])}{when}")
    context.say()
