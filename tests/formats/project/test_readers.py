"""The readers of a project's files: what each line says, in its place, and what is not taken for something that it is not."""

from __future__ import annotations

import pytest

from gpuassist.formats.project.read import read_file, reader_of
from gpuassist.formats.project.requirements import requirement_of
from gpuassist.formats.project.spellings import of_conda, of_poetry
from gpuassist.formats.project.toml_document import NotTomlError, read_toml
from gpuassist.formats.project.values import FileReading, IndexRole, Spot
from gpuassist.formats.project.yaml_document import NotYamlError, read_yaml
from tests.rows import for_each

SPOT = Spot("x", 1)


def read(name: str, words: str) -> FileReading:
    return read_file(name, words.encode())


@for_each(
    "name",
    [
        "requirements.txt",
        "requirements-dev.txt",
        "dev-requirements.txt",
        "requirements/base.txt",
        "requirements.in",
        "constraints.txt",
        "pyproject.toml",
        "uv.lock",
        "poetry.lock",
        "Pipfile",
        "Pipfile.lock",
        "environment.yml",
        "environment-gpu.yaml",
        "conda-lock.yml",
        "setup.py",
        "setup.cfg",
        "Dockerfile",
        "Dockerfile.gpu",
        "gpu.dockerfile",
        "docker-compose.yml",
        "compose.gpu.yaml",
        "CMakeLists.txt",
        "cuda.cmake",
        "Makefile",
        "build.sh",
        "train.py",
        ".python-version",
        ".tool-versions",
    ],
)
def test_name_has_a_reader(name: str) -> None:
    assert reader_of(name) is not None


@for_each("name", ["README.md", "notes.txt", "data.yml", "package.json", "Dockerfile.md", "environment.txt", "a.toml"])
def test_name_has_none(name: str) -> None:
    assert reader_of(name) is None


@for_each(
    ("words", "name", "versions"),
    [
        ("torch", "torch", ""),
        ("Torch_Vision == 0.15", "torch-vision", "==0.15"),
        ("torch (>=1.0,<2)", "torch", ">=1.0,<2"),
        ("torch[opt]~=2.0 ; python_version > '3.8'", "torch", "~=2.0"),
        ("torch @ https://a/torch-2.5.1%2Bcu121-cp311-cp311-linux_x86_64.whl", "torch", "==2.5.1+cu121"),
        ("git+https://github.com/a/flash-attention.git@v2", "flash-attention", ""),
        ("git+ssh://git@github.com/a/b.git#egg=tiny_cuda_nn", "tiny-cuda-nn", ""),
        ("./wheels/torch-2.1.0-cp310-cp310-linux_x86_64.whl", "torch", "==2.1.0"),
    ],
)
def test_requirement(words: str, name: str, versions: str) -> None:
    one = requirement_of(words, SPOT)
    assert one is not None
    assert (one.name, one.versions) == (name, versions)


@for_each("words", ["==1.0", "torch==", "torch 2.0", "a b c", "!", "torch=>1"])
def test_no_requirement(words: str) -> None:
    assert requirement_of(words, SPOT) is None


@for_each(
    ("spelled", "versions"),
    [("^1.2.3", ">=1.2.3,<2"), ("^0.2", ">=0.2,<0.3"), ("~1", ">=1,<2"), (">=1,<2", ">=1,<2"), ("x y", None)],
)
def test_poetry(spelled: str, versions: str | None) -> None:
    assert of_poetry(spelled) == versions


@for_each(
    ("words", "told"),
    [
        ("pytorch=2.0.1=py3.9_cuda11.7*", ("pytorch", "==2.0.1.*", "py3.9_cuda11.7*", "")),
        ("conda-forge::pytorch >=2", ("pytorch", ">=2", "", "conda-forge")),
        ("python", ("python", "", "", "")),
        ("pytorch 2.0.1 cuda*", ("pytorch", "==2.0.1", "cuda*", "")),
    ],
)
def test_conda(words: str, told: tuple[str, str, str, str]) -> None:
    one = of_conda(words, SPOT)
    assert one is not None
    assert (one.name, one.versions, one.build, one.channel) == told


