"""The firmware's tables tell whose cloud a machine is rented from, its model, and whether it is a laptop with two graphics."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.detect import host as firmware
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.system.files import Files
from tests.fakes import put

TABLES = "/sys/class/dmi/id"
DEVICES = "/sys/bus/pci/devices"
AZURE = "7783-7084-3265-9085-8269-3286-77"


def files(root: Path, **tables: str) -> Files:
    for name, words in {"bios_version": "1.0", **tables}.items():
        put(root, f"{TABLES}/{name}", f"{words}\n")
    return Files(str(root))


def device(root: Path, address: str, kind: str, vendor: str) -> None:
    put(root, f"{DEVICES}/{address}/class", f"{kind}\n")
    put(root, f"{DEVICES}/{address}/vendor", f"{vendor}\n")


@pytest.mark.parametrize(
    ("tables", "provider"),
    [
        ({"sys_vendor": "Amazon EC2", "product_name": "g5.xlarge"}, "aws"),
        ({"sys_vendor": "Xen", "product_name": "HVM domU", "bios_version": "4.11.amazon"}, "aws"),
        ({"sys_vendor": "Google", "product_name": "Google Compute Engine"}, "gcp"),
        ({"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine", "chassis_asset_tag": AZURE}, "azure"),
        ({"sys_vendor": "QEMU", "product_name": "Standard PC", "chassis_asset_tag": "OracleCloud.com"}, "oci"),
        ({"sys_vendor": "Alibaba Cloud", "product_name": "Alibaba Cloud ECS"}, "alibaba"),
        ({"sys_vendor": "DigitalOcean", "product_name": "Droplet"}, "digitalocean"),
        ({"sys_vendor": "Hetzner", "product_name": "vServer"}, "hetzner"),
        ({"sys_vendor": "OpenStack Foundation", "product_name": "OpenStack Nova"}, "openstack"),
    ],
)
def test_provider_is_what_its_machines_tables_say(tmp_path: Path, tables: dict[str, str], provider: str) -> None:
    assert value_or(firmware.provider(files(tmp_path, **tables)), "?") == provider


@pytest.mark.parametrize(
    "tables",
    [
        {"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine", "chassis_asset_tag": "None"},
        {"sys_vendor": "QEMU", "product_name": "Standard PC (Q35 + ICH9, 2009)"},
        {"sys_vendor": "Dell Inc.", "product_name": "Precision 7960 Tower", "chassis_asset_tag": "IT-4711"},
        {"sys_vendor": "LENOVO"},
    ],
)
def test_computer_of_ones_own_has_no_provider(tmp_path: Path, tables: dict[str, str]) -> None:
    assert value_or(firmware.provider(files(tmp_path, **tables)), "?") == ""


def test_lambda_is_known_by_its_packages(tmp_path: Path) -> None:
    put(tmp_path, "/var/lib/dpkg/info/lambda-stack-cuda.list", "/.\n")
    assert value_or(firmware.provider(files(tmp_path, sys_vendor="QEMU")), "?") == "lambda"


def test_machine_without_tables_does_not_tell(tmp_path: Path) -> None:
    found = firmware.provider(Files(str(tmp_path)))
    assert isinstance(found, Unknown)
    assert "/sys/class/dmi/id" in str(found.reason.parameters)


def test_product_is_what_the_firmware_calls_it(tmp_path: Path) -> None:
    assert value_or(firmware.product(files(tmp_path, product_name="g6f.large")), "?") == "g6f.large"


@pytest.mark.parametrize(("chassis", "vendor", "hybrid"), [("10", "0x8086", True), ("9", "0x1002", True), ("3", "0x8086", False)])
def test_laptop_with_two_graphics_is_hybrid(tmp_path: Path, chassis: str, vendor: str, hybrid: bool) -> None:
    device(tmp_path, "0000:00:02.0", "0x030000", vendor)
    device(tmp_path, "0000:01:00.0", "0x030200", "0x10de")
    assert value_or(firmware.hybrid(files(tmp_path, chassis_type=chassis)), None) is hybrid


def test_laptop_with_nvidia_alone_is_not_hybrid(tmp_path: Path) -> None:
    device(tmp_path, "0000:00:1f.0", "0x060100", "0x8086")
    device(tmp_path, "0000:01:00.0", "0x030000", "0x10de")
    assert value_or(firmware.hybrid(files(tmp_path, chassis_type="10")), None) is False


def test_unreadable_chassis_is_unknown(tmp_path: Path) -> None:
    assert isinstance(firmware.hybrid(files(tmp_path)), Unknown)


@pytest.mark.parametrize(
    ("vendor", "provider"),
    [
        ("Vultr", "vultr"),
        ("Scaleway", "scaleway"),
        ("UpCloud", "upcloud"),
        ("Akamai", "akamai"),
        ("Linode", "akamai"),
        ("Tencent Cloud", "tencent"),
        ("Google", "gcp"),
    ],
)
def test_provider_may_be_the_vendor_alone(tmp_path: Path, vendor: str, provider: str) -> None:
    found = firmware.provider(files(tmp_path, sys_vendor=vendor))
    assert found == Known(provider, f"{TABLES}/sys_vendor")


@pytest.mark.parametrize("vendor", ["google", "Amazon", "Vultr Holdings", "Not Google", ""])
def test_a_name_that_is_only_like_it_is_none(tmp_path: Path, vendor: str) -> None:
    assert value_or(firmware.provider(files(tmp_path, sys_vendor=vendor)), "?") == ""


@pytest.mark.parametrize(("version", "provider"), [("4.11.amazon", "aws"), ("4.11.AMAZON", "aws"), ("4.11", ""), ("", "")])
def test_amazons_older_machines_say_so_in_their_firmware(tmp_path: Path, version: str, provider: str) -> None:
    assert value_or(firmware.provider(files(tmp_path, sys_vendor="Xen", bios_version=version)), "?") == provider


def test_the_tag_of_a_chassis_goes_before_the_vendor(tmp_path: Path) -> None:
    found = firmware.provider(files(tmp_path, chassis_asset_tag="ibmcloud", sys_vendor="DigitalOcean"))
    assert found == Known("ibm", f"{TABLES}/chassis_asset_tag")


@pytest.mark.parametrize(
    ("chassis", "portable"),
    [("8", True), ("9", True), ("10", True), ("14", True), ("31", True), ("32", True), ("3", False), ("7", False), ("23", False)],
)
def test_which_chassis_is_a_laptops(tmp_path: Path, chassis: str, portable: bool) -> None:
    device(tmp_path, "0000:00:02.0", "0x030000", "0x8086")
    assert value_or(firmware.hybrid(files(tmp_path, chassis_type=chassis)), None) is portable


@pytest.mark.parametrize(
    ("kind", "vendor", "draws"),
    [
        ("0x030000", "0x8086", True),
        ("0x038000", "0x1002", True),
        ("0x030000", "0x1a03", False),
        ("0x040300", "0x8086", False),
        ("0x020000", "0x8086", False),
        ("", "0x8086", False),
    ],
)
def test_which_devices_are_a_processors_graphics(tmp_path: Path, kind: str, vendor: str, draws: bool) -> None:
    device(tmp_path, "0000:00:02.0", kind, vendor)
    assert value_or(firmware.hybrid(files(tmp_path, chassis_type="10")), None) is draws


def test_a_laptop_without_any_device_is_not_hybrid(tmp_path: Path) -> None:
    assert value_or(firmware.hybrid(files(tmp_path, chassis_type="10")), None) is False


def test_a_product_that_is_not_told_is_unknown(tmp_path: Path) -> None:
    assert isinstance(firmware.product(files(tmp_path)), Unknown)


@pytest.mark.parametrize(
    ("tables", "board"),
    [
        ({"board_vendor": "ASUSTeK COMPUTER INC.", "board_name": "PRIME X670E"}, "ASUSTeK COMPUTER INC. PRIME X670E"),
        ({"board_name": "440BX Desktop"}, "440BX Desktop"),
    ],
)
def test_board_is_its_maker_and_model(tmp_path: Path, tables: dict[str, str], board: str) -> None:
    assert firmware.board(files(tmp_path, **tables)) == Known(board, f"{TABLES}/board_name")


@pytest.mark.parametrize("tables", [{}, {"board_name": ""}])
def test_where_the_firmware_names_no_board_the_device_tree_does(tmp_path: Path, tables: dict[str, str]) -> None:
    put(tmp_path, "/proc/device-tree/model", "NVIDIA Jetson AGX Orin\0")
    assert firmware.board(files(tmp_path, **tables)) == Known("NVIDIA Jetson AGX Orin", "/proc/device-tree/model")


def test_board_that_nothing_names_is_unknown_or_empty(tmp_path: Path) -> None:
    assert isinstance(firmware.board(Files(str(tmp_path))), Unknown)
    assert firmware.board(files(tmp_path, board_name="")) == Known("", f"{TABLES}/board_name")
