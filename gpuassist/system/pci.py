"""What sysfs tells of PCI devices, which wakes none: which are NVIDIA's GPUs, and which of these sleep."""

from __future__ import annotations

from gpuassist.system.files import Files

DEVICES = "/sys/bus/pci/devices"
_GPU_CLASSES = ("0x0300", "0x0302")  # VGA and 3D; 0x0403 is their sound, 0x0680 an NVSwitch


def is_nvidia(vendor: str) -> bool:
    """Whether the file `vendor` of a device names NVIDIA."""
    return vendor.lower() == "0x10de"


def is_gpu(kind: str) -> bool:
    """Whether the file `class` of a device names a GPU."""
    return kind.startswith(_GPU_CLASSES)


class SleepWatch:
    """Asks the kernel for the power state of the GPUs that NVIDIA's driver has."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def addresses(self) -> tuple[str, ...]:
        """Their PCI addresses in order; empty where sysfs lists none, as under WSL2."""
        return tuple(address for address in self._files.names(DEVICES) if self._is_driven(f"{DEVICES}/{address}"))

    def asleep(self, address: str) -> bool:
        """Whether it is suspended at this moment."""
        return self._files.text(f"{DEVICES}/{address}/power/runtime_status", 64).strip() == "suspended"

    def _is_driven(self, path: str) -> bool:
        vendor, kind = self._files.text(f"{path}/vendor", 64).strip(), self._files.text(f"{path}/class", 64).strip()
        if not is_nvidia(vendor) or not is_gpu(kind):
            return False
        try:
            return self._files.readlink(f"{path}/driver").endswith("/nvidia")
        except OSError:
            return False
