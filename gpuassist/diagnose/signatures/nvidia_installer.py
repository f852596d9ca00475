"""What NVIDIA's own installers say: the driver's `.run` file (nvidia-installer, every release since 1.0) and the CUDA runfile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from msgspec import Struct

from gpuassist.diagnose.hints import card_name, driver_version
from gpuassist.diagnose.signature import Meaning, Sign, Signature, SignatureInput, means, sign
from gpuassist.diagnose.signatures.kernel_module import build_failed
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import Text, text

_SLOT = "…"
# What says that the modules were built, so that a module which then does not load is not one that does not build.
_BUILT = (
    "kernel module compilation complete",
    "module linked successfully",
    "module unpacked successfully",
    "building kernel modules: [##############################] 100%",
    "kernel module load error",
    "required key not available",
    "key was rejected",
    "module verification failed",
)


_MODULE = lazy_regex(r"'(nvidia[\w-]{0,12})'")


class Message(Struct, frozen=True):
    """A message as the installers have it, `…` where they put a name or a number in, and what it says."""

    words: str
    says: str


def _loaded(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    named = _MODULE.search(match[0])
    yield sign("module-already-loaded", Weight.CAUSE, module=named[1] if named else "")


def _display(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says("nvidia", "cuda"):
        yield sign("module-already-loaded", Weight.CAUSE, display="yes")


def _not_loaded(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The module was built, and the kernel does not take it: unsigned, nouveau, no card for it. The kernel's words decide."""
    if setting.says(*_SIGNING):
        yield sign("driver-not-loaded", Weight.ASIDE, built="yes")
        return
    yield sign("driver-not-loaded", Weight.STATE, built="yes")
    if not setting.says(*_BUILT):
        yield sign("dkms-build-failed", Weight.ASIDE)


