"""The whole answer: the estimate, this machine's GPUs, what would help, and on which cards it would fit."""

from __future__ import annotations

from gpuassist.context import Session
from gpuassist.formats.size import read_size
from gpuassist.knowledge.memory_costs import MemoryCosts
from gpuassist.model.estimate import CardAnswer, CardRoom, EstimateSetting, FitAnswer, ModelShape, Sharding, Task
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.session.estimate.estimate import estimate
from gpuassist.session.estimate.levers import fits_in, largest_batch, largest_sequence, levers_of, smallest_cards
from gpuassist.session.estimate.source import EstimateError

_GB_OF_CARDS = 1 << 30
_DRIVER_KEEPS = 0.975  # of a card's memory: what the driver shows is less than what is sold (RTX 4090: 23.99 of 24, A10: 22.5)


def cards_of(session: Session, machine: Machine) -> tuple[CardRoom, ...]:
    """The machine's GPUs whose memory is known, with what is held of it now; that of one that sleeps, or has no driver yet, is
    taken from its product.
    """
    found = []
    for place, gpu in enumerate(value_or(machine.gpus, ())):
        total = gpu.memory_total_bytes
        size = total.value if isinstance(total, Known) else _size_of_product(session, value_or(gpu.pci_id, ""))
        if size > 0:
            held = min(max(0, value_or(gpu.memory_used_bytes, 0)), size)
            found.append(CardRoom(value_or(gpu.name, "GPU"), size, held, value_or(gpu.index, place)))
    return tuple(found)


def _size_of_product(session: Session, pci_id: str) -> int:
    """What all cards of a PCI id have; 0 where that is not known, or not the same of each."""
    record = session.knowledge.gpu(pci_id) if pci_id else None
    sizes = set(record.memory_bytes) if record is not None else set()
    return sizes.pop() if len(sizes) == 1 else 0


def card_named(session: Session, words: str) -> CardRoom:
    """A GPU that is not there: a size such as `24GiB`, or a product's name; raises `EstimateError`."""
    size = read_size(words)
    if size is not None and size > 0:
        return CardRoom(words.strip(), size)
    wanted = words.casefold().split()
    found = [
        (gpu.name, gpu.memory_bytes[0])
        for gpu in session.knowledge.gpus_named(words)
        if gpu.memory_bytes and len(set(gpu.memory_bytes)) == 1
    ]
    found += [
        (one.gpu, round(one.memory_gb * _GB_OF_CARDS))
        for one in session.knowledge.estimates().cards
        if wanted and set(wanted) <= set(one.gpu.casefold().replace("-", " ").split())
    ]
    if not found:
        raise EstimateError(text("no GPU called “{name}” is known with its memory; give a size, such as 24GiB", name=words))
    name, total = found[0]
    return CardRoom(name, total)


def answer_fit(
    session: Session, shape: ModelShape, setting: EstimateSetting, cards: tuple[CardRoom, ...], *, imagined: bool = False
) -> FitAnswer:
    """Judges one question; `cards` are those of the machine, or the one that is `imagined`."""
    costs = session.knowledge.estimates()
    found = estimate(shape, setting, costs)
    best = max(cards, key=lambda one: one.room_bytes, default=None)
    room = best.room_bytes if best is not None else None
    judged = tuple(CardAnswer(card, fits_in(found, card.room_bytes)) for card in cards)
    return FitAnswer(
        shape,
        setting,
        found,
        judged,
        _fits(judged, setting, imagined=imagined),
        levers_of(shape, setting, costs, cards),
        None if room is None else largest_batch(shape, setting, costs, room),
        None if room is None else largest_sequence(shape, setting, costs, room),
        smallest_cards(found, known_cards(costs)),
        _notes(shape, setting, len(cards), imagined=imagined),
    )


def known_cards(costs: MemoryCosts) -> tuple[CardRoom, ...]:
    """Common cards from small to large, with what their driver leaves of them."""
    return tuple(
        CardRoom(one.gpu, round(one.memory_gb * _GB_OF_CARDS), round(one.memory_gb * _GB_OF_CARDS * (1 - _DRIVER_KEEPS)))
        for one in costs.cards
    )


def _fits(judged: tuple[CardAnswer, ...], setting: EstimateSetting, *, imagined: bool) -> bool | None:
    wanted = 1 if imagined else max(1, setting.gpus)
    surely = sum(one.fits is True for one in judged)
    perhaps = sum(one.fits is not False for one in judged)
    if not judged:
        return None
    if surely >= wanted:
        return True
    return None if perhaps >= wanted else False


def _notes(shape: ModelShape, setting: EstimateSetting, cards: int, *, imagined: bool) -> tuple[Text, ...]:
    notes = list(shape.notes)
    if not imagined and 0 < cards < setting.gpus:
        notes.append(text("it is to be shared by {wanted} GPUs, and this machine has {there}", wanted=setting.gpus, there=cards))
    if setting.task is Task.INFER and not shape.writes:
        notes.append(text("this model writes no text, so that it keeps no cache"))
    if shape.longest and setting.sequence > shape.longest and not shape.tokens:
        longer = text("the sequence is longer than the {longest} tokens that this model was made for", longest=shape.longest)
        notes.append(longer)
    if setting.gpus > 1 and setting.sharding is Sharding.NONE and setting.task is Task.TRAIN:
        notes.append(text("without sharding each GPU holds all of it (DDP)"))
    return tuple(notes)
