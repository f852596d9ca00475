"""What a watch makes of its samples, in words: growth, what a GPU waits for, an out-of-memory, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuassist.formats.size import shown_size
from gpuassist.knowledge.commands import Commands
from gpuassist.model.codec import Json
from gpuassist.model.memory_picture import MemoryPicture, PartKind
from gpuassist.model.text import Parameter, Text, text
from gpuassist.model.words import Words
from gpuassist.monitor.bottleneck import Bottleneck, Bound, Lack, Means
from gpuassist.monitor.growth import Shape
from gpuassist.present.memory import memory_document
from gpuassist.present.samples import clock, gpu_label, process_name
from gpuassist.session.failure_moment import FailureMoment, Witness
from gpuassist.session.insight import ProgramGrowth
from gpuassist.system.clock import iso_of

_MUCH_DESKTOP = 256 << 20
_FEW_TENSORS = 10.0
_OFTEN = 0.3


# A program whose memory grows.
def growth_words(found: ProgramGrowth, since_epoch: float) -> Text:
    """What its memory does, in a line; `since_epoch` is when that began."""
    growth = found.growth
    slots: dict[str, Parameter] = {
        "program": process_name(found.command, found.pid)
        if found.pid
        else text("what runs on GPU {index}", index=gpu_label(found.gpu)),
        "grown": shown_size(int(growth.grown_bytes)),
        "time": clock(since_epoch, seconds=True),
    }
    if growth.shape is Shape.REFERENCES_KEPT:
        return text("{program} keeps more memory with every step: {grown} more since {time}", **slots)
    if growth.shape is Shape.FRAGMENTATION:
        return text("torch reserves more and more for {program}, whose tensors need no more: {grown} since {time}", **slots)
    if growth.shape is Shape.JUMP:
        return text("{program} took {grown} more at once, at {time}", **slots)
    return text("the memory of {program} grows: {grown} more since {time}", **slots)


def until_full(found: ProgramGrowth) -> Text | None:
    """How long the card lasts at this rate; None where that cannot be said honestly."""
    seconds = found.growth.seconds_until_full
    return (
        None
        if seconds is None
        else text("GPU {index} is full in {time} at this rate", index=gpu_label(found.gpu), time=about(seconds))
    )


def about(seconds: float) -> Text:
    """A time that nobody knows exactly."""
    minutes = seconds / 60
    if minutes < 2:
        return text("less than two minutes")
    if minutes < 60:
        return text("about {minutes} min", minutes=round(minutes) if minutes < 10 else round(minutes / 5) * 5)
    hours = minutes / 60
    return text("about {hours} h", hours=f"{hours:.1f}" if hours < 10 else f"{hours:.0f}")


def growth_next(found: ProgramGrowth) -> Text:
    """What it most likely is, and what to look at."""
    return _GROWTH_NEXT[found.growth.shape]


_GROWTH_NEXT = {
    Shape.REFERENCES_KEPT: text(
        "Something holds on to the results of each step: a list of losses or outputs with their graph, `retain_graph=True`, an"
        " evaluation without `torch.no_grad()`."
    ),
    Shape.FRAGMENTATION: text(
        "Tensors of changing sizes leave gaps that no other fits into: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, or"
        " inputs padded to a few sizes."
    ),
    Shape.JUMP: text(
        "Mostly one input larger than all before: a long sequence, a larger picture, a larger last batch. Bound its size, or"
        " sort by it."
    ),
    Shape.GROWTH: text(
        "Whether tensors are kept or memory lies in pieces, only torch can tell: `gpuassist run -- COMMAND` shows its figures."
    ),
}


# What a GPU waits for.
def bound_words(found: Bottleneck, index: str) -> Text:
    """The verdict in a line; `index` is the GPU's label."""
    return {
        Bound.GPU: text("GPU {index} is busy", index=index),
        Bound.DATA: text("GPU {index} waits for data", index=index),
        Bound.PYTHON: text("GPU {index} waits for Python", index=index),
        Bound.COPIES: text("GPU {index} waits for copies to and from the computer's memory", index=index),
        Bound.IDLE: text("GPU {index} has nothing to do", index=index),
        Bound.UNDECIDED: text("whether GPU {index} is busy, and what it waits for, is not known", index=index),
    }[found.bound]


def bound_briefly(found: Bottleneck) -> Text | None:
    """The same in a column; none where there is no verdict, or nothing that waits."""
    return _BRIEFLY.get(found.bound)


_BRIEFLY = {
    Bound.GPU: text("busy"),
    Bound.DATA: text("waits: data"),
    Bound.PYTHON: text("waits: Python"),
    Bound.COPIES: text("waits: copies"),
}


def bound_grounds(found: Bottleneck) -> tuple[Text, ...]:
    """What the verdict rests on, the weightiest first."""
    return tuple(_grounds(found.means))


