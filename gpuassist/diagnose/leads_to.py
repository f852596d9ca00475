"""Which problems follow from which: where the cause is found as well, what it leads to steps behind it."""

from __future__ import annotations

LEADS_TO: dict[str, frozenset[str]] = {
    cause: frozenset(effects.split())
    for cause, effects in {
        "secure-boot-unsigned-module": "driver-not-loaded no-driver cuda-init-failed-driver-state nvidia-smi-no-devices",
        "secure-boot-mok-pending": "secure-boot-unsigned-module driver-not-loaded no-driver nvidia-smi-no-devices",
        "driver-module-blacklisted": "driver-not-loaded no-driver nvidia-smi-no-devices",
        "nouveau-active": "driver-not-loaded no-driver dkms-build-failed nvidia-smi-no-devices",
        "kernel-headers-missing": "dkms-build-failed driver-not-loaded no-driver",
        "dkms-build-failed": "driver-not-loaded no-driver driver-library-mismatch",
        "apt-nvidia-package-conflict": "driver-library-mismatch no-driver driver-not-loaded",
        "legacy-driver-branch-needed": "driver-not-loaded no-driver nvidia-smi-no-devices rm-init-adapter-failed"
        " driver-too-old-for-cuda",
        "open-module-required": "rm-init-adapter-failed nvidia-smi-no-devices no-driver driver-not-loaded"
        " cuda-init-failed-driver-state",
        "geforce-open-module-unsupported": "rm-init-adapter-failed nvidia-smi-no-devices no-driver cuda-init-failed-driver-state",
        "driver-too-old-for-gpu": "rm-init-adapter-failed nvidia-smi-no-devices no-driver",
        "rm-init-adapter-failed": "nvidia-smi-no-devices no-driver cuda-init-failed-driver-state",
        "xid-79-gpu-fell-off-bus": "nvidia-smi-no-devices rm-init-adapter-failed cuda-init-failed-driver-state gpu-sensor-error"
        " xid-119-gsp-timeout illegal-memory-access",
        "xid-119-gsp-timeout": "rm-init-adapter-failed nvidia-smi-no-devices cuda-init-failed-driver-state",
        "ecc-errors": "cuda-init-failed-driver-state illegal-memory-access",
        "gpu-overheating": "xid-79-gpu-fell-off-bus xid-other nvidia-smi-no-devices",
        "hybrid-graphics-prime": "driver-module-blacklisted no-driver driver-not-loaded nvidia-smi-no-devices",
        "driver-not-loaded": "no-driver",
        "driver-library-mismatch": "no-driver cuda-init-failed-driver-state driver-too-old-for-cuda",
        "libcuda-missing": "no-driver",
        "container-toolkit-missing": "no-driver container-no-gpu-flag",
        "container-no-gpu-flag": "no-driver driver-not-loaded",
        "container-lxc-devices": "no-driver driver-not-loaded container-no-gpu-flag container-lost-gpu-after-daemon-reload"
        " device-permissions cuda-init-failed-driver-state",
        "container-cdi-stale": "container-toolkit-missing no-driver container-no-gpu-flag",
        "video-library-missing": "driver-too-old-for-cuda",
        "wsl-limits": "driver-not-loaded no-driver",
        "container-driver-too-old": "driver-too-old-for-cuda",
        "container-driver-files-mounted": "driver-library-mismatch no-driver",
        "container-lost-gpu-after-daemon-reload": "no-driver driver-not-loaded cuda-init-failed-driver-state",
        "device-permissions": "no-driver cuda-init-failed-driver-state",
        "uvm-device-missing": "no-driver cuda-init-failed-driver-state",
        "uvm-broken-after-suspend": "cuda-init-failed-driver-state no-driver",
        "fabric-manager-not-running": "cuda-init-failed-driver-state no-driver",
        "mig-mode": "cuda-init-failed-driver-state no-driver cuda-visible-devices-bad",
        "cuda-compat-conflict": "driver-too-old-for-cuda driver-library-mismatch cuda-init-failed-driver-state",
        "cuda-visible-devices-bad": "no-driver no-nvidia-gpu cuda-init-failed-driver-state",
        "wsl-driver-or-windows": "no-driver driver-not-loaded libcuda-missing",
        "wsl-linux-driver-installed": "no-driver wsl-driver-or-windows wsl-stub-lib driver-library-mismatch"
        " cuda-init-failed-driver-state",
        "wsl-stub-lib": "no-driver cuda-init-failed-driver-state",
        "torch-lacks-sm": "no-kernel-image nccl-cuda-error cublas-init-failed-oom illegal-memory-access",
        "gpu-too-old-for-torch": "no-kernel-image torch-lacks-sm nccl-cuda-error",
        "no-kernel-image": "nccl-cuda-error",
        "pip-no-matching-python": "torch-cpu-only pip-wrong-index",
        "pip-wrong-index": "torch-cpu-only",
        "conda-resolved-cpu-build": "torch-cpu-only",
        "wrong-python-env": "torch-cpu-only",
        "torch-cpu-only": "xformers-torch-mismatch torchvision-torch-mismatch",
        "no-nvidia-gpu": "torch-cpu-only no-driver xformers-torch-mismatch",
        "duplicate-torch-installs": "torchvision-torch-mismatch",
        "uv-sync-reverts-torch": "torch-cpu-only torch-lacks-sm",
        "torch-install-damaged": "missing-cuda-runtime-lib extension-build-mismatch",
        "device-side-assert": "illegal-memory-access cublas-init-failed-oom nccl-cuda-error",
        "illegal-memory-access": "nccl-cuda-error cublas-init-failed-oom",
        "oom-true": "cublas-init-failed-oom nccl-cuda-error",
        "oom-fragmentation": "cublas-init-failed-oom nccl-cuda-error",
        "oom-other-process": "cublas-init-failed-oom nccl-cuda-error",
        "oom-graph-retained": "oom-true oom-fragmentation cublas-init-failed-oom",
        "oom-absurd-request": "cublas-init-failed-oom nccl-cuda-error",
        "gpu-memory-held-by-dead-process": "oom-other-process oom-true cublas-init-failed-oom",
        "oom-own-limit": "oom-true cublas-init-failed-oom nccl-cuda-error",
        "oom-address-space": "oom-true",
        "nccl-version-mismatch": "nccl-cuda-error nccl-p2p-acs-iommu",
        "compute-mode-exclusive": "cuda-init-failed-driver-state no-driver",
        "gpu-reset-required": "cuda-init-failed-driver-state gpu-sensor-error nvidia-smi-no-devices xid-79-gpu-fell-off-bus",
        "stray-contexts": "oom-other-process oom-true",
        "nccl-shm": "nccl-cuda-error not-a-gpu-problem",
        "path-order-wrong-nvcc": "nvcc-arch-too-new torch-cuda-vs-toolkit-mismatch",
        "cuda-home-disagrees": "nvcc-arch-too-new torch-cuda-vs-toolkit-mismatch",
        "nvcc-not-on-path": "cuda-home-unset",
        "cuda-link-dangling": "nvcc-not-on-path cuda-home-unset cuda-home-disagrees",
        "libcuda-twice": "driver-library-mismatch cuda-init-failed-driver-state",
        "nvcc-host-gcc-too-new": "nvcc-host-gcc-header-bug",
        "mixed-nvidia-pip-wheels": "ld-library-path-shadows-bundled-libs missing-cuda-runtime-lib",
        "link-cuda-lib-not-found": "link-lcuda-missing",
        "dataloader-shm-or-ram": "not-a-gpu-problem",
    }.items()
}


def behind(problem: str, found: frozenset[str]) -> frozenset[str]:
    """Those of the found problems that this one follows from."""
    return frozenset(cause for cause in found if problem in LEADS_TO.get(cause, ()))
