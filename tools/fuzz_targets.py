"""What is fuzzed: for each way by which a stranger's bytes come in, honest inputs, and what the program does with one.

An input may be refused by the error that the reader is documented to raise. Anything else that comes out is a fault, as is a rule
or a signature of ours that fails: those are caught and told, so that the rest still works.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import marshal
import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from msgspec.structs import asdict

from gpuassist.changes.journal import digest
from gpuassist.changes.undo import history, plan_undo
from gpuassist.cli import detect, doctor, monitor, shell
from gpuassist.cli import explain as explaining
from gpuassist.cli import plan as planning
from gpuassist.cli.context import Context, TerminalStreams, UsageError
from gpuassist.context import Session
from gpuassist.detect import nvml
from gpuassist.detect.package_history import read_history
from gpuassist.detect.startup import fish_universal as fish_variables
from gpuassist.formats import boot_menu, cgroup, devices, elf, kernel_image, kernel_module, packages, toolkit, torch, torch_version
from gpuassist.formats import distribution as distribution_name
from gpuassist.formats import dry_runs as pip_report
from gpuassist.formats import package_settings as condarc
from gpuassist.formats.dcgm import FB_USED, XID_ERRORS
from gpuassist.formats.prometheus import PrometheusError, read_answer
from gpuassist.formats.remote_lines import RemoteLines
from gpuassist.formats.sample_lines import read_sample_line
from gpuassist.formats.ssh_host import is_ssh_host
from gpuassist.formats.visible import escaped, visible
from gpuassist.install.records import installs
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Receipt
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessSample, Sample
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.history import History
from gpuassist.monitor.prometheus_gpus import RemoteGpus, by_gpu
from gpuassist.monitor.sample_block import packed
from gpuassist.monitor.sample_writer import SampleWriter
from gpuassist.present.marks import Exit
from gpuassist.present.profile import in_plain_text, profile_document
from gpuassist.present.sample_document import sample_document
from gpuassist.session.navigation import Destination
from gpuassist.session.profiling import child as profile_child
from gpuassist.session.profiling.answers import ReadNothing
from gpuassist.session.profiling.profile_file import answer_of
from gpuassist.session.profiling.refusals import refusal
from gpuassist.session.remote_words import refused
from gpuassist.shellfiles import block, diff, edit, merge
from gpuassist.shellfiles.block import RepairError, toolkit_section
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.judge import judge
from gpuassist.shellfiles.lines import LineEvidence, StartupText, changes_in
from gpuassist.shellfiles.toolkit_words import toolkit_words
from gpuassist.shellfiles.toolkits import InstalledToolkits
from gpuassist.system.files import Files
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify import protocol
from gpuassist.verify.transcript import Transcript

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "cases"
MACHINES = ROOT / "resources" / "machines"
OWN_FAULT = "own check failed"  # how the program tells of a rule of its own that raised

Run = Callable[[bytes], str]
"""Takes one input and gives what people would read of it."""


@dataclass(frozen=True)
class Target:
    """A way in: `corpus` gives honest inputs, `make` what takes them, with a directory of its own to work in."""

    name: str
    corpus: Callable[[], Sequence[bytes]]
    make: Callable[[Path], Run]


class FaultError(Exception):
    """The program did not raise, and yet did what it must not."""


@cache
def _knowledge() -> Knowledge:
    return Knowledge(Resources().read)


class _Silent:
    """Programs that say what they are made to say, whoever asks for which."""

    def __init__(self) -> None:
        self.says = b""

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        environment: Mapping[str, str],
        directory: str = "/",
        stdin: bytes = b"",
        cancelled: Callable[[], bool] | None = None,
    ) -> ProcessResult:
        """See `Processes.run`."""
        return ProcessResult(Ending.EXITED, 0, self.says, b"", 0.0)


def _session(scratch: Path, programs: _Silent | None = None) -> Session:
    home = str(scratch)
    around = Surroundings(home, "you", os.geteuid(), {"PATH": "/usr/bin:/bin", "HOME": home}, home, "/bin/bash")
    return Session(World(around, processes=programs or _Silent()), _knowledge(), ENGLISH)


def _printed(session: Session, verb: ModuleType, *arguments: str, machine_file: str = "") -> str:
    """What a subcommand prints, as `cli.main` runs it; a refusal is what it says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lang", default="")
    verb.arguments(parser, session.words)
    out, err = io.StringIO(), io.StringIO()
    context = Context(session, TerminalStreams(out, err, colour=False, interactive=False), machine_file, _no_window)
    try:
        verb.run(parser.parse_args(arguments), context)
    except UsageError as error:
        context.note(error.reason)
    said = out.getvalue() + err.getvalue()
    if OWN_FAULT in said:
        raise FaultError(said[max(0, said.index(OWN_FAULT) - 200) :][:600])
    return said


def _said(session: Session, reason: Text) -> str:
    """A reason as people read it, behind whatever stands between."""
    err = io.StringIO()
    Context(session, TerminalStreams(io.StringIO(), err, colour=False, interactive=False), "", _no_window).note(reason)
    return err.getvalue()


