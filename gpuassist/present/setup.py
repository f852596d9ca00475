"""What is said of a set-up: its stages in words and marks, the one line of it, its document, and the exit status."""

from __future__ import annotations

from gpuassist.model.codec import Json
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.session.setup_values import Setup, SetupStage, SetupStageId, SetupStageState
from gpuassist.session.setup_words import RECORDED, TITLES

SCHEMA = 1
STATES: dict[SetupStageState, Text] = {
    SetupStageState.DONE: text("done"),
    SetupStageState.NOW: text("now"),
    SetupStageState.LATER: text("later"),
    SetupStageState.NOT_NEEDED: text("not needed"),
    SetupStageState.WAITS: text("waits for the restart"),
    SetupStageState.UNKNOWN: text("not known"),
}
"""How a stage stands, beside its name."""


def title_of(stage: SetupStage) -> Text:
    return TITLES[stage.id]


def headline(setup: Setup) -> Text:
    """Where one is, in a line."""
    now = setup.now
    if now is None:
        if setup.recorded:
            return text("Everything that a recording shows is set up")
        return text("Everything is set up: the GPU computes, and that was verified")
    return text("Step {place} of {count}: {stage}", place=place_of(setup, now), count=len(setup.needed), stage=title_of(now))


def short_headline(setup: Setup) -> Text:
    """The same, with what comes after it."""
    after = setup.next
    return text("{step} · next: {stage}", step=headline(setup), stage=title_of(after)) if after is not None else headline(setup)


def in_words(stage: SetupStage) -> tuple[Text, ...]:
    """Why a stage stands so, and what is done first where it is not done."""
    opened = stage.state in {SetupStageState.NOW, SetupStageState.LATER}
    return (stage.why, stage.does) if opened and stage.does is not None and stage.does != stage.why else (stage.why,)


def read_aloud(stage: SetupStage) -> Text:
    """A stage with its name, how it stands, and why."""
    return text("{stage}, {state}. {why}", stage=title_of(stage), state=state_of(stage), why=stage.why)


def state_of(stage: SetupStage) -> Text:
    """How it stands; what a recording has none of is not called needless."""
    return text("not on a recording") if stage.why in RECORDED else STATES[stage.state]


def status(setup: Setup) -> Exit:
    """0 all is done; 1 something is to be done; 2 a problem stands in its way; 3 what is to be done cannot be told."""
    now = setup.now
    if now is None:
        return Exit.HEALTHY
    if now.problem or now.blocked or now.failed:
        return Exit.PROBLEMS
    unknown = setup.stage(SetupStageId.RESTART).state is SetupStageState.UNKNOWN
    return Exit.UNDETERMINED if unknown and now.id is SetupStageId.DRIVER else Exit.WARNINGS


def document(setup: Setup, words: Words) -> Json:
    """The set-up as `setup --json` prints it."""
    now = setup.now
    return {
        "schema": SCHEMA,
        "done": now is None,
        "now": now.id.value if now is not None else None,
        "step": place_of(setup, now) if now is not None else None,
        "steps": len(setup.needed),
        "command": now.command or None if now is not None else None,
        "recorded": setup.recorded,
        "back": words(setup.back) if setup.back is not None else None,
        "notice": words(setup.notice) if setup.notice is not None else None,
        "stages": [_stage(one, words) for one in setup.stages],
    }


def _stage(stage: SetupStage, words: Words) -> Json:
    return {
        "id": stage.id.value,
        "state": stage.state.value,
        "why": words(stage.why),
        "does": words(stage.does) if stage.does is not None else None,
        "command": stage.command or None,
        "problem": stage.problem or None,
        "blocked": stage.blocked,
        "failed": stage.failed,
        "done_at": stage.at or None,
    }


def place_of(setup: Setup, stage: SetupStage | None) -> int:
    """Which of the stages that count it is, from 1; of none the last."""
    return next((place for place, one in enumerate(setup.needed, start=1) if one is stage), len(setup.needed))
