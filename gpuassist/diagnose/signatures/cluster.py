"""What Kubernetes, NVIDIA's device plugin, GPU Operator and MIG manager, and DCGM with its exporter say of a node's GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import in_container
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, one_of, sign
from gpuassist.model.paste import Weight


def _dcgm_library(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    yield sign("dcgm-not-running", library=match.groupdict().get("library") or "libdcgm")


def _driver_module(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """The driver's container says which step failed; each has its own mend."""
    words = match[0].lower()
    if "in use" in words:
        yield sign("module-already-loaded")
    elif "kernel version" in words:
        yield sign("kernel-headers-missing", Weight.STATE)
    elif "peermem" not in words:
        yield sign("driver-not-loaded", Weight.STATE)


def _no_nvml(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Go's binding says so wherever the driver's library is not found; what runs in pods is not given it by the runtime."""
    in_pod = in_container(setting) or setting.says(*_IN_PODS)
    yield sign("container-toolkit-missing" if in_pod else "no-driver", Weight.STATE)


_IN_PODS = ("device plugin", "device-plugin", "retrieving plugins", "dcgm-exporter", "dcgm exporter")


SIGNATURES = (
    Signature(
        ("nvidia.com/gpu", "nvidia.com/mig-"),
        one_of(
            r"(?:Allocate failed|requested number of devices unavailable|no healthy devices? present)[^\n]{0,80}nvidia\.com/",
            r"nvidia\.com/gpu[^\n]{0,40}(?:not found|is not (?:available|advertised|registered)|<none>)",
        ),
        means("kubernetes-gpu-not-offered", Weight.STATE),
    ),
    # Whatever the node lacks, the scheduler says the same.
    Signature(
        ("insufficient nvidia.com/",),
        r"Insufficient nvidia\.com/(?:gpu|mig-[\w.]{3,20})",
        means("kubernetes-gpu-not-offered", Weight.CONSEQUENCE),
    ),
    Signature(
        (
            *("allocatable gpu resource", "gpu resources are not", "no gpu node", "nodes with nvidia pci labels"),
            *("nfd labels missing", "no nodes found with gpu present", "gpu.present label"),
        ),
        one_of(
            r"unable to find any allocatable GPU resource",
            r"GPU resources are not (?:yet )?discovered by the node",
            r"No GPU nodes? (?:can be )?found(?: in the cluster)?",
            r"could not find nodes with NVIDIA PCI labels",
            r"NFD labels missing in the cluster, GPU nodes cannot be discovered",
            r"no nodes found with GPU present",
            r"Could not get any nodes to match nvidia\.com/gpu\.present label",
        ),
        means("kubernetes-gpu-not-offered"),
    ),
    Signature(
        (
            "could not load nvml library",
            "detected non-nvml platform",
            "nvml not detected",
            "nvml init failed",
        ),
        one_of(
            r"(?:initiali[sz]e|initiali[sz]ing|start|init)(?:d|ed)? nvml(?: with error)?: {1,2}could not load NVML library",
            r"Detected non-NVML platform: could not load NVML library",
            r"NVML not detected: could not load NVML library",
            r"could not load NVML library: libnvidia-ml\.so",
        ),
        means("container-toolkit-missing"),
    ),
    # The plugin's hint below whatever NVML said.
    Signature(
        ("docker default runtime to",),
        r"did you set the docker default runtime to `?nvidia",
        means("container-toolkit-missing", Weight.STATE),
    ),
    Signature(("could not load nvml library",), r"could not load NVML library(?! succeed|: libnvidia)", _no_nvml),
    Signature(
        (
            "validate the driver",
            "validating driver installation",
            "validating toolkit installation",
            "toolkit is not ready",
            "driver is not ready",
        ),
        one_of(
            r"failed to validate the driver, retrying",
            r"error validating (?:driver|toolkit) installation",
            r"(?<!fs )(?<!gdrcopy )(?<!peermem )\b(?:toolkit|driver) is not ready\b",
        ),
        means("kubernetes-gpu-not-offered", Weight.STATE),
    ),
    Signature(
        (
            "unload nvidia driver kernel modules",
            "resolve linux kernel version",
            "failed to load nvidia driver",
            "locate linux kernel version",
        ),
        one_of(
            r"Could not unload NVIDIA driver kernel modules, driver is in use",
            r"Could not (?:resolve|locate) Linux kernel version(?: string)?",
            r"Failed to load nvidia driver",
        ),
        _driver_module,
    ),
    Signature(
        ("compatible vgpu driver", "guest driver is incompatible", "incompatible guest/host drivers"),
        one_of(
            r"cannot find match for compatible vgpu driver from available list",
            r"Guest driver is incompatible with host driver",
            r"Incompatible Guest/Host drivers",
        ),
        means("vgpu-guest-driver"),
    ),
    Signature(
        ("mig-strategy", "migenabled", "no mig devices configured", "mig devices found", "migdevice"),
        one_of(
            r"device \S{1,60} has no MIG devices configured",
            r"all devices on the node must be configured with the same migEnabled value",
            r"at least one device with migEnabled=true was not configured correctly",
            r"No MIG devices (?:were )?found",
            r"more than one MIG device type present on node",
            r"Invalid configuration detected for mig-strategy=single",
        ),
        means("mig-without-instance", Weight.STATE),
    ),
    Signature(
        ("mig mode change did not take effect", "gpu reset capabilities are not available", "in use by another client"),
        one_of(
            r"MIG mode change did not take effect after rebooting",
            r"GPU reset capabilities are not available",
            r"(?:MIG|Mig)[^\n]{0,80}In use by another client",
        ),
        means("mig-mode", Weight.STATE),
    ),
    Signature(
        ("dcgm",),
        one_of(
            r"the (?P<library>libdcgm\S{0,20}) library was not found",
            r"(?:libdcgm\.so(?:\.\d)?): cannot open shared object file",
            r"DCGM library could not be found",
            r"Install Data Center GPU Manager \(DCGM\)",
        ),
        _dcgm_library,
    ),
    Signature(
        ("host engine", "hostengine", "nv-hostengine"),
        one_of(
            r"(?:unable|failed|could not|cannot) (?:to )?(?:establish a )?connect(?:ion)?(?: to| with)? (?:the )?(?:remote |DCGM )?"
            r"(?:host ?engine|nv-hostengine)",
            r"[Ee]rror connecting to (?:the )?(?:remote )?(?:host ?engine|nv-hostengine)",
            r"Host engine connection invalid/disconnected",
            r"Both embedded and remote DCGM failed",
            r"nv-hostengine[^\n]{0,60}(?:is not running|not running|command not found)",
        ),
        means("dcgm-not-running"),
    ),
    Signature(("running as non-root",), r"Host engine is running as non-root", means("dcgm-not-running", root="yes")),
    Signature(
        ("serviced by a module of dcgm", "third-party profiling module", "profiling is not supported for this group"),
        one_of(
            r"serviced by a module of DCGM that is not currently loaded",
            r"third-party Profiling module returned an unrecoverable error",
            r"Profiling is not supported for this group of GPUs",
        ),
        means("dcgm-not-running", profiling="yes"),
    ),
    Signature(
        (
            "double-bit ecc",
            "retired page",
            "faulty memory elements",
            "row remapping failed",
            "row remap limit",
            "rows were remapped",
        ),
        one_of(
            r"Detected \d{1,9} volatile double-bit ECC error",
            r"CUDA APIs have indicated that a double-bit ECC error",
            r"\d+ or more retired pages have been detected",
            r"An excess of \d+ retired pages due to DBEs",
            r"pending retired page has been detected",
            r"Found \d+ faulty memory elements on GPU",
            r"uncorrectable memory errors and (?:row remapping failed|\d+ rows were remapped)",
            r"exceeded uncorrectable row remap limit",
        ),
        means("ecc-errors"),
    ),
    Signature(
        ("row remappings are pending", "to recover from a fault"),
        one_of(r"had memory errors and row remappings are pending", r"GPU \d+ requires a reset to recover from a fault"),
        means("gpu-reset-required"),
    ),
    Signature(
        ("thermal violation",),
        r"(?:due to|were) thermal violation|Thermal violations totaling [\d.]+ seconds",
        means("gpu-overheating", Weight.STATE),
    ),
    Signature(
        ("pci link generation", "pci link width"),
        r"is running at PCI link (?:generation \d|width (?P<width>\d{1,2})X), which is below",
        means("pcie-link-degraded", Weight.STATE),
    ),
    Signature(
        ("driver on the denylist", "performance-limiting environment", "cannot open library libnvidia-ml"),
        r"Found driver on the denylist: nouveau",
        means("nouveau-active"),
    ),
)