def _no_window(_wanted: Destination | None) -> Exit:
    raise UsageError(text("there is no window here"))


def _texts() -> Sequence[bytes]:
    lines = (line for path in sorted((CASES / "texts").glob("*.jsonl")) for line in path.read_text("utf-8").splitlines())
    return tuple(str(json.loads(line)["text"]).encode() for line in lines)


def _explain(scratch: Path) -> Run:
    session, pasted = _session(scratch), scratch / "pasted.txt"
    machines = ["", *map(str, sorted(MACHINES.glob("*.json")))]

    def run(data: bytes) -> str:
        pasted.write_bytes(data)
        machine = machines[len(data) % len(machines)] or explaining.ALONE
        return _printed(session, explaining, str(pasted), machine_file=machine)

    return run


def _recordings() -> Sequence[bytes]:
    paths = [*sorted(MACHINES.glob("*.json")), *sorted(CASES.glob("machines/*/facts.json"))]
    return tuple(json.dumps(json.loads(path.read_bytes())).encode() for path in paths)


_VERBS: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (doctor, ()),
    (detect, ()),
    (shell, ()),
    (doctor, ("--json",)),
    (planning, ("torch",)),
    (planning, ("driver",)),
    (planning, ("cuda",)),
)


def _recording(scratch: Path) -> Run:
    session, path = _session(scratch), scratch / "machine.json"

    def run(data: bytes) -> str:
        path.write_bytes(data)
        verb, arguments = _VERBS[len(data) % len(_VERBS)]
        return _printed(session, verb, *arguments, machine_file=str(path))

    return run


_TOKEN = "gpuassist-0123"
_REMOTE_GPU = {
    "index": 0,
    "uuid": "GPU-1",
    "name": "H100",
    "memory_total_bytes": 80 << 30,
    "memory_used_bytes": 5,
    "power_watts": 50.5,
    "fan_percent": None,
    "fan_percent_reason": "it has none",
    "throttle_reasons": ["sw_power_cap"],
    "asleep": True,
    "processes": [{"pid": 7, "user": "you", "kind": "compute", "started": "2026-11-24T09:00:00Z", "torch": {"ooms": 1}}],
}
_REMOTE_SAMPLE = {"schema": 1, "time": "2026-11-24T09:00:00+00:00", "gpus": [_REMOTE_GPU], "trouble": ["the GPU is asleep"]}
_REMOTE_EVENT = {"schema": 1, "time": "2026-11-24T09:00:00Z", "event": {"kind": "xid", "text": "Xid 79", "gpu": 0, "code": "79"}}


def _remote_says() -> Sequence[bytes]:
    """What comes over a connection: noise, lines of ours, samples in them, and what ssh complains of."""
    samples = "".join(json.dumps(one) + "\n" for one in (_REMOTE_EVENT, _REMOTE_SAMPLE))
    hello = {"hello": 1, "arch": "x86_64", "pythons": [["/usr/bin/python3", "3.11.2", ".cpython-311-x86_64-linux-gnu.so"]]}
    messages = (hello, {"id": 1, "out": samples}, {"id": 1, "status": 3, "said": "no driver"}, {"beat": 1}, {"refused": "no room"})
    lines = "".join(f"Welcome!\n{_TOKEN} {json.dumps(one)}\n" for one in messages)
    return (lines.encode(), samples.encode(), b"you@box: Permission denied (publickey).\n", b"you@box.example.org:22")


def _remote(scratch: Path) -> Run:
    session = _session(scratch)
    (scratch / "fleet").mkdir()

    def run(data: bytes) -> str:
        lines = RemoteLines(_TOKEN)
        messages = [one for at in range(0, len(data), 1000) for one in lines.take(data[at : at + 1000])]
        words = data.decode("utf-8", "replace")
        told = [*words.splitlines(), *(line for one in messages for line in str(one.get("out", "")).splitlines())]
        read = [found for line in told if (found := read_sample_line(line, 5.0, "box")) is not None]
        printed = [json.dumps(sample_document(one.sample, ENGLISH)) for one in read if one.sample is not None]
        said = ["".join(_said(session, one.event.text)) for one in read if one.event is not None]
        if is_ssh_host(words) and (words.startswith("-") or set(words) & set(" \n'\"`$;|&()<>\\")):
            raise FaultError(words)
        (scratch / "fleet" / "one.json").write_bytes(data)
        fleet = _printed(session, doctor, "--fleet", str(scratch / "fleet"))
        return "\n".join((*map(escaped, printed), *said, _said(session, refused("box", words)), fleet))

    return run


def _shell_files() -> Sequence[bytes]:
    return tuple(path.read_bytes() for path in sorted((CASES / "shell").iterdir()) if path.is_file())


