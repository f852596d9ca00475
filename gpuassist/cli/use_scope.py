"""`gpuassist use … --scope SCOPE` and `--scopes`: a toolkit or GPUs for an environment, a project, a kernel or the desktop."""

from __future__ import annotations

import argparse
import os

from gpuassist.changes.scope_proof import provable, prove_scope
from gpuassist.cli.context import Context, Exit, UsageError
from gpuassist.cli.shell_change import Change, Proved, carry_out, refuse
from gpuassist.model.codec import Json
from gpuassist.model.text import text
from gpuassist.session import fix
from gpuassist.session.devices_plan import look_at_gpus
from gpuassist.session.scope_list import ListedScope, list_scopes, scopes_json
from gpuassist.session.scope_plan import ScopePlan, plan_cuda_in, plan_devices_in
from gpuassist.session.scope_words import PROGRAMS, SEEN, TITLES, Kind, Sees
from gpuassist.session.words import Words

SHELL = Kind.SHELL.value
_GLYPHS = {Sees.YES: "✓", Sees.NO: "✗", Sees.DEPENDS: "~"}


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    """Adds the options of scopes."""
    scope = words(text("where it holds: shell (default), conda:NAME, venv:PREFIX, envrc:DIR, dotenv:DIR, jupyter:KERNEL, desktop"))
    parser.add_argument("--scope", default=SHELL, metavar="SCOPE", help=scope)
    scopes = words(text("show the scopes of this machine, for the project in DIR, and which programs see each"))
    parser.add_argument("--scopes", nargs="?", const=".", metavar="DIR", help=scopes)


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Plans, shows, asks, applies and proves."""
    if options.rc or options.retire is not None or options.rewrite is not None or options.also_login:
        raise UsageError(text("--rc, --retire, --rewrite and --also-login are for start-up files: they go with --scope shell"))
    try:
        plan = _planned(options, context)
    except fix.WishError as error:
        raise UsageError(error.reason) from error
    except fix.RepairError as error:
        return refuse(options, context, error.reason)
    members: dict[str, Json] = {"scope": plan.scope.words, **_members(plan)}
    prove = (lambda: _proved(context, plan)) if provable(plan.scope) else None
    return carry_out(options, context, Change(plan.shell, prove, members))


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


def _planned(options: argparse.Namespace, context: Context) -> ScopePlan:
    session = context.session
    if options.what == "devices":
        return plan_devices_in(session, look_at_gpus(session), options.which, scope=options.scope)
    loader = fix.LdLibraryPath(options.ld_library_path)
    return plan_cuda_in(session, fix.look(session), options.which, scope=options.scope, ld_library_path=loader)


def _members(plan: ScopePlan) -> dict[str, Json]:
    if plan.devices is not None:
        return {"devices": list(plan.devices.values), "hidden": list(plan.devices.hidden)}
    if plan.toolkit is not None:
        return {"toolkit": {"root": plan.toolkit.root, "version": fix.version_of(plan.toolkit)}}
    return {}


def _proved(context: Context, plan: ScopePlan) -> Proved:
    proof = prove_scope(context.session.world, plan.scope, plan.held)
    return Proved(proof.holds, proof.words)


def _show_kind(context: Context, kind: Kind, scopes: tuple[ListedScope, ...]) -> None:
    words = context.session.words
    context.say(f"{kind.value}: {words(TITLES[kind])}")
    for one in scopes:
        _show_scope(context, one)
    if not scopes:
        context.say(text("  none was found here"))
    for program, sight in SEEN[kind].items():
        when = f": {words(sight.when)}" if sight.when is not None else ""
        context.say(f"    {_GLYPHS[sight.sees]} {words(PROGRAMS[program])}{when}")
    context.say()


def _show_scope(context: Context, one: ListedScope) -> None:
    words = context.session.words
    chosen = ", ".join(f"{name}={value}" for name, value in one.held.variables)
    context.say(f"  --scope {one.words}" + (f"  ({chosen})" if chosen else ""))
    if one.obstacle is not None:
        context.say(f"      {words(one.obstacle)}")