def _grounds(means: Means) -> Iterator[Text]:
    if means.rests:
        yield text("it is asleep")
    if not means.computes:
        yield text("the driver lists no program that computes on it")
    if means.sm_activity is not None:
        yield text("{percent} % of its multiprocessors had work", percent=round(means.sm_activity))
    if means.tensor_activity is not None:
        yield text("its tensor cores worked for {percent} % of the time", percent=round(means.tensor_activity))
    if means.power is not None:
        yield text("it takes {percent} % of its power limit", percent=round(means.power))
    if means.too_hot >= _OFTEN:
        yield text("its clocks are held back by heat")
    elif means.power_capped >= _OFTEN:
        yield text("its clocks are held back by its power limit")
    if means.copies is not None and means.copied_bytes_per_second is not None:
        rate = shown_size(int(means.copied_bytes_per_second))
        yield text("{rate} a second over PCIe, {percent} % of what its link carries", rate=rate, percent=round(means.copies))
    if means.main_thread is not None:
        yield text("the program's main thread takes {percent} % of a core", percent=round(means.main_thread))
    elif means.process is not None:
        yield text("the program takes {percent} % of a core", percent=round(means.process))
    if means.workers:
        yield text("{busy} of its {count} worker processes never rest", busy=means.busy_workers, count=means.workers)
    if means.waits_for_disk >= _OFTEN:
        yield text("it often waits for a disk, or for files over the network")
    if means.utilization is not None:
        yield text(
            "some kernel ran for {percent} % of the time, which by itself does not mean busy", percent=round(means.utilization)
        )


def bound_next(found: Bottleneck) -> tuple[Text, ...]:
    """What to do, or what is missing; then the profiler that shows which part of the program it is."""
    from gpuassist.session.profiling.next_tool import question_of  # what a start need not wait for

    question = question_of(found.bound)
    if question is None:
        return _to_do(found)
    return (*_to_do(found), text("Which part of the program it is: `gpuassist profile --for {question}`.", question=question.value))


def _to_do(found: Bottleneck) -> tuple[Text, ...]:
    means = found.means
    if found.bound is Bound.UNDECIDED:
        return tuple(_LACKS[one] for one in found.lacks)
    if found.bound is Bound.GPU:
        if means.too_hot >= _OFTEN:
            return (text("It would do more if it were cooler: look at its fans, the air around it and its power limit."),)
        if means.tensor_activity is not None and means.tensor_activity < _FEW_TENSORS:
            return (
                text(
                    "Hardly any of it runs on tensor cores: try `torch.autocast` with bfloat16, or what is bound by memory with"
                    " `torch.compile`."
                ),
            )
        return (text("Nothing holds it up: what makes it faster is less work, a lower precision or `torch.compile`."),)
    if found.bound is Bound.DATA:
        if means.waits_for_disk >= _OFTEN:
            return (
                text(
                    "Read ahead and in larger pieces: more `num_workers`, a higher `prefetch_factor`, files packed together, or"
                    " a copy on a local disk."
                ),
            )
        if means.busy_workers:
            return (
                text(
                    "Give `DataLoader` more workers (`num_workers`) while cores are free, or less to do: decode once and keep"
                    " it, smaller pictures, transforms on the GPU."
                ),
            )
        return (text("Look at what feeds it: the disk, the network, a queue. `num_workers` above 0 reads while the GPU computes."),)
    if found.bound is Bound.PYTHON:
        return (
            text(
                "Give it more work with each call: a larger batch, `torch.compile` in the mode `reduce-overhead`, CUDA graphs; and"
                " less `.item()`, `.cpu()` and printing."
            ),
            text(
                "Loading data in the main process looks the same: `num_workers` above 0 takes it out of the way. `py-spy dump"
                " --pid PID` shows which it is."
            ),
        )
    if found.bound is Bound.COPIES:
        return (
            text(
                "Leave on the GPU what is copied again in each step, offload less, and use pinned memory with"
                " `non_blocking=True`. *Your machine* shows whether the slot gives all of its lanes."
            ),
        )
    return ()


_LACKS = {
    Lack.TIME: text("It has not been watched for long enough yet."),
    Lack.ACTIVITY: text(
        "This GPU tells neither the activity of its multiprocessors (GPM, since Hopper) nor its power against the limit; how"
        " long it was in use says nothing of how much."
    ),
    Lack.PROCESS: text(
        "What the program does on the processor may not be seen from here: it is another user's, or in another container."
    ),
    Lack.MAIN_THREAD: text("What the program's main thread does could not be seen."),
    Lack.LINK: text("How much is copied over PCIe, or what its link can carry, is not known."),
    Lack.MIXED: text("The figures lie in between: a profiler tells, `torch.profiler` for some steps or `py-spy record --pid PID`."),
    Lack.PEERS: text(
        "Its program runs on several GPUs, which wait for one another in each step and look busy meanwhile; `torch.profiler`"
        " shows how long."
    ),
}


