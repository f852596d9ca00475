"""ls, which, echo and env tell of toolkits and of a part of a terminal; what they do not list is left open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers import places, read_all
from gpuassist.detect.readers.join import joined
from gpuassist.diagnose.judge import judge
from gpuassist.model.environment import Manager
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.shell import Terminal
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version
from tests.values import Recipe, knowledge, machine

PLAIN = "$ ls /usr/local\nbin  cuda  cuda-12  cuda-12.4  etc  games  include  lib  share  src\n"
LONG = """\
$ ls -l /usr/local | grep cuda
lrwxrwxrwx  1 root root   22 Nov  1 10:00 cuda -> /usr/local/cuda-11.8/
drwxr-xr-x 17 root root 4096 Nov  1 10:00 cuda-11.8
drwxr-xr-x 15 root root 4096 Nov  1 10:00 cuda-12.1
"""


def told(words: str) -> Machine:
    return places.read(Paste(words))


def toolkits(words: str) -> tuple[Toolkit, ...]:
    return value_or(told(words).toolkits, ())


def roots(words: str) -> list[str]:
    return [one.root for one in toolkits(words)]


def terminal(words: str) -> Terminal:
    return value_or(told(words).shell.new_terminal, Terminal("", (), ()))


def problems(words: str) -> set[str]:
    return {one.problem for one in judge(read_all(Paste(words), knowledge()), knowledge()).findings}


def test_listed_toolkit_has_its_release() -> None:
    (toolkit,) = toolkits(PLAIN)

    assert (toolkit.root, toolkit.version) == ("/usr/local/cuda-12.4", Known(Version((12, 4)), "pasted ls, line 2"))
    assert value_or(toolkit.origin, None) is Origin.LOCAL


def test_other_names_are_links_to_the_only_toolkit() -> None:
    assert toolkits(PLAIN)[0].links == ("/usr/local/cuda", "/usr/local/cuda-12")


def test_links_lead_where_they_say() -> None:
    first, second = toolkits(LONG)

    assert (first.root, first.links) == ("/usr/local/cuda-11.8", ("/usr/local/cuda",))
    assert (second.root, second.links) == ("/usr/local/cuda-12.1", ())


@pytest.mark.parametrize(
    "words",
    [
        "$ ls -d /usr/local/cuda*\n/usr/local/cuda  /usr/local/cuda-12.4\n",
        "$ ls /usr/local/ | grep cuda\ncuda\ncuda-12.4\n",
        "ls /usr/local\ncuda-12.4\n",
        "me@host:~$ ll /usr/local/\ndrwxr-xr-x 17 root root 4096 Nov  1 10:00 cuda-12.4/\n",
        "> $ ls /usr/local\n> bin cuda-12.4 lib\n",
        "$ ls -al /usr/local/cuda*\nlrwxrwxrwx 1 root root 22 /usr/local/cuda -> /etc/alternatives/cuda\n\n/usr/local/cuda-12.4:\n",
    ],
)
def test_listing_in_any_form_is_read(words: str) -> None:
    assert roots(words) == ["/usr/local/cuda-12.4"]


@pytest.mark.parametrize(
    "words",
    [
        "$ ls /usr/local\nbin etc lib\n",
        "$ ls ~/downloads\ncuda-12.4\n",
        "export PATH=/usr/local/cuda-12.4/bin:$PATH\n",
        "I installed it to /usr/local and have cuda-12.4 there\n",
    ],
)
def test_no_toolkit_is_invented(words: str) -> None:
    assert roots(words) == []


@pytest.mark.parametrize(
    "words",
    [
        "$ which nvcc\n/usr/local/cuda-12.4/bin/nvcc\n",
        "$ type nvcc\nnvcc is /usr/local/cuda-12.4/bin/nvcc\n",
        "$ type nvcc\nnvcc is hashed (/usr/local/cuda-12.4/bin/nvcc)\n",
        "$ command -v nvcc\n/usr/local/cuda-12.4/bin/nvcc\n",
    ],
)
def test_nvcc_on_path_is_found(words: str) -> None:
    command = terminal(words).command("nvcc")

    assert command is not None
    assert command.path == "/usr/local/cuda-12.4/bin/nvcc"
    assert roots(words) == ["/usr/local/cuda-12.4"]


def test_nvcc_through_a_link_is_followed() -> None:
    command = terminal(LONG + "$ which nvcc\n/usr/local/cuda/bin/nvcc\n").command("nvcc")

    assert command is not None
    assert command.real_path == "/usr/local/cuda-11.8/bin/nvcc"


def test_debians_nvcc_is_a_package() -> None:
    (toolkit,) = toolkits("$ which nvcc\n/usr/bin/nvcc\n")

    assert toolkit.wrappers == ("/usr/bin/nvcc",)
    assert value_or(toolkit.origin, None) is Origin.PACKAGE


def test_condas_nvcc_belongs_to_its_environment() -> None:
    (toolkit,) = toolkits("$ which nvcc\n/home/me/miniconda3/envs/x/bin/nvcc\n")

    assert value_or(toolkit.origin, None) is Origin.CONDA


@pytest.mark.parametrize(
    "words",
    [
        "$ which nvcc\nnvcc not found\n",
        "$ which nvcc\n/usr/bin/which: no nvcc in (/usr/bin)\n",
        "$ nvcc --version\nbash: nvcc: command not found\n",
        "Command 'nvcc' not found, but can be installed with:\n",
        "zsh: command not found: nvcc\n",
        "/bin/sh: 1: nvcc: not found\n",
        "bash: nvcc: 未找到命令\n",
        "-bash: nvcc: Kommando nicht gefunden.\n",
    ],
)
def test_nvcc_that_no_shell_finds_is_lacking(words: str) -> None:
    found = terminal(words)

    assert found.lacks("nvcc")
    assert found.command("nvcc") is None
    assert not found.lacks("gcc")


@pytest.mark.parametrize(
    "words",
    [
        "$ which nvcc\n",
        "sudo: nvcc: command not found\n",
        "nvcc: command not found\nCuda compilation tools, release 12.4, V12.4.131\n",
        "bash: nvidia-smi: command not found\n",
    ],
)
def test_nvcc_may_be_there_where_nobody_says_otherwise(words: str) -> None:
    assert not terminal(words).lacks("nvcc")


def test_listed_toolkit_that_no_shell_finds_is_proved() -> None:
    assert problems(f"{PLAIN}$ nvcc --version\nbash: nvcc: command not found\n") == {"nvcc-not-on-path"}


def test_machine_does_not_answer_what_the_text_denies() -> None:
    both = joined(told("bash: nvcc: command not found\n"), machine(Recipe()))

    found = value_or(both.shell.new_terminal, Terminal("", (), ()))
    assert found.command("nvcc") is None
    assert found.command("g++") is not None


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        ("$ echo $LD_LIBRARY_PATH\n/opt/lib:/usr/local/cuda/lib64\n", "LD_LIBRARY_PATH", "/opt/lib:/usr/local/cuda/lib64"),
        ('$ echo "${CUDA_HOME}"\n/usr/local/cuda\n', "CUDA_HOME", "/usr/local/cuda"),
        ("echo $PATH\n/usr/bin:/bin\n", "PATH", "/usr/bin:/bin"),
        ("$ printenv CUDA_VISIBLE_DEVICES\n0,1\n", "CUDA_VISIBLE_DEVICES", "0,1"),
        ("$ env | grep -i cuda\nCUDA_HOME=/opt/cuda\nHOME=/root\n", "CUDA_HOME", "/opt/cuda"),
        ('$ export\ndeclare -x CUDA_PATH="/opt/cuda"\n', "CUDA_PATH", "/opt/cuda"),
        ("$ env\nPYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128\n", "PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:128"),
    ],
)
def test_variable_is_read(words: str, name: str, value: str) -> None:
    assert terminal(words).variable(name) == value


@pytest.mark.parametrize(
    "words",
    [
        "$ echo $LD_LIBRARY_PATH\n\n$ ls\n",
        "$ echo $LD_LIBRARY_PATH\nLD_LIBRARY_PATH: Undefined variable.\n",
        "$ env\nNVIDIA_API_KEY=nvapi-123\n",
        "$ cat ~/.bashrc\nexport CUDA_HOME=/usr/local/cuda\n",
        "$ echo $HOME\n/root\n",
    ],
)
def test_other_variable_is_left_out(words: str) -> None:
    assert terminal(words).variables == ()


def test_part_of_a_terminal_is_not_whole() -> None:
    assert not terminal("$ echo $PATH\n/usr/bin\n").whole


def test_part_of_a_terminal_proves_no_missing_nvcc() -> None:
    assert problems(f"{PLAIN}$ echo $LD_LIBRARY_PATH\n/usr/local/cuda/lib64\n$ echo $CUDA_HOME\n/opt/other\n") == set()


def test_cuda_home_of_another_toolkit_is_proved() -> None:
    words = f"{LONG}$ which nvcc\n/usr/local/cuda-12.1/bin/nvcc\n$ echo $CUDA_HOME\n/usr/local/cuda-11.8\n"

    assert "cuda-home-disagrees" in problems(words)


def test_machine_fills_what_the_text_leaves_open() -> None:
    live = machine(Recipe(variables={"CUDA_HOME": "/usr/local/cuda", "LD_LIBRARY_PATH": "/live"}))
    both = joined(told("$ echo $LD_LIBRARY_PATH\n/of/the/text\n"), live)

    found = value_or(both.shell.new_terminal, Terminal("", (), ()))
    assert (found.variable("LD_LIBRARY_PATH"), found.variable("CUDA_HOME")) == ("/of/the/text", "/usr/local/cuda")
    assert found.whole
    assert found.command("nvcc") is not None


@pytest.mark.parametrize(
    ("path", "prefix", "name", "manager"),
    [
        ("/home/me/miniconda3/envs/pt/bin/python", "/home/me/miniconda3/envs/pt", "pt", Manager.CONDA),
        ("/usr/bin/python3", "/usr", "", Manager.SYSTEM),
        ("/home/me/venv/bin/python", "/home/me/venv", "", None),
    ],
)
def test_python_on_path_names_its_environment(path: str, prefix: str, name: str, manager: Manager | None) -> None:
    (one,) = value_or(told(f"$ which python\n{path}\n").environments, ())

    assert (one.prefix, one.name, value_or(one.manager, None)) == (prefix, name, manager)
    assert one.torch is NOT_ASKED


@given(st.integers(0, 5))
def test_cut_listing_names_no_other_toolkit(end: int) -> None:
    cut = "".join(LONG.splitlines(keepends=True)[:end])

    assert set(roots(cut)) <= {"/usr/local/cuda-11.8", "/usr/local/cuda-12.1"}


@given(st.text(max_size=200))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(told(f"$ ls /usr/local\ncuda-12.4 {words}\n$ echo $PATH\n{words}\n$ which nvcc\n{words}"), Machine)
