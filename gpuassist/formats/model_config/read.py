"""A `config.json` to the shape of its model."""

from __future__ import annotations

from gpuassist.formats.model_config.decoders import decoder
from gpuassist.formats.model_config.encoders import ENCODERS, encoder
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
    kind = fields.word("model_type")
    within = fields.inside(*_WITHIN)
    if within is not None and not fields.has("num_hidden_layers"):
        notes = (_PART,)
        fields, kind = within, within.word("model_type") or kind
    if kind in ENCODERS:
        return encoder(fields, kind, name)
    return decoder(fields, kind, name, notes)


_PART: Text = text("only the part for text is counted: what reads pictures or sound comes on top")
