"""The whole answer: the estimate, this machine's GPUs, what would help, and on which cards it would fit."""

from __future__ import annotations

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.silent_gpus import why_unusable
from gpuassist.formats.size import read_size
from gpuassist.knowledge.asked_gpus import memory_sizes, sizes_meant
from gpuassist.knowledge.memory_costs import MemoryCosts
from gpuassist.knowledge.records import GpuRecord
from gpuassist.model.estimate import (
    CardAnswer,
    CardRoom,
    EstimateSetting,
    FitAnswer,
    ModelShape,
    Sharding,
    Task,
    judged_by,
    usable_cards,
)
from gpuassist.model.fact import Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, listed, text
from gpuassist.session.estimate.estimate import estimate
from gpuassist.session.estimate.levers import fits_in, largest_batch, largest_sequence, levers_of, smallest_cards
from gpuassist.session.estimate.source import EstimateError

_GB_OF_CARDS = 1 << 30
_TWO_NUMBERS = lazy_regex(r"\d\w*\s+\d")
_DRIVER_KEEPS = 0.975  # of a card's memory: what the driver shows is less than what is sold (RTX 4090: 23.99 of 24, A10: 22.5)


def cards_of(session: Session, machine: Machine) -> tuple[CardRoom, ...]:
    """The machine's GPUs whose memory is known, with what is held of it now; that of one that sleeps, has no driver yet or has been
    lost is taken from its product.
    """
    case = RuleInput(machine, session.knowledge)
    found = []
    for card in sorted((*case.cards, *case.set_aside), key=lambda one: one.place):
        gpu, obstacle = card.gpu, why_unusable(case, card)
        total = gpu.memory_total_bytes
        size = total.value if isinstance(total, Known) else _size_of_product(session, card.record)
        if size > 0 or obstacle is not None:
            held = min(max(0, value_or(gpu.memory_used_bytes, 0)), size)
            # The driver numbers no GPU that it does not list, and its place may be another's number.
            index = value_or(gpu.index, card.place if obstacle is None else None)
            found.append(CardRoom(value_or(gpu.name, "GPU"), size, held, index, obstacle))
    return tuple(found)


def _size_of_product(session: Session, record: GpuRecord | None) -> int:
    """What all cards of a product have; 0 where that is not known, or not the same of each."""
    sizes = memory_sizes(session.knowledge, record) if record is not None else ()
    return sizes[0] if len(sizes) == 1 else 0


def cards_named(session: Session, words: str) -> tuple[CardRoom, ...]:
    """A GPU that is not there, by a size such as `24GiB` or as a GPU is named everywhere; one for each size of memory that the name
    stands for, small to large. Raises `EstimateError`.
    """
    size = read_size(words) if not _TWO_NUMBERS.search(words) else None  # `4080 16GB` is a name
    if size is not None and size > 0:
        return (CardRoom(words.strip(), size),)
    found = sizes_meant(session.knowledge, words)
    if not found:
        raise EstimateError(text("no GPU called “{name}” is known with its memory; give a size, such as 24GiB", name=words))
    return tuple(CardRoom(name, size) for size, name in found.items())


def answer_fit(
    session: Session, shape: ModelShape, setting: EstimateSetting, cards: tuple[CardRoom, ...], *, imagined: bool = False
) -> FitAnswer:
    """Judges one question; `cards` are those of the machine, or the sizes of the one that is `imagined`."""
    costs = session.knowledge.estimates()
    found = estimate(shape, setting, costs)
    usable, best = usable_cards(cards), judged_by(cards)
    room = best.room_bytes if best is not None else None
    judged = tuple(CardAnswer(card, card.obstacle is None and fits_in(found, card.room_bytes)) for card in cards)
    return FitAnswer(
        shape,
        setting,
        found,
        judged,
        _fits(judged, setting, imagined=imagined),
        levers_of(shape, setting, costs, usable),
        None if room is None else largest_batch(shape, setting, costs, room),
        None if room is None else largest_sequence(shape, setting, costs, room),
        smallest_cards(found, known_cards(costs)),
        _notes(shape, setting, cards, imagined=imagined),
    )


def known_cards(costs: MemoryCosts) -> tuple[CardRoom, ...]:
    """Common cards from small to large, with what their driver leaves of them."""
    return tuple(
        CardRoom(one.gpu, round(one.memory_gb * _GB_OF_CARDS), round(one.memory_gb * _GB_OF_CARDS * (1 - _DRIVER_KEEPS)))
        for one in costs.cards
    )


def _fits(judged: tuple[CardAnswer, ...], setting: EstimateSetting, *, imagined: bool) -> bool | None:
    if imagined:  # one card, whose memory is one of several sizes: what all of them answer
        answers = {one.fits for one in judged}
        return answers.pop() if len(answers) == 1 else None
    wanted = max(1, setting.gpus)
    surely = sum(one.fits is True for one in judged)
    perhaps = sum(one.fits is not False for one in judged)
    if not judged:
        return None
    if surely >= wanted:
        return True
    return None if perhaps >= wanted else False


def _notes(shape: ModelShape, setting: EstimateSetting, cards: tuple[CardRoom, ...], *, imagined: bool) -> tuple[Text, ...]:
    notes = list(shape.notes)
    if imagined and len(cards) > 1:
        shown = [f"{card.total_bytes / _GB_OF_CARDS:g}GiB" for card in cards]
        notes.append(
            text(
                "cards of that name have {sizes}: for one of them alone give its memory, --gpu {size}",
                sizes=listed(shown),
                size=shown[-1],
            )
        )
    there, usable = len(cards), len(usable_cards(cards))
    if not imagined and 0 < there < setting.gpus:
        notes.append(text("it is to be shared by {wanted} GPUs, and this machine has {there}", wanted=setting.gpus, there=there))
    elif not imagined and 0 < usable < setting.gpus:
        wanted = setting.gpus
        notes.append(text("it is to be shared by {wanted} GPUs, of which {there} can be used now", wanted=wanted, there=usable))
    if setting.task is Task.INFER and not shape.writes:
        notes.append(text("this model writes no text, so that it keeps no cache"))
    if shape.longest and setting.sequence > shape.longest and not shape.tokens:
        longer = text("the sequence is longer than the {longest} tokens that this model was made for", longest=shape.longest)
        notes.append(longer)
    if setting.gpus > 1 and setting.sharding is Sharding.NONE and setting.task is Task.TRAIN:
        notes.append(text("without sharding each GPU holds all of it (DDP)"))
    return tuple(notes)
