"""What the devices of a run are called: GPUs by NVML's numbers, as everywhere else; torch's names once, where these are others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuassist.formats.devices import chosen_places
from gpuassist.model.fact import Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.verdict import DeviceVerdict, Verdict
from gpuassist.session.verify import card_of
from gpuassist.verify.protocol import Device
from gpuassist.verify.visible_devices import PCI_ORDER


class DeviceNames:
    """Names for the `devices` of a run on these GPUs; `asked` is what was to be verified, `variables` are the user's."""

    def __init__(
        self, devices: Sequence[Device], gpus: tuple[Gpu, ...], asked: tuple[str, ...], variables: Mapping[str, str]
    ) -> None:
        cards = {one.device: card_of(one, gpus, asked)[1] for one in devices if not one.members}
        found = {device: card.index.value for device, card in cards.items() if card is not None and isinstance(card.index, Known)}
        numbers = [*found.values()]
        # Parts of one GPU are told apart by torch's names.
        self._numbers = {device: number for device, number in found.items() if numbers.count(number) == 1}
        self._gpus, self._variables = gpus, variables
        self._chosen = not set(asked) <= {"all", "cuda"}
        self.among = tuple(
            DeviceVerdict(device, "", Verdict.SKIPPED, (), index=Known(number, "NVML")) for device, number in self._numbers.items()
        )

    def name(self, device: str) -> str:
        """`GPU 1`; what torch calls it where NVML's number is not known."""
        return f"GPU {self._numbers[device]}" if device in self._numbers else device

    def heading(self, device: Device) -> Text:
        """The name and everything that tells it from others."""
        parts = verbatim(" · ".join(one for one in (self.name(device.device), device.name, device.uuid, device.pci) if one))
        number = self._numbers.get(device.device)
        if number is None:
            return parts
        its_own = self._of_users_torch(device.uuid) if self._chosen else device.device
        if its_own is None:
            return text("{device} · hidden from torch by CUDA_VISIBLE_DEVICES", device=parts)
        return parts if its_own in {f"cuda:{number}", ""} else text("{device} · torch calls it {name}", device=parts, name=its_own)

    def _of_users_torch(self, uuid: str) -> str | None:
        """What torch calls it with the user's own variables; None where they hide it, empty where nobody can say."""
        value = self._variables.get("CUDA_VISIBLE_DEVICES")
        kinds = {value_or(gpu.name, "") for gpu in self._gpus}
        if value is None or (len(kinds) > 1 and self._variables.get("CUDA_DEVICE_ORDER", PCI_ORDER) != PCI_ORDER):
            return ""
        uuids = [value_or(gpu.uuid, "") for gpu in self._gpus]
        uuids += [part for gpu in self._gpus for part in value_or(gpu.mig_uuids, ())]
        shown = [uuids[place] for place in chosen_places(value, uuids)]
        return f"cuda:{shown.index(uuid)}" if uuid in shown else None
