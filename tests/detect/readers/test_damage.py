"""Whatever happens to an output on its way into a paste, nothing is read in it that it did not say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.detect.readers import READERS, read_all
from gpuassist.formats.paste import read_paste
from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.detect.readers import test_collect_env, test_nvidia_smi, test_reports
from tests.detect.readers.pasted import KNOWLEDGE, machine
from tests.detect.readers.test_nvcc import ARCHITECTURES, OF_12
from tests.detect.readers.test_nvidia_smi_lists import LISTED, QUERY, QUERY_610
from tests.rows import for_each

TABLES = tuple("\n".join(line.strip() for line in table.splitlines()) for table in test_nvidia_smi.EVERY)
LISTS = (QUERY, QUERY_610, LISTED, OF_12, ARCHITECTURES)
REPORTS = (*test_collect_env.EVERY, *test_reports.EVERY)
EVERY = (*TABLES, *LISTS, *REPORTS)

Read = Callable[[str], Machine]


def said(told: Machine) -> set[str]:
    """What a machine holds that a text can say: names, addresses, versions."""
    facts: list[Fact[object]] = [told.driver.version, told.driver.cuda_version, told.host.kernel]
    for gpu in value_or(told.gpus, ()):
        facts += [gpu.name, gpu.pci_address, gpu.uuid, gpu.memory_total_bytes, gpu.memory_used_bytes]
        facts += [one.memory_used_bytes for one in value_or(gpu.processes, ())]
    for toolkit in value_or(told.toolkits, ()):
        facts += [toolkit.version]
    for environment in value_or(told.environments, ()):
        python = environment.python_version  # a path names the release alone
        facts += [
            Known(python.value.release, python.source) if isinstance(python, Known) else python,
            *(torch.version for torch in value_or(environment.torch, ())),
        ]
    return {str(value_or(fact, "")).partition("+")[0] for fact in facts} - {""}  # pip leaves a torch's tag out


def broken(words: str, width: int) -> str:
    """As a terminal of that width shows it."""
    return "\n".join(line[start : start + width] for line in words.splitlines() for start in range(0, max(len(line), 1), width))


def read(words: str) -> Machine:
    return read_all(read_paste(words), KNOWLEDGE)


@for_each("words", EVERY)
def test_every_line_may_be_missing(words: str) -> None:
    lines, whole = words.splitlines(), said(read(words))
    for place in range(len(lines)):
        assert said(read("\n".join(lines[:place] + lines[place + 1 :]))) <= whole | said(read(lines[place]))


@for_each("words", EVERY)
def test_every_beginning_says_no_more_than_the_whole(words: str) -> None:
    lines, whole = words.splitlines(), said(read(words))
    for end in range(len(lines)):
        assert said(read("\n".join(lines[:end]))) <= whole


@settings(deadline=None)  # the machine may be busy
@given(st.sampled_from(TABLES), st.data())
def test_a_table_cut_anywhere_invents_nothing(words: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words)))
    end = data.draw(st.integers(start, len(words)))
    names = said(read(words))
    # A piece of a name that is all that is left may be a name.
    assert all(any(one in name for name in names) for one in said(read(words[start:end])))


@settings(deadline=None)  # the machine may be busy
@given(st.sampled_from(EVERY), st.data())
def test_a_text_cut_anywhere_is_read(words: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(words)))
    names = said(read(words))
    assert all(any(name.startswith(one) for name in names) for one in said(read(words[:end])))


@settings(deadline=None)  # the machine may be busy
@given(st.sampled_from(TABLES), st.integers(40, 130))
def test_a_table_broken_at_any_width_invents_nothing(words: str, width: int) -> None:
    assert said(read(broken(words, width))) <= said(read(words))


@for_each("words", EVERY)
@for_each("mark", ["> ", ">> ", "  ", "\t", "> > "])
def test_quotation_and_indentation_change_nothing(words: str, mark: str) -> None:
    plain = "\n".join(line.strip() if words in TABLES else line for line in words.splitlines())
    assert said(read("\n".join(mark + line for line in plain.splitlines()))) == said(read(plain))


@for_each("words", EVERY)
@for_each(
    "before",
    [
        "user@host:~$ nvidia-smi\n",
        "PS C:\\Users\\me> nvidia-smi\n",
        "你好，我的显卡不能用：\n",
        "Hello, here is what I get:\n```\n",
        "(base) root@9f2c:/# \n",
    ],
)
def test_what_stands_around_changes_nothing(words: str, before: str) -> None:
    assert said(read(before + words + "\n```\nThanks in advance!\n")) == said(read(words))


@for_each("words", EVERY)
def test_windows_line_ends_change_nothing(words: str) -> None:
    assert said(read(words.replace("\n", "\r\n"))) == said(read(words))


@settings(deadline=None)  # the machine may be busy
@given(st.lists(st.sampled_from([line for words in EVERY for line in words.splitlines()]), max_size=40))
def test_lines_in_any_order_are_read(lines: list[str]) -> None:
    assert isinstance(read("\n".join(lines)), Machine)


@settings(deadline=None)  # the machine may be busy
@given(st.text(st.sampled_from("|+-=0123456789: .GPUNVIDA-SMIBonfTesla4()/\n"), max_size=300))
def test_anything_is_read(words: str) -> None:
    assert isinstance(read("| NVIDIA-SMI GPU 0: PyTorch version: sm_ MiB / name, driver_version\n" + words), Machine)


HOSTILE = (
    "| 0 a" + " " * 200_000,
    "|" * 200_000,
    "| 1 " * 50_000,
    "+-" * 100_000,
    "NVIDIA-SMI 1.1 " + " |" * 100_000,
    "Processes:\n" + "| 0 1 C x " * 20_000,
    "GPU 0: A" * 30_000,
    "name, " * 50_000,
    "PyTorch version: " + "1." * 100_000,
    "PyTorch version: 2.0\nGCC version: " + "(" * 100_000,
    "[conda] pytorch 1.0 " + "a" * 100_000,
    "PyTorch built with\nGPU " + "0," * 100_000,
    "Product Name : a\n" + "A b" * 60_000,
    "sm_80\n" * 40_000,
    "Cuda compilation tools, release 1.1\n" * 5_000,
    "> " * 100_000,
)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("words", HOSTILE)
def test_no_text_makes_a_reader_run_away(words: str) -> None:
    for reader in READERS:
        assert reader(Paste(words)) is not None


def test_a_text_that_says_nothing_gives_an_empty_machine() -> None:
    assert machine("Segmentation fault (core dumped)") == Machine()
