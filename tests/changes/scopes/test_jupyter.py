"""The `env` of a kernel.json: JSON before and after, every other byte as it was, in the file's own manner."""

from __future__ import annotations

import json
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.changes.scopes.jupyter import by_hand, held, rewritten, with_members
from gpuassist.changes.scopes.values import ScopeValues, Wanted
from gpuassist.shellfiles.block import RepairError

CUDA = Wanted("/usr/local/cuda-12.4")
GPUS = Wanted(devices=("0", "2"))
ALL = Wanted(devices=())
SPEC = b"""{
 "argv": [
  "/opt/ml/bin/python",
  "-m",
  "ipykernel_launcher",
  "-f",
  "{connection_file}"
 ],
 "display_name": "Deep \\u5b66",
 "language": "python",
 "metadata": {
  "debugger": true
 }
}"""
TWO = b'{\r\n  "env": {\r\n    "A": "1",\r\n    "CUDA_VISIBLE_DEVICES": "7"\r\n  },\r\n  "argv": []\r\n}\r\n'


def test_adds_an_env_in_the_indentation_of_the_file() -> None:
    after = rewritten(SPEC, GPUS)
    added = b',\n "env": {\n  "CUDA_DEVICE_ORDER": "PCI_BUS_ID",\n  "CUDA_VISIBLE_DEVICES": "0,2"\n }\n}'
    assert after == SPEC[:-2] + added


def test_changes_a_value_in_its_place() -> None:
    after = rewritten(TWO, Wanted(devices=("GPU-12",)))
    assert after == TWO.replace(b'"7"', b'"GPU-12"')


def test_adds_to_an_env_as_its_members_stand() -> None:
    after = rewritten(TWO, CUDA)
    assert after == TWO.replace(
        b'"7"', b'"7",\r\n    "CUDA_HOME": "/usr/local/cuda-12.4",\r\n    "PATH": "/usr/local/cuda-12.4/bin:${PATH}"'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"argv": []}', b'{"argv": [], "env": {"CUDA_VISIBLE_DEVICES": "GPU-1"}}'),
        (b'{"a":1,"b":2}', b'{"a":1,"b":2,"env":{"CUDA_VISIBLE_DEVICES":"GPU-1"}}'),
        (b"{}", b'{"env": {"CUDA_VISIBLE_DEVICES": "GPU-1"}}'),
        (b'{"env": {}}', b'{"env": {"CUDA_VISIBLE_DEVICES": "GPU-1"}}'),
        (b'{\n\t"env": {},\n\t"x": 1\n}\n', b'{\n\t"env": {\n\t\t"CUDA_VISIBLE_DEVICES": "GPU-1"\n\t},\n\t"x": 1\n}\n'),
    ],
)
def test_writes_as_the_file_is_written(before: bytes, after: bytes) -> None:
    assert json.loads(rewritten(before, Wanted(devices=("GPU-1",)))) == json.loads(after)
    assert rewritten(before, Wanted(devices=("GPU-1",))).replace(b", ", b",") == after.replace(b", ", b",")


def test_what_jupyter_makes_of_it_puts_the_toolkit_first() -> None:
    env = json.loads(rewritten(SPEC, Wanted("/opt/c", "/opt/c/lib64")))["env"]
    server = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": "/x"}
    assert {name: Template(value).safe_substitute(server) for name, value in env.items()} == {
        "CUDA_HOME": "/opt/c",
        "PATH": "/opt/c/bin:/usr/bin:/bin",
        "LD_LIBRARY_PATH": "/opt/c/lib64:/x",
    }


def test_another_toolkit_takes_the_place_of_the_first() -> None:
    twice = rewritten(rewritten(SPEC, Wanted("/opt/a", "/opt/a/lib64")), Wanted("/opt/b", "/opt/b/lib64"))
    assert twice == rewritten(SPEC, Wanted("/opt/b", "/opt/b/lib64"))


def test_a_list_of_the_users_own_stays_behind_it() -> None:
    spec = b'{"env": {"PATH": "/mine:${PATH}"}}'
    assert json.loads(rewritten(spec, CUDA))["env"]["PATH"] == "/usr/local/cuda-12.4/bin:/mine:${PATH}"


