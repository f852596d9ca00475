"""Kubernetes, the device plugin, the GPU Operator, and DCGM: who offers no GPU, and who only fails to watch it."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.cluster import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, read
from tests.rows import for_each

TOLD = (
    (
        "0/3 nodes are available: 1 node(s) had untolerated taint {x: }, 2 Insufficient nvidia.com/gpu.",
        "kubernetes-gpu-not-offered",
    ),
    ("0/1 nodes are available: 1 Insufficient nvidia.com/mig-1g.5gb. preemption: 0/1", "kubernetes-gpu-not-offered"),
    (
        "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu",
        "kubernetes-gpu-not-offered",
    ),
    ('level=info msg="GPU resources are not yet discovered by the node, retry: 12"', "kubernetes-gpu-not-offered"),
    ("WARNING: NFD labels missing in the cluster, GPU nodes cannot be discovered.", "kubernetes-gpu-not-offered"),
    ("failed to validate the driver, retrying after 5 seconds", "kubernetes-gpu-not-offered"),
    ("E0 main.go] If this is a GPU node, did you set the docker default runtime to `nvidia`?", "container-toolkit-missing"),
    ("I0 factory.go:107] Detected non-NVML platform: could not load NVML library: libnvidia-ml.so.1", "container-toolkit-missing"),
    ("Could not unload NVIDIA driver kernel modules, driver is in use", "module-already-loaded"),
    ("Could not resolve Linux kernel version", "kernel-headers-missing"),
    ("error: device GPU-5c89aa1e has no MIG devices configured", "mig-without-instance"),
    ("all devices on the node must be configured with the same migEnabled value", "mig-without-instance"),
    ("MIG mode change did not take effect after rebooting", "mig-mode"),
    (
        "Error: unable to establish a connection to the specified host: localhost. Error connecting to host engine",
        "dcgm-not-running",
    ),
    ("panic: the libdcgm.so library was not found. Install Data Center GPU Manager (DCGM).", "dcgm-not-running"),
    (
        'level=info msg="Not collecting DCP metrics: This request is serviced by a module of DCGM that is not currently loaded"',
        "dcgm-not-running",
    ),
    ("Result: -29: Host engine is running as non-root", "dcgm-not-running"),
    ("Detected 3 volatile double-bit ECC error(s) in GPU 2.", "ecc-errors"),
    ("GPU 1 had memory errors and row remappings are pending", "gpu-reset-required"),
    ("GPU 0 is running at PCI link generation 1, which is below the minimum allowed link generation of 3", "pcie-link-degraded"),
    ("Detected clocks event due to thermal violation in GPU 4.", "gpu-overheating"),
    ("Found driver on the denylist: nouveau", "nouveau-active"),
)


@for_each(("words", "expected"), TOLD)
def test_message_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


def test_module_for_profiling_and_rights_are_told_apart() -> None:
    assert parameters(SIGNATURES, "This request is serviced by a module of DCGM that is not currently loaded") == {
        "profiling": "yes"
    }
    assert parameters(SIGNATURES, "Host engine is running as non-root") == {"root": "yes"}
    assert parameters(SIGNATURES, "the libdcgm.so library was not found") == {"library": "libdcgm.so"}


@pytest.mark.parametrize(
    "words",
    [
        "I0 server.go:155] Registered device plugin for 'nvidia.com/gpu' with Kubelet",
        "resources:\n  limits:\n    nvidia.com/gpu: 1",
        'level=info msg="DCGM successfully initialized!"',
        "nvidia-fs driver is not ready",
        "0/3 nodes are available: 3 Insufficient cpu.",
    ],
)
def test_what_runs_is_no_fault(words: str) -> None:
    assert [clue for clue in read(SIGNATURES, words) if clue.weight > Weight.ASIDE] == []
