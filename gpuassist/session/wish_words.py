"""A wish for the what-if page as words: for the flow to carry, so that a finding can lead to it (`gpu=RTX 5090; driver=570`)."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.install.replacements import UnknownPartError
from gpuassist.install.what_if import NONE, Wish, distribution_of
from gpuassist.model.nearest import nearest_names
from gpuassist.model.text import Text, joined, text, verbatim

_GPU = "gpu"
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


def wish_in_words(wish: Wish) -> str:
    """Everything that the wish changes; empty for one that changes nothing."""
    others = [(name, getattr(wish, name)) for name in wish.__struct_fields__ if name != "gpus"]
    pairs = [(_GPU, name) for name in wish.gpus] + [(name, value) for name, value in others if value]
    return "; ".join(f"{name}={value}" for name, value in pairs)


def wish_of(words: str) -> Wish:
    """The wish that was said; what is no part of one is passed over."""
    gpus: list[str] = []
    others: dict[str, str] = {}
    known = set(Wish.__struct_fields__) - {"gpus"}
    for part in words.split(";"):
        name, _, value = (one.strip() for one in part.partition("="))
        if name == _GPU and value:
            gpus.append(value)
        elif name in known and value:
            others[name] = value
    return Wish(gpus=tuple(gpus), **others)


def part_in_words(part: str, value: str) -> Text:
    """One part of a wish: `driver 570`, `no torch`."""
    if value == NONE and part in _WITHOUT:
        return _WITHOUT[part]
    if part == "distribution":
        return verbatim(_distribution(value))
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
    return text("No GPU that gpuassist knows has {words} in its name. Near it: {names}.", words=typed, names=", ".join(near))


def _distribution(value: str) -> str:
    try:
        return distribution_of(value).name
    except UnknownPartError:
        return value  # that it is not known is the answer's to say
