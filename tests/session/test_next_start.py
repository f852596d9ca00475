"""Will it survive the next restart: whole made-up machines, from their files to what is said and what is to be done."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.detect import driver, host, libcuda, next_start, pci
from gpuassist.diagnose.judge import judge
from gpuassist.install.step_proof import Holds, prove_step
from gpuassist.model.fact import NOT_ASKED, Known, Unknown, value_or
from gpuassist.model.finding import Diagnosis, Finding
from gpuassist.model.json_reader import read_json
from gpuassist.model.machine import Machine, decode_machine, encode_machine
from gpuassist.model.next_start import NextStart
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.listing import sections
from gpuassist.present.overview import host_words
from gpuassist.session.inspect import answers_of
from gpuassist.session.plan import parse_goal, plan_goals
from tests.fakes import FixedClock, link, put, world_under
from tests.next_machines import CASES, EFI, LOADER, NEW, NOON, OLD, OURS, Case, efi, module
from tests.values import knowledge

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def session() -> Session:
    return compose("en")


def read(root: Path) -> Machine:
    """The machine of a tree, by the probes that matter here."""
    world = replace(world_under(root), clock=FixedClock(datetime.fromtimestamp(NOON, timezone.utc)))
    around, found = host.probe(world), driver.probe(world)
    return Machine(
        taken_at="2026-11-23T09:00:00.000+00:00",
        host=around,
        gpus=pci.probe(world, knowledge()),
        driver=replace(found, libcuda=libcuda.probe(world, NOT_ASKED).libraries),
        next_start=next_start.completed(next_start.probe(world), around, found.on_disk),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_next_start_is_judged(case: Case, tmp_path: Path, session: Session) -> None:
    case.make(tmp_path)
    machine = read(tmp_path)
    following = machine.next_start
    by = value_or(following.chosen_by, None)
    assert (value_or(following.kernel, ""), by.value if by is not None else "") == (case.kernel, case.by)
    diagnosis = judge(machine, knowledge())
    found = {one.problem: one for one in diagnosis.findings}
    assert found.keys() & OURS == case.says, found.keys()
    assert case.others <= found.keys()
    assert {one.problem for one in diagnosis.undetermined} & OURS == case.undetermined
    assert not {one.problem for one in diagnosis.undetermined} & {"own-check-failed"}
    told = next((found[one] for one in sorted(case.says)), Finding("", (), ()))
    assert {name: str(told.parameter(name)) for name in case.parameters} == dict(case.parameters)
    assert value_or(decode_machine(encode_machine(machine, ENGLISH)).next_start.modules, ()) == value_or(following.modules, ())
    if case.commands:
        answers = answers_of(session, machine, diagnosis)
        lines = [line for answer in answers for one in answer.remedies for use in one.commands for line in use.lines]
        assert not [word for word in case.commands if not any(word in line for line in lines)], lines
        assert not [line for line in lines if "$(uname -r)" in line and not case.others], lines


def ours_of(told: Diagnosis) -> frozenset[str]:
    return OURS & ({one.problem for one in told.findings} | {one.problem for one in told.undetermined})


def made(case_name: str, root: Path) -> Machine:
    next(one for one in CASES if one.name == case_name).make(root)
    return read(root)


@pytest.mark.parametrize(
    "name",
    [
        "ubuntu: dkms without headers",
        "ubuntu: the build broke off",
        "ubuntu: NVIDIA's installer",
        "arch: its variable names another",
    ],
)
def test_plan_for_the_driver_is_what_doctor_says(name: str, tmp_path: Path, session: Session) -> None:
    machine = made(name, tmp_path)
    outlook = plan_goals(session, machine, (parse_goal("driver", session.knowledge),))
    answers = answers_of(session, machine, judge(machine, session.knowledge))
    remedy = next(one for answer in answers if answer.id in OURS for one in answer.remedies)
    assert remedy.goal == "driver"
    assert remedy.steps == outlook.steps != ()


def test_torch_alone_is_planned_without_the_next_kernel(tmp_path: Path, session: Session) -> None:
    machine = made("ubuntu: dkms without headers", tmp_path)
    outlook = plan_goals(session, machine, (parse_goal("torch", session.knowledge),))
    assert not [line for step in outlook.steps for line in step.commands if "dkms" in line]


def test_module_of_the_next_kernel_proves_the_step(tmp_path: Path, session: Session) -> None:
    machine = made("ubuntu: dkms without headers", tmp_path)
    outlook = plan_goals(session, machine, (parse_goal("driver", session.knowledge),))
    (proof,) = (step.proof for step in outlook.steps)
    assert proof is not None
    here = replace(session, world=world_under(tmp_path))
    assert prove_step(here, proof).holds is Holds.NO
    module(tmp_path, proof.wanted, "580.95.05", "updates/dkms")
    assert prove_step(here, proof).holds is Holds.YES
    assert prove_step(here, replace(proof, wanted="no-such-kernel")).holds is Holds.UNKNOWN


def test_next_start_stands_among_the_facts_and_beside_the_host(tmp_path: Path) -> None:
    machine = made("ubuntu: kernel and driver wait", tmp_path)
    (section,) = (one for one in sections(machine) if one.title == text("Next start"))
    assert section.lines[0].value == verbatim(NEW)
    assert (
        text("starts next: kernel {kernel}, driver {driver}", kernel=NEW, driver="580.105.08")
        in host_words(machine.host, machine)[1]
    )


@pytest.mark.parametrize(
    "facts",
    [
        {"container": Known("docker", "/.dockerenv")},
        {"wsl": Known(2, "/dev/dxg")},
        {"jetson": Known(value=True, source="/etc/nv_tegra_release")},
    ],
)
def test_nobody_looks_where_the_driver_is_anothers(facts: dict[str, Known[object]], tmp_path: Path) -> None:
    machine = made("ubuntu: dkms without headers", tmp_path)
    found = next_start.completed(machine.next_start, replace(machine.host, **facts), machine.driver.on_disk)
    assert found == NextStart()
    told = judge(replace(machine, host=replace(machine.host, **facts)), knowledge())
    assert not ours_of(told)


def test_machine_without_a_card_is_told_nothing(tmp_path: Path) -> None:
    machine = made("ubuntu: dkms without headers", tmp_path)
    told = judge(replace(machine, gpus=Known((), "/sys/bus/pci/devices")), knowledge())
    assert not ours_of(told)


def test_module_that_cannot_be_looked_for_stays_open(tmp_path: Path) -> None:
    machine = made("ubuntu: dkms without headers", tmp_path)
    unknown = Unknown(text("why"))
    told = judge(replace(machine, next_start=replace(machine.next_start, modules=unknown)), knowledge())
    assert "next-start-without-driver" in {one.problem for one in told.undetermined}


def test_machines_that_were_recorded_before_are_told_nothing() -> None:
    recorded = (*ROOT.glob("tests/cases/machines/*/facts.json"), *ROOT.glob("resources/machines/*.json"))
    machines = {path: decode_machine(read_json(path.read_bytes())) for path in recorded}
    before = {path: one for path, one in machines.items() if isinstance(one.next_start.kernel, Unknown)}
    assert len(before) > 50
    for path, one in before.items():
        assert not ours_of(judge(one, knowledge())), path


JUNK = (
    b"",
    b"\0" * 300,
    b"\xff" * 300,
    b"a" * 5000,
    b"{" * 3000,
    b"menuentry x {\n" * 400,
    b"=\n" * 900,
    b"9" * 4000,
    b"\r\n\x1b[31m",
)
READ = (
    "/etc/default/grub",
    "/boot/grub/grubenv",
    "/boot/grub/grub.cfg",
    "/boot/loader/entries/a-6.1.conf",
    "/boot/loader/loader.conf",
    "/boot/EFI/Linux/a.efi",
    f"{EFI}/LoaderEntryDefault-{LOADER}",
    "/etc/kernel/proxmox-boot-pin",
    "/var/lib/dkms/nvidia/580.95.05/build/make.log",
    "/run/reboot-required.pkgs",
    f"/lib/modules/{NEW}/modules.dep",
    "/etc/modprobe.d/x.conf",
    "/etc/mkinitcpio.conf",
)


@pytest.mark.parametrize("loader", ["GRUB 2.12", "systemd-boot 258"])
def test_hostile_files_keep_nothing_from_being_told(loader: str, tmp_path: Path) -> None:
    next(one for one in CASES if one.name == "ubuntu: dkms without headers").make(tmp_path)
    efi(tmp_path, "LoaderInfo", loader)
    put(tmp_path, "/boot/vmlinuz-odd", b"MZ" + b"\xff" * 0x400)
    put(tmp_path, "/boot/vmlinuz-$(touch x)", b"")
    put(tmp_path, "/usr/lib/modules/$(touch x)/vmlinuz", b"")
    link(tmp_path, "/boot/vmlinuz-6.9-loop", "vmlinuz-6.9-loop")
    for junk in JUNK:
        for path in READ:
            put(tmp_path, path, junk)
        following = next_start.probe(world_under(tmp_path))
        assert value_or(following.kernel, "") in {OLD, NEW}
        assert value_or(following.modules, ()) == ()
    for path in READ:
        (tmp_path / path[1:]).unlink()
        (tmp_path / path[1:]).mkdir()
    assert value_or(next_start.probe(world_under(tmp_path)).kernel, "") in {OLD, NEW}
