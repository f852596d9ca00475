"""The problems that no rule finds yet: a pasted message alone can show them. The list shrinks as rules come."""

from __future__ import annotations

ONLY_TEXT = frozenset(
    {
        "apt-nvidia-package-conflict",
        "container-driver-files-mounted",
        "container-driver-too-old",
        "container-lost-gpu-after-daemon-reload",
        "container-toolkit-missing",
        "cuda-compat-conflict",
        "cuda-home-unset",
        "cuda-installer-without-driver",
        "cudnn-headers-missing",
        "dkms-build-failed",
        "ecc-errors",
        "extension-build-mismatch",
        "fabric-manager-not-needed",
        "fabric-manager-not-running",
        "geforce-open-module-unsupported",
        "gpu-overheating",
        "gpu-sensor-error",
        "hybrid-graphics-prime",
        "kernel-headers-missing",
        "link-cuda-lib-not-found",
        "mig-mode",
        "module-already-loaded",
        "nvcc-arch-empty",
        "nvcc-host-gcc-header-bug",
        "nvcc-native-without-gpu",
        "nvidia-smi-no-devices",
        "ptxas-older-than-ptx",
        "rm-init-adapter-failed",
        "secure-boot-unsigned-module",
        "uvm-broken-after-suspend",
        "uvm-device-missing",
        "wsl-stub-lib",
        "xid-119-gsp-timeout",
        "xid-13-31-application-fault",
        "xid-63-row-remap",
        "xid-79-gpu-fell-off-bus",
    }
)
