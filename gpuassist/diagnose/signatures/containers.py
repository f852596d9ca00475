"""What docker, podman, compose, Kubernetes and NVIDIA's container tools say when a container cannot have the GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import (
    driver_version,
    given_to_container,
    in_container,
    in_system_container,
    in_wsl,
    unless_wsl,
)
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.knowledge.compatibility import driver_serves_cuda
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

_IMAGE = lazy_regex(r"(?<![\w/.-])((?:[\w.-]+/){0,4}(?:cuda|pytorch|tensorflow|tensorrt|[\w-]{2,40}):[\w.-]*\d[\w.-]{2,60})")
_RUN = lazy_regex(r"(?:docker|podman) (?:container )?run\b[^\n]{0,300}")


def _unsatisfied(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Inside one CUDA major a driver runs what a newer toolkit built, and only the check is in the way."""
    needed, driver = match.groupdict().get("needed") or "", driver_version(setting)
    cuda, running = version_in(needed) if needed else None, version_in(driver) if driver else None
    other = cuda is not None and running is not None and not driver_serves_cuda(running, cuda)
    yield sign(
        "container-driver-too-old",
        Weight.CAUSE,
        needed=needed,
        driver=driver,
        image=_image(setting),
        other_major="yes" if other else "",
    )


def _node_missing(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """A list of devices (CDI) that names a card which is there no more is old; its nodes for memory are made on demand."""
    said = match[0].lower()
    if "cdi" in said and "uvm" not in said and "nvidiactl" not in said:
        yield sign("container-cdi-stale", Weight.STATE)
    else:
        yield sign("uvm-device-missing" if "uvm" in said else "driver-not-loaded", Weight.STATE)


def _not_started(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """What NVML or CUDA answered on the host, before there was a container."""
    said = match[0].lower()
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    elif "insufficient permissions" in said:
        yield sign("container-lxc-devices" if in_system_container(setting) else "device-permissions", Weight.CAUSE)
    elif "gpu is lost" in said:
        yield sign("xid-79-gpu-fell-off-bus", Weight.CAUSE, handle="yes")
    else:
        if "cuda error: unknown" in said:
            missing = setting.says("/dev/nvidiactl") and not setting.says("nvidia-uvm", "nvidia_uvm")
            yield sign("uvm-device-missing", Weight.CAUSE if missing else Weight.ASIDE)
        yield sign("cuda-init-failed-driver-state", Weight.STATE)


def _rules_refused(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Who is not root outside of all containers may not change the rules of devices."""
    yield sign("container-lxc-devices" if in_system_container(setting) else "device-permissions", Weight.STATE, rules="yes")


def _without_list(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
    yield sign("container-toolkit-missing", Weight.CAUSE, cdi="yes")


def _mounted(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Packages cannot replace files that the container toolkit has mounted from the host."""
    if in_container(setting) and setting.says("dpkg", "rpm", "unpacking", "apt", "yum", "dnf"):
        yield sign("container-driver-files-mounted", Weight.CAUSE)


def _run_without(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A container that was not given the GPU, and a program in it that finds none."""
    none = setting.says("is_available()", "is cuda available: false") and setting.says("false")
    if none and not given_to_container(setting):
        yield sign("container-no-gpu-flag", Weight.STATE)


def _image(setting: SignatureInput) -> str:
    """The image that the text names in its docker run line; empty where it names none."""
    run = setting.finds(_RUN)
    image = _IMAGE.search(run[0]) if run else None
    return image[1] if image else ""


SIGNATURES = (
    Signature(
        ("could not select device driver",),
        r"could not select device driver (?:\\?[\"'](?:nvidia|cdi)?\\?[\"'] )?with capabilities: \[\[[^\]\n]{1,60}\]\]",
        means("container-toolkit-missing"),
    ),
    Signature(
        (
            "runtime name: nvidia",
            "unknown runtime specified nvidia",
            "runtime specified nvidia",
            'runtime "nvidia"',
            'runtime \\"nvidia',
            'runtime for "nvidia"',
            'runtime for \\"nvidia',
        ),
        r"(?:unknown or invalid runtime name: nvidia|Unknown runtime specified nvidia|runtime \\?\"nvidia\\?\" (?:not found|is not)"
        r"|no runtime for \\?\"nvidia\\?\" is configured)",
        means("container-toolkit-missing"),
    ),
    Signature(
        ("nvidia-container-runtime", "nvidia-container-cli", "nvidia-container-toolkit", "nvidia-docker"),
        r"(?:nvidia-container-(?:runtime(?:-hook)?|cli|toolkit)\\?[\"']?: (?:executable file not found|no such file or directory"
        r"|command not found)|nvidia-container-(?:runtime(?:-hook)?|cli): (?:not found|command not found)"
        r"|couldn't find binary nvidia-container-(?:cli|runtime) in PATH"
        r"|Unable to locate package nvidia-(?:container-toolkit|docker2?|container-runtime)"
        r"|No match for argument: nvidia-(?:container-toolkit|docker2?)|nvidia-docker: command not found)",
        means("container-toolkit-missing"),
    ),
    Signature(
        ("runtime hook directly",),
        r"invoking the NVIDIA Container Runtime Hook directly[^\n]{0,60} is not supported",
        means("container-toolkit-missing", Weight.STATE),
    ),
    Signature(
        ("libraries for driver version", "versioned driver libraries"),
        r"failed to (?:locate|get) (?:libraries for driver version|versioned driver libraries)",
        unless_wsl("libcuda-missing", Weight.STATE),
    ),
    Signature(
        ("no nvidia device nodes", "wsl driver store paths"),
        r"no NVIDIA device nodes found|could not locate \S{1,60} at WSL driver store paths",
        unless_wsl("driver-not-loaded", Weight.STATE),
    ),
    Signature(
        ("configure the nvidia container toolkit", "incompatible platform detected", "incompatible strategy detected"),
        r"(?:did you configure the NVIDIA Container Toolkit|Incompatible (?:platform|strategy) detected)",
        means("container-toolkit-missing", Weight.STATE),
    ),
    Signature(
        (
            "unresolvable cdi devices",
            "cdi device injection failed",
            "failed to inject cdi devices",
            "could not resolve cdi",
            "nvidia.com/gpu=",
            "gpu vendor from cdi",
            "found 0 cdi devices",
        ),
        r"(?:unresolvable CDI devices? [^\n]{0,60}nvidia|CDI device injection failed[^\n]{0,80}nvidia"
        r"|failed to inject CDI devices[^\n]{0,80}nvidia|failed to discover GPU vendor from CDI|Found 0 CDI devices"
        r"|(?:stat|adding custom device) \\?\"?nvidia\.com/gpu=[\w:-]{1,60}\\?\"?: no such file)",
        _without_list,
    ),
    Signature(
        (
            "volume plugin nvidia-docker",
            "unknown flag: --gpus",
            "unknown option: --gpus",
            "unknown flag: --gpu",
        ),
        r"(?:looking up volume plugin nvidia-docker"
        r"|unknown (?:flag|option): --gpus?(?![\w-]))",
        means("container-toolkit-missing", Weight.STATE),
    ),
    Signature(
        ("unsatisfied condition",),
        r"unsatisfied condition: (?:cuda ?>=? ?(?P<needed>\d{1,2}\.\d{1,2})|(?:driver|brand|arch) ?[<>=]{1,2} ?[\w.]{1,20})",
        _unsatisfied,
    ),
    Signature(
        ("unsupported cuda version: driver",),
        r"unsupported CUDA version: driver \d{1,2}\.\d < image (?P<needed>\d{1,2}\.\d)",
        _unsatisfied,
    ),
    Signature(
        ("supported in this version of the container", "not supported by this container", "supported by this container"),
        r"Detected NVIDIA (?P<gpu>[\w .-]{3,60}?) GPU, which (?:may not yet be|is not(?: yet)?) supported (?:in|by) this"
        r" (?:version of the )?container",
        means("torch-lacks-sm", Weight.STATE),
    ),
    Signature(
        ("this container was built for",),
        r"This container was built for (?:NVIDIA )?(?:CUDA )?Driver Release [\d.]{3,10} or later,\s{1,12}but\s{1,12}version"
        r" (?P<driver>[\d.]{3,12}\d)[^\n]{0,60}(?:\s{1,12}mode is UNAVAILABLE)?",
        means("container-driver-too-old", image=_image),
    ),
    Signature(
        (
            "nvidia driver was not detected",
            "failed to detect nvidia driver version",
            "run this container with nvidia-docker",
            "use the nvidia container toolkit to start",
        ),
        r"(?:NVIDIA Driver was not detected|Failed to detect NVIDIA driver version"
        r"|Use the NVIDIA Container Toolkit to start this container with GPU support)",
        means("container-no-gpu-flag"),
    ),
    Signature(
        ("load library failed",),
        r"load library failed: libnvidia-ml\.so(?:\.1)?: cannot open shared object file",
        unless_wsl("no-driver"),
    ),
    Signature(
        ("initialization error",),
        r"initialization error: nvml error: (?:driver not loaded|driver is not loaded|no devices? found)",
        unless_wsl("driver-not-loaded"),
    ),
    Signature(
        ("initialization error", "detection error", "driver rpc error", "driver error"),
        r"nvidia-container-cli: (?:initialization error: (?:cuda error: [^\n]{3,60}|driver (?:rpc )?error: [^\n]{3,60}|nvml error: "
        r"(?:unknown error|gpu is lost|insufficient permissions))|detection error: [^\n]{3,80})",
        _not_started,
    ),
    Signature(
        ("file exists",),
        r"nvidia-container-cli: mount error: (?:file creation failed|failed to (?:create|add)[^\n:]{0,40}): \S{5,300}"
        r"(?:libnvidia|libcuda|nvidia-smi|nvidia-)\S{0,60}: file exists",
        means("container-driver-files-mounted"),
    ),
    Signature(
        ("invalid cross-device link", "device or resource busy"),
        r"(?:nvidia|libcuda|libnvidia)[^\n]{0,160}(?:Invalid cross-device link|Device or resource busy)",
        _mounted,
    ),
    Signature(
        ("device error:",),
        r"nvidia-container-cli: device error: (?:unknown device(?: id)?: ?(?P<ordinal>\d{1,2})?|[\w-]{1,60}: unknown device)",
        means("cuda-visible-devices-bad"),
    ),
    Signature(
        ("docker run", "podman run", "docker exec", "podman exec", "docker container", "podman container"),
        r"(?:docker|podman) (?:container )?(?:run|exec)\b[^\n]{0,200}",
        _run_without,
    ),
    Signature(
        ("cgroup subsystem devices not found", "open failed: /sys/fs/cgroup/devices", "ldcache error"),
        r"(?:cgroup subsystem devices not found|nvidia-container-cli: ldcache error: [^\n]{3,80}"
        r"|open failed: /sys/fs/cgroup/devices(?!\S{0,200}: permission denied))",
        means("container-toolkit-missing", Weight.STATE),
    ),
    Signature(
        ("bpf_cgroup_device", "failed to get device cgroup", "bpf_prog_query", "devices.allow:", "failed to add device rules"),
        r"(?:bpf_prog_query\(BPF_CGROUP_DEVICE\) failed|failed to get device cgroup mount path"
        r"|(?:failed to add device rules: write|open failed:) /sys/fs/cgroup\S{1,300}:"
        r" (?:operation not permitted|permission denied))",
        _rules_refused,
    ),
    Signature(
        ("/dev/nvidia", "failed to stat cdi host device"),
        r"(?:adding custom device \\?\"/dev/nvidia[\w-]{1,12}\\?\": no such file|(?:l?stat"
        r"|cannot stat `?) ?/dev/nvidia[\w-]{1,12}`?: no such file"
        r"|failed to stat CDI host device \\?\"/dev/(?:nvidia|dri/)[\w-]{1,12}\\?\""
        r"|can't stat gres\.conf file /dev/nvidia\d{1,2}: no such|waiting for gres\.conf file /dev/nvidia\d{1,2}"
        r"|error stat'?ing? [^\n]{0,20}/dev/nvidia[\w-]{1,12}: no such file"
        r"|mknod[^\n]{0,60}/dev/nvidia[\w-]{1,12}[^\n]{0,40}(?:no such|not permitted))",
        _node_missing,
    ),
    Signature(  # Singularity and Apptainer with --nv
        ("could not find any nv",),
        r"Could not find any (?:nv files|nv libraries|nv binaries|NVIDIA (?:libraries|binaries))(?: on this host)?",
        means("no-driver", Weight.STATE),
    ),
    Signature(
        ("additional properties are not allowed", "unsupported config option"),
        r"(?:reservations value )?Additional properties are not allowed \('(?:devices|runtime|gpus)' was unexpected\)"
        r"|Unsupported config option for services[^\n]{0,60}'(?:runtime|deploy|gpus)'",
        means("container-no-gpu-flag", Weight.STATE),
    ),
)
