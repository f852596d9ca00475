"""Strings of every kind that a machine holds, each as far as it is known to be harmless."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.session.harmless.places import HarmlessPlaces
from gpuassist.session.harmless.stand_ins import LEFT_OUT, StandIns, TakenKind
from gpuassist.session.harmless.vocabulary import (
    CHANNELS,
    HOSTS,
    LISTS_OF_PLACES,
    PACKAGE_PARTS,
    PROGRAMS,
    PYTHON_PACKAGES,
    USERS,
    USERS_OF_SYSTEM_BELOW,
    VARIABLES,
    WORDS,
)

_LONGEST = 4000  # characters that are looked at of one string; what is longer was no fact
_UUID = lazy_regex(r"(?P<kind>GPU|MIG|MIG-GPU)-[0-9a-fA-F][0-9a-fA-F-]{0,35}(?P<place>(?:/\d{1,2}){0,2})")
_NUMBER = lazy_regex(
    r"[-+]?\d{1,5}(?:\.\d{1,6}){0,2}%?|v?\d{1,4}\.\d{1,6}\.\d{1,6}(?:\.\d{1,6})?|0x[0-9a-fA-F]{1,4}"
    r"|[<>=!~]{0,2}\d{1,4}(?:\.\d{1,5}){0,2}"
)
_QUAD_WORDS = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}"
_QUAD = lazy_regex(_QUAD_WORDS)
_MOMENT = lazy_regex(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_EXACT = (
    lazy_regex(r"10de:[0-9a-fA-F]{4}"),
    lazy_regex(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"),
    lazy_regex(r"nvml(?:Init|Shutdown|System|Device|Unit|EventSet|Gpm)(?:Get|Set|Is)?[A-Za-z]{0,40}(?:_v\d)?"),
    lazy_regex(
        r"NVML_(?:SUCCESS|ERROR_(?:UNINITIALIZED|INVALID_ARGUMENT|NOT_SUPPORTED|NO_PERMISSION|ALREADY_INITIALIZED"
        r"|NOT_FOUND|INSUFFICIENT_SIZE"
        r"|INSUFFICIENT_POWER|DRIVER_NOT_LOADED|TIMEOUT|IRQ_ISSUE|LIBRARY_NOT_FOUND|FUNCTION_NOT_FOUND|CORRUPTED_INFOROM"
        r"|GPU_IS_LOST|RESET_REQUIRED"
        r"|OPERATING_SYSTEM|LIB_RM_VERSION_MISMATCH|IN_USE|MEMORY|NO_DATA|VGPU_ECC_NOT_SUPPORTED|INSUFFICIENT_RESOURCES"
        r"|FREQ_NOT_SUPPORTED"
        r"|ARGUMENT_VERSION_MISMATCH|DEPRECATED|NOT_READY|GPU_NOT_FOUND|INVALID_STATE|UNKNOWN))"
    ),
    lazy_regex(r"(?:sm|compute|lto)_\d{2,3}[af]?(?:,(?:sm|compute)_\d{2,3}[af]?)*"),
    lazy_regex(r"\d{1,4}(?:GB|MB|GiB|MiB|KiB|TB|MHz|W)|cu\d{2,3}|rocm\d(?:\.\d){1,2}|[A-Z]"),
    lazy_regex(r"NVreg_[A-Za-z0-9]{2,40}=\d{1,3}"),
)
_EDGE = "()[]{}<>\"'`“”‘’«»,;!?"
_INNER = lazy_regex(r"([:=,;|()&]+)")
_SCHEME = lazy_regex(r"(?:(?:git|hg|svn)\+)?[A-Za-z][A-Za-z0-9+.-]{1,15}://")
_ADDRESS = lazy_regex(r"(?P<scheme>https?|ftp|file)://(?P<host>[^/?#\s]*)(?P<path>/[^?#\s]*)?")
_VERSION = lazy_regex(r"(?P<epoch>\d{1,3}:)?(?P<number>[vVrR]?\d{1,8}(?:\.\d{1,8})*)(?P<rest>.*)", re.DOTALL)
_VERSION_PART = lazy_regex(
    r"\d{1,8}|cu\d{2,3}|cpu|cuda\d{0,3}|cudnn\d{0,3}|rocm\d?|xpu|post\d{0,3}|dev\d{0,8}|rc\d{0,3}|a\d{1,3}|b\d{1,3}"
    r"|\d?ubuntu\d{0,3}|deb\d{1,2}u?\d{0,2}|bpo\d{0,2}|fc\d{2,3}|el\d{1,2}"
    r"|amzn\d{1,4}|arch\d{0,3}|lp\d{6}|py\d{0,3}|h[0-9a-f]{7}|alpha|beta|nv\d{0,2}|nightly|dfsg\d?|really|build\d?"
    r"|gpuless|k\d|cuda|p\d{1,2}|git|main|x86|64|b|g"
)
_VERSION_SEPARATED = lazy_regex(r"([-+~_.^!*]+)")
_HYPHENATED = lazy_regex(r"[-:+_]\d{1,8}(?=[-:+_]|$)")
_REQUIREMENT = lazy_regex(r"([<>=!~,; |]+)")
_PRIVATE = lazy_regex(
    r"(?<![\d.])(?:192\.168|10\.(?:[2-9]\d|[12]\d\d)|127\.\d{1,3}|169\.254|172\.(?:1[6-9]|2\d|3[01])|1[0-9]{2}\.\d{1,3}|2[0-5]\d\.\d{1,3})\.\d{1,3}\.\d{1,3}"
)
_FLAG = lazy_regex(
    r"--?(?:std|O|arch|gencode|ccbin|compiler-bindir|gpu-architecture|gpu-code|code|allow-unsupported-compiler"
    r"|Xcompiler|Wno-deprecated-gpu-targets|threads|t|G|g|lineinfo|use_fast_math|rdc|cudart|v)"
)
_SETTING = lazy_regex(
    r"c\+\+\d{2}|native|all|all-major|static|shared|none|[0-3s]|fPIC|-fPIC|-O[0-3s]|\+PTX|\d{1,2}\.\d[af]?(?:\+PTX)?|noble|host"
)
_SERVICE_USER = 65534


class HarmlessStrings:
    """The strings of one report; `knows_package` says what Python packages are called that everybody knows."""

    def __init__(
        self,
        stand_ins: StandIns,
        knows_package: Callable[[str], bool] = lambda _: False,
        *,
        products: Iterable[str] = (),
        repositories: Iterable[str] = (),
    ) -> None:
        self.stand_ins = stand_ins
        self.places = HarmlessPlaces(stand_ins)
        self._knows_package = knows_package
        self._repositories = frozenset(part for name in repositories for part in _IN_REPOSITORY.split(name))
        self._products = frozenset(word.lower().strip(_EDGE) for name in products for word in name.split())

    def learn_uuid(self, uuid: str) -> None:
        """A GPU's, before any is met in words: those of a list may be cut."""
        self._uuid(uuid)

    def words(self, words: str) -> str:
        """Words of any kind: each that is not known is left out."""
        told = (self._word(one) for one in self._without_runs(words[:_LONGEST]).split())
        return " ".join(self._left_once(told)) if words.strip() else words

    def product(self, words: str) -> str:
        """What a GPU is called."""
        parts = self._without_runs(words[:_LONGEST]).split()
        return " ".join(self._left_once(one if self._is_product(one) else self._left(one) for one in parts))

    def version(self, words: str) -> str:
        """A version of a package, a driver, a library."""
        found = _VERSION.fullmatch(words.strip()[:200])
        if found is None or _PRIVATE.search(words) or ("." not in found["number"] and found["rest"][:1] == "-"):
            return self.words(words)
        rest = found["rest"]
        if not rest or self._is_version_rest(rest):
            return (found["epoch"] or "") + found["number"] + rest
        # Of a number that runs on, or in words that are not known, nothing tells where the version ends.
        return found["number"] + self._left(rest) if "." in found["number"] and not rest[0].isdigit() else self._left(words)

    def requirement(self, words: str) -> str:
        """What is asked for: `<3,>=2.3`."""
        parts = _REQUIREMENT.split(self._without_runs(words[:_LONGEST]))
        return "".join(one if place % 2 or not one else self.version(one) for place, one in enumerate(parts))

    def build(self, words: str) -> str:
        """Conda's build string, `py3.11_cuda12.4_cudnn9.1.0_0`."""
        parts = [one for one in _VERSION_SEPARATED.split(words[:200])[::2] if one]
        is_build = all(map(self._is_version_part, parts)) and not all(one.isdecimal() for one in parts)
        return words if is_build or not parts else self._left(words)

    def python_package(self, name: str) -> str:
        """A package of a Python or conda environment."""
        plain = name.lower().replace("_", "-").replace(".", "-")
        if not name or plain in PYTHON_PACKAGES or self._knows_package(name):
            return name
        if (
            not _NUMBERED.search(plain)
            and plain.startswith(("nvidia-", "cuda-", "lib"))
            and all(self._is_package_part(one) for one in plain.split("-"))
        ):
            return name
        return self.stand_ins.name(TakenKind.PACKAGE, name, "package-{}")

    def system_package(self, name: str) -> str:
        """A package of the distribution, or a pattern of such names; its kernel as kernels are."""
        parts = _SEPARATED.split(name)
        named = (any(one.lower() in PACKAGE_PARTS for one in parts[::2]) or not name.strip("*")) and not _NUMBERED.search(name)
        if named and all(self._is_package_part(one) for one in parts[::2]):
            return name
        kernel = _IN_PACKAGE.search(name)
        if kernel is not None and kernel.start():
            return self.system_package(name[: kernel.start()].rstrip("-")) + "-" + self.places.kernel(kernel[0])
        return self.stand_ins.name(TakenKind.PACKAGE, name, "package-{}")

    def repository(self, name: str) -> str:
        """A repository of NVIDIA's, as NVIDIA or the package manager calls it: `ubuntu2404`, `cuda-rhel9-x86_64`."""
        parts = _IN_REPOSITORY.split(name)
        if _NUMBERED.search(name):
            return self._left(name)
        return name if all(one in self._repositories or self._is_package_part(one) for one in parts) else self.words(name)

    def user(self, name: str) -> str:
        return name if not name or name in USERS else self.places.user(name)

    def user_number(self, number: int) -> int:
        """Those of services are the same everywhere; that of a person may be found in a company's directory."""
        if number < USERS_OF_SYSTEM_BELOW or number == _SERVICE_USER:
            return number
        numbers = self.stand_ins.name(TakenKind.USER, f"uid {number}", "{}")
        return USERS_OF_SYSTEM_BELOW + int(numbers)

    def owner(self, words: str) -> str:
        """`root:video`: groups of the system as they are."""
        return ":".join(self.user(one) if one not in _GROUPS else one for one in words.split(":")[:2])

    def command_line(self, words: str) -> str:
        """The program alone, and of an interpreter what it runs, where everybody has that."""
        parts = words.split()
        if not parts:
            return words
        told = [self._program(parts[0])]
        script = parts[1].rpartition("/")[2] if len(parts) > 1 else ""
        if told[0].startswith("python") and script in PROGRAMS:
            told.append(script)
        if len(parts) > len(told):
            told.append(self.stand_ins.left_out(TakenKind.COMMAND_LINE, words))
        return " ".join(told)

    def container(self, words: str) -> str:
        """Its kind, and a number in the place of its identity."""
        kind, _, identity = words.partition(" ")
        return self.words(kind) + (f" {self.stand_ins.name(TakenKind.CONTAINER, identity, '{:012d}')}" if identity else "")

    def environment(self, name: str) -> str:
        """A Python environment by its name."""
        return self.places.path(name)

    def address(self, words: str) -> str:
        """Where packages come from: hosts that everybody has."""
        found = _ADDRESS.fullmatch(words)
        host = found["host"].lower() if found else ""
        if found is None or (found["scheme"] != "file" and host not in HOSTS):
            return self.stand_ins.name(TakenKind.ADDRESS, words, "https://index-{}.invalid/simple")
        if found["scheme"] == "file":
            return f"file://{self.places.path(found['path'] or '')}"
        parts = (found["path"] or "").split("/")
        harmless = (
            one if not one or one.lower() in CHANNELS or self._is_exact(one) or self.places.is_ordinary(one) else self._left(one)
            for one in parts
        )
        return f"{found['scheme']}://{host}{'/'.join(harmless)}"

    def setting(self, words: str) -> str:
        """A setting of a package manager: an address, a place, a channel or a version."""
        words = self._without_runs(words)
        if words in CHANNELS or words.startswith("-"):
            return words if words in CHANNELS else self.words(words)
        if words.startswith(("/", "~", "./", "../")):
            return self.places.path(words)
        return " ".join(
            one if one in CHANNELS else self.requirement(one) if one[:1] in "<>=!~" else self._word(one) for one in words.split()
        )

    def is_variable(self, name: str) -> bool:
        """Whether it is one of those that are told of at all."""
        return name in VARIABLES

    def variable(self, name: str, value: str) -> str:
        """The value of a variable."""
        if not value:
            return value
        if name in LISTS_OF_PLACES:
            # A number in such a list is no place, but a piece of something that has colons.
            return ":".join(self._left(one) if one.isdecimal() else self.places.path(one) for one in value.split(":"))
        if name.endswith("VISIBLE_DEVICES"):
            return ",".join(map(self._device, value.split(",")))
        if name in {"CONDA_DEFAULT_ENV", "PYENV_VERSION"}:
            return self.environment(value)
        if name.endswith(("_FLAGS", "_ARCH_LIST")):
            return " ".join(self._left_once(map(self._flag, self._without_runs(value.replace(";", " ")).split())))
        if _SCHEME.match(value) or name.startswith(("PIP_", "UV_", "CONDA_CH")):
            return self.setting(value)
        if "/" in value or name in _PLACES:
            return self.places.path(value)
        kept = self.words(value)
        return self.stand_ins.left_out(TakenKind.VARIABLE, value) if LEFT_OUT in kept else kept

    def _word(self, word: str) -> str:
        start = word[: len(word) - len(word.lstrip(_EDGE))]
        core = word.strip(_EDGE)
        end = word[len(start) + len(core) :]
        return start + self._core(core) + end if core else word

    def _core(self, core: str) -> str:
        stripped = core.rstrip(".:")
        if self._is_word(core) or self._is_word(stripped):
            return core
        if _UUID.fullmatch(core):
            return self._uuid(core)
        if "://" in core:
            return self.address(core)
        if core.startswith(("/", "~/")):
            return self.places.path(stripped) + core[len(stripped) :]
        parts = _INNER.split(core)
        if len(parts) > 1:
            told = [one if place % 2 or not one else self._word(one) for place, one in enumerate(parts)]
            if not any(LEFT_OUT in one for one in told):
                return "".join(told)
            # Beside what was left out, numbers are no facts but the rest of an address or an identity.
            kept = (one if place % 2 or not _NUMBER.fullmatch(one) else LEFT_OUT for place, one in enumerate(told))
            words = "".join(kept)
            return words if any(one.isalpha() for one in words) else self._left(core)
        if self.places.is_ordinary(core) or core in PROGRAMS:
            return core
        if "/" in core and "@" not in core:
            return self.places.path(core)
        return self._left(core)

    def _is_word(self, core: str) -> bool:
        return core.lower() in WORDS or core in VARIABLES or self._is_exact(core)

    def _is_exact(self, core: str) -> bool:
        if _QUAD.fullmatch(core):
            return False  # a version of four numbers is told where a version is asked for
        return any(one.fullmatch(core) for one in (_NUMBER, _MOMENT, *_EXACT))

    def _is_product(self, word: str) -> bool:
        plain = word.lower().strip(_EDGE)
        return not plain or plain in WORDS or plain in self._products or self._is_exact(plain) or self._is_exact(plain.upper())

    def _left(self, core: str) -> str:
        return self.stand_ins.left_out(TakenKind.WORDS, core)

    def _without_runs(self, words: str) -> str:
        """A number in pieces is that of a telephone or an account."""
        return _RUN.sub(lambda found: self._left(found[0]), words)

    @staticmethod
    def _left_once(words: Iterable[str]) -> Iterable[str]:
        """One mark for several words in a row."""
        before = ""
        for word in words:
            if word != LEFT_OUT or before != LEFT_OUT:
                yield word
            before = word

    def _uuid(self, uuid: str) -> str:
        found = _UUID.fullmatch(uuid)
        if found is None:
            return self._left(uuid)
        given = self.stand_ins.all_of(TakenKind.UUID)
        whole = [to for one, to in given.items() if one.startswith(uuid)]
        if uuid not in given and whole:  # a cut one: what it is a part of, and of several what they share
            return whole[0][:12] if len(whole) == 1 else f"{found['kind']}-0"
        kind = "GPU" if found["kind"] == "GPU" else "MIG"
        return self.stand_ins.name(TakenKind.UUID, uuid, kind + "-{:08x}-0000-4000-8000-000000000000")

    def _device(self, element: str) -> str:
        core = element.strip()
        if _UUID.fullmatch(core):
            return self._uuid(core)
        known = core in {"", "all", "none", "void", "NoDevFiles"} or _INDEX.fullmatch(core)
        return element if known else self.stand_ins.left_out(TakenKind.VARIABLE, core)

    def _flag(self, word: str) -> str:
        name, equals, value = word.partition("=")
        if _FLAG.fullmatch(name) and (not equals or self._is_flag_value(value)):
            return word
        if _FLAG.fullmatch(name) and value.startswith("/"):
            return f"{name}={self.places.path(value)}"
        return word if self._is_flag_value(word) else self.places.path(word) if word.startswith("/") else self._left(word)

    def _is_flag_value(self, value: str) -> bool:
        return all(
            not one or _SETTING.fullmatch(one) or _FLAG.fullmatch(one) or self._is_exact(one) for one in _INNER.split(value)[::2]
        )

    def _is_version_rest(self, rest: str) -> bool:
        if rest[0].isdigit() or len(_HYPHENATED.findall(rest)) > 1:
            return False
        return all(map(self._is_version_part, _VERSION_SEPARATED.split(rest)[::2]))

    @staticmethod
    def _is_version_part(part: str) -> bool:
        return not part or _VERSION_PART.fullmatch(part) is not None

    def _is_package_part(self, part: str) -> bool:
        return part.lower() in PACKAGE_PARTS or bool(_PACKAGE_NUMBER.fullmatch(part)) or part in {"", "*"}

    def _program(self, word: str) -> str:
        name = word.rpartition("/")[2]
        known = name in PROGRAMS or _PYTHON.fullmatch(name)
        return name if known else self.stand_ins.name(TakenKind.COMMAND_LINE, name, "program-{}")


