"""The user's settings of pip, uv and conda, from every place that the tools themselves read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.package_settings import probe
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.package_settings import PackageSetting, PackageSettings
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.text import text
from tests.fakes import put, world_under

MIRROR, OTHER = "https://pypi.example.org/simple", "https://other.example.org/simple"
USER_CONF, CONDARC = "/home/you/.config/pip/pip.conf", "/home/you/.condarc"


def told(root: Path, variables: Mapping[str, str] | None = None) -> PackageSettings:
    """What is read where a new terminal has these variables."""
    set_there = tuple(Variable(name, value) for name, value in (variables or {}).items())
    fact = probe(world_under(root, variables={}), Known(Terminal("/bin/bash", set_there, ()), "test"))
    assert isinstance(fact, Known)
    return fact.value


def conf(url: str) -> str:
    return f"[global]\nindex-url = {url}\n"


def test_nothing_set_is_nothing_told(tmp_path: Path) -> None:
    assert told(tmp_path) == PackageSettings()


@pytest.mark.parametrize(
    "place",
    ["/etc/pip.conf", "/etc/xdg/pip/pip.conf", "/home/you/.pip/pip.conf", USER_CONF],
    ids=["system", "xdg", "legacy", "user"],
)
def test_pips_places(tmp_path: Path, place: str) -> None:
    put(tmp_path, place, conf(MIRROR))
    assert told(tmp_path).pip.index == PackageSetting(MIRROR, place)


def test_the_user_wins_over_the_system(tmp_path: Path) -> None:
    put(tmp_path, "/etc/pip.conf", conf(OTHER))
    put(tmp_path, USER_CONF, conf(MIRROR))
    assert told(tmp_path).pip.index == PackageSetting(MIRROR, USER_CONF)


def test_the_environments_own_file_wins_over_the_user(tmp_path: Path) -> None:
    put(tmp_path, USER_CONF, conf(OTHER))
    put(tmp_path, "/home/you/train/pip.conf", conf(MIRROR))
    assert told(tmp_path, {"VIRTUAL_ENV": "/home/you/train"}).pip.index.value == MIRROR


def test_a_variable_wins_over_every_file(tmp_path: Path) -> None:
    put(tmp_path, USER_CONF, conf(OTHER))
    assert told(tmp_path, {"PIP_INDEX_URL": MIRROR}).pip.index == PackageSetting(MIRROR, "PIP_INDEX_URL")


def test_a_file_that_is_named_stands_for_the_users(tmp_path: Path) -> None:
    put(tmp_path, USER_CONF, conf(OTHER))
    put(tmp_path, "/srv/pip.conf", "[global]\nno-index = yes\n")
    found = told(tmp_path, {"PIP_CONFIG_FILE": "/srv/pip.conf"}).pip
    assert (found.index, found.forbidden) == (PackageSetting(), PackageSetting("yes", "/srv/pip.conf"))


def test_no_file_at_all_where_pip_reads_none(tmp_path: Path) -> None:
    put(tmp_path, USER_CONF, conf(MIRROR))
    assert told(tmp_path, {"PIP_CONFIG_FILE": "/dev/null"}) == PackageSettings()


def test_several_extra_indexes(tmp_path: Path) -> None:
    extra = told(tmp_path, {"PIP_EXTRA_INDEX_URL": f"{MIRROR} {OTHER}"}).pip.extra
    assert [one.value for one in extra] == [MIRROR, OTHER]


def test_passwords_stay_where_they_are(tmp_path: Path) -> None:
    put(tmp_path, USER_CONF, conf("https://me:secret@pypi.example.org/simple"))
    assert told(tmp_path).pip.index.value == "https://***@pypi.example.org/simple"


def test_a_constraint_that_pins_torch(tmp_path: Path) -> None:
    put(tmp_path, "/srv/constraints.txt", "numpy<2\ntorch == 2.1.0  # as in production\ntorchvision==0.16\n")
    found = told(tmp_path, {"PIP_CONSTRAINT": "/srv/constraints.txt"}).pip
    assert found.pins == (PackageSetting("==2.1.0", "/srv/constraints.txt"),)


@pytest.mark.parametrize("words", ["torchvision==0.16\n", "# torch==2.1\n", "pytorch-lightning==2.0\n", ""])
def test_other_constraints_pin_no_torch(tmp_path: Path, words: str) -> None:
    put(tmp_path, "/srv/constraints.txt", words)
    assert told(tmp_path, {"PIP_CONSTRAINT": "/srv/constraints.txt"}).pip.pins == ()


def test_xdg_says_where_the_users_files_are(tmp_path: Path) -> None:
    put(tmp_path, "/home/you/settings/pip/pip.conf", conf(MIRROR))
    assert told(tmp_path, {"XDG_CONFIG_HOME": "/home/you/settings"}).pip.index.value == MIRROR


def test_uvs_own_file(tmp_path: Path) -> None:
    place = "/home/you/.config/uv/uv.toml"
    put(tmp_path, place, f'[[index]]\nurl = "{MIRROR}"\ndefault = true\n[pip]\ntorch-backend = "cpu"\n')
    found = told(tmp_path)
    assert (found.uv.index, found.uv.backend, found.pip) == (
        PackageSetting(MIRROR, place),
        PackageSetting("cpu", place),
        PackageSettings().pip,
    )


def test_uv_reads_no_file_where_it_is_told_so(tmp_path: Path) -> None:
    put(tmp_path, "/home/you/.config/uv/uv.toml", f'index-url = "{MIRROR}"\n')
    assert told(tmp_path, {"UV_NO_CONFIG": "1"}).uv.index == PackageSetting()


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL"])
def test_uvs_index_by_a_variable(tmp_path: Path, name: str) -> None:
    assert told(tmp_path, {name: f"own={MIRROR}"}).uv.index == PackageSetting(MIRROR, name)


def test_uv_kept_from_the_network(tmp_path: Path) -> None:
    assert told(tmp_path, {"UV_OFFLINE": "true"}).uv.offline.source == "UV_OFFLINE"
    assert told(tmp_path, {"UV_OFFLINE": "0"}).uv.offline == PackageSetting()


def test_of_uvs_files_for_all_users_the_first_counts(tmp_path: Path) -> None:
    put(tmp_path, "/etc/uv/uv.toml", f'index-url = "{OTHER}"\nno-index = true\n')
    put(tmp_path, "/etc/xdg/uv/uv.toml", "offline = true\n")
    found = told(tmp_path).uv
    assert (found.index, found.forbidden, found.offline.source) == (PackageSetting(), PackageSetting(), "/etc/xdg/uv/uv.toml")


def test_uvs_user_file_over_the_systems(tmp_path: Path) -> None:
    put(tmp_path, "/etc/uv/uv.toml", f'index-url = "{OTHER}"\nno-index = true\n')
    put(tmp_path, "/home/you/.config/uv/uv.toml", f'index-url = "{MIRROR}"\n')
    found = told(tmp_path).uv
    assert (found.index.value, found.forbidden.source) == (MIRROR, "/etc/uv/uv.toml")


def test_condas_channels_of_all_its_files(tmp_path: Path) -> None:
    put(tmp_path, "/etc/conda/.condarc", "channels:\n  - defaults\n  - conda-forge\nallowlist_channels:\n  - conda-forge\n")
    put(tmp_path, CONDARC, "channels:\n  - conda-forge\n  - nvidia\n")
    found = told(tmp_path).conda
    assert [one.value for one in found.channels] == ["conda-forge", "nvidia", "defaults"]
    assert found.channels[0].source == CONDARC
    assert found.allowed == (PackageSetting("conda-forge", "/etc/conda/.condarc"),)


def test_channels_by_a_variable_come_first(tmp_path: Path) -> None:
    put(tmp_path, CONDARC, "channels:\n  - defaults\n")
    found = told(tmp_path, {"CONDA_CHANNELS": "conda-forge, nvidia"}).conda.channels
    assert [one.value for one in found] == ["conda-forge", "nvidia", "defaults"]


def test_condas_own_directory_and_the_environments(tmp_path: Path) -> None:
    put(tmp_path, "/opt/conda/.condarc", "channel_alias: https://conda.example.org/a\n")
    put(tmp_path, "/opt/conda/envs/x/condarc.d/10.yml", "offline: true\n")
    found = told(tmp_path, {"CONDA_PREFIX": "/opt/conda/envs/x"}).conda
    assert (found.alias.source, found.offline.source) == ("/opt/conda/.condarc", "/opt/conda/envs/x/condarc.d/10.yml")


def test_condas_view_of_the_driver_by_a_variable(tmp_path: Path) -> None:
    assert told(tmp_path, {"CONDA_OVERRIDE_CUDA": "11.8"}).conda.virtual == PackageSetting("11.8", "CONDA_OVERRIDE_CUDA")


def test_a_terminal_that_is_not_known_leaves_gpuassists_own_variables(tmp_path: Path) -> None:
    fact = probe(world_under(tmp_path, variables={"PIP_INDEX_URL": MIRROR}), Unknown(text("no shell")))
    assert isinstance(fact, Known)
    assert fact.value.pip.index.value == MIRROR


def test_a_file_that_is_named_from_wherever_the_tool_starts_is_not_read(tmp_path: Path) -> None:
    put(tmp_path, "/own.toml", f'index-url = "{MIRROR}"\n')
    assert told(tmp_path, {"UV_CONFIG_FILE": "own.toml", "CONDARC": "own.yml", "PIP_CONFIG_FILE": "own.conf"}) == PackageSettings()


def test_what_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "etc" / "pip.conf").mkdir(parents=True)
    put(tmp_path, CONDARC, b"\xff\xfe\x00channels:")
    assert told(tmp_path) == PackageSettings()


@pytest.mark.parametrize("said", ["1", "true", "TRUE", "yes", "on", "t", "y"])
def test_what_tools_take_for_yes_is_yes(tmp_path: Path, said: str) -> None:
    found = told(tmp_path, {"PIP_NO_INDEX": said, "UV_OFFLINE": said})
    assert found.pip.forbidden == PackageSetting(said, "PIP_NO_INDEX")
    assert found.uv.offline == PackageSetting(said, "UV_OFFLINE")


@pytest.mark.parametrize("said", ["0", "false", "no", "off", "maybe"])
def test_what_tools_take_for_no_is_nothing(tmp_path: Path, said: str) -> None:
    assert told(tmp_path, {"PIP_NO_INDEX": said, "UV_OFFLINE": said}) == PackageSettings()


@pytest.mark.parametrize(
    ("value", "url"),
    [
        (f"mirror={MIRROR}", MIRROR),
        (MIRROR, MIRROR),
        (f"{MIRROR}?a=b", f"{MIRROR}?a=b"),
        ("mirror=local", "mirror=local"),
    ],
)
def test_name_of_uvs_index_is_left_out(tmp_path: Path, value: str, url: str) -> None:
    assert told(tmp_path, {"UV_DEFAULT_INDEX": value}).uv.index == PackageSetting(url, "UV_DEFAULT_INDEX")


def test_uvs_newer_variable_wins_over_the_older(tmp_path: Path) -> None:
    assert told(tmp_path, {"UV_DEFAULT_INDEX": MIRROR, "UV_INDEX_URL": OTHER}).uv.index.value == MIRROR


def test_variable_that_is_empty_is_none(tmp_path: Path) -> None:
    put(tmp_path, USER_CONF, conf(MIRROR))
    assert told(tmp_path, {"PIP_INDEX_URL": ""}).pip.index == PackageSetting(MIRROR, USER_CONF)


@pytest.mark.parametrize(
    ("line", "pin"),
    [
        ("torch==2.5.1", "==2.5.1"),
        ("torch >= 2.4, < 2.6", ">=2.4,<2.6"),
        ("torch~=2.5.0  # for the old card", "~=2.5.0"),
        ("numpy<2\nTorch != 2.6.0", "!=2.6.0"),
        ("torch==2.5.*", "==2.5.*"),
    ],
)
def test_pin_of_torch_is_read_as_it_is_meant(tmp_path: Path, line: str, pin: str) -> None:
    put(tmp_path, "/c.txt", line)
    for found in (told(tmp_path, {"PIP_CONSTRAINT": "/c.txt"}).pip, told(tmp_path, {"UV_CONSTRAINT": "file:///c.txt"}).uv):
        assert found.pins == (PackageSetting(pin, "/c.txt"),)


@pytest.mark.parametrize("path", ["c.txt", "https://example.org/c.txt", "/not/there.txt"])
def test_constraints_that_cannot_be_read_pin_nothing(tmp_path: Path, path: str) -> None:
    found = told(tmp_path, {"PIP_CONSTRAINT": path}).pip
    assert ([one.value for one in found.constraints], found.pins) == ([path], ())


@pytest.mark.parametrize("prefix", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_active_environment_has_a_file_of_its_own(tmp_path: Path, prefix: str) -> None:
    put(tmp_path, "/v/pip.conf", conf(MIRROR))
    assert told(tmp_path, {prefix: "/v"}).pip.index.source == "/v/pip.conf"


def test_relative_places_of_xdg_do_not_count(tmp_path: Path) -> None:
    put(tmp_path, USER_CONF, conf(MIRROR))
    assert told(tmp_path, {"XDG_CONFIG_HOME": "conf", "XDG_CONFIG_DIRS": "etc:xdg"}).pip.index.source == USER_CONF


@given(words=st.text(max_size=80))
def test_any_words_in_any_file_are_survived(tmp_path_factory: pytest.TempPathFactory, words: str) -> None:
    root = tmp_path_factory.mktemp("odd")
    for place in (USER_CONF, CONDARC, "/home/you/.config/uv/uv.toml", "/c.txt"):
        put(root, place, words.encode("utf-8", "surrogatepass"))
    found = told(root, {"PIP_CONSTRAINT": "/c.txt", "UV_INDEX": words.replace("\0", "")})
    assert all(one.source for one in (*found.pip.extra, *found.uv.extra, *found.conda.channels))


@pytest.mark.parametrize(
    ("pin", "value"),
    [
        ("torch==2.1.0", "==2.1.0"),
        ("torch===2.1.0", "===2.1.0"),
        ("torch>=2.1,<2.4", ">=2.1,<2.4"),
        ("torch ~= 2.1", "~=2.1"),
        ("Torch==2.1.0", "==2.1.0"),
        ("  torch==2.1.0", "==2.1.0"),
        ("torch==2.1.*", "==2.1.*"),
        ("torch==2.1.0+cu118", "==2.1.0+cu118"),
        ("torch!=2.0", "!=2.0"),
        ("torch==2.1.0 ; python_version < '3.12'", "==2.1.0"),
        ("torch==2.1.0 --hash=sha256:00", "==2.1.0"),
    ],
)
def test_however_a_constraint_pins_torch(tmp_path: Path, pin: str, value: str) -> None:
    put(tmp_path, "/srv/constraints.txt", f"numpy<2\n{pin}\n")
    assert [one.value for one in told(tmp_path, {"PIP_CONSTRAINT": "/srv/constraints.txt"}).pip.pins] == [value]


def test_a_constraint_of_any_torch_pins_none(tmp_path: Path) -> None:
    put(tmp_path, "/srv/constraints.txt", "torch\n")
    assert told(tmp_path, {"PIP_CONSTRAINT": "/srv/constraints.txt"}).pip.pins == ()


def test_every_file_of_constraints_is_read(tmp_path: Path) -> None:
    put(tmp_path, "/srv/one.txt", "torch==2.1.0\n")
    put(tmp_path, "/srv/two.txt", "torch<2.4\n")
    pins = told(tmp_path, {"PIP_CONSTRAINT": "/srv/one.txt file:///srv/two.txt"}).pip.pins
    assert [(one.value, one.source) for one in pins] == [("==2.1.0", "/srv/one.txt"), ("<2.4", "/srv/two.txt")]


def test_a_constraint_from_the_network_is_not_fetched(tmp_path: Path) -> None:
    found = told(tmp_path, {"PIP_CONSTRAINT": "https://example.org/constraints.txt"}).pip
    assert (len(found.constraints), found.pins) == (1, ())


@pytest.mark.parametrize(
    ("words", "forbidden"),
    [("1", True), ("true", True), ("Yes", True), ("on", True), ("0", False), ("false", False), ("off", False)],
)
def test_pip_without_any_index(tmp_path: Path, words: str, forbidden: bool) -> None:
    assert bool(told(tmp_path, {"PIP_NO_INDEX": words}).pip.forbidden) is forbidden


@pytest.mark.parametrize("name", ["PIP_INDEX_URL", "UV_INDEX_URL", "UV_INDEX", "CONDA_CHANNELS", "PIP_FIND_LINKS"])
def test_a_variable_that_is_empty_sets_nothing(tmp_path: Path, name: str) -> None:
    assert told(tmp_path, {name: ""}) == PackageSettings()


def test_an_empty_variable_leaves_what_a_file_says(tmp_path: Path) -> None:
    put(tmp_path, USER_CONF, conf(MIRROR))
    assert told(tmp_path, {"PIP_INDEX_URL": ""}).pip.index == PackageSetting(MIRROR, USER_CONF)


@pytest.mark.parametrize("directory", ["settings", "./settings", "~"])
def test_xdg_that_is_no_absolute_path_does_not_count(tmp_path: Path, directory: str) -> None:
    put(tmp_path, USER_CONF, conf(MIRROR))
    assert told(tmp_path, {"XDG_CONFIG_HOME": directory}).pip.index == PackageSetting(MIRROR, USER_CONF)


def test_the_first_of_the_shared_directories_is_overridden_by_the_next(tmp_path: Path) -> None:
    put(tmp_path, "/etc/xdg/pip/pip.conf", conf(OTHER))
    put(tmp_path, "/srv/xdg/pip/pip.conf", conf(MIRROR))
    assert told(tmp_path, {"XDG_CONFIG_DIRS": "/etc/xdg:/srv/xdg:relative"}).pip.index.value == MIRROR


def test_a_named_file_that_is_not_there_leaves_the_users(tmp_path: Path) -> None:
    put(tmp_path, USER_CONF, conf(MIRROR))
    assert told(tmp_path, {"PIP_CONFIG_FILE": "/srv/none.conf"}).pip.index == PackageSetting(MIRROR, USER_CONF)


def test_condas_environment_is_one_for_pip_too(tmp_path: Path) -> None:
    put(tmp_path, "/opt/conda/envs/train/pip.conf", conf(MIRROR))
    assert told(tmp_path, {"CONDA_PREFIX": "/opt/conda/envs/train"}).pip.index.value == MIRROR


def test_a_virtual_environment_goes_before_condas(tmp_path: Path) -> None:
    put(tmp_path, "/opt/conda/envs/train/pip.conf", conf(OTHER))
    put(tmp_path, "/home/you/train/pip.conf", conf(MIRROR))
    variables = {"CONDA_PREFIX": "/opt/conda/envs/train", "VIRTUAL_ENV": "/home/you/train"}
    assert told(tmp_path, variables).pip.index.value == MIRROR


@pytest.mark.parametrize(
    ("words", "url"),
    [
        (MIRROR, MIRROR),
        (f"own={MIRROR}", MIRROR),
        (f"{MIRROR}?x=1", f"{MIRROR}?x=1"),
        ("own=/srv/wheels", "own=/srv/wheels"),
    ],
)
def test_a_name_before_uvs_index_is_no_part_of_it(tmp_path: Path, words: str, url: str) -> None:
    assert told(tmp_path, {"UV_DEFAULT_INDEX": words}).uv.index.value == url


def test_the_newer_of_uvs_two_variables_counts(tmp_path: Path) -> None:
    found = told(tmp_path, {"UV_INDEX_URL": OTHER, "UV_DEFAULT_INDEX": MIRROR})
    assert found.uv.index == PackageSetting(MIRROR, "UV_DEFAULT_INDEX")


def test_uvs_named_file_stands_for_all_others(tmp_path: Path) -> None:
    put(tmp_path, "/etc/uv/uv.toml", f'index-url = "{OTHER}"\n')
    put(tmp_path, "/srv/uv.toml", "offline = true\n")
    found = told(tmp_path, {"UV_CONFIG_FILE": "/srv/uv.toml"}).uv
    assert (found.index, found.offline.source) == (PackageSetting(), "/srv/uv.toml")


@pytest.mark.parametrize("words", ["[[index", "index-url = ", "\x00", "index-url = 3\n", "[pip]\ntorch-backend = []\n"])
def test_a_damaged_file_of_uvs_sets_nothing(tmp_path: Path, words: str) -> None:
    put(tmp_path, "/etc/uv/uv.toml", words)
    assert told(tmp_path).uv == PackageSettings().uv


@pytest.mark.parametrize("words", ["index-url = x\n", "[global\nindex-url", "%(", "\x00\x01", "[install]\n"])
def test_a_damaged_file_of_pips_sets_nothing(tmp_path: Path, words: str) -> None:
    put(tmp_path, "/etc/pip.conf", words)
    assert told(tmp_path).pip == PackageSettings().pip


@pytest.mark.parametrize("words", ["- a\n- b\n", "channels", "channels: {", "\x00", "42\n", "channels: 3\n"])
def test_a_damaged_condarc_sets_nothing(tmp_path: Path, words: str) -> None:
    put(tmp_path, CONDARC, words)
    assert told(tmp_path).conda.alias == PackageSetting()


@pytest.mark.parametrize(("listed", "channels"), [("a,b", ["a", "b"]), (" a , b ", ["a", "b"]), ("a,,b,", ["a", "b"]), (",", [])])
def test_channels_of_a_variable_are_parted_by_commas(tmp_path: Path, listed: str, channels: list[str]) -> None:
    assert [one.value for one in told(tmp_path, {"CONDA_CHANNELS": listed}).conda.channels] == channels


def test_a_channel_that_two_files_name_is_the_nearest_ones(tmp_path: Path) -> None:
    put(tmp_path, "/etc/conda/.condarc", "channels:\n  - conda-forge\n  - nvidia\n")
    put(tmp_path, CONDARC, "channels:\n  - conda-forge\n")
    found = told(tmp_path).conda.channels
    assert [(one.value, one.source) for one in found] == [("conda-forge", CONDARC), ("nvidia", "/etc/conda/.condarc")]


def test_what_conda_is_said_by_a_variable_goes_before_its_file(tmp_path: Path) -> None:
    put(tmp_path, CONDARC, "offline: true\n")
    assert told(tmp_path).conda.offline.source == CONDARC
    assert told(tmp_path, {"CONDA_OFFLINE": "false"}).conda.offline == PackageSetting()


def test_one_tools_settings_are_none_of_anothers(tmp_path: Path) -> None:
    found = told(tmp_path, {"PIP_INDEX_URL": MIRROR, "CONDA_CHANNELS": "nvidia"})
    assert found.uv == PackageSettings().uv
    assert (bool(found.pip.index), len(found.conda.channels)) == (True, 1)
