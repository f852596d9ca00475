"""Names of users and computers are taken out of words that are handed on; what a colleague needs stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.present.redaction import NOBODY, Person, person_of, redacted
from tests.cli.made_session import live_session

ANNA = Person("anna", "anna-pc", "/data/people/anna")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("/home/anna/.bashrc, line 3", "/home/USER/.bashrc, line 3"),
        ("/data/people/anna/venv/bin/python", "/home/USER/venv/bin/python"),
        ("anna@anna-pc:~/work$ nvidia-smi", "USER@HOST:~/work$ nvidia-smi"),
        ("drwxr-xr-x 2 anna anna 4096 Jan 1 cuda", "drwxr-xr-x 2 USER USER 4096 Jan 1 cuda"),
        ("Linux anna-pc 6.8.0-45-generic", "Linux HOST 6.8.0-45-generic"),
    ],
)
def test_this_user_and_computer_are_nowhere(words: str, told: str) -> None:
    assert redacted(words, ANNA) == told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("(base) berta@node7:~$ ls -l\n-rw berta berta x", "(base) USER@HOST:~$ ls -l\n-rw USER USER x"),
        ("[berta@node7 x]$ python /home/berta/a.py", "[USER@HOST x]$ python /home/USER/a.py"),
        ("File \"C:\\Users\\Berta\\a.py\"", "File \"C:\\Users\\USER\\a.py\""),
        ("me@pc:~$ nvcc", "USER@HOST:~$ nvcc"),
        ("/mnt/c/Users/Berta/x", "/mnt/c/Users/USER/x"),
        ("Linux node7 6.8.0-45-generic #45-Ubuntu SMP x86_64", "Linux HOST 6.8.0-45-generic #45-Ubuntu SMP x86_64"),
        ("Nov 21 13:00:00 node7 kernel: NVRM: Xid\nnode7 is down", "Nov 21 13:00:00 HOST kernel: NVRM: Xid\nHOST is down"),
        ("   Static hostname: node7", "   Static hostname: HOST"),
    ],
)  # fmt: skip
def test_somebody_else_in_a_text_is_taken_out_too(words: str, told: str) -> None:
    assert redacted(words) == told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("export HF_TOKEN=hf_abcdefghijklmnopqr", "export HF_TOKEN=***"),
        ("wandb: key ghp_16C7e42F292c6912E7710c838347Ae178B4a", "wandb: key ***"),
        ("--api-key s3cr3tvalue --gpu 0", "--api-key *** --gpu 0"),
        ('{"password": "correcthorse"}', '{"password": "***"}'),
        ("https://anna:hunter2@pypi.acme.example/simple", "https://***@pypi.acme.example/simple"),
        ("mail me: anna.b@acme.example.org", "mail me: ***"),
        ("link/ether 3c:52:82:ab:cd:ef brd", "link/ether *** brd"),
        ("GPU-8f3a1c55-77d1-4e0b-9c2d-5b1f0a6e4c3d", "GPU-8f3a1c55-***"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\nrest", "***\nrest"),
    ],
)
def test_keys_and_identities_are_taken_out(words: str, told: str) -> None:
    assert redacted(words) == told


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        "pip install git+https://git@github.com/x/y.git torch@2.1",
        "/usr/local/cuda-12.4/bin/nvcc /root/x /home/linuxbrew/.linuxbrew/bin",
        "root@ubuntu:/# nvidia-smi",
        "savannah and annabel",
        "--max-tokens 4096 max_tokens=4096 tokenizer=llama token: 7 PCI 0000:01:00.0 10de:2684",
        "[  3.1] nvidia: module verification failed",
    ],
)
def test_what_tells_nobody_stays(words: str) -> None:
    assert redacted(words, ANNA) == words


@given(st.text(max_size=200))
def test_redacted_words_have_nothing_left_to_redact(words: str) -> None:
    once = redacted(f"anna@anna-pc:~$ {words} /home/anna", ANNA)
    assert redacted(once, ANNA) == once


@pytest.mark.parametrize("name", ["dev", "data", "cuda"])
def test_name_that_is_a_word_of_such_texts_is_taken_out_of_homes_alone(name: str) -> None:
    words = "/dev/nvidia0 data cuda"
    assert redacted(f"{words} /home/{name}x/a", Person(name, "", f"/home/{name}")) == f"{words} /home/USER/a"


def test_person_is_the_user_of_the_session() -> None:
    world = live_session({}).world
    assert person_of(world).user == world.surroundings.user
    assert redacted("nothing", NOBODY) == "nothing"
