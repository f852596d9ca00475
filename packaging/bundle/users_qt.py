"""Runs first in the bundle: what the user has in these variables is moved aside, where `gpuassist.system.own_child` finds it for
every child. Qt itself shall not see the directories: plugins of another Qt would bring that Qt into this process. The last one is
an option of PySide6, which shiboken6 sets in its own process as soon as it is imported, and any child would have it.
"""

import os

for name in ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH", "PYSIDE6_OPTION_PYTHON_ENUM"):
    if name in os.environ:
        os.environ[f"{name}_ORIG"] = os.environ.pop(name)

# The loader of libraries has read it by now, and Qt, which hands on this process's own environment, starts the browser.
if "LD_LIBRARY_PATH_ORIG" in os.environ:
    os.environ["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH_ORIG"]
else:
    os.environ.pop("LD_LIBRARY_PATH", None)
