"""What the next start brings: the kernel that starts then, and whether NVIDIA's driver is ready for that one.

Of several kernels the next alone is looked at closely. Where it is the one that runs, `detect.driver` has read its modules.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.detect import deployments
from gpuassist.detect.boot_choice import BootChoice, chosen, newest_first
from gpuassist.detect.deployments import WaitingDeployment
from gpuassist.detect.driver import blocks_in_files
from gpuassist.detect.installed_kernels import installed_kernels
from gpuassist.detect.module_builds import builds_of, services_that_build
from gpuassist.detect.modules_on_disk import RELEASE, base_of, module_paths, modules_of
from gpuassist.detect.small_files import made, read, unreadable
from gpuassist.formats.kernel_module import forbidden_by_command_line
from gpuassist.model.driver import KernelModule, ModuleBlock
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Host
from gpuassist.model.next_start import BuildState, ChosenBy, EarlyImage, ModuleBuild, NextStart
from gpuassist.model.text import text
from gpuassist.system.clock import iso_of
from gpuassist.system.files import Files
from gpuassist.system.world import World

_NOUVEAU = "nouveau"
_NOUVEAU_FILE = "kernel/drivers/gpu/drm/nouveau/nouveau.ko*"
_NIXOS = "/run/current-system/kernel"
_SNAPSHOTS = "/usr/sbin/transactional-update"
_MOUNTS = "/proc/self/mountinfo"
_READ_ONLY_ROOT = lazy_regex(r"\d+ \d+ \S+ \S+ / ro[ ,]")  # proc(5): the fifth field is the place, the sixth its options
# What packages of Debian and Ubuntu leave for whoever restarts (update-notifier, unattended-upgrades).
_REQUIRED = ("/run/reboot-required", "/run/reboot-required.pkgs")
_KEYS = "/sys/firmware/efi/efivars/MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23"  # shim's copy of the enrolled keys
_KEYS_AT_MOST_BYTES = 1 << 20
_LINES_AT_MOST = 100
# Whose files say that NVIDIA's modules are taken into the early boot image: mkinitcpio.conf(5), dracut.conf(5), initramfs-tools(7).
_TAKEN = (
    ("/etc/mkinitcpio.conf", lazy_regex(r"(?m)^\s*MODULES\+?=[^#\n]*\bnvidia")),
    ("/etc/mkinitcpio.conf.d/*.conf", lazy_regex(r"(?m)^\s*MODULES\+?=[^#\n]*\bnvidia")),
    ("/etc/dracut.conf", lazy_regex(r"(?m)^\s*(?:add|force)_drivers\+?=[^#\n]*\bnvidia")),
    ("/etc/dracut.conf.d/*.conf", lazy_regex(r"(?m)^\s*(?:add|force)_drivers\+?=[^#\n]*\bnvidia")),
    ("/usr/lib/dracut/dracut.conf.d/*.conf", lazy_regex(r"(?m)^\s*(?:add|force)_drivers\+?=[^#\n]*\bnvidia")),
    ("/etc/initramfs-tools/modules", lazy_regex(r"(?m)^\s*nvidia")),
)
_SECOND = 1.0
# A file that was copied with its times, as from a backup, was changed (st_ctime) later than it was written (st_mtime).
_WRITTEN_IN_PLACE_SECONDS = 60.0


def probe(world: World) -> NextStart:
    files = world.files
    running = read(files, RELEASE)
    if isinstance(running, Unknown):
        return NextStart(kernel=running)
    deployment = deployments.waiting(files) if files.exists(deployments.BOOTED) else Known((), deployments.BOOTED)
    gone = Known(not base_of(files, running.value), f"/lib/modules/{running.value}")
    found = NextStart(
        deployment=made(deployment, lambda waits: waits[0].name if waits else ""),
        modules_gone=gone,
        restart_packages=_packages(files),
        built_at_start=services_that_build(files),
    )
    if isinstance(deployment, Unknown):
        return replace(found, kernel=deployment)
    if deployment.value:
        return _of_deployment(world, found, deployment.value[0], deployment.source)
    hidden = _hidden(files)
    kernels = installed_kernels(files) if hidden is None else hidden
    if isinstance(kernels, Unknown):
        return replace(found, kernel=kernels)
    choice = chosen(files, kernels.value, running.value)
    release = choice.kernel.release
    builds = builds_of(files, release)
    base = base_of(files, release)
    modules = modules_of(world, release) if release != running.value else NOT_ASKED
    return replace(
        found,
        kernel=Known(release, choice.source),
        chosen_by=Known(choice.by, choice.source),
        kernels=Known(tuple(one.release for one in newest_first(files, kernels.value)), kernels.source),
        modules=modules,
        builds=builds,
        headers=_headers(files, base),
        early_image=_early_image(world, choice, base, again=release == running.value),
        nouveau=Known(bool(files.glob(f"{base}/{_NOUVEAU_FILE}")), base),
        nouveau_blocks=_blocks(files, choice.arguments),
        key_known=_key_known(files, value_or(modules, ()), value_or(builds, ())),
        unread=choice.unread,
    )


def completed(found: NextStart, host: Host, on_disk: Fact[tuple[KernelModule, ...]]) -> NextStart:
    """With the modules of the kernel that runs, where that one starts again: `detect.driver` reads them, which takes a process. Of
    a container, of WSL and of a Jetson nothing: the driver is the host's there, Windows' own, or a part of the board's system.
    """
    if value_or(host.container, "") or value_or(host.wsl, 0) or host.jetson.is_true:
        return NextStart()
    same = isinstance(found.kernel, Known) and isinstance(host.kernel, Known) and found.kernel.value == host.kernel.value
    return replace(found, modules=on_disk) if same and found.modules == NOT_ASKED else found


def _hidden(files: Files) -> Unknown | None:
    """Systems whose next start lies in what no file of this one shows."""
    if files.exists(_NIXOS):
        return Unknown(text("which system NixOS starts next is not looked at"))
    if files.exists(_SNAPSHOTS) and any(_READ_ONLY_ROOT.match(line) for line in files.text(_MOUNTS, 1 << 20).splitlines()):
        return Unknown(text("the snapshot that starts next is not to be seen without root"))
    return None


def _of_deployment(world: World, found: NextStart, one: WaitingDeployment, source: str) -> NextStart:
    """What lies in the system image that waits; its early boot image is made with it."""
    return replace(
        found,
        kernel=Known(one.kernel, source),
        chosen_by=Known(ChosenBy.IMAGE, source),
        kernels=Known((one.kernel,), one.root),
        modules=modules_of(world, one.kernel, one.root),
    )


def _packages(files: Files) -> Fact[tuple[str, ...]]:
    flag, names = _REQUIRED
    if not files.exists(flag):
        return Known((), flag)
    lines = files.text(names, 1 << 16).split()[:_LINES_AT_MOST]
    return Known(tuple(dict.fromkeys(lines)), names if lines else flag)


def _headers(files: Files, base: str) -> Fact[bool]:
    """What a module is built with: the link `build` leads to it, also where the package with it is not installed."""
    return Known(files.exists(f"{base}/build/Makefile"), f"{base}/build")


def _blocks(files: Files, arguments: Fact[str]) -> Fact[tuple[ModuleBlock, ...]]:
    told = [one for one in blocks_in_files(files) if one.module == _NOUVEAU]
    if isinstance(arguments, Known):
        words = forbidden_by_command_line(arguments.value)
        told += [ModuleBlock(module, arguments.source, argument) for module, argument in words if module == _NOUVEAU]
    elif not told:
        return arguments
    return Known(tuple(told), "/etc/modprobe.d")


def _key_known(files: Files, modules: tuple[KernelModule, ...], builds: tuple[ModuleBuild, ...]) -> Fact[bool]:
    """Asked of a module that was built and signed here: keys of distributions are in their kernels, and in no such list."""
    signer = next((one.signer.value for one in modules if isinstance(one.signer, Known) and one.signer.value), "")
    if not signer or not any(one.state is BuildState.INSTALLED for one in builds):
        return NOT_ASKED
    try:
        keys = files.read_bytes(_KEYS, _KEYS_AT_MOST_BYTES)
    except OSError as error:
        return unreadable(_KEYS, error)
    return Known(signer.encode() in keys, _KEYS)


# The early boot image, and what came after it was written.


def _early_image(world: World, choice: BootChoice, base: str, *, again: bool) -> Fact[EarlyImage]:
    """Where the kernel that runs starts `again`, what was there when it started does no harm: it went well with that image."""
    files = world.files
    path = next((one for one in _places(choice) if files.exists(one)), "")
    if not path:
        return Unknown(text("no early boot image of {kernel} is to be seen", kernel=choice.kernel.release))
    try:
        image = files.status(path)
    except OSError as error:
        return unreadable(path, error)
    since = max(image.st_mtime, world.clock.epoch() - world.clock.since_boot() if again else 0.0) + _SECOND
    blocks = dict.fromkeys(one.place.rpartition(":")[0] for one in blocks_in_files(files) if one.module == _NOUVEAU)
    takes = tuple(path for pattern, fits in _TAKEN for path in files.glob(pattern) if fits.search(files.text(path, 1 << 16)))
    # Packages keep the time at which a module was built: when it came here is when it was last changed.
    in_place = image.st_ctime - image.st_mtime < _WRITTEN_IN_PLACE_SECONDS
    modules = module_paths(files, base) if takes and in_place else ()
    return Known(
        EarlyImage(
            path,
            iso_of(image.st_mtime),
            blocks_after=tuple(one for one in blocks if _time(files, one, changed=False) > since),
            takes_nvidia=takes,
            modules_after=tuple(one for one in modules if _time(files, one, changed=True) > since),
        ),
        path,
    )


def _places(choice: BootChoice) -> Iterator[str]:
    release, package = choice.kernel.release, choice.kernel.package
    if choice.initrd:
        yield from (f"{partition}/{choice.initrd.lstrip('/')}" for partition in ("/boot", "/efi", "/boot/efi"))
    yield from (f"/boot/initrd.img-{release}", f"/boot/initramfs-{release}.img", f"/boot/initrd-{release}")
    if package:
        yield f"/boot/initramfs-{package}.img"


def _time(files: Files, path: str, *, changed: bool) -> float:
    try:
        status = files.status(path)
    except OSError:
        return 0.0
    return status.st_ctime if changed else status.st_mtime
