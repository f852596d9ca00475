"""Runs first in the bundle, before PyInstaller's own hook of PySide6 names the bundle's directories in these variables: what the
user has there is moved aside, where `gpuassist.system.own_child` finds it for every child. Qt itself shall not see it: plugins of
another Qt would bring that Qt into this process.
"""

import os

for name in ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH", "PYSIDE6_OPTION_PYTHON_ENUM"):
    if name in os.environ:
        os.environ[f"{name}_ORIG"] = os.environ.pop(name)
