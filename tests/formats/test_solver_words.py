"""What tools say when they install nothing: the reason, and the explanation on one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.dry_runs import Reason, explanation, reason_of
from tests.rows import for_each

PIP_CONFLICT = """ERROR: Cannot install pinner==1.0 and torch==2.9.1 because these package versions have conflicting dependencies.
ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/#dealing-with-dependency-conflicts
Looking in indexes: https://me:****@mirror.example.org/simple
Collecting torch==2.9.1
  Downloading torch-2.9.1-py3-none-any.whl (900 MB)
INFO: pip is looking at multiple versions of pinner to determine which version is compatible with other requirements.

The conflict is caused by:
    The user requested torch==2.9.1
    pinner 1.0 depends on torch==2.8.0

To fix this you could try to:
1. loosen the range of package versions you've specified
2. remove package versions to allow pip attempt to solve the dependency conflict
"""
PIP_UNREACHABLE = """WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection \
broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new \
connection: [Errno -2] Name or service not known')': /simple/torch/
ERROR: Could not find a version that satisfies the requirement torch (from versions: none)
ERROR: No matching distribution found for torch
"""
UV_CONFLICT = """  × No solution found when resolving dependencies:
  ╰─▶ Because only torchvision==0.24.1 is available and torchvision==0.24.1
      depends on torch==2.9.1, we can conclude that all versions of
      torchvision depend on torch==2.9.1.
"""
UV_013 = """Using Python 3.11.7 environment at: /home/you/train
error: No solution found when resolving dependencies
  cause: Because only numpy>=1.26.4 is available and you require numpy<1, we can conclude that your requirements are unsatisfiable.
"""
MAMBA_1 = "Encountered problems while solving:\n  - nothing provides requested pytorch 99\n"


@for_each(
    ("words", "reason"),
    [
        (PIP_CONFLICT, Reason.IMPOSSIBLE),
        (PIP_UNREACHABLE, Reason.UNREACHABLE),
        (UV_CONFLICT, Reason.IMPOSSIBLE),
        (UV_013, Reason.IMPOSSIBLE),
        (MAMBA_1, Reason.IMPOSSIBLE),
        ("no such option: --report", Reason.TOO_OLD),
        ("Usage: pip install\n\nno such option: --dry-run\n", Reason.TOO_OLD),
        ("/usr/bin/python3: No module named pip", Reason.NO_PIP),
        ("error: externally-managed-environment\n\n× This environment is externally managed", Reason.CLOSED),
        ("CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://conda.anaconda.org>", Reason.UNREACHABLE),
        ("error: Failed to fetch: `https://pypi.org/simple/torch/`\n  Caused by: dns error", Reason.UNREACHABLE),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", Reason.UNREACHABLE),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", Reason.OTHER),
        ("错误：磁盘已满", Reason.OTHER),
        ("", Reason.OTHER),
    ],
)
def test_reason_that_nothing_is_installed(words: str, reason: Reason) -> None:
    assert reason_of(words) is reason


@pytest.mark.parametrize(
    ("words", "explained"),
    [
        (
            PIP_CONFLICT,
            "Cannot install pinner==1.0 and torch==2.9.1 because these package versions have conflicting dependencies. "
            "The conflict is caused by: The user requested torch==2.9.1 pinner 1.0 depends on torch==2.8.0",
        ),
        (
            UV_CONFLICT,
            "No solution found when resolving dependencies: Because only torchvision==0.24.1 is available and torchvision==0.24.1 "
            "depends on torch==2.9.1, we can conclude that all versions of torchvision depend on torch==2.9.1.",
        ),
        (
            UV_013,
            "No solution found when resolving dependencies Because only numpy>=1.26.4 is available and you require numpy<1, we can "
            "conclude that your requirements are unsatisfiable.",
        ),
        (MAMBA_1, "Encountered problems while solving: - nothing provides requested pytorch 99"),
        ("one\n\ntwo", "one two"),
        ("", ""),
    ],
)
def test_explanation_stands_on_one_line(words: str, explained: str) -> None:
    assert explanation(words) == explained


@given(st.text())
def test_any_text_is_explained_on_one_line(words: str) -> None:
    assert "\n" not in explanation(words)


@pytest.mark.parametrize(
    "words",
    [
        "ConnectTimeoutError: Connection to pypi.org timed out",
        "ReadTimeoutError: HTTPSConnectionPool(host='pypi.org', port=443): Read timed out.",
        "[Errno -3] Temporary failure in name resolution",
        "curl: (6) Could not resolve host: conda.anaconda.org",
        "ProxyError('Cannot connect to proxy.')",
        "CondaSSLError: Encountered an SSL error",
        "error: error sending request for url (https://pypi.org/simple/torch/)",
        "[Errno 111] Connection refused",
        "error: network connectivity is disabled, but data was requested",
        "critical libmamba Download error (6) Could not resolve hostname",
    ],
)
def test_index_that_is_not_reached_is_known_in_every_wording(words: str) -> None:
    assert reason_of(words) is Reason.UNREACHABLE
    assert reason_of(f"{words}\nERROR: No matching distribution found for torch") is Reason.UNREACHABLE


@pytest.mark.parametrize(
    "words",
    [
        "UnsatisfiableError: The following specifications were found to be incompatible",
        "PackagesNotFoundError: The following packages are not available from current channels:",
        "ResolvePackageNotFound: \n  - pytorch==9.9",
        "The following packages are incompatible with each other",
        "torch and torchvision are incompatible",
        '{"success": false, "solver_problems": ["nothing provides x"]}',
        "error    libmamba Could not solve for environment specs",
    ],
)
def test_impossible_wish_is_known_in_every_wording(words: str) -> None:
    assert reason_of(words) is Reason.IMPOSSIBLE


@pytest.mark.parametrize("option", ["--dry-run", "--report"])
def test_old_conda_and_pip_do_not_know_the_option(option: str) -> None:
    assert reason_of(f"conda: error: unrecognized arguments: {option}") is Reason.TOO_OLD
    assert reason_of("conda: error: unrecognized arguments: --colour") is Reason.OTHER