def _other_compiler(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    for one in build_failed(match, setting):
        yield sign(one.problem, Weight.STATE, **dict(one.parameters), compiler="yes")


def _not_registered(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    for one in build_failed(match, setting):
        yield sign(one.problem, Weight.STATE, **dict(one.parameters))


_SIGNING = ("not signed by a key", "required key not available", "key was rejected")


def _flavour(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """`The 'open' kernel modules are incompatible with the GPU(s) detected`."""
    gpu, driver = card_name(setting), driver_version(setting)
    if "'open'" in match[0].lower():
        yield sign("open-module-unsupported-gpu", Weight.CAUSE, gpu=gpu, driver=driver)
    else:
        yield sign("open-module-required", Weight.CAUSE, gpu=gpu, driver=driver)


def _mixed(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
    yield sign("open-module-required", Weight.CAUSE, mixed="yes")


def _elsewhere(cause: Text | None = None, cause_id: str = "") -> Meaning:
    def meaning(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
        yield sign("not-a-gpu-problem", Weight.STATE, cause_id=cause_id, **({"cause": cause} if cause else {}))

    return meaning


_MEANINGS: dict[str, Meaning] = {
    "a module is loaded": _loaded,
    "a desktop runs": _display,
    "nouveau": means("nouveau-active"),
    "no kernel headers": means("kernel-headers-missing"),
    "does not build": build_failed,
    "other compiler": _other_compiler,
    "no compiler": means("dkms-build-failed", tools="yes"),
    "not registered": _not_registered,
    "does not load": _not_loaded,
    "not signed": means("secure-boot-unsigned-module"),
    "cannot sign": means("secure-boot-unsigned-module", Weight.STATE),
    "packages hold a driver": means("apt-nvidia-package-conflict", installer="yes"),
    "packages may hold one": means("apt-nvidia-package-conflict", Weight.STATE, installer="yes"),
    "modules of another release": means("driver-library-mismatch"),
    "was altered": means("driver-installed-twice", Weight.STATE),
    "no driver": means("no-driver"),
    "legacy": means("legacy-driver-branch-needed", gpu=card_name, driver=driver_version),
    "flavour": _flavour,
    "both flavours": _mixed,
    "some cannot be open": means("open-module-unsupported-gpu", Weight.STATE),
    "stopped": means("module-already-loaded", Weight.CONSEQUENCE, unsure="yes"),
    "old compiler": means("nvcc-host-gcc-too-new", Weight.STATE),
    "other processor": _elsewhere(text("the file is for another kind of processor or system")),
    "no root": _elsewhere(text("the installer was started without administrator rights")),
    "no room": _elsewhere(cause_id="disk"),
    "no room or damaged": _elsewhere(text("/tmp has no room for what the installer unpacks, or its file is damaged")),
    "damaged": _elsewhere(text("the installer's file is incomplete or damaged; download it again")),
    "read only": _elsewhere(text("the installer is not allowed to write where it has to")),
    "no gcc": _elsewhere(text("the installer finds no compiler; install gcc and make")),
    "harmless": _elsewhere(text("it is only a warning; the installer continues")),
}

MESSAGES = tuple(
    Message(words, says)
    for says, every in (
        (
            "a module is loaded",
            "NVIDIA kernel module '…' appears to already be loaded|NVIDIA kernel module '…' appears to be already loaded"
            "|Continuing installation despite the presence of a loaded NVIDIA kernel module|Unable to unload the '…' kernel module"
            "|close any programs which may be using the NVIDIA GPU",
        ),
        (
            "a desktop runs",
            "You appear to be running an X server|and appears to contain the process ID '…' of a running X server"
            "|It appears that an X server is running|Installing the NVIDIA driver while X is running is not recommended"
            "|exists... an X server appears to be running",
        ),
        (
            "nouveau",
            "The Nouveau kernel driver is currently in use by your system"
            "|modprobe configuration files to disable Nouveau are already present|to disable Nouveau, is already present"
            "|modprobe configuration files to disable Nouveau have been written|Please disable Nouveau manually"
            "|Nouveau can usually be disabled by adding files|Nouveau can be disabled by adding a file"
            "|potential installation problems while Nouveau is loaded|Unable to alter the nouveau modprobe configuration"
            "|Proceeding with installation despite the presence of Nouveau|Nouveau detected in initramfs"
            "|Your kernel was configured to include rivafb support|Your kernel was configured to include nvidiafb support",
        ),
        (
            "no kernel headers",
            "Unable to find the kernel source tree|unable to locate the kernel source|The kernel source path '…' is invalid"
            "|kernel source path '…' does not exist|Invalid kernel source path|The kernel header file '…' does not exist"
            "|Neither the '…' nor the '…' kernel header file exists|The kernel output path '…' does not exist"
            "|Unable to determine the version of the kernel sources|make sure you have installed the kernel source files",
        ),
        (
            "does not build",
            "Unable to build the … kernel module|Unable to build the NVIDIA kernel module|The … kernel module failed to build"
            "|The … kernel module was not created|The NVIDIA … module was not created|kernel module interface was not created"
            '|error occurred while performing the step: "Building kernel modules"'
            '|error occurred while performing the step: "Checking to see whether'
            '|error occurred while performing the step: "Cleaning kernel module build directory"'
            "|Unable to link kernel module|Failed to link a kernel module for signing"
            "|Failed to install the kernel module through DKMS|The kernel you are installing for is a Xen kernel",
        ),
        (
            "other compiler",
            "Compiler version check failed|The CC version check failed|The CC sanity check failed|The cc_version_check sanity check"
            "|gcc-version-check failed|Failed CC version check|Failed CC sanity check|Ignoring CC version mismatch",
        ),
        (
            "no compiler",
            "Unable to find the development tool|You do not appear to have libc header files installed"
            "|Unable to find the system utility `…`|Unable to find the module utility `…`",
        ),
        (
            "not registered",
            "Failed to register the NVIDIA kernel modules with DKMS|Failed to find dkms on the system"
            "|Failed to remove installed DKMS module|Failed to create a DKMS tarball",
        ),
        (
            "does not load",
            "Unable to load the kernel module|Unable to load the '…' kernel module|The … kernel module failed to load"
            "|Kernel module load error|An error was encountered when loading the kernel module",
        ),
        (
            "not signed",
            "because it was not signed by a key that is trusted by the kernel|failed to load. Secure boot is enabled on this system"
            "|because the kernel does not trust any key which is capable of verifying",
        ),
        (
            "cannot sign",
            "nvidia-installer cannot sign|The installer cannot sign|The installer was unable to sign"
            "|Failed to sign precompiled kernel module|Unable to generate key pair|Failed to generate key pair"
            "|The target kernel has CONFIG_MODULE_SIG_FORCE set",
        ),
        (
            "packages hold a driver",
            "installed previously using a different installer|presence of an alternate driver installation"
            "|kernel modules with version … are already installed for the|DKMS kernel module with version … is already installed",
        ),
        (
            "packages may hold one",
            "Existing package manager installation of the driver found|An alternate method of installing the NVIDIA driver"
            "|rpm appears to already be installed on your system",
        ),
        ("modules of another release", "The existing driver installation is …, but the kernel module"),
        (
            "was altered",
            "installation has been altered since it was originally installed|The runtime configuration check failed for",
        ),
        (
            "no driver",
            "No NVIDIA driver is currently installed; the|There is no NVIDIA driver currently installed"
            "|Unable to find any installed NVIDIA driver",
        ),
        ("legacy", "GPUs are supported through NVIDIA legacy Linux graphics drivers"),
        ("flavour", "The '…' kernel modules are incompatible with the GPU"),
        ("both flavours", "This system requires the open GPU kernel modules, but contains GPUs which are not"),
        (
            "some cannot be open",
            "The open GPU kernel modules are supported on some GPUs in this system, and unsupported on others",
        ),
        (
            "stopped",
            "Installation has failed. Please see the file '…'|Install of driver component failed|Install of … failed, quitting"
            "|Installation failed. See log at /var/log/cuda-installer.log|Consult the driver log at /var/log/nvidia-installer.log"
            "|The driver installation has failed due to an unknown error|Please consult the driver installation log located at",
        ),
        ("old compiler", "unsupported compiler version: …. Use --override|Error: unsupported compiler: …. Use --override"),
        ("no gcc", "Failed to verify gcc version|Missing gcc. gcc is required to continue"),
        ("other processor", "this .run file is intended for the … platform, but you appear"),
        ("no root", "nvidia-installer must be run as root"),
        (
            "no room",
            "Disk space check has failed|Not enough space on parition mounted at|boost::filesystem::…: No space left on device",
        ),
        ("no room or damaged", "Ensure there is enough space in /tmp and that the installation package is not corrupt"),
        (
            "damaged",
            "does not appear to be a valid precompiled kernel interface|Failed to unpack the precompiled|Error in MD5 checksums:"
            "|Failure opening package's .manifest file|Invalid .manifest file|Error in check sums",
        ),
        ("read only", "Unable to create '…' for copying|Failed to create the directory '…'!|Unable to backup file '…'"),
        (
            "harmless",
            "Unable to find a suitable destination to install 32-bit compatibility libraries"
            "|nvidia-installer was forced to guess the X library path|no Vulkan ICD loader was detected on this system"
            "|Unable to determine the path to install the libglvnd EGL vendor library"
            "|An incomplete installation of libglvnd was found|The distribution-provided pre-install script failed"
            "|Skipping the runlevel check|Missing recommended library: lib",
        ),
    )
    for words in every.split("|")
)


def _pattern(words: str) -> str:
    return r"[^'\n`\"]{1,160}".join(map(_escaped, words.split(_SLOT)))


def _escaped(piece: str) -> str:
    return re.escape(piece).replace(r"\ ", " ")


def _literal(words: str) -> str:
    """The longest of its pieces without a name in it."""
    return max(words.split(_SLOT), key=len).strip().lower()


def _signatures() -> Iterator[Signature]:
    for says, group in groupby(MESSAGES, key=lambda message: message.says):
        every = [message.words for message in group]
        literals = tuple(dict.fromkeys(map(_literal, every)))
        yield Signature(literals, f"(?:{'|'.join(map(_pattern, every))})", _MEANINGS[says], 400)


SIGNATURES = tuple(_signatures())
