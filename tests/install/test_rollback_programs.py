"""The programs of the way back, by tool."""

from __future__ import annotations

import pytest

from gpuassist.formats.packages import FreezeDifference
from gpuassist.install.rollback import back_programs, where_from
from gpuassist.model.plan import StepRun, Tool

BACK = FreezeDifference(("new",), ("torch==2.8.0+cpu", "-e git+https://example.org/x#egg=x"))
INDEX = "https://download.pytorch.org/whl/cpu"


def test_pip_takes_out_first_and_needs_no_answer() -> None:
    run = StepRun((("/e/bin/python", "-m", "pip", "install", "torch"),), Tool.PIP, "/e", "/e/bin/python")
    pip = ("/e/bin/python", "-m", "pip")
    assert back_programs(run, BACK, (INDEX,)) == (
        (*pip, "uninstall", "--yes", "new"),
        (
            *pip,
            "install",
            "--no-deps",
            "--force-reinstall",
            "--extra-index-url",
            INDEX,
            "torch==2.8.0+cpu",
            "-e",
            BACK.restore[1][3:],
        ),
    )


def test_uv_is_called_as_the_step_called_it() -> None:
    run = StepRun((("/opt/uv", "pip", "install", "--python", "/e/bin/python", "torch"),), Tool.UV, "/e", "/e/bin/python")
    first, second = back_programs(run, BACK)
    assert first == ("/opt/uv", "pip", "uninstall", "--python", "/e/bin/python", "new")
    assert second[:6] == ("/opt/uv", "pip", "install", "--python", "/e/bin/python", "--no-deps")


def test_conda_gets_the_very_files() -> None:
    run = StepRun((("mamba", "install", "x"),), Tool.CONDA, "/e")
    back = FreezeDifference(("new",), ("https://c/linux-64/x-1-0.conda#00",))
    assert back_programs(run, back) == (
        ("mamba", "remove", "--yes", "--force", "--prefix", "/e", "new"),
        ("mamba", "install", "--yes", "--prefix", "/e", "https://c/linux-64/x-1-0.conda#00"),
    )


@pytest.mark.parametrize("tool", list(Tool)[:3])
def test_nothing_to_do_is_no_program(tool: Tool) -> None:
    assert back_programs(StepRun((("x",),), tool, "/e", "/e/bin/python"), FreezeDifference((), ())) == ()


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("pip install x", ()),
        ("pip install x --index-url https://a/b", ("--extra-index-url", "https://a/b")),
        ("pip install --index-url=https://a/b?c=d x", ("--extra-index-url", "https://a/b?c=d")),
        (
            "pip install -i https://a --extra-index-url https://b x",
            ("--extra-index-url", "https://a", "--extra-index-url", "https://b"),
        ),
        ("pip install --no-index -f /links x", ("--no-index", "-f", "/links")),
        ("uv pip install --index https://a x", ("--index", "https://a")),
        ("pip install -i", ("--extra-index-url", "")),
    ],
)
def test_where_packages_come_from_is_kept(words: str, options: tuple[str, ...]) -> None:
    assert where_from((tuple(words.split()),)) == options


def test_without_an_index_none_is_added() -> None:
    run = StepRun((("pip", "install", "--no-index", "-f", "/links", "torch"),), Tool.PIP, "/e", "/e/bin/python")
    assert INDEX not in str(back_programs(run, BACK, (INDEX,)))


@pytest.mark.parametrize("tool", [Tool.PIP, Tool.UV, Tool.CONDA])
def test_what_was_only_added_is_only_taken_out(tool: Tool) -> None:
    (only,) = back_programs(StepRun((("x",),), tool, "/e", "/e/bin/python"), FreezeDifference(("new", "newer"), ()))
    assert only[-2:] == ("new", "newer")
    assert "install" not in only


@pytest.mark.parametrize("tool", [Tool.PIP, Tool.UV, Tool.CONDA])
def test_what_only_changed_is_only_put_back(tool: Tool) -> None:
    (only,) = back_programs(StepRun((("x",),), tool, "/e", "/e/bin/python"), FreezeDifference((), ("torch==2.8.0",)))
    assert only[-1] == "torch==2.8.0"
    assert "install" in only


@pytest.mark.parametrize("tool", [Tool.PIP, Tool.UV])
def test_what_comes_back_brings_nothing_along(tool: Tool) -> None:
    (only,) = back_programs(StepRun((("x",),), tool, "/e", "/e/bin/python"), FreezeDifference((), ("torch==2.8.0",)))
    assert "--no-deps" in only


@pytest.mark.parametrize("tool", [Tool.PIP, Tool.UV, Tool.CONDA])
def test_what_somebody_else_changed_is_in_no_program(tool: Tool) -> None:
    back = FreezeDifference(("new",), ("torch==2.8.0",), ("numpy",))
    assert "numpy" not in str(back_programs(StepRun((("x",),), tool, "/e", "/e/bin/python"), back))


@pytest.mark.parametrize(("indexes", "looks_everywhere"), [((INDEX,), True), ((), False)])
def test_uv_looks_in_every_index_for_an_exact_version(indexes: tuple[str, ...], looks_everywhere: bool) -> None:
    programs = back_programs(StepRun((("uv", "pip", "install", "x"),), Tool.UV, "/e", "/e/bin/python"), BACK, indexes)
    assert ("unsafe-best-match" in programs[1]) is looks_everywhere


def test_several_indexes_come_in_their_order() -> None:
    programs = back_programs(StepRun((("pip",),), Tool.PIP, "/e", "/e/bin/python"), BACK, (INDEX, "https://b"))
    assert [word for word in programs[1] if word.startswith("https://")] == [INDEX, "https://b"]


def test_options_of_every_program_of_a_step_count() -> None:
    programs = (("pip", "install", "--offline", "a"), ("pip", "install", "--trusted-host", "h", "b"))
    assert where_from(programs) == ("--offline", "--trusted-host", "h")


@pytest.mark.parametrize("words", ["--index-urls x", "--upgrade", "index-url", "--indexes=https://a", "-I https://a"])
def test_other_options_are_not_kept(words: str) -> None:
    assert where_from((("pip", "install", *words.split()),)) == ()
