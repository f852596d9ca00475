"""`gpuassist plan GOAL`: what it would take, link by link and step by step; nothing is changed unless `--run` asks for it.

It ends with 0 where nothing is to do or the steps lead there, with 2 where nothing does, with 3 where it cannot be told.
"""

from __future__ import annotations

import argparse

from gpuassist.cli import plan_run_options
from gpuassist.cli.context import Context, UsageError, load_probes
from gpuassist.cli.paragraphs import show_command, width_of, wrapped
from gpuassist.detect.recording import RecordingError
from gpuassist.model.chain import Part, Status
from gpuassist.model.codec import Json
from gpuassist.model.outlook import Outlook, WayPlan
from gpuassist.model.plan import Step, Tool
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.chain import Alike, alike
from gpuassist.present.marks import Exit, glyph_of
from gpuassist.present.steps import step_document
from gpuassist.session.plan import GoalError, look, parse_goal, plan_goals

NAME = "plan"
HELP = text("what a driver, a CUDA, a torch or another GPU would take, for every GPU of the machine; changes nothing without --run")

SCHEMA = 1
_GOALS = text(
    'driver, driver==580, driver==newest, cuda, cuda==12.8, torch, torch==2.6, gpu="RTX 5090" (one more beside those that are '
    "there), hold (keep the driver that works: its packages, and the kernel where its module comes ready built), release (let go "
    "of that), or an engine that keeps the torch that is there: vllm, xformers==0.0.35 and what `gpuassist know engine` lists"
)


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("goals", nargs="*", metavar="GOAL", help=words(_GOALS))
    tools = [one.value for one in Tool]
    parser.add_argument("--as", dest="tool", choices=tools, default="", help=words(text("what torch shall come by")))
    without = words(text("plan for a user who may not become root, also where this one may"))
    parser.add_argument("--no-root", action="store_true", help=without)
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))
    project = words(text("judge the files of the project in DIR instead: will it run here, and the smallest change that makes it"))
    parser.add_argument("--project", metavar="DIR", default="", help=project)
    parser.add_argument("--write", action="store_true", help=words(text("with --project: write that change, on record for undo")))
    plan_run_options.arguments(parser, words)


def run(options: argparse.Namespace, context: Context) -> Exit:
    context = context.for_programs(options)
    if options.project:
        from gpuassist.cli.plan_project import run_project

        return run_project(options, context)
    if options.write:
        raise UsageError(text("--write goes with --project"))
    if plan_run_options.is_about_an_install(options):
        return plan_run_options.run(options, context)
    if not options.goals:
        raise UsageError(text("a goal is missing: {goals}", goals=_GOALS))
    try:
        goals = tuple(parse_goal(words, context.session.knowledge) for words in options.goals)
        plan_run_options.check(options, context, goals)
        if not context.elsewhere:
            load_probes()
        machine = context.recorded_machine() or look(context.session)
    except (GoalError, RecordingError) as error:
        raise UsageError(error.reason) from error
    if not context.elsewhere:
        from gpuassist.detect.shell import left_out  # what asks shells costs a start more than a recording's whole plan

        missing = left_out(context.session.world)
        if missing is not None:
            context.note(missing)
    tool = Tool(options.tool) if options.tool else None
    outlook = plan_goals(context.session, machine, goals, tool, no_root=options.no_root)
    runs = options.run and bool(outlook.steps)
    if not options.json:
        _show(context, outlook)
    elif not runs:
        context.document(document(outlook, context.session.words))
    return plan_run_options.take_steps(options, context, machine, outlook) if runs else status(outlook)


def status(outlook: Outlook) -> Exit:
    """Whether there is a way, none, or that could not be told."""
    if outlook.blocked_by:
        return Exit.PROBLEMS
    return Exit.UNDETERMINED if outlook.undetermined else Exit.HEALTHY


