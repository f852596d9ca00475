"""The knowledge files as tables of records, one a kind."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.knowledge import build, build_packages, build_torch, early_toolkits
from gpuassist.knowledge.records import ArchitectureRecord, ChipRecord
from gpuassist.knowledge.table import Table
from gpuassist.model.text import Text

ChipNamed = Callable[[str], tuple[ArchitectureRecord, ChipRecord] | None]


class KnowledgeFiles:
    """Reads none of them before one is asked for; `chip_named` joins a GPU with its chip."""

    def __init__(self, read: Callable[[str], bytes], chip_named: ChipNamed) -> None:
        self.architectures = Table(read, "architectures", build.architecture)
        self.gpus = Table(read, "gpus", lambda row, sources: build.gpu(row, sources, chip_named))
        self.drivers = Table(read, "drivers", build.branch)
        self.compat_packages = Table(read, "compat_packages", build.compat_package)
        self.toolkits = Table(read, "toolkits", build.toolkit)
        self.runfiles = Table(read, "runfiles", build.runfile)
        self.early_toolkits = Table(read, "early_toolkits", early_toolkits.build)
        self.wheels = Table(read, "wheels", build.wheel)
        self.torch = Table(read, "torch", build.torch)
        self.torch_releases = Table(read, "torch_releases", build_torch.release)
        self.bad_pairs = Table(read, "bad_pairs", build_torch.bad_pair)
        self.images = Table(read, "images", build_packages.image)
        self.systems = Table(read, "systems", build_packages.system)
        self.conda = Table(read, "conda", build_packages.conda)
        self.conda_labels = Table(read, "conda_labels", build_packages.conda_label)
        self.commands = Table(read, "commands", build.command)
        self.xids = Table(read, "xids", build.xid)
        self.nvml_codes = Table(read, "nvml_codes", build.nvml_code)

    def damaged(self) -> tuple[Text, ...]:
        """Every line of every file that could not be used; reads them all."""
        return tuple(words for table in vars(self).values() for words in table.damaged())

    def noticed(self) -> tuple[Text, ...]:
        """Those of them that were met so far; reads nothing."""
        return tuple(words for table in vars(self).values() for words in table.noticed())
