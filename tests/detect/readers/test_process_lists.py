"""Lists of processes, as every tool prints them: each row's number, user, program, GPU and memory."""

from __future__ import annotations

from gpuassist.detect.readers.process_lists import ListedProcess, process_list
from gpuassist.model.fact import value_or
from tests.detect.readers.pasted import MIB, machine, paste
from tests.facts import value
from tests.rows import for_each

GPU_COLUMNS = "|    0   N/A  N/A     20713      C   python                                       8123MiB |"
TITLE = "| Processes:                                                                              |"


def _row(row: ListedProcess) -> tuple[object, ...]:
    used = value_or(row.memory_used_bytes, 0) // MIB
    return row.pid, row.user, row.command, row.devices, row.gpu, used, row.on_gpu


TRAINING = "python train.py"
ROWS = (
    (
        "                     USER        PID ACCESS COMMAND\n/dev/nvidia0:        alice     20713 F...m python",
        (20713, "alice", "python", ("/dev/nvidia0",), None, 0, True),
    ),
    ("/dev/nvidia0:         20713m", (20713, "", "", ("/dev/nvidia0",), None, 0, True)),
    (
        "/dev/nvidia-caps/nvidia-cap1:\n   root  20713 f.... x",
        (20713, "root", "x", ("/dev/nvidia-caps/nvidia-cap1",), None, 0, True),
    ),
    (
        "python    20713    alice   28u   CHR   195,0      0t0  583 /dev/nvidia0",
        (20713, "alice", "python", ("/dev/nvidia0",), None, 0, True),
    ),
    (
        "python3  20713 20720 cuda-EvtH  alice 41u CHR 195,255 0t0 707 /dev/nvidiactl",
        (20713, "alice", "python3", ("/dev/nvidiactl",), None, 0, True),
    ),
    ("$ sudo lsof -t /dev/nvidia0\n20713", (20713, "", "", (), None, 0, True)),
    ("    PID USER     ELAPSED CMD\n  20713 alice  04:11:09 python train.py", (20713, "alice", TRAINING, (), None, 0, False)),
    (
        "  PID                  STARTED USER     COMMAND\n20713 Mon Nov 23 08:01:12 2026 alice    python train.py",
        (20713, "alice", TRAINING, (), None, 0, False),
    ),
    ("alice    20713     1 99 Nov20 ?        3-04:11:09 python train.py", (20713, "alice", TRAINING, (), None, 0, False)),
    (
        "alice      20713  101  4.2 38213444 5540100 pts/1 Rl+ Nov20 4571:09 python train.py",
        (20713, "alice", TRAINING, (), None, 0, False),
    ),
    (
        "UID   PID    PPID   C   STIME  TTY  TIME  CMD\nroot  20713  20690  99  10:02  ?  04:11:09  python train.py",
        (20713, "root", TRAINING, (), None, 0, False),
    ),
    (f"{TITLE}\n{GPU_COLUMNS}", (20713, "", "python", (), 0, 8123, True)),
    (GPU_COLUMNS, (20713, "", "python", (), 0, 8123, True)),
    (
        f"{TITLE}\n|    1      20713      C   python                        8123MiB |",
        (20713, "", "python", (), 1, 8123, True),
    ),
    ("| Compute processes:  GPU Memory |\n|    0     20713  ./a.out      89MB  |", (20713, "", "./a.out", (), 0, 89, True)),
    (
        "# gpu  pid  type  sm  mem  enc  dec  fb  command\n# Idx  #  C/G  %  %  %  %  MB  name\n"
        "    0  20713  C  97  41  -  -  8123  python",
        (20713, "", "python", (), 0, 8123, True),
    ),
    ("pid, process_name, used_gpu_memory [MiB]\n20713, python, 8123 MiB", (20713, "", "python", (), None, 8123, True)),
    (
        "$ nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv,noheader,nounits\n20713, python, 8123",
        (20713, "", "python", (), None, 8123, True),
    ),
    (
        "        Process ID     : 20713\n            Name            : python\n            Used GPU Memory  : 8123 MiB",
        (20713, "", "python", (), None, 8123, True),
    ),
    (
        "    PID USER DEV     TYPE  GPU        GPU MEM    CPU  HOST MEM Command\n"
        "  20713 alice  0  Compute  97%   8123MiB  66%   101%   5410MiB python train.py",
        (20713, "alice", TRAINING, (), 0, 8123, True),
    ),
    (
        "│ GPU     PID      USER  GPU-MEM %SM  %CPU  %MEM  TIME  COMMAND │\n"
        "│   0   20713 C   alice 8123MiB  97 101.2   4.2  3.2 days  python train.py │",
        (20713, "alice", TRAINING, (), 0, 8123, True),
    ),
    (
        "[0] NVIDIA GeForce RTX 3090 | 67'C,  97 % |  8368 / 24576 MB | alice:python/20713(8123M)",
        (20713, "alice", "python", (), 0, 8123, True),
    ),
)


@for_each("words, expected", ROWS)
def test_every_tool_is_read(words: str, expected: tuple[object, ...]) -> None:
    assert list(map(_row, process_list(paste(words)).rows)) == [expected]


@for_each(
    "words",
    (
        "commit 20713 alice fixed python",
        "1432 root Xorg",
        "Epoch 3 / 10 20713 python 8123MiB",
        "| 0 | python | 8123MiB |",
        "name, pid\npython, 20713",
        "PID is the number of a process\n20713 lines of code",
    ),
)
def test_what_is_no_list_is_none(words: str) -> None:
    assert process_list(paste(words)).rows == ()


@for_each(
    "words",
    (
        f"{TITLE}\n|  No running processes found    |",
        "$ nvidia-smi --query-compute-apps=pid,used_memory\npid, used_gpu_memory [MiB]",
    ),
)
def test_no_process_is_told(words: str) -> None:
    assert process_list(paste(words)).none


def test_a_process_is_told_once_with_all_that_is_told_of_it() -> None:
    listed = f"{TITLE}\n{GPU_COLUMNS}\n$ ps -p 20713 -o pid,user,cmd\n  PID USER  CMD\n20713 alice python train.py --lr 1"
    (found,) = value(machine(listed).holders)
    assert (found.pid, found.user, found.command) == (20713, "alice", "python train.py --lr 1")


def test_a_process_that_is_only_listed_holds_nothing() -> None:
    told = machine("  PID USER  CMD\n20713 alice python train.py")
    assert not isinstance(value_or(told.holders, None), tuple)
