"""What package managers say of where packages come from: a source that is not reached, not there, not trusted, or locked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, one_of, sign
from gpuassist.model.paste import Weight
from gpuassist.model.text import text

_NVIDIA = r"https?://(?:[\w-]{1,40}\.)*(?:nvidia\.com|nvidia\.github\.io)/[\w./%+-]{0,160}"


def _not_trusted(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
    cause = text("the package manager does not have the signing key of NVIDIA's repository")
    yield sign("not-a-gpu-problem", Weight.STATE, cause_id="key", cause=cause)


def _not_there(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
    cause = text("NVIDIA has no repository at this address")
    yield sign("not-a-gpu-problem", Weight.STATE, cause_id="source-address", cause=cause)


def _locked(_: re.Match[str], __: SignatureInput) -> Iterator[Sign]:
    cause = text("another program has locked the package manager, or its server cannot be reached")
    yield sign("not-a-gpu-problem", Weight.STATE, cause=cause)


SIGNATURES = (
    Signature(
        ("no_pubkey", "public key is not available", "is not signed", "gpg check failed", "signature verification failed"),
        one_of(
            rf"{_NVIDIA}[^\n]{{0,60}}(?:\n[^\n]{{0,20}})?[^\n]{{0,200}}(?:NO_PUBKEY|public key is not available)",
            rf"The repository ['‘]?{_NVIDIA}[^\n]{{0,60}} is (?:no longer|not) signed",
            r"Public key for (?:\S{0,20}nvidia|cuda|libnvidia)\S{1,100} is not installed",
            r"Signature verification failed for file '[^'\n]{1,60}' from repository '[^'\n]{0,60}(?:nvidia|cuda)[^'\n]{0,60}'",
        ),
        _not_trusted,
        window=500,
    ),
    Signature(
        ("have a release file", "has a release file", "404  not found", "404 not found", "status code: 404", "error: 404"),
        one_of(
            rf"The repository ['‘]?{_NVIDIA}[^\n]{{0,60}} (?:does not have|no longer has) a Release file",
            rf"{_NVIDIA}[^\n]{{0,120}}404 {{1,2}}Not Found",
            rf"Status code: 404 for {_NVIDIA}",
        ),
        _not_there,
        window=300,
    ),
    Signature(
        (
            *("dpkg frontend lock", "waiting for cache lock", "unable to lock database", "could not lock database"),
            *(
                "system management is locked by",
                "holding the yum lock",
                "unable to lock directory",
                "lock the administration directory",
            ),
            *("failed to download metadata for repo", "cannot find a valid baseurl", "cannot prepare internal mirrorlist"),
            *("errors during downloading metadata", "temporary failure resolving", "hash sum mismatch", "failed retrieving file"),
            *("some index files failed to download", "unable to fetch some archives", "failed to retrieve some files"),
            *("invalid or corrupted package (pgp", "could not get lock"),
        ),
        one_of(
            r"Unable to acquire the dpkg frontend lock|Waiting for cache lock|(?:unable to|could not) lock database",
            r"System management is locked by|holding the yum lock|Unable to lock (?:the administration )?directory",
            r"Could not get lock /",
            r"Failed to download metadata for repo|Cannot find a valid baseurl for repo|Cannot prepare internal mirrorlist",
            r"Errors during downloading metadata for repository|Temporary failure resolving|Hash Sum mismatch",
            r"failed retrieving file '",
            r"Some index files failed to download|Unable to fetch some archives|failed to retrieve some files",
            r"invalid or corrupted package \(PGP signature\)",
        ),
        _locked,
        window=200,
    ),
)
