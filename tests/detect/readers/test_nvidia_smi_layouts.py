"""The table of nvidia-smi in the layout of every branch from 304 on, drawn as that branch draws it."""

from __future__ import annotations

from gpuassist.model.fact import NOT_ASKED, value_or
from tests.detect.readers.pasted import MIB, gpus, machine
from tests.facts import value
from tests.rows import for_each

# The driver's version, the CUDA in the heading, the unit of memory.
_LAYOUTS = (
    *(("304.54", "", "MB"), ("319.37", "", "MB"), ("331.62", "", "MiB"), ("340.29", "", "MiB"), ("346.46", "", "MiB")),
    *(("352.63", "", "MiB"), ("361.93.02", "", "MiB"), ("367.57", "", "MiB"), ("375.26", "", "MiB"), ("384.111", "", "MiB")),
    *(("390.77", "", "MiB"), ("396.54", "", "MiB"), ("410.48", "10.0", "MiB"), ("418.87.00", "10.1", "MiB")),
    *(("430.50", "10.1", "MiB"), ("440.33.01", "10.2", "MiB"), ("450.80.02", "11.0", "MiB"), ("460.32.03", "11.2", "MiB")),
    *(("470.57.02", "11.4", "MiB"), ("510.47.03", "11.6", "MiB"), ("515.65.01", "11.7", "MiB"), ("525.85.12", "12.0", "MiB")),
    *(("530.30.02", "12.1", "MiB"), ("535.129.03", "12.2", "MiB"), ("545.23.08", "12.3", "MiB"), ("550.54.14", "12.4", "MiB")),
    *(("555.42.02", "12.5", "MiB"), ("560.35.03", "12.6", "MiB"), ("570.86.15", "12.8", "MiB"), ("575.57.08", "12.9", "MiB")),
    *(("580.65.06", "13.0", "MiB"), ("590.48.01", "13.1", "MiB"), ("610.43.02", "13.3", "MiB")),
)


def _table(version: str, cuda: str, unit: str, *, name: str = "GeForce GTX 108...", mode: str = "Off") -> str:
    """One card with 401 of 11172 MiB in use, and two processes."""
    branch = int(version.split(".")[0])
    own = f"{4 if branch < 319 else 5}.{version}" if branch < 331 else version  # old programs count themselves: 4.304.54
    where = "0000:01:00.0" if branch < 384 else "00000000:01:00.0"
    driver, serves = ("KMD", "CUDA UMD") if branch >= 610 else ("Driver", "CUDA")
    heading = f"| NVIDIA-SMI {own:<10} {driver} Version: {version:<12}" + (f" {serves} Version: {cuda}" if cuda else "")
    left, right = (42, 24) if branch >= 550 else (42, 22) if branch >= 530 else (32, 22)
    mig, stays = branch >= 450, "Persistence-M" if branch >= 319 else ""
    kind = "Disp. " if branch < 319 else "Disp.A"
    memory = f"401{unit} / 11172{unit}"
    memory = f"   4%  {memory}" if branch < 319 else f"{memory:>{right - 1}}"  # 304 told how full it was
    full = left + right + 25
    row = f"|   0  {name}"
    row = row.ljust(left - 6) + (f"{mode:>4}  |" if branch >= 319 else "      |")
    lines = [
        "+" + "-" * ((full - 2) if branch >= 384 else 54) + "+",
        heading.ljust((full - 1) if branch >= 384 else 55) + "|",
        "|" + "-" * (left - 1) + "+" + "-" * right + "+" + "-" * 22 + "+",
        f"| GPU  Name {stays:>{left - 13}} | Bus-Id {kind:>{right - 9}} | Volatile Uncorr. ECC |",
        f"| Fan  Temp  Perf {'Pwr:Usage/Cap':>{left - 19}} |{'Memory-Usage':>{right - 1}} | GPU-Util  Compute M. |",
        *([f"|{'':{left - 1}}|{'':{right}}|               MIG M. |"] if mig else []),
        "|" + "=" * (left - 1) + "+" + "=" * right + "+" + "=" * 22 + "|",
        f"{row} {where:>{right - 5}} Off|                  N/A |",
        f"| 23%   40C    P8 {'11W / 250W':>{left - 19}} |{memory:<{right - 1}} |      0%      Default |",
        *([f"|{'':{left - 1}}|{'':{right}}|             Disabled |"] if mig else []),
        "+" + "-" * (left - 1) + "+" + "-" * right + "+" + "-" * 22 + "+",
        "",
        "+" + "-" * (full - 2) + "+",
        f"| {'Compute processes' if branch < 352 else 'Processes'}:".ljust(full - 13) + "GPU Memory |",
        "|" + "=" * (full - 2) + "|",
        *(f"{_process(branch, pid, unit):<{full - 1}}|" for pid in (1100, 21800)),
        "+" + "-" * (full - 2) + "+",
    ]
    return "\n".join(lines) + "\n"


def _process(branch: int, pid: int, unit: str) -> str:
    instance = "   N/A  N/A" if branch >= 450 else ""
    kind = "      C   " if branch >= 352 else "  "
    return f"|    0{instance} {pid:>9}{kind}/usr/bin/python3 train.py        195{unit} "


@for_each(("version", "cuda", "unit"), _LAYOUTS)
def test_driver_card_memory_and_processes_are_read_from_every_layout(version: str, cuda: str, unit: str) -> None:
    words = _table(version, cuda, unit)
    found, (gpu,) = machine(words).driver, gpus(words)
    assert (str(value(found.version)), str(value_or(found.cuda_version, ""))) == (version, cuda)
    assert (value(gpu.name), value(gpu.pci_address), value(gpu.index)) == ("GeForce GTX 108...", "0000:01:00.0", 0)
    assert (value(gpu.memory_used_bytes), value(gpu.memory_total_bytes)) == (401 * MIB, 11172 * MIB)
    assert [(one.pid, value(one.memory_used_bytes)) for one in value(gpu.processes)] == [(1100, 195 * MIB), (21800, 195 * MIB)]
    assert (gpu.mig_enabled == NOT_ASKED, gpu.mig_enabled.is_true) == (cuda < "11", False)


@for_each("mode", ["WDDM", "TCC", "MCDM", "On", "N/A"])
def test_mode_of_windows_is_no_part_of_the_name(mode: str) -> None:
    (gpu,) = gpus(_table("555.42.02", "12.5", "MiB", name="Quadro P2000", mode=mode))
    assert value(gpu.name) == "Quadro P2000"


@for_each(
    "name", ["[Not Found]", "Unknown Error", "Insufficient Permissions", "[Insufficient Permissions]", "-", "/usr/bin/a b  c"]
)
def test_process_is_counted_whatever_stands_for_its_name(name: str) -> None:
    words = _table("535.129.03", "12.2", "MiB").replace("/usr/bin/python3 train.py", name)
    assert len(value(gpus(words)[0].processes)) == 2


def test_card_that_tells_nothing_is_still_a_card() -> None:
    words = _table("396.54", "", "MiB").replace("23%   40C    P8", "ERR!  ERR! ERR!").replace("401MiB / 11172MiB", "Unknown Error")
    (gpu,) = gpus(words)
    assert (value(gpu.name), gpu.memory_used_bytes) == ("GeForce GTX 108...", NOT_ASKED)


def test_table_that_lists_nobody_is_there_to_its_end() -> None:
    words = "\n".join(line for line in _table("570.86.15", "12.8", "MiB").split("\n") if "python3" not in line)
    assert value(gpus(words)[0].processes) == ()