def _shell(scratch: Path) -> Run:
    known = {"HOME": "/home/you", "PATH": "/usr/bin:/bin"}
    chosen = InstalledToolkits(
        Toolkit("/usr/local/cuda-12.4"), (Toolkit("/usr/local/cuda-11.7"),), lambda path: path, known["HOME"]
    )

    def run(data: bytes) -> str:
        dialect = tuple(Dialect)[len(data) % len(Dialect)]
        reading = read_startup(data, dialect, known)
        retired = tuple(edit.Lines(one.first_byte, one.end_byte, nested=False) for one in reading.statements)
        try:
            lines = toolkit_section(chosen.chosen.root, dialect)
            changes = edit.LineChanges(tuple(_apart(data, retired)))
            written = edit.write(data, lines, changes, "20260101-000000-abcdef")
            again = edit.take_back(written, "20260101-000000-abcdef")
        except RepairError as error:
            return ENGLISH(error.reason)
        if again != data and block.find(data) is None and not edit.mentions(data, ""):
            raise FaultError(f"taken back, the file is another one: {data[:200]!r} became {again[:200]!r}")
        words = toolkit_words(data, dialect, chosen, reading.statements)
        judged = judge(StartupText(data, reading, words, path=".bashrc", dialect=dialect), chosen, LineEvidence())
        edit.write(data, (), changes_in(judged, ".bashrc"), "20260101-000000-abcdef")
        merge.merge(data, written, data + b"# more\n")
        read_startup(written, dialect, known)
        diff.unified("/home/you/.bashrc", data, written)
        return ""

    return run


def _apart(data: bytes, retired: tuple[edit.Lines, ...]) -> Iterator[edit.Lines]:
    """Whole lines, none of them twice: what the plans above this hand down."""
    done = 0
    for one in sorted(retired, key=lambda lines: lines.first_byte):
        end = data.find(b"\n", max(one.first_byte, one.end_byte - 1)) + 1 or len(data)
        first = data.rfind(b"\n", 0, one.first_byte) + 1
        if first >= done and end > first:
            done = end
            yield edit.Lines(first, end, nested=False)


_OF_TEXT: tuple[Callable[[str], object], ...] = (
    cgroup.read_cgroup,
    condarc.read_condarc,
    lambda words: devices.read_visible_devices(words, 4),
    fish_variables.read,
    packages.recorded_sizes,
    lambda words: tuple(packages.python_packages(words.split())),
    lambda words: packages.conda_packages(words.split()),
    kernel_module.parse_modinfo_output,
    lambda words: tuple(kernel_module.forbidden_by_file(words)),
    lambda words: tuple(kernel_module.forbidden_by_command_line(words)),
    boot_menu.parse_grub_settings,
    boot_menu.parse_grub_environment,
    lambda words: boot_menu.chosen_of_menu(boot_menu.parse_grub_menu(words).entries, words[:40]),
    lambda words: boot_menu.in_loaders_order([boot_menu.entry_in(line, words) for line in words.splitlines()[:9]]),
    boot_menu.parse_loader_settings,
    toolkit.parse_version,
    toolkit.parse_targets,
    toolkit.parse_directory,
    distribution_name.read_os_release,
    packages.read_package_metadata,
    condarc.read_pip_conf,
    lambda words: packages.python_version(packages.parse_pyvenv(words)),
    pip_report.reason_of,
    pip_report.explanation,
    toolkit.parse_version_txt,
    toolkit.parse_gcc_limit,
    toolkit.parse_clang_limit,
    torch.parse_version_file,
    torch_version.read_torch_version,
    condarc.read_uv_toml,
)


def _modinfo(data: bytes) -> None:
    with suppress(kernel_module.ModuleError):
        kernel_module.read_modinfo(lambda place, size: data[place : place + size])


_OF_BYTES: tuple[Callable[[bytes], object], ...] = (
    toolkit.parse_version_json,
    torch.find_targets,
    elf.read_cache,
    lambda data: elf.read_dynamic(lambda place, size: data[place : place + size]),
    _modinfo,
    lambda data: kernel_module.signer_of(lambda place, size: data[place : place + size], len(data)),
    lambda data: kernel_image.release_of_bzimage(lambda place, size: data[place : place + size]),
    lambda data: kernel_image.release_of_unified(lambda place, size: data[place : place + size]),
    boot_menu.efi_words,
)
_FILES = (
    b"set default=\"1>0\"\nmenuentry 'Ubuntu' $menuentry_id_option 'a-1' {\n\tlinux /boot/vmlinuz-6.8.0-60-generic ro\n}\n"
    b"submenu 'Advanced' --id b {\nmenuentry 'x' {\nlinux /boot/vmlinuz-6.8.0-59-generic\n}\n}\n",
    b"title Arch\nversion 6.17.8-arch1-1\nlinux /vmlinuz-linux\noptions rw quiet\nsort-key arch\n",
    b"0::/system.slice/docker-0123456789abcdef0123.scope\n",
    b"channels:\n  - conda-forge\n  - defaults\nchannel_alias: https://example.org/\n",
    b"0,1,GPU-8f2b,MIG-1\n",
    b"SETUVAR --export CUDA_HOME:/usr/local/cuda\nSETUVAR fish_user_paths:/a\\x1e/b\\u00e9\n",
    b"torch/_C.cpython-311-x86_64-linux-gnu.so,sha256=x,12345\ntorch/lib/libtorch.so,sha256=y,99\n",
    b"filename: /lib/modules/6.8/nvidia.ko\nversion: 550.54.14\nlicense: Dual MIT/GPL\n",
    b"blacklist nvidia\ninstall nouveau /bin/false\noptions nvidia NVreg_x=1\n",
    b"nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 12.4, V12.4.131\n",
    b'NAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\nID_LIKE=debian\n',
    b"Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1\nRequires-Dist: numpy (>=1.2); python_version < '3.9'\n",
    b"[global]\nindex-url = https://example.org/simple\nextra-index-url =\n  https://a\n  https://b\n",
    b"home = /usr/bin\nversion = 3.11.7\ninclude-system-site-packages = false\n",
    b"CUDA Version 10.2.89\n",
    b"#if __GNUC__ > 12\n#error\n#if defined(__clang__)\n#if __clang_major__ >= 17\n",
    b"__version__ = '2.5.1+cu124'\ncuda: Optional[str] = '12.4'\nhip = None\n",
    b'index-url = "https://example.org"\n[pip]\ntorch-backend = "cu124"\n[[index]]\nurl = "https://x"\ndefault = true\n',
    b'{"cuda": {"name": "CUDA SDK", "version": "13.0.2"}}',
    b"\x7fELF\x02\x01\x01" + bytes(200),
    b"glibc-ld.so.cache1.1" + bytes(200),
)


