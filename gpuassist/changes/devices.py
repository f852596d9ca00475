"""Which GPUs a wish such as `0,2`, `GPU-8932f937` or `all` means, checked against the ones that this machine has."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.changes.choice import WishError
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.block import RepairError

ALL = "all"
_MOST_DIGITS = 9
_GPU_UUID = lazy_regex(r"GPU-[0-9a-fA-F-]+")
_MIG_ID = lazy_regex(r"MIG-(?:[0-9a-fA-F-]+|GPU-[0-9a-fA-F-]+/\d+/\d+)")


class Devices(Struct, frozen=True):
    """The GPUs that programs shall see, as CUDA_VISIBLE_DEVICES names them, none for all of them; `hidden` are names of the others,
    and `notes` say what could not be checked.
    """

    values: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    notes: tuple[Text, ...] = ()


def choose_devices(gpus: Fact[tuple[Gpu, ...]], words: str) -> Devices:
    """The GPUs that the words mean; raises `WishError` for words that mean none, `RepairError` for a GPU that is not here."""
    if words.strip() == ALL:
        return Devices(())
    values = tuple(_value(word.strip(), words) for word in words.split(","))
    if len({value.isdigit() for value in values}) > 1:
        raise WishError(text("{words} mixes indices and UUIDs; CUDA takes the ones or the others", words=words))
    if isinstance(gpus, Unknown):
        _require_distinct(values, values, ())
        return Devices(values, notes=(text("not checked: this machine's GPUs are not known ({reason})", reason=gpus.reason),))
    if not gpus.value:
        raise RepairError(text("this machine has no NVIDIA GPU, so there is none to choose"))
    found = tuple(_number_of(value, gpus.value) for value in values)
    pairs = tuple(zip(values, found, strict=True))
    _require_distinct(values, tuple(value if number is None else (number, _mig(value)) for value, number in pairs), gpus.value)
    hidden = tuple(_name(number, gpu) for number, gpu in enumerate(gpus.value) if number not in found)
    unsure = tuple(value for value, number in pairs if number is None)
    return Devices(values, () if unsure else hidden, _notes(values, unsure, gpus.value))


def names_of(gpus: tuple[Gpu, ...]) -> str:
    """This machine's GPUs for people, as they can be chosen."""
    return "; ".join(_name(number, gpu) for number, gpu in enumerate(gpus))


def _value(word: str, words: str) -> str:
    if word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS:
        return str(int(word))
    if _GPU_UUID.fullmatch(word) or _MIG_ID.fullmatch(word):
        return word
    raise WishError(text("{word} names no GPU; 0,2 or UUIDs (GPU-…, MIG-…) or all do", word=word or f"'{words}'"))


def _require_distinct(values: tuple[str, ...], meant: tuple[object, ...], gpus: tuple[Gpu, ...]) -> None:
    for number, value in enumerate(values):
        if meant[number] in meant[:number]:
            raise WishError(
                text("{value} names a GPU a second time. This machine has {gpus}", value=value, gpus=names_of(gpus) or "?")
            )


def _mig(value: str) -> str:
    return value if value.startswith("MIG-") else ""


def _notes(values: tuple[str, ...], unsure: tuple[str, ...], gpus: tuple[Gpu, ...]) -> tuple[Text, ...]:
    notes: list[Text] = []
    if unsure:
        reasons = (fact.reason for gpu in gpus for fact in (gpu.uuid, gpu.mig_uuids) if isinstance(fact, Unknown))
        reason = next(reasons, text("not looked at"))
        notes.append(text("not checked: whether {values} is here ({reason})", values=", ".join(unsure), reason=reason))
    elif values[0].isdigit() and not all(isinstance(gpu.index, Known) for gpu in gpus):
        notes.append(text("NVML did not count the GPUs: their indices were taken from the order of the PCI bus"))
    if sum(value.startswith("MIG-") for value in values) > 1:
        notes.append(text("CUDA gives a program one MIG instance: the first of the list"))
    return tuple(notes)


def _number_of(value: str, gpus: tuple[Gpu, ...]) -> int | None:
    """The place of the GPU in the list, none where it cannot be known; raises `RepairError` where it is none of these."""
    if value.isdigit():
        places = [value_or(gpu.index, place) for place, gpu in enumerate(gpus)]
        found = [place for place, index in enumerate(places) if index == int(value)]
    else:
        found = [place for place, gpu in enumerate(gpus) if _answers_to(gpu, value)]
    if len(found) > 1:
        raise RepairError(text("{value} fits several GPUs. This machine has {gpus}", value=value, gpus=names_of(gpus)))
    if not found and not value.isdigit() and any(isinstance(_identities(gpu, value), Unknown) for gpu in gpus):
        return None
    if not found:
        raise RepairError(text("{value} is no GPU of this machine. It has {gpus}", value=value, gpus=names_of(gpus)))
    return found[0]


def _answers_to(gpu: Gpu, value: str) -> bool:
    known = _identities(gpu, value)
    # CUDA takes as much of a UUID as makes it clear which one is meant; an instance of before R470 is named after its GPU.
    asked = value.removeprefix("MIG-").partition("/")[0] if value.startswith("MIG-GPU-") else value
    return isinstance(known, Known) and any(identity.lower().startswith(asked.lower()) for identity in known.value)


def _identities(gpu: Gpu, value: str) -> Fact[tuple[str, ...]]:
    """What the GPU, or its instances, are called in the kind of names that `value` is one of."""
    if value.startswith("MIG-") and not value.startswith("MIG-GPU-"):
        return gpu.mig_uuids
    return Known((gpu.uuid.value,), gpu.uuid.source) if isinstance(gpu.uuid, Known) else gpu.uuid


def _name(number: int, gpu: Gpu) -> str:
    index = value_or(gpu.index, number)
    name = value_or(gpu.name, "") or value_or(gpu.pci_id, "")
    uuid = value_or(gpu.uuid, "")
    return f"{index}: {name} ({uuid})" if uuid else f"{index}: {name}"
