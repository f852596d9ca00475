"""Will it fit, in words: the answer in a sentence, the picture of a GPU, what each change saves, and the document."""

from __future__ import annotations

from gpuassist.model.codec import Json
from gpuassist.model.estimate import (
    CardAnswer,
    CardRoom,
    Estimate,
    EstimatePart,
    EstimateSetting,
    FitAnswer,
    Lever,
    LeverKind,
    Offload,
    Optimizer,
    PartEstimate,
    Precision,
    Quantization,
    Sharding,
    Task,
    judged_by,
    usable_cards,
)
from gpuassist.model.text import Text, joined, listed, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit, Mark

GIB = 1 << 30
FIT_MARKS = {True: Mark.RIGHT, False: Mark.PROBLEM, None: Mark.UNKNOWN}
PART_NAMES: dict[EstimatePart, Text] = {
    EstimatePart.PARAMETERS: text("parameters"),
    EstimatePart.GRADIENTS: text("gradients"),
    EstimatePart.OPTIMIZER: text("optimizer state"),
    EstimatePart.ACTIVATIONS: text("activations"),
    EstimatePart.PASSING: text("temporary tensors"),
    EstimatePart.KV_CACHE: text("KV cache"),
    EstimatePart.CONTEXT: text("CUDA itself"),
    EstimatePart.MARGIN: text("margin for fragmentation"),
}
LEVER_NAMES: dict[LeverKind, Text] = {
    LeverKind.CHECKPOINTING: text("Checkpoint activations"),
    LeverKind.FUSED_ATTENTION: text("Use fused attention"),
    LeverKind.AUTOCAST: text("Train with autocast"),
    LeverKind.BF16: text("Train all in bf16"),
    LeverKind.FUSED_OPTIMIZER: text("Use the fused optimizer"),
    LeverKind.OPTIMIZER_8BIT: text("Use 8-bit AdamW"),
    LeverKind.LORA: text("Train LoRA adapters"),
    LeverKind.QLORA: text("Train QLoRA adapters (NF4)"),
    LeverKind.OFFLOAD_OPTIMIZER: text("Offload the optimizer"),
    LeverKind.OFFLOAD_ALL: text("Offload parameters too"),
    LeverKind.SHARD: text("Shard over GPUs"),
    LeverKind.HALF_BATCH: text("Halve the batch, accumulate"),
    LeverKind.HALF_SEQUENCE: text("Halve the sequence"),
    LeverKind.SIXTEEN_BITS: text("Use 16 bits"),
    LeverKind.INT8: text("Quantize to int8"),
    LeverKind.FOUR_BITS: text("Quantize to 4 bits (AWQ)"),
    LeverKind.KV_FP8: text("Cache in fp8"),
    LeverKind.HALF_SEQUENCES: text("Halve the sequences at once"),
}
PRECISIONS: dict[Precision, Text] = {
    Precision.AUTOCAST: text("mixed, by autocast"),
    Precision.MASTER: text("16 bits and an fp32 copy"),
    Precision.BF16: text("all in bf16"),
    Precision.FP32: text("fp32"),
}
OPTIMIZERS: dict[Optimizer, Text] = {
    Optimizer.ADAMW: text("AdamW, fused"),
    Optimizer.ADAMW_FOREACH: text("AdamW, foreach"),
    Optimizer.ADAMW_8BIT: text("AdamW, 8 bits"),
    Optimizer.ADAFACTOR: text("Adafactor"),
    Optimizer.LION: text("Lion"),
    Optimizer.MOMENTUM: text("SGD with momentum"),
    Optimizer.SGD: text("SGD"),
}
QUANTIZATIONS: dict[Quantization, Text] = {
    Quantization.NONE: text("not quantized"),
    Quantization.FP8: text("fp8"),
    Quantization.INT8: text("int8"),
    Quantization.NF4: text("NF4 (bitsandbytes)"),
    Quantization.NF4_DOUBLE: text("NF4, double"),
    Quantization.GPTQ: text("GPTQ, 4 bits"),
    Quantization.AWQ: text("AWQ, 4 bits"),
}
OFFLOADS: dict[Offload, Text] = {
    Offload.NONE: text("nothing"),
    Offload.OPTIMIZER: text("the optimizer"),
    Offload.ALL: text("everything"),
}
SHARDINGS: dict[Sharding, Text] = {
    Sharding.NONE: text("nothing (DDP)"),
    Sharding.ZERO1: text("optimizer (ZeRO-1)"),
    Sharding.ZERO2: text("gradients too (ZeRO-2)"),
    Sharding.ZERO3: text("everything (ZeRO-3, FSDP)"),
}


