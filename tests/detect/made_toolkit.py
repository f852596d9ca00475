"""Made-up CUDA toolkits: the files that tell what one is, and what its nvcc would say."""

from __future__ import annotations

from pathlib import Path

from tests.fakes import put
from tests.formats.test_toolkit import host_config


def version_text(version: str) -> str:
    """What that nvcc prints for --version."""
    release = version.rpartition(".")[0]
    return (
        "nvcc: NVIDIA (R) Cuda compiler driver\nCopyright (c) 2005-2024 NVIDIA Corporation\n"
        f"Cuda compilation tools, release {release}, V{version}\nBuild cuda_{release}.r{release}/compiler.1_0\n"
    )


def make_toolkit(root: Path, path: str, version: str, *, json: str = "", gcc: int = 13) -> dict[str, str]:
    """Writes a toolkit at `path`; returns the answers of its nvcc."""
    put(root, f"{path}/bin/nvcc", b"\x7fELF", mode=0o755)
    put(root, f"{path}/include/crt/host_config.h", host_config(gcc, gcc + 5))
    if json:
        put(root, f"{path}/version.json", f'{{"cuda": {{"name": "CUDA SDK", "version": "{json}"}}}}')
    return {f"{path}/bin/nvcc --version": version_text(version), f"{path}/bin/nvcc --list-gpu-arch": "compute_80\ncompute_89\n"}
