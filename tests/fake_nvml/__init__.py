"""The C source of a scripted libnvidia-ml.so.1; `tests.nvml_fixture` builds it and says how to script it."""