def _readers(scratch: Path) -> Run:
    def run(data: bytes) -> str:
        words = data.decode("utf-8", "replace")
        for of_text in _OF_TEXT:
            of_text(words)
        for of_bytes in _OF_BYTES:
            of_bytes(data)
        return ""

    return run


_VERIFY = (
    b'{"type": "start", "python": "3.11.7", "torch": "2.5.1+cu124", "cuda": "12.4", "cudnn": "9.1.0", "accelerators": 1, '
    b'"no_accelerator": "", "devices": [{"device": "cuda:0", "name": "NVIDIA GeForce RTX 4090"}], '
    b'"checks": [{"name": "matmul", "dtype": "fp32"}]}',
    b'{"type": "check-begin", "device": "cuda:0", "name": "matmul", "dtype": "fp32"}',
    b'{"type": "check", "device": "cuda:0", "name": "matmul", "dtype": "fp32", "seconds": 0.5, "verdict": "pass", "error": "", '
    b'"max_abs_error": 1e-6, "tolerance": 1e-5, "rate": 58.2, "rate_unit": "TFLOP/s"}',
    b'{"type": "device-end", "device": "cuda:0"}',
    b'{"type": "end"}',
)
_PIP = (
    b'{"version": "1", "install": [{"download_info": {"url": "https://a/torch.whl"}, "is_yanked": false, "metadata": '
    b'{"name": "torch", "version": "2.5.1", "requires_dist": ["numpy", "filelock; extra == \'x\'"]}}]}'
)
_UV = b"Would install 2 packages\nWould uninstall 1 package\n + numpy==1.26.4\n ~ torch==2.5.1 (from https://a/b)\n"


_PROJECT_FILES = (
    "requirements.txt",
    "pyproject.toml",
    "uv.lock",
    "Pipfile",
    "Pipfile.lock",
    "environment.yml",
    "conda-lock.yml",
    "setup.py",
    "setup.cfg",
    "Dockerfile",
    "docker-compose.yml",
    "CMakeLists.txt",
    "Makefile",
    "train.py",
    ".python-version",
    ".tool-versions",
)


def _projects() -> Sequence[bytes]:
    rows = json.loads((CASES / "projects" / "projects.json").read_text("utf-8"))
    return tuple(words.encode() for row in rows for words in row["files"].values() if isinstance(words, str))


def _project(scratch: Path) -> Run:
    """Every file that a project may have, with these bytes in it; what is changed comes back to the byte where nothing is."""
    session, folder = _session(scratch), scratch / "project"
    folder.mkdir(exist_ok=True)
    machines = tuple(map(str, sorted(MACHINES.glob("*.json"))))

    def run(data: bytes) -> str:
        name = _PROJECT_FILES[len(data) % len(_PROJECT_FILES)]
        path = folder / name
        path.write_bytes(data)
        try:
            arguments = ("--project", str(folder), *(("--json",) if len(data) % 3 == 0 else ()))
            said = _printed(session, planning, *arguments, machine_file=machines[len(data) % len(machines)])
        finally:
            path.unlink()
        return said

    return run


def _children_say() -> Sequence[bytes]:
    solves = tuple(path.read_bytes() for path in sorted((CASES / "solves").iterdir()) if path.is_file())
    return (*_VERIFY, b"\n".join(_VERIFY), _PIP, _UV, *solves)


def _children(scratch: Path) -> Run:
    session = _session(scratch)

    def run(data: bytes) -> str:
        transcript = Transcript()
        said = ""
        try:
            for line in data.split(b"\n"):
                transcript.take(protocol.parse(line))
        except protocol.ProtocolError as error:
            said = _said(session, error.reason)
        words = data.decode("utf-8", "replace")
        pip_report.read_pip_report(words)
        pip_report.read_uv_dry_run(words)
        pip_report.read_conda_dry_run(words)
        return said

    return run


