"""What `gpuassist run` takes into the user's own program: stands alone, Python 3.8 and torch 1.13 on, the standard library only.

`monitor.run_place` copies `sitecustomize.py` and `gpuassist_memory.py` where only that run finds them; `monitor.rings` reads what
they write.
"""
