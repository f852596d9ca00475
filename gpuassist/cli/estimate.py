"""`gpuassist estimate MODEL`: what a model takes of a GPU's memory before it is run, whether it is there, what would help."""

from __future__ import annotations

import argparse
import os

from gpuassist.cli.context import Context, NotFoundOutError, UsageError, load_probes
from gpuassist.cli.paragraphs import width_of, wrapped
from gpuassist.cli.streams import Painted
from gpuassist.detect.recording import RecordingError
from gpuassist.model.estimate import (
    AttentionKernel,
    CardRoom,
    EstimateSetting,
    FitAnswer,
    ModelShape,
    Offload,
    Optimizer,
    Precision,
    Quantization,
    Sharding,
    Task,
)
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.estimate import (
    FIT_MARKS,
    MARKS,
    PART_NAMES,
    amount,
    bar_cells,
    card_words,
    error_words,
    fit_document,
    largest_words,
    lever_name,
    lever_words,
    model_words,
    range_words,
    sentence_of,
    setting_words,
    smallest_words,
    status_of,
    turns_words,
)
from gpuassist.present.marks import GLYPHS, Exit
from gpuassist.session.estimate.answer import answer_fit, cards_named, cards_of
from gpuassist.session.estimate.source import EstimateError, UncountedError, shape_of
from gpuassist.session.estimate.tracer import as_it_was_made, interpreter_for, is_traceable, trace
from gpuassist.session.plan import look

NAME = "estimate"
HELP = text("whether a model fits into the memory of this machine's GPUs, before it is trained or run")

