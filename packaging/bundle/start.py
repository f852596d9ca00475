"""The entry of the bundle, which is also how it starts children of its own: `gpuassist.__main__` knows their arguments."""

from gpuassist.__main__ import main

main()