_ID = "20260101-000000-abcdef"


def _records() -> Sequence[bytes]:
    path = "/home/you/.bashrc"
    existed = True
    receipt = Receipt(
        _ID, "2026-01-01T00:00:00.000+00:00", "use cuda 12.4", path, path, existed, digest(b"old\n"), digest(b"new\n")
    )
    record = {"schema": 1, "state": "made", **asdict(receipt), "written": {"head": 0, "tail": 1, "middle": "bmV3"}}
    step = {
        "state": "waiting",
        "words": "",
        "boot": "",
        "made": False,
        "tries": 0,
        "kind": "run",
        "text": "install torch",
        "commands": ["pip install torch"],
        "diff": "",
        "check": None,
        "needs_root": False,
        "run": None,
        "proof": None,
    }
    install = {
        "schema": 1,
        "id": _ID,
        "made_at": "2026-01-01T00:00:00.000+00:00",
        "goal": "torch",
        "goals": ["torch"],
        "directory": "/home/you",
        "boot": "",
        "state": "open",
        "steps": [step],
    }
    return tuple(
        json.dumps(one).encode() for one in (record, {**record, "state": "undone"}, {**record, "group": _ID + "-2"}, install)
    )


def _journal(scratch: Path) -> Run:
    session = _session(scratch)
    world = session.world
    state = Path(world.surroundings.state())
    (state / "journal").mkdir(mode=0o700, parents=True, exist_ok=True)
    (state / "installs" / _ID).mkdir(mode=0o700, parents=True, exist_ok=True)
    (scratch / ".bashrc").write_bytes(b"new\n")
    (state / "journal" / f"{_ID}.before").write_bytes(b"old\n")

    def run(data: bytes) -> str:
        data = data.replace(b"/home/you", os.fsencode(scratch))
        (state / "journal" / f"{_ID}.json").write_bytes(data)
        (state / "installs" / _ID / "install.json").write_bytes(data)
        installs(world)
        history(world)
        try:
            plan_undo(world)
        except RepairError as error:
            return _said(session, error.reason)
        return ""

    return run


def _nvml_says() -> Sequence[bytes]:
    gpu: dict[str, object] = {
        "nvmlDeviceGetName": "NVIDIA GeForce RTX 4090",
        "nvmlDeviceGetUUID": "GPU-8f2b",
        "nvmlDeviceGetMinorNumber": 0,
        "nvmlDeviceGetCudaComputeCapability": [8, 9],
        "nvmlDeviceGetDisplayActive": 1,
        "nvmlDeviceGetComputeMode": 0,
        "nvmlDeviceGetPersistenceMode": 0,
        "nvmlDeviceGetCurrentClocksThrottleReasons": 4,
        "nvmlDeviceGetPciInfo": {"address": "00000000:01:00.0", "id": "10de:2684"},
        "nvmlDeviceGetMigMode": False,
        "nvmlDeviceGetMemoryInfo": {"total": 25757220864, "used": 1 << 30, "free": 24683479040},
        "nvmlDeviceGetMigDeviceHandleByIndex": [],
        "running processes": [[4242, "compute", 1 << 30]],
        "nvmlDeviceGetFieldValues": 0,
    }
    system: dict[str, object] = {
        "nvmlInit": 0,
        "nvmlSystemGetNVMLVersion": "12.550.54",
        "library": "/usr/lib/libnvidia-ml.so.1",
        "nvmlSystemGetDriverVersion": "550.54.14",
        "nvmlSystemGetCudaDriverVersion_v2": 12040,
        "nvmlDeviceGetCount": 1,
    }
    lines: list[dict[str, object]] = [{"gpu": None, "fact": fact, "value": value} for fact, value in system.items()]
    lines += [{"gpu": 0, "fact": fact, "value": value} for fact, value in gpu.items()]
    refused: dict[str, object] = {
        "gpu": None,
        "fact": "nvmlInit",
        "code": 18,
        "name": "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
        "words": "x",
    }
    whole = b"\n".join(json.dumps(line).encode() for line in lines)
    return (whole, json.dumps(refused).encode(), *(json.dumps(line).encode() for line in lines))


def _nvml(scratch: Path) -> Run:
    programs, honest = _Silent(), _nvml_says()[0].split(b"\n")
    world = _session(scratch, programs).world

    def run(data: bytes) -> str:
        told = data.split(b"\n")
        # What is not said otherwise is said honestly, so that one strange line is met by all that follows from it.
        programs.says = b"\n".join((*honest, *told) if len(told) == 1 else told)
        reading = nvml.probe(world, Known((), "test"))
        nvml.merge(Known((), "test"), reading, _knowledge())
        return ""

    return run


def _sample_blocks() -> Sequence[bytes]:
    """Unpacked ones: what is packed is refused at its first changed byte."""
    held = ProcessSample(
        7, Known("you", "/proc"), Known("python train.py", "/proc"), Known(1 << 30, "NVML"), cpu_percent=Known(9.5, "/proc")
    )
    whole = GpuSample(0, name=Known("RTX 4090", "NVML"), memory_used_bytes=Known(2 << 30, "NVML"), processes=Known((held,), "NVML"))
    event = Event(1.5, EventKind.XID, text("Xid {number}", number=79), 0, 7, "79")
    samples = [Sample(1.8e9 + moment, float(moment), (whole, GpuSample(1)), (), (event,) * moment) for moment in range(3)]
    return tuple(zlib.decompress(packed(samples[:count])) for count in (1, 2, 3))


