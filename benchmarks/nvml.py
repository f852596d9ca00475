"""The tests' scripted NVML for benchmarks: the variables that make a child process load it."""

from __future__ import annotations

from pathlib import Path

from tests.nvml_fixture import FakeNvml, build

EIGHT_GPUS = "".join(
    f"""[gpu]
name = NVIDIA A100-SXM4-80GB
uuid = GPU-a1000000-0000-4000-8000-00000000000{index}
pci = 00000000:1{index}:00.0
capability = 8.0
memory = 81920
used = 4096..77824/{60 + index}
utilization = 80
process = {4000 + index} c 2048
"""
    for index in range(8)
)


def variables(directory: Path, scenario: str) -> dict[str, str]:
    """Builds the library into `directory` and scripts it."""
    folder = directory / "fake_nvml"
    folder.mkdir(parents=True, exist_ok=True)
    library = build(folder, old=False)
    return FakeNvml(folder, lambda old: library)(scenario)
