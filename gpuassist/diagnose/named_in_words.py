"""What a text names in passing: the card that somebody writes down, and the CUDA of the torch in a line that installs it."""

from __future__ import annotations

from gpuassist.diagnose.signature import Sign, SignatureInput, passages, sign
from gpuassist.diagnose.tool_releases import OLDEST, torch_cuda, torch_version
from gpuassist.knowledge.compatibility import first_toolkit_for
from gpuassist.knowledge.driver_numbers import JetPackRecord
from gpuassist.knowledge.records import GpuRecord
from gpuassist.model.fact import Known
from gpuassist.model.paste import Weight
from gpuassist.model.version import ComputeCapability, Version

_CARD = (
    (
        *(
            "rtx",
            "gtx",
            "titan",
            "tesla",
            "nvidia",
            "a100",
            "a10",
            "a40",
            "a800",
            "a6000",
            "h100",
            "h200",
            "h800",
            "b200",
            "l40",
            "l4",
        ),
        *("t4", "v100", "p100"),
    ),
    r"(?<![\w-])(?:RTX ?(?:PRO )?A?\d{3,4}(?: ?(?:Ti|SUPER|Ada|D)){0,2}|GTX ?\d{3,4}(?: ?(?:Ti|SUPER))?"
    r"|TITAN \w{1,4}|(?:Tesla |NVIDIA )?(?:[HB][12]00|[AHVTPL]\d{1,3}s?))(?![\w-])",
)
_INSTALLED_FOR = (("cudatoolkit", "pytorch-cuda"), r"\b(?:cudatoolkit|pytorch-cuda)[ =]{1,2}(\d{1,2}\.\d)\b")
_L4T = (("(release)", "l4t"), r"# ?R(\d{2}) \(release\)")


def card_in_words(setting: SignatureInput) -> GpuRecord | None:
    """The one kind of card that a text names, as far as the lists know it."""
    records = list(_records(setting).values())
    return records[0] if len({str(one.compute_capability) for one in records}) == 1 else None


def cards_named(setting: SignatureInput) -> tuple[tuple[str, ComputeCapability], ...]:
    """The GPUs of the facts with what they can; where there are none, those that the text names in passing."""
    facts = [(card.name, card.capability.value) for card in setting.case.usable if isinstance(card.capability, Known)]
    if facts or setting.case.cards:
        return tuple(facts)
    told = ((name, one.compute_capability) for name, one in _records(setting).items())
    return tuple((name, capability) for name, capability in told if capability is not None)


def _records(setting: SignatureInput) -> dict[str, GpuRecord]:
    """The cards that a text names and the lists know, by the name in the text."""
    named = dict.fromkeys(match[0] for match in passages(setting, *_CARD, window=40, most=20))
    known = ((name, setting.case.knowledge.gpu_named(name)) for name in named)
    return {name: record for name, record in known if record is not None}


def torch_cuda_in_words(setting: SignatureInput) -> str:
    """The CUDA of torch, by its version or by the package that conda was asked for beside it; empty where nothing says."""
    return torch_cuda(setting) or next((match[1] for match in passages(setting, *_INSTALLED_FOR)), "")


def jetpack_in_words(setting: SignatureInput) -> JetPackRecord | None:
    """The JetPack of the Jetson that a text is of: as the facts have it, or by the release of its system (`# R35 (release)`)."""
    if setting.case.jetpack is not None:
        return setting.case.jetpack
    release = next((int(match[1]) for match in passages(setting, *_L4T)), 0)
    return next((one for one in setting.case.knowledge.jetpacks() if release in one.l4t), None)


def torch_older_than_card(setting: SignatureInput) -> Sign | None:
    """That the torch of a text was built by a CUDA which did not know the card of the text yet; None where that is not so, or not
    told.
    """
    cuda, record = torch_cuda_in_words(setting), card_in_words(setting)
    cards = {card.capability.value for card in setting.case.cards if isinstance(card.capability, Known)}
    capability: ComputeCapability | None = (
        cards.pop() if len(cards) == 1 else record.compute_capability if record is not None else None
    )
    if not cuda or capability is None or capability < OLDEST:
        return None
    first = first_toolkit_for(capability, setting.case.knowledge.toolkits())
    if first is None or Version.parse(cuda).release >= first:
        return None
    gpu = record.name if record is not None else ""
    return sign("torch-lacks-sm", Weight.CAUSE, gpu=gpu, capability=str(capability), torch=torch_version(setting), newer="yes")


def for_jetson(setting: SignatureInput) -> dict[str, str]:
    """Where the torch for the Jetson of a text comes from, as the catalogue's sentences take it; empty on another computer."""
    if not setting.case.jetson:
        return {}
    jetpack = jetpack_in_words(setting)
    index, wheel = (jetpack.index, jetpack.wheel) if jetpack is not None else ("", "")
    return {"obstacle": "jetson-wheels", "jetpack_index": index, "jetpack_wheel": wheel}
