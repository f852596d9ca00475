"""Paths as far as they are those of many machines: the names of folders that users chose give way to stand-ins."""

from __future__ import annotations

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.session.harmless.stand_ins import StandIns, TakenKind
from gpuassist.session.harmless.vocabulary import FOLDERS, PROGRAMS

# What stands between `lib` and `.so` in the driver, in CUDA and in torch.
_LIBRARY = lazy_regex(
    r"lib(?:cuda|cudart|cudadebugger|cudnn(?:_[a-z]{1,30}){0,5}|cublas(?:Lt)?|cufft|cufftw|curand|cusolver(?:Mg)?"
    r"|cusparse(?:Lt)?|cufile(?:_rdma)?|cupti|cutensor|nccl"
    r"|nvrtc(?:-builtins)?|nvJitLink|nvjitlink|nvToolsExt|nvidia-[a-z0-9]{1,20}(?:-[a-z0-9]{1,20}){0,2}"
    r"|nvinfer(?:_[a-z]{1,12}){0,3}|nvshmem_host|nvcuvid|nvoptix|nvblas"
    r"|nvjpeg|npp[a-z]{1,5}|nvfatbin|nvvm|nvptxcompiler|torch(?:_(?:python|cuda|cpu|cuda_linalg|global_deps|cuda_cu"
    r"|cuda_cpp)){0,1}"
    r"|c10(?:_cuda)?|caffe2_nvrtc|shm|gomp|stdc\+\+|c|m|dl|pthread|EGL|GL|GLX|GLESv2|vulkan|OpenCL|jemalloc|tcmalloc|xformers)"
    r"(?:-\d{1,3}(?:\.\d{1,3})?)?(?:\.so(?:\.\d{1,5}){0,4})?\*?"
)
_SHAPES = (
    lazy_regex(
        r"(?:cuda|cuda-toolkit|hpc-sdk|TensorRT|cudnn|nccl|gcc|g\+\+|clang|clang\+\+|llvm|python|pypy|lib|nvidia"
        r"|nvidia-driver)-?\d{1,3}(?:\.\d{1,4}){0,2}[tm*]?"
    ),
    lazy_regex(r"(?:cuda|libcuda\.so|libcudnn\.so|nvidia|lib|nvidia\.ko|gcc|python3?|[a-z])?\*"),
    lazy_regex(r"(?:x86_64|aarch64)-linux-gnu-(?:gcc|g\+\+|cpp)(?:-\d{1,2})?"),
    lazy_regex(r"gcc-toolset-\d{1,2}|cuda-\d{1,2}-\d{1,2}(?:\.conf)?|nvidia_\w{2,12}_cu\d{2}"),
    lazy_regex(r"nvidia(?:[-_](?:drm|uvm|modeset|peermem|current|open|uvm-tools|modeset|caps))?(?:\.ko(?:\.(?:xz|zst|gz))?)?"),
    lazy_regex(r"nouveau\.ko(?:\.(?:xz|zst|gz))?"),
    lazy_regex(r"nvidia\d{1,3}|nvidiactl|nvidia-cap\d{1,3}|renderD\d{3}|card\d{1,2}"),
    lazy_regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"),
    lazy_regex(
        r"(?:SecureBoot|MokNew|MokListRT|SetupMode|MokAuth)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    ),  # UEFI's own, the same everywhere
    lazy_regex(r"\d{1,4}(?:\.\d{1,5}){0,2}"),
    lazy_regex(r"(?:torch|torchvision|torchaudio|triton|numpy)-\d{1,3}(?:\.\d{1,4}){1,3}(?:\+(?:cu\d{2,3}|cpu))?\.dist-info"),
    lazy_regex(r"gsp_[a-z0-9]{2,6}\.bin"),
    lazy_regex(r"compute_\d{2,3}|sm_\d{2,3}[af]?"),
    _LIBRARY,
)
_KERNEL = lazy_regex(r"[2-9]\.\d{1,3}(?:\.\d{1,4}){0,2}(?:[-+._~][\w.~+-]{0,80})?")
_BOOT = lazy_regex(
    r"(?P<name>initrd\.img|initramfs|vmlinuz|config|System\.map)-(?P<kernel>\d{1,2}\.\d{1,3}[\w.~+-]{0,80}?)(?P<ending>\.img)?"
)
_FLAVOURS = frozenset(
    [
        "generic",
        "lowlatency",
        "hwe",
        "edge",
        "oem",
        "aws",
        "azure",
        "gcp",
        "gke",
        "oracle",
        "ibm",
        "kvm",
        "virtual",
        "raspi",
        "tegra",
        "nvidia",
        "lts",
        "zen",
        "hardened",
        "rt",
        "preempt",
        "cachyos",
        "amd64",
        "arm64",
        "cloud",
        "default",
        "microsoft",
        "standard",
        "wsl2",
        "pve",
        "x86_64",
        "aarch64",
        "fc",
        "el",
        "uek",
        "lp",
        "manjaro",
        "arch",
        "xanmod",
        "x64v2",
        "x64v3",
        "x64v4",
        "liquorix",
        "surface",
        "t2",
        "asahi",
        "64k",
        "open",
        "fsync",
        "debian",
        "ubuntu",
    ]
)
_PART = lazy_regex(
    r"rc\d{1,2}|fc\d{2,3}|el\d{1,2}|deb\d{2}u?\d{0,2}|bpo\d{1,2}|arch\d{1,3}|lp\d{6}|uek\d?|amzn\d{1,4}"
    r"|xanmod\d{1,2}|v\d"
)
_SEPARATED = lazy_regex(r"([-+._~])")
_ADDRESS = lazy_regex(r"\d{3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\d.])|(?:-\d{1,8}){3}")  # of the internet, or a number of somebody's
_KERNEL_DIGITS = 8  # a day, as kernels of every night have it
_HOMES = frozenset({"home", "Users", "users"})
_ROOT_HOMES = frozenset({"Shared", "Public", "linuxbrew"})
_NUMBERED = lazy_regex(r":(\d{1,7})(?::\d{1,6})?$")
_ENDINGS = lazy_regex(
    r"(?P<ending>(?:\.(?:conf|json|ya?ml|toml|txt|py|sh|fish|zsh|bash|list|sources|repo|pref|rules|service|log|img"
    r"|cfg|ini|ko|whl|deb|rpm|run|bin|lock|env|d))"
    r"|\.so(?:\.\d{1,5}){0,4})$"
)


class HarmlessPlaces:
    """Paths with what users chose in them replaced; two paths that were equal, or one of which was in the other, are so still."""

    def __init__(self, stand_ins: StandIns) -> None:
        self._stand_ins = stand_ins
        self._homes: dict[str, str] = {}

    def learn_home(self, directory: str) -> None:
        """A home directory that does not lie in /home."""
        directory = directory.rstrip("/")
        parent, _, name = directory.rpartition("/")
        if directory.count("/") >= 2 and parent.rpartition("/")[2] not in _HOMES:
            self._homes[directory] = f"/home/{self.user(name)}"

    def learn_environment(self, prefix: str) -> None:
        """A Python environment, whose own name, or that of its project, is called so."""
        for name in reversed(prefix.rstrip("/").split("/")):
            if name and not self.is_ordinary(name):
                self._stand_ins.name(TakenKind.ENVIRONMENT, name, "env-{}")
                return
            if name not in {".venv", "venv", "env", ".env"}:
                return

    def path(self, path: str) -> str:
        """A path, absolute or not, and its line if it ends with one."""
        line = _NUMBERED.search(path)
        if line is not None:
            return self.path(path[: line.start()]) + line[0]
        for home, instead in self._homes.items():
            if path == home or path.startswith(f"{home}/"):
                self._stand_ins.name(TakenKind.HOME, home, "~")
                return instead + self._rest(path[len(home) :])
        return self._rest(path)

    def user(self, name: str) -> str:
        """A user's name."""
        given = self._stand_ins.known(TakenKind.USER, name)
        if given:
            return given
        first = not self._stand_ins.all_of(TakenKind.USER)
        return self._stand_ins.name(TakenKind.USER, name, "user" if first else "user-{}")

    def kernel(self, release: str) -> str:
        """A kernel's release: its numbers, and of the rest what distributions call theirs."""
        if release and (not _KERNEL.fullmatch(release) or _ADDRESS.search(release)):
            return self._stand_ins.name(TakenKind.KERNEL, release, "0.0-custom{}")
        told, named = list[str](), False
        for place, part in enumerate(_SEPARATED.split(release)):
            if place % 2 or not part:
                told.append(part)
            elif part.isdecimal() and not named:
                told.append(part if len(part) <= _KERNEL_DIGITS else self._custom(part))
            elif part.isdecimal():  # `arch1-1`, `el9_4`: what is longer is no kernel's
                told.append(part if len(part) == 1 else self._custom(part))
            else:
                named = True
                told.append(part if part.lower() in _FLAVOURS or _PART.fullmatch(part) else self._custom(part))
        return "".join(told)

    def is_ordinary(self, name: str) -> bool:
        """Whether many machines have a folder or file of this name."""
        return name in FOLDERS or name in PROGRAMS or any(shape.fullmatch(name) for shape in _SHAPES)

    def _rest(self, path: str) -> str:
        names, told = path.split("/"), list[str]()
        for place, name in enumerate(names):
            above = names[place - 1] if place else ""
            if name and above in _HOMES and name not in _ROOT_HOMES and (place + 1 < len(names) or place <= 2):
                told.append(self.user(name))
            elif above == "proc" and name.isascii() and name.isdecimal() and len(name) <= 7:
                told.append(name)
            else:
                told.append(self._name(name))
        return "/".join(told)

    def _name(self, name: str) -> str:
        if not name or self.is_ordinary(name):
            return name
        boot = _BOOT.fullmatch(name)
        if boot is not None:
            return f"{boot['name']}-{self.kernel(boot['kernel'])}{boot['ending'] or ''}"
        if _KERNEL.fullmatch(name):
            return self.kernel(name)
        for kind in (TakenKind.ENVIRONMENT, TakenKind.FOLDER, TakenKind.FILE):
            known = self._stand_ins.known(kind, name)
            if known:
                return known
        ending = _ENDINGS.search(name)
        if ending is not None and ending.start():
            shape = "lib-{}" if ".so" in ending[0] else "file-{}"
            return self._stand_ins.name(TakenKind.FILE, name, shape + ending["ending"])
        return self._stand_ins.name(TakenKind.FOLDER, name, "dir-{}")

    def _custom(self, part: str) -> str:
        return self._stand_ins.name(TakenKind.KERNEL, part, "custom{}")