_SEPARATED = lazy_regex(r"([-._+:*?\[\]]+)")
_NUMBERED = lazy_regex(rf"{_QUAD_WORDS}|(?<!\d)\d{{1,9}}-\d{{1,9}}-\d{{1,9}}(?!\d)")  # addresses, and numbers of somebody's
_IN_REPOSITORY = lazy_regex(r"[-_:]")
_IN_PACKAGE = lazy_regex(r"(?<=-)\d{1,2}\.\d{1,3}[\w.~+-]{0,80}$")
_PACKAGE_NUMBER = lazy_regex(
    r"\d{1,6}|cu\d{2,3}|g0[4-9]|fc\d{2}|el\d{1,2}|r\d{3}|lib\d{0,2}|cuda\d{0,2}|x64|aa64|deb\d{2}|bpo\d{1,2}|server\d?"
)
_RUN = lazy_regex(r"(?<![\w.])\+?(?=[\d ]{0,60}\d{3})(?=(?: ?\d){7})\d{1,7}(?: \d{1,7})+(?![\w.])")
_INDEX = lazy_regex(r"[+-]?\d{1,3}(?::\d{1,2})?")
_PYTHON = lazy_regex(r"python\d?(?:\.\d{1,2})?t?")
_GROUPS = frozenset({"root", "video", "render", "kvm", "docker", "wheel", "sudo", "users", "vglusers", "nvidia", "nogroup"})
_PLACES = frozenset(
    {
        "CUDA_HOME",
        "CUDA_PATH",
        "CUDA_ROOT",
        "CUDADIR",
        "CUDA_DIR",
        "CC",
        "CXX",
        "NVCC",
        "CUDACXX",
        "CUDAHOSTCXX",
        "NVCC_CCBIN",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
    }
)
