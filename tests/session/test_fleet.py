"""Many machines at once: groups, what differs in them, and what could not be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.cli import doctor
from gpuassist.cli.context import UsageError
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.finding import Severity
from gpuassist.model.machine import Machine, decode_machine
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.present.fleet import fleet_document
from gpuassist.present.marks import Exit
from gpuassist.session.fleet import Fleet
from gpuassist.session.fleet_sources import FleetSourceError, arrivals
from gpuassist.system.resources import Resources
from tests.cli.made_session import live_session, run_live
from tests.session.made_ssh import MadeHost, written

SESSION = live_session()


def example(name: str) -> Machine:
    return decode_machine(json.loads(Resources().read(f"machines/{name}.json")))


OLD, HEALTHY = example("04-driver-too-old"), example("08-healthy")


def with_driver(version: str) -> Machine:
    parts = tuple(map(int, version.split(".")))
    known = Known(Version(parts, version), "NVML")
    assert isinstance(OLD.driver.loaded, Known)
    loaded = tuple(replace(one, version=known) for one in OLD.driver.loaded.value)
    return replace(OLD, driver=replace(OLD.driver, version=known, loaded=Known(loaded, "/proc/modules")))


def judged(**machines: Machine) -> Fleet:
    fleet = Fleet(SESSION)
    for name, machine in machines.items():
        fleet.add(name, machine)
    return fleet


def test_what_several_have_is_told_once_with_what_differs() -> None:
    found = judged(a=OLD, b=with_driver("450.51.06"), c=OLD, d=HEALTHY).diagnosis()
    group = next(one for one in found.groups if one.answer.id == "driver-too-old-for-cuda")
    assert group.answer.severity is Severity.PROBLEM
    assert group.machines == ("a", "b", "c")
    assert group.example == "a", "the title that most have"
    assert len(group.titles) == 1
    assert group.answer.remedies
    (driver,) = [one for one in group.differs if one.fact.message == "driver"]
    assert driver.values == (("470.256.02", ("a", "c")), ("450.51.06", ("b",)))
    assert found.healthy == ("d",)
    assert found.groups[0].answer.severity is Severity.PROBLEM


def test_machines_are_named_in_their_order_however_they_came() -> None:
    found = judged(n10=OLD, n2=OLD, n1=OLD)
    for name in ("b", "a"):
        found.add_unread(name, text("it is off"))
    told = found.diagnosis()
    assert told.machines == told.groups[0].machines == ("n1", "n2", "n10")
    assert [one.name for one in told.unread] == ["a", "b"]


def test_answers_are_the_same_in_whichever_order_machines_come() -> None:
    drivers = (
        "470.256.02",
        "450.51.06",
        "460.32.03",
        "418.67",
        "440.33.01",
        "430.40",
        "455.23.05",
        "465.19.01",
        "396.44",
        "390.48",
    )
    names = ("01-new-rtx-5090-nouveau", "05-gtx-1080-ti-and-rtx-5090", "07-wsl2", "10-laptop-asleep")
    machines = {f"n{number}": with_driver(one) for number, one in enumerate((*drivers, *drivers[:3]))}
    machines.update((f"m{number}", example(one)) for number, one in enumerate(names))
    told = [judged(**dict(order)).diagnosis() for order in (machines.items(), reversed(machines.items()), sorted(machines.items()))]
    assert told[0] == told[1] == told[2]
    assert next(one for one in told[0].groups if one.answer.id == "driver-too-old-for-cuda").example == "n0"


def test_remedies_of_other_distributions_are_groups_of_their_own() -> None:
    host = OLD.host
    assert isinstance(host.distribution, Known)
    fedora = replace(host.distribution.value, id="fedora", id_like=(), name="Fedora 42", version_id="42")
    other = replace(OLD, host=replace(host, distribution=Known(fedora, "x")))
    groups = [one for one in judged(a=OLD, b=other).diagnosis().groups if one.answer.id == "driver-too-old-for-cuda"]
    assert sorted((one.family.value, one.machines) for one in groups) == [("fedora", ("b",)), ("ubuntu", ("a",))]


def test_what_could_not_be_told_is_grouped_as_well() -> None:
    nobody = Machine(gpus=Unknown(text("no permission")))
    found = judged(a=nobody, b=nobody, c=HEALTHY).diagnosis()
    assert found.undetermined
    assert all(one.machines == ("a", "b") for one in found.undetermined)
    assert found.healthy == ("c",)


def test_machines_of_one_name_stay_apart() -> None:
    fleet = judged(a=OLD)
    for _ in range(2):
        fleet.add("a", OLD)
    assert fleet.diagnosis().machines == ("a", "a#2", "a#3")


def test_the_document_is_the_contract() -> None:
    fleet = judged(a=OLD, b=OLD)
    fleet.add_unread("c", text("gone"))
    document = fleet_document(fleet.diagnosis(), ENGLISH)
    assert isinstance(document, dict)
    assert (document["schema"], document["machines"]) == (1, 2)
    assert document["unread"] == [{"machine": "c", "reason": "gone"}]
    (group,) = [one for one in document["groups"] if one["id"] == "driver-too-old-for-cuda"]  # type: ignore[union-attr,index,call-overload]
    assert {"id", "severity", "title", "machines", "remedies"} <= set(group)  # type: ignore[arg-type]
    assert group["machines"] == ["a", "b"]  # type: ignore[index,call-overload]
    json.dumps(document)


def test_a_directory_is_read_and_what_is_no_machine_in_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "rack").mkdir()
    for name in ("n1", "rack/n2"):
        (tmp_path / f"{name}.json").write_text(written(HEALTHY))
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "other.json").write_text('{"schema": 1, "findings": []}')
    (tmp_path / "read.me").write_text("no machine")
    (tmp_path / "circle").symlink_to(tmp_path)
    found = run_live(doctor, "--fleet", str(tmp_path), "--json", session=SESSION)
    document = json.loads(found.out)
    assert document["machines"] == 2
    assert document["healthy"] == ["n1", "rack/n2"]
    assert [one["machine"] for one in document["unread"]] == ["bad", "other"]
    assert found.exit is Exit.UNDETERMINED, "what was not read could hide anything"


def test_the_worst_of_any_machine_is_the_exit_status(tmp_path: Path) -> None:
    (tmp_path / "n1.json").write_text(written(HEALTHY))
    assert run_live(doctor, "--fleet", str(tmp_path), session=SESSION).exit is Exit.HEALTHY
    for name in ("n2", "n3"):
        (tmp_path / f"{name}.json").write_text(written(OLD))
    found = run_live(doctor, "--fleet", str(tmp_path), session=SESSION)
    assert found.exit is Exit.PROBLEMS
    assert "2 of 3 (ubuntu): Driver 470.256.02 is too old" in found.out
    assert "as it is on n2" in " ".join(found.out.split())


def test_a_source_without_machines_is_wrong_usage(tmp_path: Path) -> None:
    for source in (str(tmp_path), str(tmp_path / "none"), "ssh:", "ssh:,", "ssh:-oProxyCommand=x", "ssh:a,b c", ""):
        with pytest.raises((FleetSourceError, UsageError)):
            run_live(doctor, "--fleet", source, session=SESSION)


def test_machines_over_ssh_come_side_by_side_and_each_failure_is_its_own(tmp_path: Path) -> None:
    host = MadeHost(tmp_path, before='case " $* " in *" gone "*) echo "ssh: connect: No route to host" >&2; exit 255;; esac')
    came = {one.name: one.found for one in arrivals(host.session(), "ssh:n1,gone,n2,n1", half=str(host.half))}
    assert came.keys() == {"n1", "n2", "gone"}
    assert came["n1"] == came["n2"] == host.machine
    assert "cannot be reached" in ENGLISH(came["gone"])  # type: ignore[arg-type]
    assert not host.left()
