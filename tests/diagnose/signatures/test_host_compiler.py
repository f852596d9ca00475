"""What nvcc says of the compiler that it calls and of the libraries whose headers it reads."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.host_compiler import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.values import Recipe, machine

TOO_NEW, BUG, GLIBC = "nvcc-host-gcc-too-new", "nvcc-host-gcc-header-bug", "nvcc-glibc-too-new"


def _unsupported(limit: str) -> str:
    return f"#error -- unsupported GNU version! gcc versions later than {limit} are not supported!"


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        (_unsupported("13"), "13"),
        (_unsupported("8"), "8"),
        (_unsupported("5.3"), "5.3"),
        (_unsupported("4.9"), "4.9"),
        ("error: #error -- unsupported GNU version! gcc 4.9 and up are not supported!", ""),
        ("#error -- unsupported GNU version! gcc 4.10 and up are not supported!", ""),
        ("#error -- unsupported GNU compiler!", ""),
        ("#error --Unsupported GNU version later than 6 are not supported!", "6"),
        ("#error -- unsupported \nGNU version! gcc 4.5 and up are not supported!", ""),
        (
            "host_config.h(143): error: #error -- unsupported GNU version! gcc versions later than 11 are not "
            "supported! The nvcc flag "
            "'-allow-unsupported-compiler' can be used to override this version check",
            "11",
        ),
    ],
)
def test_refused_gcc_is_known_with_its_limit(words: str, limit: str) -> None:
    assert problem(SIGNATURES, words) == TOO_NEW
    assert parameters(SIGNATURES, words).get("limit", "") == limit


@pytest.mark.parametrize(
    ("said", "gcc"),
    [
        ("$ gcc --version | head -1\ngcc 11.2.0", "11.2.0"),
        ("gcc (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0", "13.3.0"),
        ("g++ (GCC) 14.2.1 20240912 (Red Hat 14.2.1-3)", "14.2.1"),
        ("-- The CXX compiler identification is GNU 14.2.0", "14.2.0"),
        ("# gcc 12 on Debian", "12"),
        ("In file included from /usr/include/c++/13/bits/move.h:57", "13"),
        ("/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h", "12"),
        ("GCC version: (GCC) 15.1.1 20250425", "15.1.1"),
        ("we have Gentoo and glibc", ""),
    ],
)
def test_version_of_gcc_is_found_in_the_text(said: str, gcc: str) -> None:
    assert parameters(SIGNATURES, f"{_unsupported('8')}\n{said}").get("gcc", "") == gcc


def test_gcc_within_the_limit_is_not_the_one_that_was_called() -> None:
    assert "gcc" not in parameters(SIGNATURES, f"{_unsupported('13')}\n# gcc 12.3.0")


def test_release_with_another_limit_is_not_the_one_that_spoke() -> None:
    assert "nvcc" not in parameters(SIGNATURES, f"{_unsupported('13')}\n# cuda 11.8")
    assert parameters(SIGNATURES, f"{_unsupported('11')}\n# cuda 11.8")["nvcc"] == "11.8"


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: The current installed version of g++ (13.2.0) is greater than the maximum required "
        "version by CUDA 11.8 (11). "
        "Please make sure to use an adequate version of g++ (>=6.0.0, <12.0).",
        "The current installed version of x86_64-linux-gnu-g++ (12.3.0) is greater than the maximum required version by CUDA 11.8",
    ],
)
def test_check_of_torchs_builder_is_the_same_problem(words: str) -> None:
    assert problem(SIGNATURES, words) == TOO_NEW
    assert parameters(SIGNATURES, words)["nvcc"] == "11.8"


@pytest.mark.parametrize(
    "words",
    [
        '/usr/lib/gcc/x86_64-linux-gnu/13/include/amxtileintrin.h(42): error: identifier "__builtin_ia32_ldtilecfg" is undefined',
        "/usr/lib/gcc/x86_64-linux-gnu/11/include/avx512fintrin.h(9146): error: identifier "
        '"__builtin_ia32_rndscaless_round" is undefined',
        '/usr/include/stdlib.h(141): error: identifier "_Float32" is undefined',
        '/usr/include/bits/mathcalls.h(90): error: identifier "_Float64x" is undefined',
        '/usr/include/c++/14/type_traits(3420): error: identifier "__is_nothrow_convertible" is undefined',
        '/usr/include/c++/14.2.1/type_traits(695): error: identifier\n  "__is_reference" is undefined',
        "/usr/include/c++/8/type_traits(1061): error: type name is not allowed",
        "/usr/include/c++/14.1.1/bits/stl_pair.h(62): error: user-defined literal operator not found",
        "#error -- unsupported clang version! clang version must be less than 16 and greater than 3.2 .",
    ],
)
def test_header_that_the_front_end_does_not_know_is_of_a_newer_compiler(words: str) -> None:
    assert problem(SIGNATURES, words) == TOO_NEW


@pytest.mark.parametrize(
    "words",
    [
        "/usr/include/c++/11/bits/std_function.h:435:145: error: parameter packs not expanded with '...':",
        "/usr/include/c++/11/bits/std_function.h:530:146: error: parameter packs not expanded with ‘...’:",
        "/usr/include/c++/6/tuple:605:4: error: parameter packs not expanded with '...':",
        "/usr/include/c++/11.1.0/bits/std_function.h:435:145: error: parameter packs not expanded with '...':",
        "/usr/lib/gcc/x86_64-pc-linux-gnu/11.2.0/include/g++-v11/bits/std_function.h:435:145: error: parameter packs not expanded",
    ],
)
def test_bug_of_the_front_end_is_known(words: str) -> None:
    assert problem(SIGNATURES, words) == (BUG if "with" in words else "")


def test_bug_of_the_front_end_is_told_with_both_versions() -> None:
    words = (
        "/usr/include/c++/11/bits/std_function.h:435:145: error: parameter packs not expanded with '...':\n# cuda 11.5, gcc 11.4.0"
    )
    assert parameters(SIGNATURES, words) == {"gcc": "11.4.0", "nvcc": "11.5"}
    assert problems(SIGNATURES, words) == {BUG, TOO_NEW}


def test_release_that_reads_the_headers_is_not_the_one_that_failed() -> None:
    words = "/usr/include/c++/11/bits/std_function.h:435:145: error: parameter packs not expanded with '...':\n# cuda 11.8"
    assert "nvcc" not in parameters(SIGNATURES, words)


def test_installed_toolkit_that_reads_the_headers_is_the_cure() -> None:
    words = "/usr/include/c++/11/bits/std_function.h:435:145: error: parameter packs not expanded with '...':"
    assert parameters(SIGNATURES, words, machine(Recipe(toolkits=("12.4",))))["alternative"] == "12.4"


@pytest.mark.parametrize(
    ("words", "clash"),
    [
        (
            "/usr/include/bits/mathcalls.h(79): error: exception specification is incompatible with that of "
            'previous function "cospi" '
            "(declared at line 2601 of /usr/local/cuda/include/crt/math_functions.h)",
            "2.41",
        ),
        (
            "/usr/include/x86_64-linux-gnu/bits/mathcalls.h(83): error: exception specification is "
            "incompatible with that of previous "
            'function "sinpif" (declared at line 2556 of /opt/cuda/include/crt/math_functions.h)',
            "2.41",
        ),
        (
            "/usr/include/bits/mathcalls.h(206): error: exception specification is incompatible with that of "
            'previous function "rsqrt" '
            "(declared at line 629 of /opt/cuda/targets/x86_64-linux/include/crt/math_functions.h)",
            "2.42",
        ),
        (
            "/usr/include/bits/mathcalls.h(206): error: exception specification is incompatible with that of previous function "
            '"rsqrtf(float)"',
            "2.42",
        ),
        ('/usr/include/bits/math-vector.h(40): error: identifier "__Float32x4_t" is undefined', ""),
        ('/usr/include/aarch64-linux-gnu/bits/math-vector.h(96): error: identifier "__SVFloat32_t" is undefined', ""),
        ('/usr/include/x86_64-linux-gnu/bits/floatn.h(73): error: identifier "__float128" is undefined', ""),
        ('error: identifier "__float128" is undefined', ""),
    ],
)
def test_clash_with_the_c_library_is_known(words: str, clash: str) -> None:
    assert problem(SIGNATURES, words) == GLIBC
    assert parameters(SIGNATURES, words).get("clash", "") == clash


def test_clash_names_the_release_and_a_newer_one_for_the_card() -> None:
    words = (
        "/usr/include/bits/mathcalls.h(79): error: exception specification is incompatible with that of previous function "
        '"cospi"\nCuda compilation tools, release 12.9, V12.9.86'
    )
    assert parameters(SIGNATURES, words)["nvcc"] == "12.9"
    assert parameters(SIGNATURES, words, machine(Recipe()))["first"].startswith("13.")


def test_compiler_that_fails_the_test_of_cmake_is_only_a_hint() -> None:
    words = 'The CUDA compiler\n\n    "/usr/local/cuda/bin/nvcc"\n\n  is not able to compile a simple test program.'
    assert [(clue.problem, clue.weight) for clue in read(SIGNATURES, words)] == [(TOO_NEW, Weight.STATE)]
    assert problem(SIGNATURES, "nvcc fatal   : Failed to preprocess host compiler properties.") == TOO_NEW


def test_message_of_the_check_is_the_cause() -> None:
    assert {clue.weight for clue in read(SIGNATURES, _unsupported("12"))} == {Weight.CAUSE}


@pytest.mark.parametrize(
    "words",
    [
        "t.cpp:12:4: error: parameter packs not expanded with '...':",
        't.cu(12): error: identifier "foo" is undefined',
        "error: exception specification in declaration does not match previous declaration of 'f'",
        "gcc: error: unrecognized command-line option '-std=c++23'",
        "warning: gcc versions later than 13 are fine",
        'error: identifier "cospi" is undefined',
        "/home/me/include/c++/tool.h:3: note: parameter pack",
    ],
)
def test_other_errors_of_compilers_are_no_message(words: str) -> None:
    assert read(SIGNATURES, words) == ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("/usr/include/c++/11/chrono:2320: error: template argument 3 is invalid", "nvcc-host-gcc-header-bug"),
        (
            "/usr/include/c++/11/bits/std_function.h:435:145: error: parameter packs not expanded with '...':",
            "nvcc-host-gcc-header-bug",
        ),
        ('/usr/lib/gcc/x86_64-linux-gnu/11/include/x.h(3): error: identifier "__bf16" is undefined', "nvcc-host-gcc-too-new"),
        (
            'mathcalls.h(79): error: exception specification is incompatible with that of previous function "cospi"',
            "nvcc-glibc-too-new",
        ),
        ("error: declaration of ‘double rsqrt(double)’ has a different exception specifier", "nvcc-glibc-too-new"),
        ("redefinition of sinpif with different exception", "nvcc-glibc-too-new"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "/home/you/chrono:2320: error: template argument 3 is invalid",
        'error: identifier "my_bf16" is undefined',
        "mine.h(79): error: exception specification is incompatible with that of previous function",
        "a supported gcc version",
        "redefinition of sinpify with different exception",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_first_cuda_that_accepts_the_compiler_is_named() -> None:
    words = "error: #error -- unsupported GNU version! gcc versions later than 7 are not supported!\ngcc (Debian 12.2.0-14) 12.2.0"
    assert parameters(SIGNATURES, words)["newer"] == "12.0"