# The moment of an out-of-memory.
def moment_title(moment: FailureMoment) -> Text:
    slots: dict[str, Parameter] = {
        "program": process_name(moment.command, moment.pid or 0) if moment.pid else text("a program"),
        "index": gpu_label(moment.gpu),
        "time": clock(moment.time, seconds=True),
    }
    if moment.witness is Witness.ENDED:
        return text("{program} ended at {time} on GPU {index}, which it had just filled: perhaps it ran out of memory", **slots)
    return text("{program} ran out of memory on GPU {index} at {time}", **slots)


def moment_before(moment: FailureMoment) -> Text | None:
    """What its memory did until then, where that has a name."""
    return {
        Shape.NONE: None,
        Shape.REFERENCES_KEPT: text("Until then it kept more memory with every step."),
        Shape.FRAGMENTATION: text("Until then torch had reserved more and more, though its tensors needed no more."),
        Shape.JUMP: text("Shortly before, it took much more at once than ever before."),
        Shape.GROWTH: text("Until then its memory grew."),
    }[moment.growth.shape]


def snapshot_words(moment: FailureMoment) -> Text | None:
    """Where torch's own snapshot of it lies, where one was asked for."""
    if not moment.snapshot:
        return None
    return text("Torch's memory of that moment is kept in {path}; `gpuassist snapshot FILE` shows it.", path=moment.snapshot)


def desktop_words(moment: FailureMoment) -> Text | None:
    """What the desktop had of the card, where that is worth telling."""
    if moment.desktop_bytes < _MUCH_DESKTOP:
        return None
    names = _desktop_programs(moment.picture)
    if names:
        return text("The desktop had {size} of it: {programs}.", size=shown_size(moment.desktop_bytes), programs=names)
    return text("The desktop had {size} of it.", size=shown_size(moment.desktop_bytes))


def desktop_ways(commands: Commands) -> tuple[Text, ...]:
    """How that memory becomes free."""
    (stop,) = commands.render("display-stop", (), {})
    return (
        text("Close the browser, or switch its hardware acceleration off in its settings."),
        text("Plug the screen into the graphics chip of the processor, if there is one: then the whole card computes."),
        text("Or save what is open and compute without a desktop, over SSH: `{command}`", command=stop),
    )


def _desktop_programs(picture: MemoryPicture | None) -> str:
    return next((part.name for part in picture.parts if part.kind is PartKind.DESKTOP), "") if picture is not None else ""


# All of it as JSON: `{"event": …}` lines of `monitor --headless`.
def moment_document(moment: FailureMoment, words: Words, commands: Commands) -> dict[str, Json]:
    """What stands in the event of an out-of-memory beside what all events have."""
    return {
        "witness": moment.witness.value,
        "message": moment.message if moment.witness is Witness.MESSAGE else None,
        "memory": memory_document(moment.picture, words) if moment.picture is not None else None,
        "desktop_bytes": moment.desktop_bytes,
        "desktop_ways": _said(desktop_ways(commands), words) if desktop_words(moment) is not None else [],
        "before": moment.growth.shape.value,
        **({"snapshot": moment.snapshot} if moment.snapshot else {}),
    }


def growth_document(found: ProgramGrowth, now: float, since: float, words: Words) -> dict[str, Json]:
    """A program's growth got a name, or another one."""
    full = until_full(found)
    return {
        "schema": 1,
        "time": iso_of(now),
        "event": {
            "kind": "growth",
            "text": words(growth_words(found, since)) + (f"; {words(full)}" if full is not None else ""),
            "gpu": found.gpu,
            **({"pid": found.pid} if found.pid else {}),
            "code": found.growth.shape.value,
            "grown_bytes": int(found.growth.grown_bytes),
            "bytes_per_second": int(found.growth.bytes_per_second),
            "seconds_until_full": None if found.growth.seconds_until_full is None else round(found.growth.seconds_until_full),
        },
    }


def bound_document(found: Bottleneck, gpu: int, now: float, words: Words) -> dict[str, Json]:
    """A GPU waits for something else than before."""
    return {
        "schema": 1,
        "time": iso_of(now),
        "event": {
            "kind": "bottleneck",
            "text": words(bound_words(found, gpu_label(gpu))),
            "gpu": gpu,
            "code": found.bound.value,
            "based_on": _said(bound_grounds(found), words),
            "next": _said(bound_next(found), words),
        },
    }


def _said(sentences: Sequence[Text], words: Words) -> Json:
    return [words(one) for one in sentences]
