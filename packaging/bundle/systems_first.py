"""Before Qt, curses, bz2 or lzma is imported: libraries that the system has are taken from there, since they fit its drivers,
fonts and keyboards, and only where it lacks one is the bundle's loaded. Later ones find a library by its name where it is loaded
already (dlopen(3)).
"""

import sys


class SystemsFirst:
    """Asked for every module that is imported; goes away once it has done its work."""

    def __init__(self, name, is_needed):
        self.name, self.is_needed = name, is_needed

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            sys.meta_path.remove(self)
            load(self.is_needed)


def load(is_needed):
    import ctypes
    import os

    place = os.path.join(sys._MEIPASS, "lent")

    def loads(name):
        try:
            ctypes.CDLL(name)
        except OSError:
            return False
        return True

    waiting = [one for one in sorted(os.listdir(place)) if is_needed(one)]
    lacking = [name for name in waiting if not loads(name)]
    while lacking:  # each after those that it needs itself, whichever those are
        left = [name for name in lacking if not loads(os.path.join(place, name))]
        if left == lacking:
            return  # whoever needs one of these says so
        lacking = left


OF_MODULES = {"_curses": ("libncurses", "libtinfo", "libpanel"), "_bz2": ("libbz2",), "_lzma": ("liblzma",)}


def is_of_qt(name):
    return not name.startswith(OF_MODULES["_curses"])


sys.meta_path.insert(0, SystemsFirst("PySide6", is_of_qt))
for module, names in OF_MODULES.items():
    sys.meta_path.insert(0, SystemsFirst(module, lambda name, names=names: name.startswith(names)))
