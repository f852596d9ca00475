"""From what a user names to the shape of a model: a size, numbers, a config or its directory, or a step of the model itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.formats import safetensors
from gpuassist.formats.model_config.fields import ModelConfigError
from gpuassist.formats.model_config.read import LARGEST_BYTES, read_model_config
from gpuassist.formats.safetensors import StoredWeights
from gpuassist.model.estimate import ModelShape, ShapeOrigin
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.system.files import Files

_SIZE = lazy_regex(r"(?:(\d{1,4})x)?(\d{1,6}(?:\.\d{1,6})?)\s*([kmbt])", re.IGNORECASE)
_UNITS = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_PAIR = lazy_regex(r"([a-z_]+)\s*=\s*(\d{1,10})", re.IGNORECASE)
_SHORT = {
    "h": "hidden_size", "hidden": "hidden_size", "l": "num_hidden_layers", "layers": "num_hidden_layers",
    "heads": "num_attention_heads", "kv_heads": "num_key_value_heads", "kv": "num_key_value_heads", "v": "vocab_size",
    "vocab": "vocab_size", "inner": "intermediate_size", "intermediate": "intermediate_size", "head_dim": "head_dim",
    "longest": "max_position_embeddings", "experts": "num_local_experts", "active": "num_experts_per_tok",
}  # fmt: skip
_SMALLEST, _LARGEST = 1_000, 10**14
_FILES = 300  # of weights beside a config
_CONFIG, _INDEX = "config.json", "model.safetensors.index.json"


class EstimateError(Exception):
    """There is no model to be estimated in what was named; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class UncountedError(EstimateError):
    """There is a file, and nothing in it that can be counted."""


def shape_of(files: Files, words: str) -> ModelShape:
    """The model that a user names by its size (`7B`), by numbers (`hidden=4096,layers=32,…`), or by a file or directory; raises
    `EstimateError`. Nothing is fetched, and no code of the model is run.
    """
    words = words.strip()
    if not words:
        raise EstimateError(text("name a size such as 7B, numbers such as hidden=4096,layers=32, or a file"))
    if (found := _SIZE.fullmatch(words)) is not None:
        size = round(float(found[2]) * _UNITS[found[3].lower()])
        return shape_of_size(size, words) if found[1] is None else _shape_of_experts(int(found[1]), size, words)
    if "=" in words and not files.exists(os.path.abspath(words)):
        return _of_numbers(words)
    return _of_files(files, os.path.abspath(os.path.expanduser(words)), words)


