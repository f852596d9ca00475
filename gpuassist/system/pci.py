"""Which of NVIDIA's GPUs sleep, from sysfs, which wakes none."""

from __future__ import annotations

from gpuassist.system.files import Files

_DEVICES = "/sys/bus/pci/devices"
_NVIDIA = "0x10de"
_GPU_CLASSES = ("0x0300", "0x0302")  # VGA and 3D


class SleepWatch:
    """Asks the kernel for the power state of the GPUs that NVIDIA's driver has."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def addresses(self) -> tuple[str, ...]:
        """Their PCI addresses in order; empty where sysfs lists none, as under WSL2."""
        return tuple(address for address in self._files.names(_DEVICES) if self._is_driven(f"{_DEVICES}/{address}"))

    def asleep(self, address: str) -> bool:
        """Whether it is suspended at this moment."""
        return self._read(f"{_DEVICES}/{address}/power/runtime_status") == "suspended"

    def _is_driven(self, path: str) -> bool:
        if self._read(f"{path}/vendor") != _NVIDIA or not self._read(f"{path}/class").startswith(_GPU_CLASSES):
            return False
        try:
            return self._files.readlink(f"{path}/driver").endswith("/nvidia")
        except OSError:
            return False

    def _read(self, path: str) -> str:
        try:
            return self._files.read_text(path, 64).strip()
        except OSError:
            return ""
