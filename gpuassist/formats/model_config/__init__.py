"""The `config.json` of a Hugging Face model, as what its memory depends on."""
