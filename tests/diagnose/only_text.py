"""The problems that no rule finds yet: a pasted message alone can show them. The list shrinks as rules come."""

from __future__ import annotations

ONLY_TEXT = frozenset(
    {
        "apt-nvidia-package-conflict",
        "cuda-compat-conflict",
        "cuda-home-unset",
        "cuda-installer-without-driver",
        "cudnn-headers-missing",
        "dkms-build-failed",
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
    }
)
