"""What is said where large files cannot be read: gpuassist.pyz brings no numpy, and takes that of the Python that runs it."""

from gpuassist.model.text import text

WITHOUT_NUMPY = text(
    "the Python that runs this has no numpy, without which snapshots and traces cannot be read: start it by the Python of an"
    " environment that has one, as most with torch do (`~/train/bin/python gpuassist-x86_64.pyz …`), or `pipx install gpuassist`"
)