def amount(size: int) -> str:
    """GiB with one decimal; MiB of what is less than a tenth of one."""
    return f"{size / GIB:.1f} GiB" if size >= GIB // 10 else f"{size / (1 << 20):.0f} MiB"


def status_of(answer: FitAnswer) -> Exit:
    """0 fits, 2 does not, 3 cannot be told."""
    return {True: Exit.HEALTHY, False: Exit.PROBLEMS, None: Exit.UNDETERMINED}[answer.fits]


def range_words(answer: FitAnswer) -> Text:
    found = answer.estimate
    return text("between {low} and {high}", low=amount(found.low_bytes), high=amount(found.high_bytes))


def sentence_of(answer: FitAnswer) -> Text:
    """The answer in one sentence, and where it does not surely fit, what to change first in another."""
    verdict, first = _verdict(answer), first_change(answer)
    return verdict if first is None else text("{verdict} {change}", verdict=verdict, change=first)


def _verdict(answer: FitAnswer) -> Text:
    needs = amount(answer.estimate.total_bytes)
    judged = judged_by(one.card for one in answer.cards)
    best = next((one for one in answer.cards if one.card is judged), None)
    if best is None and answer.cards:
        return text("It needs about {needs}, and no GPU here can be used now.", needs=needs)
    if best is None:
        return text("It needs about {needs} of a GPU; no GPU is known here to hold that against.", needs=needs)
    if answer.fits is False and best.fits is not False:
        return text("It does not fit: it is to be shared by more GPUs than there are with {needs} free.", needs=needs)
    name, room = best.card.name, amount(best.card.room_bytes)
    if best.card.index is None:
        if len({one.fits for one in answer.cards}) > 1:
            return _by_size(answer, needs)
        return {
            True: text("It fits: about {needs} of {room} ({name}).", needs=needs, room=room, name=name),
            False: text("It does not fit into {room} ({name}): it needs about {needs}.", needs=needs, room=room, name=name),
            None: text("It is too near to tell: about {needs} of {room} ({name}).", needs=needs, room=room, name=name),
        }[answer.fits]
    return {
        True: text("It fits: about {needs} of the {room} that {name} has free.", needs=needs, room=room, name=name),
        False: text("It does not fit: it needs about {needs}, and {name} has {room} free.", needs=needs, room=room, name=name),
        None: text("It is too near to tell: about {needs} of the {room} that {name} has free.", needs=needs, room=room, name=name),
    }[answer.fits]


def _by_size(answer: FitAnswer, needs: str) -> Text:
    """Of a card that is sold in several sizes, of which not all have the same answer."""
    said = {
        True: text("it fits into {sizes}", sizes=_sizes(answer, fits=True)),
        None: text("it is too near to tell for {sizes}", sizes=_sizes(answer, fits=None)),
        False: text("it does not fit into {sizes}", sizes=_sizes(answer, fits=False)),
    }
    first, *others = (said[fits] for fits in said if any(one.fits is fits for one in answer.cards))
    for one in others:
        first = text("{first}; {second}", first=first, second=one)
    return text("Which memory the card has decides, for it needs about {needs}: {answers}.", needs=needs, answers=first)


def _sizes(answer: FitAnswer, *, fits: bool | None) -> Text:
    return listed(f"{amount(one.card.room_bytes)} ({one.card.name})" for one in answer.cards if one.fits is fits)


def first_change(answer: FitAnswer) -> Text | None:
    """The mildest change that surely makes it fit by itself; where none does, that no single one does."""
    if answer.fits is True or not usable_cards(one.card for one in answer.cards) or not answer.levers:
        return None
    helping = [one for one in answer.levers if one.fits]
    if not helping:
        most = answer.levers[0]
        return text("No single change surely makes it fit; “{name}” saves most.", name=lever_name(most))
    mildest = min(helping, key=lambda one: MILDEST_FIRST.index(one.kind))
    return text("Change first: “{name}”, then it takes {total}.", name=lever_name(mildest), total=amount(mildest.total_bytes))


# What changes neither the result nor much of the time, then what takes time, then what changes what is trained or answered.
MILDEST_FIRST = (
    LeverKind.FUSED_ATTENTION, LeverKind.FUSED_OPTIMIZER, LeverKind.HALF_BATCH, LeverKind.CHECKPOINTING, LeverKind.AUTOCAST,
    LeverKind.OPTIMIZER_8BIT, LeverKind.SHARD, LeverKind.SIXTEEN_BITS, LeverKind.KV_FP8, LeverKind.HALF_SEQUENCES,
    LeverKind.OFFLOAD_OPTIMIZER, LeverKind.BF16, LeverKind.LORA, LeverKind.QLORA, LeverKind.INT8, LeverKind.FOUR_BITS,
    LeverKind.HALF_SEQUENCE, LeverKind.OFFLOAD_ALL,
)  # fmt: skip