_MODEL = text(
    "a size (7B), numbers (hidden=4096,layers=32,heads=32,vocab=32000), a Hugging Face `config.json` or its directory, a file of "
    "safetensors, or code that makes the model (train.py:make_model), which is then run"
)
_MOST_BATCH, _MOST_SEQUENCE, _MOST_GPUS, _MOST_RANK = 1 << 16, 1 << 24, 1 << 14, 1 << 14
_BAR = 60


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    def choice(option: str, kind: type, said: Text, **more: object) -> None:
        parser.add_argument(option, choices=[one.value for one in kind], help=words(said), **more)  # type: ignore[arg-type,attr-defined]

    def number(option: str, said: Text, default: int) -> None:
        parser.add_argument(option, type=int, default=default, metavar="N", help=words(said))

    parser.add_argument("model", metavar="MODEL", help=words(_MODEL))
    parser.add_argument("--infer", action="store_true", help=words(text("inference instead of training")))
    number("--batch", text("samples of a step on one GPU (default: 1)"), 1)
    number("--seq", text("tokens of a sequence (default: 2048)"), 2048)
    number("--sequences", text("sequences at once in inference (default: 1)"), 1)
    choice("--precision", Precision, text("how numbers are held (default: autocast; bf16 where it answers)"))
    choice("--optimizer", Optimizer, text("default: adamw, fused"), default=Optimizer.ADAMW.value)
    parser.add_argument("--checkpointing", action="store_true", help=words(text("activations are computed anew, layer by layer")))
    parser.add_argument("--accumulate", action="store_true", help=words(text("gradients of several steps are summed")))
    choice("--attention", AttentionKernel, text("default: fused (SDPA, FlashAttention)"), default=AttentionKernel.FUSED.value)
    number("--lora", text("train adapters of this rank instead"), 0)
    choice("--quantize", Quantization, text("what the weights are stored in"), default=Quantization.NONE.value)
    choice("--offload", Offload, text("what lies in the computer's memory"), default=Offload.NONE.value)
    choice("--shard", Sharding, text("what GPUs share; zero3 is FSDP"))
    number("--gpus", text("how many GPUs share it (default: 1)"), 1)
    parser.add_argument("--kv-bits", type=int, choices=[4, 8, 16, 32], default=16, help=words(text("bits of a cached number")))
    parser.add_argument(
        "--gpu", metavar="GPU", help=words(text("judge this GPU, by its name or memory (24GiB), in place of the machine's"))
    )
    parser.add_argument("--python", metavar="PATH", default="", help=words(text("the interpreter that runs the code of MODEL")))
    parser.add_argument("--json", action="store_true", help=words(text("print one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Whether it fits: 0 it does, 2 it does not, 3 it cannot be told."""
    setting = _setting(options)
    context = context.for_programs(options)
    try:
        cards = _cards(options, context)
        shape, setting = _shape(options, context, setting)
        answer = answer_fit(context.session, shape, setting, cards, imagined=options.gpu is not None)
    except UncountedError as error:
        raise NotFoundOutError(error.reason) from error
    except (EstimateError, RecordingError) as error:
        raise UsageError(error.reason) from error
    if options.json:
        context.document(fit_document(answer, context.session.words))
    else:
        _show(context, answer)
    return status_of(answer)


def _setting(options: argparse.Namespace) -> EstimateSetting:
    for name, value, least, most in (
        ("--batch", options.batch, 1, _MOST_BATCH),
        ("--seq", options.seq, 1, _MOST_SEQUENCE),
        ("--sequences", options.sequences, 1, _MOST_BATCH),
        ("--gpus", options.gpus, 1, _MOST_GPUS),
        ("--lora", options.lora, 0, _MOST_RANK),
    ):
        if not least <= value <= most:
            raise UsageError(text("{option} takes a whole number from {least} to {most}", option=name, least=least, most=most))
    task = Task.INFER if options.infer else Task.TRAIN
    if options.quantize != Quantization.NONE.value and task is Task.TRAIN and not options.lora:
        raise UsageError(text("quantized weights are not trained: add --lora, or --infer"))
    if options.shard and options.gpus < 2:
        raise UsageError(text("--shard goes with --gpus N, two or more"))
    usual = Precision.BF16 if task is Task.INFER or options.lora else Precision.AUTOCAST
    return EstimateSetting(
        task=task,
        precision=Precision(options.precision) if options.precision else usual,
        optimizer=Optimizer(options.optimizer),
        batch=options.batch,
        sequence=options.seq,
        checkpointing=options.checkpointing,
        attention=AttentionKernel(options.attention),
        accumulates=options.accumulate,
        lora=options.lora,
        quantization=Quantization(options.quantize),
        offload=Offload(options.offload),
        sharding=Sharding(options.shard or "none"),
        gpus=options.gpus,
        sequences=options.sequences,
        kv_bits=options.kv_bits,
    )


def _cards(options: argparse.Namespace, context: Context) -> tuple[CardRoom, ...]:
    if options.gpu is not None:
        return cards_named(context.session, options.gpu)
    if context.other is not None:
        return cards_of(context.session, context.look_there(context.other))
    if not context.machine_file:
        load_probes()
    return cards_of(context.session, look(context.session, context.machine_file))


def _shape(options: argparse.Namespace, context: Context, setting: EstimateSetting) -> tuple[ModelShape, EstimateSetting]:
    if not is_traceable(options.model):
        if options.python:
            raise UsageError(text("--python goes with code that makes the model, such as train.py:make_model"))
        return shape_of(context.session.world.files, options.model), setting
    if setting.task is Task.INFER or setting.lora or setting.checkpointing:
        raise UsageError(text("code is measured as it trains: --infer, --lora and --checkpointing are for a config or a size"))
    python = interpreter_for(context.session, options.python)
    context.passing(text("Counting one step with {python}…", python=python))
    shape = trace(context.session, options.model, setting, python=python, directory=os.getcwd())
    context.passing()
    return shape, as_it_was_made(shape, setting)


def _show(context: Context, answer: FitAnswer) -> None:
    words, say = context.session.words, context.say
    _paragraph(context, sentence_of(answer), first=f"{GLYPHS[FIT_MARKS[answer.fits]]} ")
    say()
    _paragraph(context, model_words(answer))
    _paragraph(context, setting_words(answer.setting))
    total = text("needed: {total}, {range}", total=amount(answer.estimate.total_bytes), range=range_words(answer))
    _paragraph(context, total)
    say()
    for part in answer.estimate.parts:
        first = f"  {MARKS[part.kind.value]} {words(PART_NAMES[part.kind])}  {amount(part.size_bytes)}  "
        _paragraph(context, text("({error})", error=error_words(part)), first=first)
    for one in answer.cards:
        say()
        _paragraph(context, card_words(one), first=f"{GLYPHS[FIT_MARKS[one.fits]]} ")
        if one.card.obstacle is None:
            _bar(context, answer, one.card)
    _levers(context, answer)
    say()
    for said in (largest_words(answer), smallest_words(answer)):
        if said is not None:
            _paragraph(context, said)
    for note in (turns_words(answer), *answer.estimate.notes, *answer.notes):
        if note is not None:
            _paragraph(context, text("Note: {note}", note=note))


def _bar(context: Context, answer: FitAnswer, card: CardRoom) -> None:
    width = min(_BAR, width_of(context) - 6)
    line = "".join(mark * count for mark, count in bar_cells(answer, card, width))
    if len(line) > width:
        beyond = line[width : 2 * width] + ("…" if len(line) > 2 * width else "")
        context.say("  [", Painted(line[:width], ""), "]")
        context.say("  ", text("beyond it: {bar}", bar=beyond))
    else:
        context.say("  [", Painted(line, ""), "]")


def _levers(context: Context, answer: FitAnswer) -> None:
    if not answer.levers:
        return
    context.say()
    context.say(text("What would help, each by itself:"))
    for lever in answer.levers:
        mark = GLYPHS[FIT_MARKS[lever.fits]] if answer.largest_batch is not None else "-"
        _paragraph(context, text("{name}: {saves}", name=lever_name(lever), saves=lever_words(lever)), first=f"  {mark} ")


def _paragraph(context: Context, words: Text, *, first: str = "") -> None:
    for line in wrapped(context.session.words(words), width_of(context), first=first, hanging=" " * min(len(first), 8)):
        context.say(line)