def shape_of_size(parameters: int, name: str) -> ModelShape:
    """A Llama of about so many parameters: as wide for its depth as those are (hidden = 128 × layers), with a vocabulary of 32,000,
    and of 128,000 and grouped keys from 8 billion on.
    """
    if not _SMALLEST <= parameters <= _LARGEST:
        raise EstimateError(text("a model has between a thousand and a hundred trillion parameters"))
    layers = max(1, round((parameters / (12 * 128 * 128)) ** (1 / 3)))
    hidden = max(8, round((parameters / (12 * layers)) ** 0.5 / 64) * 64)
    heads = max(1, hidden // 128)
    grouped = parameters >= 7.5e9
    built = {
        "model_type": "llama",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "head_dim": max(1, hidden // heads),
        "num_key_value_heads": min(8, heads) if grouped else heads,
        "intermediate_size": round(hidden * (3.5 if grouped else 2.6875)),
        "vocab_size": 128_256 if grouped else 32_000,
    }
    return replace(_read(built, name), origin=ShapeOrigin.SIZE, parameters=parameters, longest=0, notes=(_AS_A_LLAMA,))


def _shape_of_experts(experts: int, parameters: int, name: str) -> ModelShape:
    """What `8x7B` means: a Mixtral, which has the feed-forward part of a model of 7 billion eight times and the rest of it once, so
    that it has 47 billion and not 56.
    """
    if experts < 2 or not _SMALLEST <= parameters * experts <= _LARGEST:
        raise EstimateError(text("a model has between a thousand and a hundred trillion parameters"))
    layers = max(1, round((parameters / (13 * 128 * 128)) ** (1 / 3)))
    hidden = max(8, round((parameters / (13 * layers)) ** 0.5 / 64) * 64)
    heads = max(1, hidden // 128)
    built = {
        "model_type": "mixtral",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": min(8, heads),
        "head_dim": max(1, hidden // heads),
        "intermediate_size": round(hidden * 3.5),
        "vocab_size": 32_000,
        "num_local_experts": experts,
        "num_experts_per_tok": 2,
    }
    return replace(_read(built, name), origin=ShapeOrigin.SIZE, longest=0, notes=(_AS_A_MIXTRAL,))


_AS_A_MIXTRAL = text("only its size is known: it is taken for a Mixtral, with two experts a token; its `config.json` says more")
_AS_A_LLAMA = text("only its size is known: the rest is that of a Llama; its `config.json` says more")


def _read(values: dict[str, object], name: str) -> ModelShape:
    import json

    return read_model_config(json.dumps(values).encode(), name)


def _of_numbers(words: str) -> ModelShape:
    values: dict[str, object] = {"model_type": "llama"}
    for pair in words.split(","):
        found = _PAIR.fullmatch(pair.strip())
        key = "" if found is None else _SHORT.get(found[1].lower(), found[1].lower())
        if found is None or key not in _SHORT.values():
            raise EstimateError(text("“{pair}” is no number of a model; {known} are", pair=pair.strip(), known=", ".join(_NAMES)))
        values[key] = int(found[2])
    hidden = values.get("hidden_size")
    if isinstance(hidden, int):
        values.setdefault("intermediate_size", 4 * hidden)
        if "num_attention_heads" not in values:
            heads = values["num_attention_heads"] = max(1, hidden // 128)
            values.setdefault("head_dim", max(1, hidden // heads))
    values.setdefault("vocab_size", 32_000)
    if "num_local_experts" in values:
        values["model_type"] = "mixtral"
    try:
        longest = values.get("max_position_embeddings", 0)
        return replace(_read(values, words), origin=ShapeOrigin.NUMBERS, longest=longest if isinstance(longest, int) else 0)
    except ModelConfigError as error:
        raise EstimateError(text("these numbers are no model: {why}", why=error.reason)) from error


_NAMES = ("hidden", "layers", "heads", "kv_heads", "head_dim", "inner", "vocab", "experts", "active", "longest")


def _of_files(files: Files, place: str, words: str) -> ModelShape:
    directory = place if files.is_directory(place) else os.path.dirname(place)
    if files.is_directory(place):
        config = f"{place}/{_CONFIG}"
        if not files.is_file(config):
            raise EstimateError(text("there is no `config.json` in {path}", path=words))
    elif not files.exists(place):
        raise EstimateError(
            text("“{words}” is no size such as 7B, no numbers such as hidden=4096,layers=32, and no file or directory", words=words)
        )
    elif place.endswith(".safetensors"):
        return _of_weights(files, place)
    else:
        config = place
    content = _content(files, config, LARGEST_BYTES)
    if content is None:
        raise EstimateError(text("{path} cannot be read", path=config))
    try:
        shape = read_model_config(content, os.path.basename(directory) if place == directory else os.path.basename(place))
    except ModelConfigError as error:
        raise UncountedError(text("{path} cannot be counted: {why}", path=config, why=error.reason)) from error
    return _with_weights(shape, stored_weights(files, directory))


def _of_weights(files: Files, place: str) -> ModelShape:
    """A file of weights: with the config beside it, else by the number of its parameters alone."""
    stored = _head(files, place)
    if stored is None:
        raise UncountedError(text("{path} is no file of safetensors", path=place))
    beside = os.path.join(os.path.dirname(place), _CONFIG)
    if files.is_file(beside):
        return _of_files(files, os.path.dirname(place), place)
    return replace(shape_of_size(stored.parameters, os.path.basename(place)), stored_bytes=stored.stored_bytes)


def _with_weights(shape: ModelShape, stored: StoredWeights | None) -> ModelShape:
    """Exactly the parameters that lie in the files, where each number there is one and they are about as many as were counted."""
    if stored is None:
        return shape
    if stored.are_plain and shape.assumed:  # the files know better than the config of a family that is not known
        return replace(shape, parameters=stored.parameters, stored_bytes=stored.stored_bytes, origin=ShapeOrigin.WEIGHTS)
    if not stored.are_plain or abs(stored.parameters - shape.parameters) > _NEAR * shape.parameters:
        notes = (*shape.notes, _PACKED if not stored.are_plain else _OTHERS)
        return replace(shape, stored_bytes=stored.stored_bytes, notes=notes)
    return replace(shape, parameters=stored.parameters, stored_bytes=stored.stored_bytes, origin=ShapeOrigin.WEIGHTS)


_NEAR = 0.2
_PACKED = text("the weights beside it are stored in a packed format; they are counted by the config")
_OTHERS = text("the weights beside it are not those that the config describes; they are counted by the config")


def stored_weights(files: Files, directory: str) -> StoredWeights | None:
    """What the files of weights in a directory hold; None where there are none, or one of them cannot be read."""
    found: StoredWeights | None = None
    for place in _weight_files(files, directory):
        head = _head(files, place)
        if head is None:
            return None
        found = head if found is None else found.with_those_of(head)
    return found


def _weight_files(files: Files, directory: str) -> Iterator[str]:
    index = _content(files, f"{directory}/{_INDEX}", safetensors.LARGEST_INDEX)
    listed = safetensors.read_index(index) if index is not None else None
    names = listed.files if listed is not None else ("model.safetensors",)
    places = [f"{directory}/{name}" for name in names[:_FILES]]
    if len(names) <= _FILES and all(files.is_file(place) for place in places):
        yield from places


def _head(files: Files, place: str) -> StoredWeights | None:
    try:
        size = safetensors.head_size(files.read_part(place, 0, safetensors.LENGTH_BYTES))
        if size is None:
            return None
        return safetensors.read_head(files.read_part(place, safetensors.LENGTH_BYTES, size))
    except (OSError, ValueError):
        return None


def _content(files: Files, place: str, most: int) -> bytes | None:
    """A regular file of no more bytes than that; what waits for a writer is none."""
    try:
        if not files.is_file(place):
            return None
        content = files.read_bytes(place, most + 1)
    except (OSError, ValueError):
        return None
    return content if len(content) <= most else None