@pytest.mark.parametrize("spec", [SPEC, TWO, b'{"argv": []}'])
@pytest.mark.parametrize("wanted", [CUDA, GPUS, Wanted("/opt/a", "/opt/a/lib64", ("1",))])
def test_twice_is_once(spec: bytes, wanted: Wanted) -> None:
    once = rewritten(spec, wanted)
    assert rewritten(once, wanted) == once != spec


def test_all_takes_the_choice_out_and_an_env_that_was_made_for_it() -> None:
    assert rewritten(rewritten(SPEC, GPUS), ALL) == SPEC
    assert rewritten(TWO, ALL) == TWO.replace(b',\r\n    "CUDA_VISIBLE_DEVICES": "7"', b"")
    assert rewritten(SPEC, ALL) == SPEC


def test_reads_what_is_chosen() -> None:
    assert held(rewritten(SPEC, Wanted("/opt/a", "", ("0", "2")))) == ScopeValues("/opt/a", "", ("0", "2"))
    assert held(SPEC) == ScopeValues()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{,}",
        b'{"a": 1, "a": 2}',
        b'{"env": []}',
        b'{"env": {"A": 1}}',
        b'{"env": {"A": "1", "A": "2"}}',
        b"{} // hello\n",
        b"\xff{}",
        b"\xef\xbb\xbf{}",
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_refuses_what_is_no_kernel(content: bytes) -> None:
    with pytest.raises(RepairError):
        rewritten(content, GPUS)


@pytest.mark.parametrize("root", ["/opt/my cuda", "/opt/$cuda", '/opt/"', "/opt/{x}"])
def test_refuses_a_path_that_jupyter_would_read_otherwise(root: str) -> None:
    with pytest.raises(RepairError):
        rewritten(SPEC, Wanted(root))


def test_lines_for_writing_it_by_hand() -> None:
    assert json.loads(by_hand(GPUS)) == {"env": {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "0,2"}}


_names = st.text(st.sampled_from('ab"\\{}é:, \n'), max_size=6)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=8,
)
_specs = st.tuples(
    st.dictionaries(_names, _json, max_size=4),
    st.none() | st.dictionaries(_names | st.sampled_from(("PATH", "CUDA_HOME")), _names, max_size=3),
    st.sampled_from((None, 0, 1, 2, "\t")),
    st.booleans(),
)


def _text(spec: dict[str, object], env: dict[str, str] | None, indent: int | str | None, *, escaped: bool) -> bytes:
    document = {**spec, **({} if env is None else {"env": env})}
    return json.dumps(document, indent=indent, ensure_ascii=escaped).encode()


@given(_specs, st.sampled_from((CUDA, GPUS, ALL, Wanted("/a", "/a/lib", ("GPU-1",)))))
def test_nothing_but_the_wanted_members_changes(
    parts: tuple[dict[str, object], dict[str, str] | None, int | str | None, bool], wanted: Wanted
) -> None:
    spec, env, indent, escaped = parts
    content = _text(spec, env, indent, escaped=escaped)
    after = rewritten(content, wanted)
    found = json.loads(after)
    ours = {"CUDA_HOME", "PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}
    kept = {name: value for name, value in found.items() if name != "env"}
    assert kept == {name: value for name, value in json.loads(content).items() if name != "env"}
    others = {name: value for name, value in (env or {}).items() if name not in ours}
    assert {name: value for name, value in found.get("env", {}).items() if name not in ours} == others
    assert rewritten(after, wanted) == after
    first = content.find(b'"env"')
    assert first < 0 or after.startswith(content[:first])


@given(_specs)
def test_members_that_are_put_in_and_taken_out_leave_the_bytes(
    parts: tuple[dict[str, object], dict[str, str] | None, int | str | None, bool],
) -> None:
    spec, env, indent, escaped = parts
    if env == {}:
        return
    words = _text({**spec, "argv": []}, env, indent, escaped=escaped).decode()
    added = with_members(words, "env", {"NEW": "1", "NEWER": "2"})
    assert with_members(added, "env", {"NEW": None, "NEWER": None}) == words