def _samples(scratch: Path) -> Run:
    session, path = _session(scratch), scratch / "run.db"
    writer = SampleWriter(str(path), 1.8e9)
    writer.write([Sample(1.8e9, 1.0, ())])
    writer.close(1.8e9)

    def run(data: bytes) -> str:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE blocks SET data = ?", (zlib.compress(data, 1),))
        source, saved = ("--source", f"file:{path}"), scratch / f"saved.{('csv', 'svg')[len(data) % 2]}"
        printed = _printed(session, monitor, *source, "--headless") + _printed(session, monitor, *source, "--save", str(saved))
        drawn = saved.read_text("utf-8") if saved.exists() else ""
        saved.unlink(missing_ok=True)
        return printed + drawn.replace("\r\n", "\n")

    return run


_PACKAGE_LOGS = {
    "/var/log/apt/history.log": (
        b"\nStart-Date: 2026-11-14  06:12:03\nCommandline: /usr/bin/unattended-upgrade\nRequested-By: you (1000)\n"
        b"Upgrade: bash:amd64 (5.1, 5.2), nvidia-driver-570:amd64 (570.86-0ubuntu1, 570.95-0ubuntu1)\n"
        b"Install: linux-image-6.8.0-48-generic:amd64 (6.8.0-48.48, automatic)\nEnd-Date: 2026-11-14  06:12:40\n"
    ),
    "/var/log/dpkg.log": b"2026-11-14 06:12:11 upgrade nvidia-driver-570:amd64 570.86-0ubuntu1 570.95-0ubuntu1\n",
    "/var/log/pacman.log": (
        b"[2026-11-14T06:12:03+0100] [PACMAN] Running 'pacman -Syu'\n"
        b"[2026-11-14T06:12:10+0100] [ALPM] upgraded nvidia-open (580.95.05-1 -> 580.105.08-1)\n"
        b"[2019-06-01 06:12] installed gcc (9-1)\n"
    ),
    "/var/log/zypp/history": (
        b"2026-11-14 06:12:03|command|root@desk|'zypper' 'dup'|\n"
        b"2026-11-14 06:12:10|install|nvidia-compute-G06|580.95.05-1.1|x86_64|root@desk|NVIDIA|d99de2|\n"
    ),
    "/var/log/dnf.rpm.log": (
        b"2026-11-14T06:12:10+0100 SUBDEBUG Upgrade: nvidia-driver-3:580.95.05-1.fc42.x86_64\n"
        b"2026-11-14T06:12:13+0100 SUBDEBUG Upgraded: nvidia-driver-3:570.86.15-1.fc42.x86_64\n"
    ),
    "/var/log/yum.log": b"Nov 14 06:12:10 Updated: 1:nvidia-driver-450.1-1.el7.x86_64\n",
    "/var/log/nvidia-installer.log": (
        b"creation time: Sat Nov 14 06:12:03 2026\ninstaller version: 580.95.05\n"
        b"nvidia-installer command line:\n    ./nvidia-installer\n"
        b"-> Uninstallation of existing driver: NVIDIA Accelerated Graphics Driver for Linux-x86_64 (570.86.15) is complete.\n"
        b"-> Installation of the NVIDIA Accelerated Graphics Driver for Linux-x86_64 (version: 580.95.05) is now complete.\n"
    ),
    "/env/conda-meta/history": (
        b"==> 2026-11-14 06:12:03 <==\n# cmd: conda install pytorch\n-conda-forge/linux-64::pytorch-2.6.0-cuda126_py312_1\n"
        b"+conda-forge/linux-64::pytorch-2.7.0-cuda128_py312_0\n"
    ),
    "/etc/localtime": (
        b"TZif2" + bytes(15 + 24) + b"TZif2" + bytes(31) + b"\0\0\0\1\0\0\0\4\0\0\x0e\x10\0\0CET\0\nCET-1CEST,M3.5.0,M10.5.0/3\n"
    ),
}


def _package_logs(scratch: Path) -> Run:
    """Each log, also packed, with these bytes in it, and the others honest."""
    root = scratch / "machine"
    for path, honest in _PACKAGE_LOGS.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(honest)
    around = Surroundings("/home/you", "you", 1000, {}, "/home/you", "/bin/bash")
    world = World(around, Files(str(root)), _Silent())
    machine = Machine(environments=Known((PythonEnvironment("/env", "env"),), "test"))
    paths = tuple(_PACKAGE_LOGS)

    def run(data: bytes) -> str:
        path = paths[len(data) % len(paths)]
        place, packed_place = root / path.lstrip("/"), root / f"{path}.1.gz".lstrip("/")
        place.write_bytes(data)
        packed_place.write_bytes(gzip.compress(data, 1)[: -(len(data) % 3) or None])
        try:
            told = read_history(world, machine, ("", "2026-11-14")[len(data) % 2])
            return "\n".join(map(ENGLISH, told.unread))
        finally:
            place.write_bytes(_PACKAGE_LOGS[path])
            packed_place.unlink()

    return run


