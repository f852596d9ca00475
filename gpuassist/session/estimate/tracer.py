"""A step of the user's own model, counted by a child in the user's interpreter; nothing is run that was not named for that."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from gpuassist.context import Session
from gpuassist.formats.step_report import TraceTrouble, read_traced_step
from gpuassist.model.estimate import AttentionKernel, EstimateSetting, ModelShape, Precision, Quantization
from gpuassist.model.fact import Unknown
from gpuassist.model.text import Text, text
from gpuassist.monitor import inside
from gpuassist.session.estimate.source import EstimateError
from gpuassist.session.verify import choose, find_environments, interpreter_at
from gpuassist.system.own_child import clean
from gpuassist.system.processes import Ending

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(inside.__file__)), "traced_step.py")
PATIENCE_SECONDS = 300.0
_LINE = 300


def is_traceable(words: str) -> bool:
    """Whether a model is named by its code: `train.py`, `train.py:make`, `package.module:make`."""
    place, colon, name = words.rpartition(":")
    if words.endswith(".py"):
        return True
    return bool(colon) and name.isidentifier() and (place.endswith(".py") or all(one.isidentifier() for one in place.split(".")))


def interpreter_for(session: Session, named: str) -> str:
    """The interpreter that a user names, or the one that `verify` would take; raises `EstimateError`."""
    if named:
        found = interpreter_at(session.world, named)
        if isinstance(found, Unknown):
            raise EstimateError(found.reason)
        return found.value
    chosen = choose(find_environments(session))
    if isinstance(chosen, Unknown):
        raise EstimateError(chosen.reason)
    place = chosen.value.interpreter
    if isinstance(place, Unknown):
        raise EstimateError(place.reason)
    return place.value


def trace(
    session: Session,
    target: str,
    setting: EstimateSetting,
    *,
    python: str,
    directory: str,
    cancelled: Callable[[], bool] | None = None,
) -> ModelShape:
    """Runs the user's code that makes a model, and counts one step of it; raises `EstimateError`."""
    fused = setting.attention is AttentionKernel.FUSED
    request = {"batch": setting.batch, "sequence": setting.sequence, "attention": "fused" if fused else "eager"}
    # No GPU is looked for: a model that moves itself there would take the memory that is asked about.
    variables = {**clean(session.world.surroundings.variables), "CUDA_VISIBLE_DEVICES": ""}
    ended = session.world.processes.run(
        (python, SCRIPT, target, json.dumps(request)),
        seconds=PATIENCE_SECONDS,
        environment=variables,
        directory=directory,
        cancelled=cancelled,
    )
    found = read_traced_step(ended.stdout)
    if isinstance(found, ModelShape):
        return found
    raise EstimateError(_reason(found, ended.ending, ended.stderr.decode("utf-8", "replace")))


def _reason(trouble: TraceTrouble, ending: Ending, said: str) -> Text:
    if ending is Ending.TIMED_OUT:
        return text("the step was not counted within {seconds:.0f} s", seconds=PATIENCE_SECONDS)
    if ending is Ending.CANCELLED:
        return text("it was cancelled")
    why = _why(trouble.code, trouble.detail.strip().split("\n")[0][:_LINE])
    if why is not None:
        return why
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "")[:_LINE]
    return text("the step ended without a report: {detail}", detail=last or ending.value)


def _why(code: str, detail: str) -> Text | None:
    return {
        "no-file": text("there is no such file: {detail}", detail=detail),
        "no-function": text("there is no function called {detail} in it", detail=detail),
        "no-torch": text("that interpreter has no torch: {detail}", detail=detail),
        "old-torch": text("its torch {detail} is too old for this; 2.1 is new enough", detail=detail),
        "no-module": text("the function gave no torch.nn.Module, but a {detail}", detail=detail),
        "no-inputs": text("the function must give the model’s inputs beside it: `return model, inputs`"),
        "no-gradient": text("nothing that the model gives can be trained: no result has a gradient"),
        "too-large": text("it cannot be counted without computing it on the CPU, where it takes more memory than is free"),
        "moves-to-gpu": text(
            "the code puts the model on a GPU, and none is used here: return it as it is made ({detail})", detail=detail
        ),
        "failed": text("the model or its step failed: {detail}", detail=detail),
    }.get(code)


def as_it_was_made(shape: ModelShape, setting: EstimateSetting) -> EstimateSetting:
    """The setting with the precision that a traced model has itself, and without what its step was not made with."""
    from msgspec.structs import replace

    if shape.traced is None:
        return setting
    wide = shape.traced.parameter_bytes > 3 * shape.parameters
    precision = Precision.FP32 if wide else Precision.BF16
    return replace(setting, precision=precision, lora=0, checkpointing=False, quantization=Quantization.NONE)
