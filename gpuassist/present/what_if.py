"""The answer to a "what if" in words: its title, what the machine has as it is, chains that are alike, and all of it to copy."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from gpuassist.install.replacements import UnknownPartError
from gpuassist.install.what_if import NONE, Wish, distribution_of
from gpuassist.model.chain import Chain, Part, Status
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.nearest import nearest_names
from gpuassist.model.outlook import Outlook
from gpuassist.model.text import Text, counted, joined, listed, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.chain import alike, caption, chain_in_words
from gpuassist.present.commands import copyable_lines
from gpuassist.present.overview import short_name
from gpuassist.session.verify import choose

_WITH: dict[str, Callable[[str], Text]] = {
    "driver": lambda value: text("driver {value}", value=value),
    "torch": lambda value: text("torch {value}", value=value),
    "python": lambda value: text("Python {value}", value=value),
    "toolkit": lambda value: text("CUDA {value}", value=value),
    "gcc": lambda value: text("gcc {value}", value=value),
}
_WITHOUT: dict[str, Text] = {
    "driver": text("no driver"),
    "torch": text("no torch"),
    "toolkit": text("no CUDA toolkit"),
    "gcc": text("no host compiler"),
}


class Slot(Struct, frozen=True):
    """A GPU of the wish: the word by which the engine knows it, and the name that people read."""

    token: str
    name: str


def slots(machine: Machine) -> tuple[Slot, ...]:
    """The GPUs of a machine as a wish names them: by PCI id where it is known, which no two models share."""
    named = ((value_or(gpu.name, ""), value_or(gpu.pci_id, "")) for gpu in value_or(machine.gpus, ()))
    return tuple(Slot(pci_id or name, short_name(name) or pci_id) for name, pci_id in named if pci_id or name)


def as_it_is(machine: Machine, chains: tuple[Chain, ...]) -> dict[str, Text]:
    """What the machine has now of each part that a wish can name; a part that it has not, or that is not known, is left out."""
    fields = {Part.DRIVER: "driver", Part.TOOLKIT: "toolkit", Part.TORCH: "torch", Part.COMPILER: "gcc"}
    nodes = chains[0].nodes if chains else ()
    found = {
        fields[node.part]: node.name for node in nodes if node.part in fields and node.status not in {Status.ABSENT, Status.UNKNOWN}
    }
    environment = choose(machine.environments)
    if isinstance(environment, Known) and isinstance(environment.value.python_version, Known):
        found["python"] = verbatim(str(environment.value.python_version.value))
    return found


def standing(outlook: Outlook) -> Status:
    """How the chains stand with the wish in place and nothing else changed."""
    found = {joint.status for chain in outlook.before for joint in chain.joints}
    return next((one for one in (Status.PROBLEM, Status.WARNING, Status.UNKNOWN) if one in found), Status.RIGHT)


def answer(outlook: Outlook) -> Text:
    if outlook.blocked_by:
        return text("This cannot be made to work")
    if outlook.steps:
        return counted("Works after 1 change", "Works after {count} changes", len(outlook.steps))
    status = standing(outlook)
    if not outlook.before:
        return text("No GPU to check")
    if status is Status.PROBLEM:
        return text("These parts do not work together")
    if status is Status.UNKNOWN:
        return text("No conflict found, but not everything is known")
    return text("Everything works together")


def part_in_words(part: str, value: str) -> Text:
    """One part of a wish: `driver 570`, `no torch`."""
    if value == NONE and part in _WITHOUT:
        return _WITHOUT[part]
    if part == "distribution":
        try:
            return verbatim(distribution_of(value).name)
        except UnknownPartError:
            return verbatim(value)  # that it is not known is the answer's to say
    return _WITH[part](value)


def wish_title(wish: Wish, names: tuple[str, ...], machine: Text) -> Text:
    """What is compared, in a line; `names` are those of the GPUs that the wish names, `machine` is what it starts from."""
    parts = [verbatim(name) for name in names] if wish.gpus != (NONE,) else [text("no GPU")]
    parts += [part_in_words(part, getattr(wish, part)) for part in (*_WITH, "distribution") if getattr(wish, part)]
    if not parts:
        return text("{machine} as it is", machine=machine)
    return text("{machine} with {parts}", machine=machine, parts=joined(tuple(parts)))


def not_found(typed: str, names: tuple[str, ...]) -> Text:
    """That no GPU of `names` is called so, and which are called nearly so."""
    near = nearest_names(typed, names)
    if not near:
        return text("No GPU that gpuassist knows has {words} in its name.", words=typed)
    return text("No GPU that gpuassist knows has {words} in its name. Near it: {names}.", words=typed, names=listed(near))


def in_plain_words(title: Text, outlook: Outlook, words: Words) -> str:
    """All of the answer to what `title` says, to be copied."""
    parts = [f"{words(title)}\n{words(answer(outlook))}"]
    parts.extend(f"{words(caption(one))}\n{chain_in_words(one.chain, words)}" for one in alike(outlook.before))
    parts.extend(_step(place, step.text, step.commands, words) for place, step in enumerate(outlook.steps, start=1))
    parts.extend(words(reason) for reason in (*outlook.blocked_by, *outlook.notes, *outlook.undetermined))
    return "\n\n".join(parts) + "\n"


def _step(place: int, title: Text, commands: tuple[str, ...], words: Words) -> str:
    return "\n".join((f"{place}. {words(title)}", *(f"   {words(command)}" for command in copyable_lines(commands))))