@cache
def _memory_snapshots() -> tuple[bytes, ...]:
    import pickle

    from tests.snapshots import training

    return tuple(pickle.dumps(training(2, leaks=True).told, protocol) for protocol in range(6))


def _memory_snapshot(_scratch: Path) -> Run:
    from gpuassist.diagnose.snapshot.story import story_of
    from gpuassist.formats.torch_snapshot.byte_stream import SnapshotError
    from gpuassist.formats.torch_snapshot.read import read_snapshot
    from gpuassist.present.memory_snapshot import snapshot_document

    def run(data: bytes) -> str:
        pieces = iter((data[:1000], data[1000:]))
        try:
            snapshot = read_snapshot(lambda: next(pieces, b""), "a.pickle")
        except SnapshotError as error:
            return ENGLISH(error.reason)
        story = story_of(snapshot)
        json.dumps(snapshot_document(snapshot, story, ENGLISH))
        return "\n".join(ENGLISH(finding.title) for finding in story.findings)

    return run


_PROMETHEUS = tuple(
    json.dumps({"status": "success", "data": {"resultType": kind, "result": [{"metric": labels, **told}]}}).encode()
    for labels in (
        {"__name__": FB_USED, "gpu": "0", "UUID": "GPU-a", "Hostname": "n1", "modelName": "H100", "exported_pod": "train-0"},
        {"__name__": XID_ERRORS, "gpu": "1", "UUID": "GPU-b", "GPU_I_ID": "7", "GPU_I_PROFILE": "1g.10gb", "instance": "n1:9400"},
    )
    for kind, told in (
        ("vector", {"value": [1795485591.366, "81559"]}),
        ("matrix", {"values": [[1795485591, "79"], [1795485606, "9223372036854775794"], [1795485621, "NaN"]]}),
    )
)


def _prometheus(_scratch: Path) -> Run:
    """An answer of a server, as the figures of its GPUs."""

    def run(data: bytes) -> str:
        try:
            rows = read_answer(data)
        except PrometheusError as error:
            return ENGLISH(error.reason)
        gpus = RemoteGpus()
        gpus.meet(rows)
        history = History()
        for sample in (*gpus.samples(rows, offset=0.0, axis=0.0), gpus.sample(by_gpu(rows), 0.0, 0.0)):
            history.add(sample)
            sample_document(sample, ENGLISH)
        return ""

    return run


def _models_say() -> tuple[bytes, ...]:
    """Configs of each family, a head and an index of weights, and a report of a traced step."""
    rows = json.loads((CASES / "estimates/parameters.json").read_text("utf-8"))["real"]
    tensors = {"a": {"dtype": "BF16", "shape": [4, 8], "data_offsets": [0, 64]}}
    index = {"metadata": {"total_size": 10}, "weight_map": {"a": "model.safetensors"}}
    report = {"name": "M", "batch": 1, "parameters": 9, "parameter_bytes": 36, "trainable_bytes": 36, "buffer_bytes": 0}
    report |= {"kept_bytes": 9, "fixed_bytes": 1, "passing_bytes": 4, "passing_fixed_bytes": 1, "torch": "2.13", "device": "meta"}
    return tuple(json.dumps(one).encode() for one in (*(row["config"] for row in rows), tensors, index, report))


def _models(scratch: Path) -> Run:
    from gpuassist.formats import safetensors
    from gpuassist.formats.model_config.fields import ModelConfigError
    from gpuassist.formats.model_config.read import read_model_config
    from gpuassist.formats.step_report import read_traced_step
    from gpuassist.model.estimate import EstimateSetting, ModelShape, Task
    from gpuassist.present.estimate import plain_text
    from gpuassist.session.estimate.answer import answer_fit

    session = _session(scratch)
    settings = (EstimateSetting(), EstimateSetting(task=Task.INFER))

    def run(data: bytes) -> str:
        safetensors.read_head(data)
        safetensors.read_index(data)
        shapes = [read_traced_step(data)]
        with suppress(ModelConfigError):
            shapes.append(read_model_config(data))
        for shape in shapes:
            if isinstance(shape, ModelShape):
                for setting in settings:
                    plain_text(answer_fit(session, shape, setting, ()), ENGLISH)
        return ""

    return run


_SVG = b"""<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "b">]><svg>
<g><title>all (9 samples, 100%)</title><rect x="0%" y="5" width="9" fg:x="0" fg:w="9"/></g>
<g><title>&lt;f&gt; (a.py:7) (5 samples, 50%)</title><rect x="0%" y="9" width="5" fg:x="0" fg:w="5"/></g></svg>"""
_LINES = b"""Timer unit: 1e-06 s

Total time: 5 s
File: a.py
Function: f at line 1

Line #      Hits         Time  Per Hit   % Time  Line Contents
==============================================================
     2        41    3200000.0  80414.9     40.0      for batch in loader:
     3        41    9.0  80.9     x = f()
"""
_SCALENE = """a.py: % of time = 100.00% (5.3s) out of 5.3s.
  Line  │Python │native │system │a.py
      7 │   9%  │   6%  │       │x = 1
Function summaries:
  f (line 4): 50% Python
""".encode()