def document(outlook: Outlook, words: Words) -> Json:
    """The plan as its contract has it, and beside it what could not be determined and what to know before."""
    return {
        "schema": SCHEMA,
        "goal": words(outlook.goal),
        "links": [
            {"from": words(one.first), "to": words(one.second), "holds": one.holds, "reason": words(one.reason)}
            for one in outlook.links
        ],
        "steps": [step_document(one, words) for one in outlook.steps],
        "ways": [_way(one, words) for one in outlook.ways],
        "blocked_by": [words(one) for one in outlook.blocked_by],
        "undetermined": [words(one) for one in outlook.undetermined],
        "notes": [words(one) for one in outlook.notes],
    }


def _way(way: WayPlan, words: Words) -> Json:
    return {
        "way": way.way.value,
        "text": words(way.text),
        "steps": [step_document(one, words) for one in way.steps],
        "notes": [words(one) for one in way.notes],
    }


def _show(context: Context, outlook: Outlook) -> None:
    say = _Paragraphs(context)
    say(text("Goal: {goal}", goal=outlook.goal))
    for one in alike(outlook.before):
        _show_chain(context, one)
    context.say()
    if outlook.blocked_by:
        verdict = text("No change makes every link hold:")
    elif outlook.undetermined:
        verdict = text("This could not be determined:")
    elif outlook.steps:
        verdict = text("What it takes:")
    else:
        verdict = text("Nothing has to be done.")
    say(verdict)
    for reason in (*outlook.blocked_by, *outlook.undetermined):
        say(reason, first="  - ")
    for number, step in enumerate(outlook.steps, start=1):
        show_step = _Paragraphs(context)
        context.say()
        show_step(step.text, first=f"{number}. ")
        for line in step.commands:
            show_command(context, line, indent="     ")
        if step.needs_root:
            show_step(text("(needs administrator rights: gpuassist shows such commands and never runs them)"), first="   ")
        if step.check is not None:
            show_step(text("To see that it worked: {check}", check=step.check), first="   ")
    for note in (*outlook.notes, *(note for way in outlook.ways[:1] for note in way.notes)):
        context.say()
        say(text("Note: {note}", note=note))
    for other in outlook.ways[1:]:
        _show_way(context, other, outlook.steps)


def _show_way(context: Context, way: WayPlan, first: tuple[Step, ...]) -> None:
    """Another way in short: its own commands, without those that it shares with the first."""
    say = _Paragraphs(context)
    context.say()
    say(text("Another way: {way}", way=way.text))
    for step in way.steps:
        for line in step.commands if step not in first else ():
            show_command(context, line, indent="     ")
    for note in way.notes:
        say(text("Note: {note}", note=note), first="   ")


class _Paragraphs:
    """Prints paragraphs as wide as the terminal."""

    def __init__(self, context: Context) -> None:
        self._context, self._width = context, width_of(context)

    def __call__(self, words: Text | str, *, first: str = "") -> None:
        plain = words if isinstance(words, str) else self._context.session.words(words)
        for line in wrapped(plain, self._width, first=first, hanging=" " * len(first)):
            self._context.say(line)


def _show_chain(context: Context, one: Alike) -> None:
    chain, words, say = one.chain, context.session.words, _Paragraphs(context)
    nodes = {node.part: node for node in chain.nodes}
    drawn = [node for node in chain.nodes if node.part is not Part.GPU and node.status is not Status.ABSENT]
    row = " – ".join(f"{glyph_of(node.status)} {words(node.name)}" for node in drawn)
    gpu = nodes[Part.GPU]
    context.say()
    count = f"{len(one.gpus)} × " if len(one.gpus) > 1 else ""
    say(f"GPU {', '.join(one.gpus)}: {count}{words(gpu.name)} ({words(gpu.detail)})")
    say(row, first="  ")
    for joint in chain.joints:
        if joint.status in {Status.PROBLEM, Status.WARNING, Status.UNKNOWN}:
            names = {node.part: words(node.name) for node in chain.nodes}
            reason = words(joint.reason) or words(text("not known"))
            say(f"{names[joint.first]} → {names[joint.second]}: {reason}", first=f"  {glyph_of(joint.status)} ")