def test_options_of_pip() -> None:
    found = read("requirements.txt", "-i https://a\n--extra-index-url=https://b\n-fhttps://c\n-r one.txt\n-c two.txt\n--pre\n")
    assert [(one.url, one.role) for one in found.indexes] == [
        ("https://a", IndexRole.INSTEAD),
        ("https://b", IndexRole.BESIDE),
        ("https://c", IndexRole.LINKS),
    ]
    assert [(one.path, one.constraint) for one in found.includes] == [("one.txt", False), ("two.txt", True)]
    assert not found.troubles


def test_a_comment_that_goes_on_is_one_line() -> None:
    found = read("requirements.txt", "# torch==1.0 \\\ntorch==2.0  # not 1.0\n")
    assert [(one.versions, one.spot.line) for one in found.requirements] == [("==2.0", 2)]


def test_places_in_toml() -> None:
    words = 'a = { b = ["x", { c = \'y\' }], "d.e" = 1 }\n[t."q r"]\nk = """\nlong""" # "no"\n[[s]]\nn = "1"\n[[s]]\nn = "2"\n'
    texts = read_toml(words)[1]
    assert [(one.path, words[one.first : one.end]) for one in texts] == [
        (("a", "b", 0), "x"),
        (("a", "b", 1, "c"), "y"),
        (("t", "q r", "k"), "\nlong"),
        (("s", 0, "n"), "1"),
        (("s", 1, "n"), "2"),
    ]


def test_places_in_yaml() -> None:
    words = "a:\n- x # c\n- b: 'y'\n  c: [1, {d: e}]\nf: |\n  g: h\ni: *j\nk: &j\n  l: m\n"
    texts = [one for one in read_yaml(words) if one.value and one.first >= 0]
    assert [(one.path, words[one.first : one.end], one.line) for one in texts] == [
        (("a", 0), "x", 2),
        (("a", 1, "b"), "y", 3),
        (("a", 1, "c", 0), "1", 4),
        (("a", 1, "c", 1, "d"), "e", 4),
        (("k", "l"), "m", 9),
    ]
    assert [(one.path, one.value) for one in read_yaml(words) if one.first < 0] == [(("i",), ""), (("i", "l"), "m")]


@for_each("words", ["a: [1, 2\n", "\tb: 1\n", "just words\n", "- " * 200 + "\n"])
def test_what_is_no_yaml(words: str) -> None:
    with pytest.raises(NotYamlError):
        read_yaml(words)


@for_each(("words", "line"), [("a = 1\nb = \n", 2), ("[[a]\n", 1), ("a = " + "[" * 5000, 0)])
def test_what_is_no_toml(words: str, line: int) -> None:
    with pytest.raises(NotTomlError) as caught:
        read_toml(words)
    assert line in {0, caught.value.line}


def test_dockerfile_stages_and_defaults() -> None:
    found = read(
        "Dockerfile", "ARG A=1\nFROM x:${A:-2} AS one\nFROM --platform=linux/amd64 y:$B\nFROM one\nRUN uv pip install torch==2.0\n"
    )
    assert [(one.name, one.stage, one.parent) for one in found.images] == [("x:1", 1, 0), ("", 2, 0), ("", 3, 1)]
    assert [(one.name, one.stage) for one in found.requirements] == [("torch", 3)]


def test_here_documents_of_a_dockerfile() -> None:
    found = read("Dockerfile", "FROM a\nRUN <<EOF\nset -e\npip install 'torch==2.0'\nEOF\nRUN echo\n")
    assert [(one.versions, one.spot.line) for one in found.requirements] == [("==2.0", 4)]


def test_a_module_without_a_sign_is_not_parsed() -> None:
    assert read("a.py", "this is no Python at all\n") == FileReading("a.py", "")
