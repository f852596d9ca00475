"""What packages ask of each other, held against what is installed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from gpuassist.formats.packages import PackageMetadata
from gpuassist.formats.requirement import asked, marker_environment, names_asked
from gpuassist.model.version import Version
from tests.rows import for_each

HERE = marker_environment(Version.parse("3.12.3"), "x86_64")


def met(line: str, torch: str) -> bool | None:
    """Whether a line that asks for torch is met by it; None where it asks for nothing here."""
    packages = {"user": PackageMetadata("user", "1", (line,)), "torch": PackageMetadata("torch", torch)}
    return next((one.met for one in asked(packages, HERE, about={"torch"})), None)


@for_each(
    ("line", "torch", "expected"),
    [
        ("torch", "2.9.1+cu128", True),
        ("torch==2.9.1", "2.9.1+cu128", True),
        ("torch==2.9.1+cpu", "2.9.1+cu128", False),
        ("torch==2.9", "2.9.1", False),
        ("torch==2.9.*", "2.9.1+cu128", True),
        ("torch (>=2.0,<3)", "2.9.1", True),
        ("torch>=2.9", "2.10.0", True),
        ("torch>=2.9", "2.10.0a0+b465a5843b.nv24.09", True),
        ("torch>2.9.1", "2.9.1+cu128", False),
        ("torch~=2.8.0", "2.9.1", False),
        ("torch!=2.9.1", "2.9.1+cu128", False),
        ("Torch>=2", "2.9.1", True),
        ("torch[opt]>=2", "2.9.1", True),
        ("torch @ https://example.org/torch.whl", "2.9.1", True),
        ("torch<2; python_version < '3.9'", "2.9.1", None),
        ("torch<2; python_version >= '3.12'", "2.9.1", False),
        ("torch<2; platform_machine == 'aarch64'", "2.9.1", None),
        ("torch<2; sys_platform == 'win32'", "2.9.1", None),
        ("torch<2; extra == 'old'", "2.9.1", None),
        ("torch<2; python_full_version < '3.12.4' and implementation_name == 'cpython'", "2.9.1", False),
        ("torch (>=2.0)*", "2.9.1", None),
        ("torch>=2.0", "of-my-own", True),
        ("pytorch-lightning", "2.9.1", None),
    ],
)
def test_line_that_asks_for_torch(line: str, torch: str, expected: bool | None) -> None:
    assert met(line, torch) is expected


def test_what_is_not_there_is_not_met() -> None:
    packages = {"user": PackageMetadata("user", "1.2", ("torch>=2",))}
    (one,) = asked(packages, HERE, about={"torch"})
    assert (one.package, one.version, one.name, one.wanted, one.has, one.met) == ("user", "1.2", "torch", "torch>=2", "", False)


def test_only_what_it_is_about_is_read() -> None:
    packages = {"user": PackageMetadata("user", "1", ("numpy<1", "torch"))}
    assert [one.name for one in asked(packages, HERE, about={"torch"})] == ["torch"]
    assert [one.name for one in asked(packages, HERE, about={"user"})] == ["numpy", "torch"]


def test_names_that_are_really_asked_for() -> None:
    lines = ("nvidia-cudnn-cu12==9.10.2.21; platform_system == 'Linux'", "Triton==3.5.1", "opt-einsum; extra == 'opt'", "**")
    assert names_asked(lines, HERE) == {"nvidia-cudnn-cu12", "triton"}


def test_python_by_its_release_alone() -> None:
    assert marker_environment(Version.parse("3.12"), "x86_64")["python_full_version"] == "3.12.0"


@given(
    st.sampled_from(("<", "<=", "==", "!=", ">=", ">", "~=")), st.tuples(st.integers(0, 3), st.integers(0, 3)), st.integers(0, 3)
)
def test_as_the_library_itself_judges(sign: str, limit: tuple[int, int], minor: int) -> None:
    specifier = f"{sign}{limit[0]}.{limit[1]}"
    assert met(f"torch{specifier}", f"1.{minor}") is SpecifierSet(specifier).contains(f"1.{minor}")
