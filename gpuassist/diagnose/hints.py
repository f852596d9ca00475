"""What a text says, beside its messages, of where it comes from: WSL, a container, a machine without a driver, one that slept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Meaning, Sign, SignatureInput, passages, sign
from gpuassist.model.fact import Known
from gpuassist.model.paste import Weight

Hint = tuple[tuple[str, ...], str]  # literals in lower case, one of which stands in every wording, and the pattern around them

_WSL: Hint = (
    ("wsl", "microsoft-standard", "-microsoft", "windows subsystem", "docker desktop", "docker-desktop"),
    r"\bwsl ?[12]?\b|microsoft-standard|-microsoft\b|windows subsystem for linux|docker[ -]desktop",
)
_CONTAINER: Hint = (
    ("docker", "podman", "kube", "k8s", "singularity", "apptainer", "enroot", "runc", "container", "lxc", "runpod", "容器"),
    r"\b(?:docker|podman|kubernetes|k8s|kubectl|singularity|apptainer|enroot|runc|containerd|devcontainer|lxc|runpod)\b"
    r"|\bcontainers?\b|/\.dockerenv|容器",
)
_GIVEN: Hint = (
    ("--gpus", "--runtime", "nvidia.com/gpu", "capabilities: [", "--nv", "--device"),
    r"--gpus\b|--runtime[= ]nvidia|nvidia\.com/gpu|capabilities: ?\[\[?gpu|--nv\b|--device[= ]/dev/nvidia",
)
_SLEPT: Hint = (
    ("suspend", "resum", "hibernat", "sleep", "laptop lid", "closing the lid", "休眠", "睡眠", "挂起"),
    r"\bsuspend|\bresum(?:e|ed|ing)\b.{0,40}(?:sleep|suspend|laptop|computer)|\bhibernat|\bsleep(?:ing)? (?:mode|state)|after sleep"
    r"|(?:from|to|went to|woke\w* .{0,20}) sleep\b|laptop lid|closing the lid|休眠|睡眠|挂起",
)
_NO_TOOL: Hint = (
    ("nvidia-smi",),
    r"nvidia-smi: (?:command )?not found|command not found: nvidia-smi|command 'nvidia-smi' not found|unknown command:? ?nvidia-smi"
    r"|['‘]nvidia-smi['’] (?:is not in your path|can be found in the following|is currently not installed|is not a typo)"
    r"|\bno nvidia-smi in \(|no such file or directory: '(?:/\S{1,40}/)?nvidia-smi'|spawn nvidia-smi enoent"
    r"|['‘]nvidia-smi['’]: no such file"
    r"|'nvidia-smi' is not recognized|nvidia-smi: no such file"
    r"|nvidia-smi : 无法将",
)
_COMPAT: Hint = (
    ("compat",),
    r"\bcuda-compat\b|/usr/local/cuda[^\s:]{0,20}/compat\b|forward compat\w* mode|libcuda[^\n]{0,80}/compat/",
)
_MIG: Hint = (
    ("mig devices:", "mig-", "-mig", "mig mode", "mig is", "mig was", "enabled |"),
    r"mig devices:|\bmig-[0-9a-f]{8}|-mig 1\b|\bmig (?:mode|is|was)\b[^\n]{0,20}enabled|\| {10,30}enabled \|",
)
_BLACKWELL: Hint = (
    ("5090", "5080", "5070", "5060", "5050", "blackwell", "gb20", "b200", "b300"),
    r"\brtx (?:pro )?50[5-9]0\b|\b50[5-9]0 ?ti\b|\b50[5-9]0\b(?=,| laptop| with| and|(?m:$))|\bblackwell\b"
    r"|\bgb20[2-7]\b|\bb[23]00\b",
)
_SYSTEM_CONTAINER: Hint = (("lxc", "lxd", "incus", "proxmox", "nspawn"), r"\b(?:lxc|lxd|incus|proxmox|systemd-nspawn)\b")
_SYSTEM_KINDS = frozenset({"lxc", "systemd-nspawn"})
OTHERS: Hint = (
    ("ascend", "torch_npu", "xpu:", "device xpu", "xpu_worker", "xpu backend", "torch_musa", "torch_mlu", "device type='mps"),
    r"\+ascend\b|\btorch_(?:npu|mlu|musa)\b|\bdevice xpu\b|\bxpu:\d|\bxpu_worker\b|\bxpu backend\b|device\(type='mps'",
)
AMD: Hint = (
    ("rocm", "hip ", "hiperror", "/dev/kfd", "zluda", "rocblas", "miopen", "hsa_override"),
    r"\+rocm\d|ROCM used to build PyTorch: \d|\bHIP (?:error|out of memory|runtime)\b|\bhipError\w|\brocminfo\b|\bzluda\b"
    r"|/dev/kfd\b|\brocBLAS error|\bMIOpen(?: Error|\()|HSA_OVERRIDE_GFX_VERSION",
)
_NVIDIA: Hint = (
    ("nvidia", "geforce", "quadro", "nvrm"),
    r"nvidia-smi|\bNVRM:|\b(?:NVIDIA )?(?:GeForce|Quadro|Tesla|RTX A?\d)|\bNVIDIA (?:GPU|driver|Corporation)",
)


def shows(setting: SignatureInput, hint: Hint) -> bool:
    """Whether a text holds a hint; it is looked for once."""
    return bool(passages(setting, *hint, most=1))


def of_amd(setting: SignatureInput) -> bool:
    """Whether it comes from a GPU of AMD, and no NVIDIA GPU is named."""
    if setting.says("zluda"):  # NVIDIA's names on a card of AMD
        return not setting.case.cards
    return shows(setting, AMD) and not setting.case.cards and not shows(setting, _NVIDIA)


def of_another_maker(setting: SignatureInput) -> bool:
    """Whether it comes from an accelerator of somebody else than NVIDIA, and no NVIDIA GPU is named."""
    return of_amd(setting) or (shows(setting, OTHERS) and not setting.case.cards and not shows(setting, _NVIDIA))


def in_wsl(setting: SignatureInput) -> bool:
    """Whether it comes from WSL."""
    return setting.case.wsl or shows(setting, _WSL)


def unless_wsl(problem: str, weight: Weight = Weight.CAUSE) -> Meaning:
    """A message that means this problem, but in WSL that the driver of Windows is not there."""

    def meaning(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
        yield sign("wsl-driver-or-windows" if in_wsl(setting) else problem, weight)

    return meaning


def in_container(setting: SignatureInput) -> bool:
    """Whether it comes from a container, or from starting one."""
    return bool(setting.case.container) or shows(setting, _CONTAINER)


def in_system_container(setting: SignatureInput) -> bool:
    """Whether it comes from a container that runs a whole system: LXC, Incus, systemd-nspawn."""
    return setting.case.container in _SYSTEM_KINDS or shows(setting, _SYSTEM_CONTAINER)


def given_to_container(setting: SignatureInput) -> bool:
    """Whether a container was started with access to the GPU."""
    return shows(setting, _GIVEN)


def slept(setting: SignatureInput) -> bool:
    """Whether the computer was asleep before."""
    return shows(setting, _SLEPT)


def without_driver(setting: SignatureInput) -> bool:
    """Whether the text shows that no driver is installed: its own tool is not there."""
    return shows(setting, _NO_TOOL) and not setting.case.running


def with_compat(setting: SignatureInput) -> bool:
    """Whether a CUDA that brings its own driver library (cuda-compat) is in play."""
    return shows(setting, _COMPAT)


def with_blackwell(setting: SignatureInput) -> bool:
    """Whether a GPU of the Blackwell generation is named, or is in the machine."""
    cards = setting.case.cards
    named = any(card.architecture is not None and "blackwell" in card.architecture.name.lower() for card in cards)
    return named or shows(setting, _BLACKWELL)


def with_mig(setting: SignatureInput) -> bool:
    """Whether a GPU is divided into instances."""
    known = any(card.gpu.mig_enabled.is_true for card in setting.case.cards)
    return known or shows(setting, _MIG)


def card_name(setting: SignatureInput) -> str:
    """The name of the only GPU; empty where there are several or it is not known."""
    cards = setting.case.cards
    return cards[0].name if len(cards) == 1 and isinstance(cards[0].gpu.name, Known) else ""


def driver_version(setting: SignatureInput) -> str:
    """The version of the running driver; empty where it is not known."""
    driver = setting.case.driver
    return str(driver.value) if isinstance(driver, Known) else ""


def torch_cuda(setting: SignatureInput) -> str:
    """The CUDA that torch was built for; empty where that is not known or there are several torches."""
    known = {str(one.torch.cuda.value) for one in setting.case.cuda_torches if isinstance(one.torch.cuda, Known)}
    return known.pop() if len(known) == 1 else ""
