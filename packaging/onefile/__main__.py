# What Python runs of gpuassist.pyz: unpacks it once, and starts what is there. The syntax is that of Python 3.5, so that one
# that is too old is told so. gpuassist needs its modules as files: it runs some of them by interpreters of the user's.

import os
import sys

IDENTITY = "@IDENTITY@"  # of what is in the file: put here by packaging/make_onefile.py, as is the rest
PYTHONS = "@PYTHONS@"  # the versions that its compiled parts are for, as 3.10 3.11
MACHINE = "@MACHINE@"
_OTHERS_WRITE = 0o022


def main():
    why_not = complaint("%d.%d" % sys.version_info[:2], os.uname()[4])
    if why_not:
        sys.exit("gpuassist: " + why_not)
    archive = os.path.dirname(os.path.abspath(__file__))
    place = unpacked(archive) or unpacked_for_now(archive)
    sys.path[0] = place  # in place of the archive: all that is imported from now on lies there
    from gpuassist.__main__ import main as begin

    begin()


def complaint(version, machine):
    """Why this Python cannot run it; nothing where it can."""
    known = PYTHONS.split()
    if machine != MACHINE:
        return "this file is for %s, and this machine is %s" % (MACHINE, machine)
    if version in known:
        return ""
    return "this file is for Python %s, and this is Python %s (%s): start it as `python%s %s`, or install it with pipx or uv" % (
        ", ".join(known),
        version,
        sys.executable,
        known[-1],
        os.path.dirname(os.path.abspath(__file__)),
    )


def unpacked(archive):
    """Where it lies in the user's cache, unpacked if it was not yet; nothing where that cannot be written, or is not his alone."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not base.startswith("/"):  # the specification: a relative path is to be ignored
        base = os.path.join(os.path.expanduser("~"), ".cache")
    ours = os.path.join(base, "gpuassist")
    place = os.path.join(ours, "unpacked-" + IDENTITY)
    try:
        os.makedirs(base, 0o700, exist_ok=True)
        if not os.path.isdir(ours):
            os.mkdir(ours, 0o700)
        if not all(is_own(one) for one in (os.path.dirname(base), base, ours)):
            return ""
        if not os.path.isdir(place):
            import tempfile

            fresh = tempfile.mkdtemp(prefix="unpacking-", dir=ours)
            unpack(archive, fresh)
            try:
                os.rename(fresh, place)
            except OSError:  # another start was faster
                import shutil

                shutil.rmtree(fresh, ignore_errors=True)
        return place if is_own(place) else ""
    except OSError:
        return ""


def is_own(directory):
    """Whether nobody but this user, and root, can change what is in it. What lies there is run, maybe by root."""
    status = os.stat(directory)
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & _OTHERS_WRITE


def unpacked_for_now(archive):
    """A directory that is gone when gpuassist ends."""
    import tempfile

    place = tempfile.mkdtemp(prefix="gpuassist-")
    unpack(archive, place)
    sys.path.insert(0, place)
    from gpuassist.system.groups import litter

    litter.add(place)
    del sys.path[0]
    return place


def unpack(archive, place):
    import zipfile

    with zipfile.ZipFile(archive) as opened:
        opened.extractall(place, [one for one in opened.namelist() if one != "__main__.py"])


if __name__ == "__main__":
    main()
