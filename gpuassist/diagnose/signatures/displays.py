"""What programs that draw or film say when NVIDIA's driver does not serve them: X, OpenGL, Vulkan, EGL, NVENC, Bumblebee."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import card_name, driver_version, in_container, in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.model.paste import Weight

_OF_OTHERS = ("amd", "radeon", "radv", "intel", "mesa", "llvmpipe", "lavapipe", "mali", "adreno", "moltenvk", "macos")
_OF_NVIDIA = ("nvidia", "geforce", "rtx ", "gtx ", "quadro", "prime-run", "optirun", "cuda")


def _no_screen(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """X's own last words, of any card."""
    if setting.says("(ee) nvidia", "nvidia_drv.so", "nvidia(0)", 'driver "nvidia"', "nvidia-modeset"):
        yield sign("driver-not-loaded", Weight.CONSEQUENCE)


def _old_for_video(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """ffmpeg names the interface that it was built for, and the driver that brings it."""
    found = match.groupdict()
    needed = next((value for name, value in found.items() if name.startswith("needed") and value), "")
    yield sign("driver-too-old-for-cuda", Weight.CAUSE, video="yes", needed=needed, driver=driver_version(setting))


def _graphics_library(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A loader that finds no driver of NVIDIA's; in a container the libraries for graphics are asked for by name."""
    if in_wsl(setting) or (setting.says(*_OF_OTHERS) and not setting.says(*_OF_NVIDIA)):
        return
    contained = "yes" if in_container(setting) else ""
    yield sign("graphics-library-missing", Weight.STATE, container=contained)
    if not setting.case.running:
        yield sign("driver-not-loaded", Weight.CONSEQUENCE)


def _offload(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The X server has no screen of NVIDIA's that a program could be handed to."""
    if setting.says("__nv_prime_render_offload", "prime-run", "__glx_vendor_library_name"):
        yield sign("hybrid-graphics-prime", Weight.STATE, offload="yes")


def _second_gpu(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Bumblebee starts a second X server on the NVIDIA card, and tells what that said."""
    said = match[0].lower()
    if "no discrete" in said:
        yield sign("no-nvidia-gpu", Weight.STATE)
    elif any(words in said for words in ("load gpu driver", "kernel module", "module '", "module nvidia")):
        yield sign("driver-not-loaded", Weight.STATE)
        yield sign("hybrid-graphics-prime", Weight.ASIDE, bumblebee="yes")
    elif "permission" in said:
        yield sign("device-permissions", Weight.STATE)
    else:
        yield sign("hybrid-graphics-prime", Weight.STATE, bumblebee="yes")


def _device_file(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    reason = match["reason"].lower()
    if in_wsl(setting):
        return
    if "permission" in reason or "operation not permitted" in reason:
        yield sign("device-permissions", Weight.CAUSE)
    elif "no such" in reason:
        yield sign("driver-not-loaded", Weight.STATE)
    else:
        yield sign("rm-init-adapter-failed", Weight.STATE, gpu=card_name(setting))


SIGNATURES = (
    Signature(
        ("failed to initialize the nvidia kernel module", "failed to load the nvidia kernel module"),
        r"NVIDIA(?:\(\w[\w-]{0,6}\))?: Failed to (?:initialize|load) the NVIDIA kernel module",
        means("driver-not-loaded", Weight.STATE),
        200,
    ),
    Signature(
        ("failed to initialize the nvidia graphics device", "failed to initialize the nvidia gpu at", "receiving interrupts"),
        r"NVIDIA\(\w[\w-]{0,6}\): (?:Failed to initialize the NVIDIA (?:graphics device|GPU at)"
        r"|The NVIDIA kernel module does not appear to be receiving interrupts)",
        means("rm-init-adapter-failed", Weight.STATE, gpu=card_name),
        200,
    ),
    Signature(
        ('load module "nvidia"', 'load module \\"nvidia'),
        r"Failed to load module \\?\"nvidia\\?\" \(module does not exist",
        means("no-driver", Weight.CONSEQUENCE),
        200,
    ),
    Signature(
        ("could not open the device file",),
        r"could not open the device file /dev/nvidia\w{0,12} \((?P<reason>[^)\n]{4,60})\)",
        _device_file,
        200,
    ),
    Signature(("no screens found",), r"\(EE\) no screens found|no screens found\(EE\)", _no_screen, 100),
    Signature(
        ("nvenc api", "required nvidia driver for nvenc", "nvenc is not supported by the driver"),
        r"Driver does not support the required nvenc API version\. Required: (?P<wanted>\d{1,2}\.\d) Found: (?P<found>\d{1,2}\.\d)"
        r"(?:[^\n]{0,80}\n[^\n]{0,80}minimum required Nvidia driver for nvenc is (?P<needed>\d{3}\.[\d.]{1,6}\d))?"
        r"|minimum required Nvidia driver for nvenc is (?P<needed2>\d{3}\.[\d.]{1,6}\d)"
        r"|Required: NVENC API \d{1,2}\.\d\s+Found: \d{1,2}\.\d"
        r"(?:\s+Minimum required Nvidia driver is (?P<needed3>\d{3}\.[\d.]{0,6}\d))?",
        _old_for_video,
        400,
    ),
    Signature(
        ("incompatible_driver", "no vulkan icd", "vulkan icd", "nvidia_icd.json", "vkcreateinstance", "no vulkan-capable"),
        r"VK_ERROR_INCOMPATIBLE_DRIVER|(?:no|find a)(?: valid| compatible)? Vulkan (?:ICD|installable client driver)"
        r"|vkCreateInstance(?:\(\))?:? (?:failed|returned|Found no drivers)|nvidia_icd\.json[^\n]{0,80}(?:not found|No such file"
        r"|does not exist)|loader_icd_scan[^\n]{0,120}nvidia|libGLX_nvidia\.so\.0: cannot open shared object",
        _graphics_library,
        300,
    ),
    Signature(
        ("libglx_nvidia", "libegl_nvidia", "libnvidia-glcore", "libnvidia-eglcore", "libnvidia-glvkspirv", "libnvoptix"),
        r"lib(?:GLX_nvidia|EGL_nvidia|nvidia-glcore|nvidia-eglcore|nvidia-glvkspirv|nvoptix|nvidia-rtcore)\.so[\d.]{0,12}:"
        r" (?:cannot open shared object|wrong ELF class)",
        _graphics_library,
        300,
    ),
    Signature(
        ("glxchoosevisual", "x_glxcreatenewcontext", "x error of failed request", "rgb, double-buffered"),
        r"X Error of failed request: {1,3}(?:Bad(?:Value|Match|Alloc)|GLXBad(?:FBConfig|Context))[^\n]{0,120}\n[^\n]{0,60}\(GLX\)"
        r"|couldn't get an RGB, Double-buffered visual|glXChooseVisual (?:failed|returned)",
        _offload,
        500,
    ),
    Signature(
        (
            *("cannot access secondary gpu", "bumblebee daemon", "could not enable discrete graphics card"),
            *("no discrete video card found", "bumblebeed["),
        ),
        r"Cannot access secondary GPU[^\n]{0,200}|The Bumblebee daemon has not been started yet"
        r"|You've no permission to communicate with the Bumblebee daemon|Could not enable discrete graphics card"
        r"|No discrete video card found, quitting|Module '?nvidia\S{0,10}'? (?:is not found|could not be loaded)",
        _second_gpu,
        300,
    ),
)