def lever_words(lever: Lever) -> Text:
    """What a change saves, and what it then takes."""
    return text("saves {saves}, then {total}", saves=amount(lever.saves_bytes), total=amount(lever.total_bytes))


def lever_name(lever: Lever) -> Text:
    if lever.kind is LeverKind.SHARD:
        return text("Shard over {count} GPUs", count=lever.setting.gpus)
    return LEVER_NAMES[lever.kind]


def largest_words(answer: FitAnswer) -> Text | None:
    """The largest batch and sequence that surely fit on the best GPU."""
    if answer.largest_batch is None:
        return None
    if not answer.largest_batch:
        return (
            text("Not even a batch of 1 surely fits there.")
            if answer.setting.task is Task.TRAIN
            else text("Not even one at a time surely fits there.")
        )
    if answer.setting.task is Task.INFER:
        first = text("Largest number of sequences at once: {count}.", count=answer.largest_batch)
    else:
        first = text("Largest batch: {count}.", count=answer.largest_batch)
    if not answer.largest_sequence:
        return first
    return joined((first, text("Longest sequence: {count} tokens.", count=answer.largest_sequence)))


def smallest_words(answer: FitAnswer) -> Text:
    """Which card would do."""
    if not answer.smallest:
        return text("No single card has that much: share it over several.")
    names = " · ".join(card.name for card in answer.smallest[:3])
    size = answer.smallest[0].total_bytes / GIB
    return text("Smallest card that would do: {size:.0f} GB ({names}).", size=size, names=names)


def model_words(answer: FitAnswer) -> Text:
    """What was counted."""
    shape = answer.shape
    billions = f"{shape.parameters / 1e9:.2f}" if shape.parameters >= 1e8 else f"{shape.parameters / 1e9:.4f}"
    return text("{name}: {billions} billion parameters", name=shape.name, billions=billions)


def setting_words(setting: EstimateSetting) -> Text:
    """How it is to be run, in a line."""
    if setting.task is Task.INFER:
        at_once, context = setting.sequences, setting.sequence
        return text("inference with {sequences} at once, {context} tokens each", sequences=at_once, context=context)
    return text("training with a batch of {batch}, {tokens} tokens each", batch=setting.batch, tokens=setting.sequence)


def turns_words(answer: FitAnswer) -> Text | None:
    """What takes turns with a part that is shown."""
    turns = answer.estimate.turns
    if turns is None:
        return None
    return text(
        "{size} of {part} are not counted: gradients are made while activations go, so only the larger is there.",
        size=amount(turns[1]),
        part=PART_NAMES[turns[0]],
    )


def error_words(part: PartEstimate) -> Text:
    """How far off a part may be, and against what that was checked."""
    low = round(100 * (part.size_bytes - part.low_bytes) / part.size_bytes)
    high = round(100 * (part.high_bytes - part.size_bytes) / part.size_bytes)
    share = text("±{high} %", high=high) if low == high else text("−{low} … +{high} %", low=low, high=high)
    return text("{share}, {checked}", share=share, checked=part.checked)


def beyond_words(answer: CardAnswer, found: Estimate) -> Text | None:
    """By how much it goes beyond the end of a card; none where it does not."""
    beyond = found.total_bytes - answer.card.room_bytes
    if beyond <= 0:
        return None
    return text("{size} too much: the dashed line is where the GPU’s memory ends.", size=amount(beyond))


def card_words(one: CardAnswer) -> Text:
    """A GPU with what it has free, or why it has nothing."""
    card = one.card
    if card.obstacle is not None:
        named = verbatim(card.name) if card.index is None else text("GPU {index}, {name}", index=card.index, name=card.name)
        return text("{gpu} cannot be used now: {reason}", gpu=named, reason=card.obstacle)
    free, total = amount(card.room_bytes), amount(card.total_bytes)
    if card.index is None:
        return text("{name}: {total}", name=card.name, total=total)
    held = amount(card.held_bytes)
    return text(
        "GPU {index}, {name}: {free} free of {total}, {held} held by others",
        index=card.index,
        name=card.name,
        free=free,
        total=total,
        held=held,
    )


