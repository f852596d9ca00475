"""Profiles read in this process: what a test is about that is not the child, whose start costs 0.3 s."""

from __future__ import annotations

import os

import pytest

from gpuassist.model.profile import ProfileReading
from gpuassist.session.profiling import profile_file
from gpuassist.session.profiling.answers import ReadNothing
from gpuassist.session.profiling.child import read
from gpuassist.session.profiling.refusals import refusal


def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the rest of a test."""

    def reading(_: object, path: str, **__: object) -> tuple[ProfileReading, ...]:
        told = read(os.path.abspath(path), lambda done, of: None)
        if isinstance(told, ReadNothing):
            raise refusal(path, told)
        return told.readings

    monkeypatch.setattr(profile_file, "read_profile", reading)
