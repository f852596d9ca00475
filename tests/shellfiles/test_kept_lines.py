"""What is quoted of a start-up file: the lines that matter to GPU work, and nobody's keys."""

from __future__ import annotations

import pytest

from gpuassist.shellfiles.kept_lines import kept_lines

SECRETS = ("hf_abcdefgh1234567890", "hunter2", "nvapi-abc", "sk-123456", "abc123secret")


def quoted(line: str) -> str:
    """The one line of a file of one."""
    return "; ".join(one.text for one in kept_lines(line.encode()))


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("export PATH=/usr/local/cuda-12.4/bin:$PATH", "PATH=/usr/local/cuda-12.4/bin:$PATH"),
        ('  export PATH="/opt/my tools/bin:$PATH"', "PATH=/opt/my tools/bin:$PATH"),
        ("LD_LIBRARY_PATH+=:/opt/cudnn/lib", "LD_LIBRARY_PATH+=:/opt/cudnn/lib"),
        ("export A=1 CUDA_HOME=/opt/cuda", "CUDA_HOME=/opt/cuda"),
        ("CUDA_VISIBLE_DEVICES=0,1 python train.py", "CUDA_VISIBLE_DEVICES=0,1"),
        ("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"),
        ("unset LD_LIBRARY_PATH FOO", "unset LD_LIBRARY_PATH"),
        ("source ~/.bash_aliases", "source ~/.bash_aliases"),
        ('[ -f "$HOME/venv/bin/activate" ] && . "$HOME/venv/bin/activate"', "source $HOME/venv/bin/activate"),
        ("if true; then module load cuda/12.4 gcc; fi", "module load cuda/12.4 gcc"),
        ("conda activate train", "conda activate train"),
        ('eval "$(pyenv init - --no-rehash)"', 'eval "$(pyenv …)"'),
        ("set -gx CUDA_HOME /opt/cuda", "set CUDA_HOME /opt/cuda"),
        ("set -e LD_LIBRARY_PATH", "unset LD_LIBRARY_PATH"),
        ("fish_add_path -g /opt/cuda/bin", "fish_add_path /opt/cuda/bin"),
        ("path=(/opt/cuda/bin $path)", "path=(/opt/cuda/bin $path)"),
        ("alias python=python3.11", "alias python=python3.11"),
        ("export PATH=/x:$PATH\r", "PATH=/x:$PATH"),
        ("export PATH=/a; export LD_LIBRARY_PATH=/b # both", "PATH=/a; LD_LIBRARY_PATH=/b"),
    ],
)
def test_what_matters_is_quoted(line: str, shown: str) -> None:
    assert quoted(line) == shown


@pytest.mark.parametrize(
    "line",
    [
        "# export PATH=/opt/cuda/bin",
        "alias ll='ls -l'",
        "echo 'PATH=/x'",
        "export EDITOR=vim",
        "source <(kubectl completion bash)",
        "conda info",
        "PS1='\\w $ '",
        "",
    ],
)
def test_other_lines_are_left_alone(line: str) -> None:
    assert quoted(line) == ""


@pytest.mark.parametrize(
    "line",
    [
        "export PATH=/x:$PATH HF_TOKEN=hf_abcdefgh1234567890",
        "export PATH=/x:$PATH; export OPENAI_API_KEY=sk-123456",
        "OPENAI_API_KEY=sk-123456 PATH=/x:$PATH cmd",
        "export PATH=/x # the password is hunter2",
        "NVIDIA_API_KEY=nvapi-abc",
        "export CUDA_TOKEN='hunter2'",
        "NVIDIA_NGC=abc123secretabc123secret",
        "alias nvcc='OPENAI_API_KEY=sk-123456 nvcc'",
        'export PATH="$(vault read "hunter2"):$PATH"',
        "export PATH=`get-key --key hunter2`/bin:$PATH",
        'eval "$(tool env --token hunter2)"',
        ". ~/env.sh --token hunter2",
        "export PYTHONPATH=https://me:hunter2@host/x",
        "conda activate https://me:hunter2@host/x",
        'export PATH="/x" \'hunter2',
        "export PATH=/x && curl -H 'Authorization: Bearer hunter2' cuda",
        "set -gx HF_TOKEN hf_abcdefgh1234567890; set -gx PATH /x $PATH",
        "path=(/x) TOKEN=(hunter2)",
        "export PATH=/x:\\\n$PATH TOKEN=hunter2",
    ],
)
def test_no_key_is_copied(line: str) -> None:
    told = quoted(line)
    assert not [secret for secret in SECRETS if secret in told]


def test_numbers_count_from_one_and_a_command_has_its_first() -> None:
    content = b"#!/bin/sh\nexport PATH=/a:\\\n/b:$PATH\n\nexport CUDA_HOME=/c\n"
    assert [(one.number, one.text) for one in kept_lines(content)] == [(2, "PATH=/a:/b:$PATH"), (5, "CUDA_HOME=/c")]


def test_a_line_is_told_once_whichever_of_its_rows_matters() -> None:
    assert [one.number for one in kept_lines(b"export \\\nPATH=/cuda \\\nCUDA_HOME=/cuda\n")] == [1]


@pytest.mark.parametrize(
    "content",
    [
        b"\\\n" * 20_000 + b"path",
        b"path'" * 20_000,
        b'path "' * 9_000,
        b"path $(" * 9_000,
        b"path `" * 9_000,
        b"\xff\xfepath=\x00\x80" * 900,
        b"export PATH=/x\n" * 5_000,
        b"export PATH=" + b"/x" * 40_000,
    ],
)
def test_hostile_content_is_bounded(content: bytes) -> None:
    found = kept_lines(content)
    assert len(found) <= 100
    assert all(len(one.text) <= 401 for one in found)
