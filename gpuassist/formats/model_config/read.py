"""A `config.json` to the shape of its model."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.formats.model_config.beside import PARTS, parameters_beside, quantization_of
from gpuassist.formats.model_config.decoders import decoder
from gpuassist.formats.model_config.encoders import ENCODERS, encoder
from gpuassist.formats.model_config.families import NO_TRANSFORMERS, OTHERWISE_BUILT, WITHIN
from gpuassist.formats.model_config.fields import Fields, ModelConfigError
from gpuassist.model.estimate import ModelShape
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.text import Text, text

LARGEST_BYTES = 4 << 20
_WITHIN = ("text_config", "llm_config", "language_config")


def read_model_config(content: bytes, name: str = "") -> ModelShape:
    """The shape of the model that a config describes; raises `ModelConfigError`. What lies in files beside it is not looked at."""
    if len(content) > LARGEST_BYTES:
        raise ModelConfigError(text("it is larger than any config"))
    try:
        values = read_json(content)
    except NotJsonError:
        raise ModelConfigError(text("it is no JSON document")) from None
    if not isinstance(values, dict):
        raise ModelConfigError(text("it is no JSON object"))
    fields = Fields(values)
    notes: tuple[Text, ...] = ()
    beside, partly = 0, False
    kind = fields.word("model_type")
    _refuse_what_is_no_model(fields, kind)
    stored = quantization_of(fields)
    within = fields.inside(*_WITHIN)
    if kind not in ENCODERS and within is not None and not fields.has("num_hidden_layers"):
        beside = parameters_beside(fields)
        notes = (_BESIDE if beside else _PART,)
        if within.word("model_type") in ENCODERS and not beside:  # most of a detector is what is not counted
            raise ModelConfigError(text("only its part for text can be counted: name code that makes it"))
        partly = not beside or fields.has_parts_but(*_WITHIN, *PARTS)
        fields, kind = _whole(within, fields), within.word("model_type") or kind
        stored = stored or quantization_of(fields)
    elif kind not in ENCODERS and fields.inside("vision_config", "audio_config") is not None:
        beside = parameters_beside(fields)
        notes = (_BESIDE if beside else _PART,)
    shape = encoder(fields, kind, name) if kind in ENCODERS else decoder(fields, kind, name, notes)
    if kind in ENCODERS:
        shape = replace(shape, notes=(*notes, *shape.notes))
    shape = replace(shape, parameters=shape.parameters + beside, beside=beside, partly=partly)
    if stored is None:
        return shape
    return replace(shape, quantization=stored.kind, notes=(*shape.notes, stored.note))


def _whole(within: Fields, around: Fields) -> Fields:
    """The part for text with what it leaves out: what its class says by itself, and whether the head is the embedding."""
    tied = {"tie_word_embeddings": True} if around.flag("tie_word_embeddings") else {}
    return within.beside({**WITHIN.get(within.word("model_type"), {}), **tied})


_PART: Text = text("only the part for text is counted: what reads pictures or sound comes on top")
_BESIDE: Text = text("what reads pictures or sound is counted by its layers and widths alone, and its activations are not")


def _refuse_what_is_no_model(fields: Fields, kind: str) -> None:
    """Files that lie where configs lie and are none, and models that are built in another way."""
    if fields.word("peft_type"):
        base = fields.word("base_model_name_or_path") or "?"
        raise ModelConfigError(text("it is an adapter of `{base}`: name the config of that model, and train adapters", base=base))
    if fields.word("_class_name"):
        part = fields.word("_class_name")
        raise ModelConfigError(text("it is a part of a diffusion model (`{part}`): name code that makes it", part=part))
    if kind in NO_TRANSFORMERS:
        raise ModelConfigError(text("`{type}` is built otherwise than a plain transformer: name code that makes it", type=kind))
    if kind in OTHERWISE_BUILT or kind.startswith("mamba"):
        raise ModelConfigError(
            text("`{type}` has layers without attention, and is no plain transformer: name code that makes it", type=kind)
        )