def bar_cells(answer: FitAnswer, card: CardRoom, width: int) -> tuple[tuple[str, int], ...]:
    """The picture of a GPU for a terminal: marks and their widths; what does not fit stands behind its end."""
    whole = max(card.total_bytes, 1)
    cells = [(MARKS["held"], round(card.held_bytes * width / whole))]
    cells += [(MARKS[part.kind.value], max(1, round(part.size_bytes * width / whole))) for part in answer.estimate.parts]
    used = sum(count for _, count in cells)
    if used < width:
        cells.append((MARKS["free"], width - used))
    return tuple((mark, count) for mark, count in cells if count)


MARKS = {
    "held": "=", "parameters": "P", "gradients": "G", "optimizer": "O", "activations": "A", "temporary": "t", "kv-cache": "K",
    "context": "c", "margin": "m", "free": ".",
}  # fmt: skip


def plain_text(answer: FitAnswer, words: Words) -> str:
    """All of it as lines: to be copied, and for those who do not see the picture."""
    lines = [words(sentence_of(answer)), words(model_words(answer)), words(setting_words(answer.setting))]
    lines += [words(text("needed: {total}, {range}", total=amount(answer.estimate.total_bytes), range=range_words(answer)))]
    for part in answer.estimate.parts:
        said = text("{name}: {size} ({error})", name=PART_NAMES[part.kind], size=amount(part.size_bytes), error=error_words(part))
        lines.append("  " + words(said))
    lines += [words(card_words(one)) for one in answer.cards]
    for lever in answer.levers:
        lines.append("  " + words(text("{name}: {saves}", name=lever_name(lever), saves=lever_words(lever))))
    for one in (largest_words(answer), smallest_words(answer), turns_words(answer), *answer.estimate.notes, *answer.notes):
        if one is not None:
            lines.append(words(one))
    return "\n".join(lines)


def fit_document(answer: FitAnswer, words: Words) -> Json:
    """The answer as its contract in docs/json.md has it."""
    shape, found = answer.shape, answer.estimate
    return {
        "schema": 1,
        "fits": answer.fits,
        "text": words(sentence_of(answer)),
        "model": {
            "name": shape.name,
            "family": shape.family or None,
            "counted_from": shape.origin.value,
            "parameters": shape.parameters,
            "stored_bytes": shape.stored_bytes or None,
        },
        "setting": _setting(answer.setting),
        "needed_bytes": found.total_bytes,
        "needed_low_bytes": found.low_bytes,
        "needed_high_bytes": found.high_bytes,
        "parts": [_part(part, words) for part in found.parts],
        "takes_turns": None if found.turns is None else {"part": found.turns[0].value, "bytes": found.turns[1]},
        "host_bytes": found.host_bytes,
        "gpus": [_card(one, words) for one in answer.cards],
        "levers": [_lever(one, words) for one in answer.levers],
        "largest_batch": answer.largest_batch if answer.setting.task is Task.TRAIN else None,
        "largest_sequences": answer.largest_batch if answer.setting.task is Task.INFER else None,
        "largest_sequence_tokens": answer.largest_sequence or None,
        "smallest_cards": [{"name": card.name, "memory_total_bytes": card.total_bytes} for card in answer.smallest],
        "notes": [words(one) for one in (*found.notes, *answer.notes)],
    }


def _setting(setting: EstimateSetting) -> Json:
    return {
        "task": setting.task.value,
        "precision": setting.precision.value,
        "optimizer": setting.optimizer.value,
        "batch": setting.batch,
        "sequence_tokens": setting.sequence,
        "checkpointing": setting.checkpointing,
        "attention": setting.attention.value,
        "accumulates": setting.accumulates,
        "lora_rank": setting.lora or None,
        "quantization": setting.quantization.value,
        "offload": setting.offload.value,
        "sharding": setting.sharding.value,
        "gpus": setting.gpus,
        "sequences": setting.sequences,
        "kv_bits": setting.kv_bits,
    }


def _part(part: PartEstimate, words: Words) -> Json:
    return {
        "part": part.kind.value,
        "bytes": part.size_bytes,
        "low_bytes": part.low_bytes,
        "high_bytes": part.high_bytes,
        "checked": words(part.checked),
    }


def _card(one: CardAnswer, words: Words) -> Json:
    return {
        "index": one.card.index,
        "name": one.card.name,
        "memory_total_bytes": one.card.total_bytes,
        "memory_held_bytes": one.card.held_bytes,
        "fits": one.fits,
        "unusable": None if one.card.obstacle is None else words(one.card.obstacle),
    }


def _lever(one: Lever, words: Words) -> Json:
    return {
        "id": one.kind.value,
        "text": words(lever_name(one)),
        "saves_bytes": one.saves_bytes,
        "needed_bytes": one.total_bytes,
        "fits": one.fits,
    }