def _profiles() -> Sequence[bytes]:
    """One of each form; traces are shorter than a piece, so that all of one is met."""
    lines = "\n".join(("  ncalls", "  7    1.500    0.214    1.500    0.214 data.py:31(__getitem__)"))
    kineto = [
        {
            "ph": "X",
            "cat": category,
            "name": name,
            "pid": 7,
            "tid": 7,
            "ts": 1000 + place,
            "dur": 5,
            "args": {"Input Dims": [[2], []]},
        }
        for place, (category, name) in enumerate(
            (("cpu_op", "aten::mm"), ("kernel", "sgemm"), ("python_function", "a.py(3): f")) * 9
        )
    ]
    statistics = {
        ("data.py", 5, "get"): (3, 3, 2.0, 2.0, {}),
        ("~", 0, "<sleep>"): (1, 1, 5.0, 5.0, {("data.py", 5, "get"): (1, 1, 5.0, 5.0)}),
    }
    sampled = {"type": "sampled", "unit": "seconds", "samples": [[0], [0, 1]], "weights": [0.01, 0.02]}
    speedscope = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "profiles": [sampled],
        "shared": {"frames": [{"name": "a"}] * 2},
    }
    scalene = {"elapsed_time_sec": 3.0, "files": {"a.py": {"lines": [{"lineno": 1, "line": "x", "n_cpu_percent_python": 60}]}}}
    trace = json.dumps({"traceEvents": kineto, "traceName": "x"}, indent=1).encode()
    return (
        f"   9 function calls in 1.500 seconds\n\n{lines}\n".encode(),
        b"Name  Self CPU %  Self CPU  Self CUDA  # of Calls\n---  ---\naten::mm  9%  1.0ms  2.0ms  7\n---\n"
        b"Self CPU time total: 2ms\n",
        b" Time (%)  Total Time (ns)  Instances  Avg (ns)  Name\n -----  ----\n"
        b"  61.0  305000000  20000  15250.0  cudaLaunchKernel\n",
        b'Time (%),Total Time (ms),Instances,GridXYZ,Name\n61.0,3.5,20, 1 1 1,"add<1, 2>"\n',
        b"| Time (%) | Total Time (ns) | Num Calls | Name |\n+----+\n| 61.0 | 350 | 20 | cudaFree |\n",
        b'[\n{"Time (%)": 61.0, "Total Time (us)": 3.5, "Count": 2, "Operation": "[CUDA memset]"}\n]\n',
        _LINES,
        _SCALENE,
        _SVG,
        b"<html>scalene<script>const profile = " + json.dumps(scalene).encode() + b"</script></html>",
        b"main (a.py:1);f (a.py:7) 30\nmain (a.py:1) 2\n",
        marshal.dumps(statistics),
        trace,
        json.dumps(kineto).encode(),
        gzip.compress(trace, 1, mtime=0),
        json.dumps(speedscope).encode(),
        json.dumps(scalene).encode(),
        _nsys_export(),
    )


def _nsys_export() -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(
            "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'sgemm');"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, demangledName INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 50, 1), (60, 70, 1);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, copyKind INTEGER, srcKind INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (50, 60, 1, 0);"
        )
        return connection.serialize() if hasattr(connection, "serialize") else b"SQLite format 3\0"


def _profile(scratch: Path) -> Run:
    """What the child does, in this process: whatever ends it would be seen here."""
    session, path = _session(scratch), scratch / "profile"

    def run(data: bytes) -> str:
        path.write_bytes(data)
        told = profile_child.read(str(path), lambda done, of: None)
        if isinstance(told, ReadNothing):
            return _said(session, refusal(str(path), told).reason)
        answer = answer_of(session, str(path), told.readings)
        return visible(in_plain_text(answer, ENGLISH)) + json.dumps(profile_document(answer, ENGLISH))

    return run


TARGETS: tuple[Target, ...] = (
    Target("models", _models_say, _models),
    Target("explain", _texts, _explain),
    Target("recordings", _recordings, _recording),
    Target("remote", _remote_says, _remote),
    Target("shell", _shell_files, _shell),
    Target("readers", lambda: _FILES, _readers),
    Target("children", _children_say, _children),
    Target("journal", _records, _journal),
    Target("nvml", _nvml_says, _nvml),
    Target("project", _projects, _project),
    Target("samples", _sample_blocks, _samples),
    Target("memory-snapshots", _memory_snapshots, _memory_snapshot),
    Target("package-logs", lambda: tuple(_PACKAGE_LOGS.values()), _package_logs),
    Target("prometheus", lambda: _PROMETHEUS, _prometheus),
    Target("profiles", _profiles, _profile),
)


def clear(scratch: Path) -> None:
    """Takes away what a target worked in."""
    shutil.rmtree(scratch, ignore_errors=True)
