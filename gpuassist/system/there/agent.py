"""Keeps what was copied to another machine for as long as the connection lasts, and runs it there for whoever asks.

It is given on the standard input of an interpreter over SSH, behind a line `TOKEN = ...` (`system.ssh_link`), and goes on to read
there what is wanted, a JSON document a line. Whatever it says is a line that begins with the token, because start-up files of the
other side print into the same stream. When its input closes, when nothing is heard for long, or when it is told to end, all that
it started is ended and all that it wrote is removed; a process beside it does that where it is killed. The syntax is that of
Python 3.6, so that one that is too old to run gpuassist can still say so.
"""

import codecs
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import zipfile

TOKEN = globals().get("TOKEN", "")
BEAT_SECONDS = 5.0
LAST_WAIT_SECONDS = 1.0
DEAF_SECONDS = 120  # the other side says something every few seconds
PIECE = 1 << 16
ERRORS_AT_MOST = 1 << 14
UNPACKED_TIMES = 5  # what has to be free, as a multiple of what comes
OLDEST, NEWEST = 10, 19  # of the versions 3.N that are looked for
ANSWER_SECONDS = 10
_QUESTION = "import sys, sysconfig; print('%d.%d.%d' % sys.version_info[:3], sysconfig.get_config_var('EXT_SUFFIX'))"
_KEEPER = (
    "import os, shutil, sys, time\nos.read(0, 1)\nfor _ in range(50):\n    shutil.rmtree(sys.argv[1], ignore_errors=True)\n"
    "    if not os.path.isdir(sys.argv[1]):\n        break\n    time.sleep(0.1)"  # what was started may still write there
)
_BEGIN = "import sys; sys.path.insert(0, {place!r}); sys.argv[1:] = {words!r}; from gpuassist.__main__ import main; main()"


# Linux interrupts it when the agent ends, also one that is killed (PR_SET_PDEATHSIG, which exec keeps).
_WITH_US = (
    "import os, sys\ntry:\n    import ctypes\n    ctypes.CDLL(None).prctl(1, 2)\n"
    "except (ImportError, OSError, AttributeError):\n    pass\n"
    "if os.getppid() == int(sys.argv[1]):\n    os.execv(sys.argv[2], sys.argv[2:])"
)


class Agent:
    """One connection's."""

    def __init__(self, asked, told):
        self.asked, self.told = asked, told
        self.lock, self.children, self.place, self.keeper = threading.Lock(), {}, "", None

    def serve(self):
        pythons, installed = look_around()
        self.tell(hello=1, arch=os.uname().machine, pythons=pythons, installed=installed)
        threading.Thread(target=self.beat, daemon=True).start()
        for line in self.asked:
            signal.alarm(DEAF_SECONDS)
            try:
                wish = json.loads(line.decode("utf-8"))
            except ValueError:
                return
            if "take" in wish:
                self.take(int(wish["take"]))
            elif "run" in wish:
                self.run(wish["run"], wish["python"], wish["words"])
            elif "end" in wish:
                self.end(wish["end"])

    def tell(self, **message):
        line = ("\n%s %s\n" % (TOKEN, json.dumps(message))).encode("ascii")
        with self.lock:
            try:
                self.told.write(line)
                self.told.flush()
            except (OSError, ValueError):
                os._exit(1)  # nobody hears: the one beside us removes what there is

    def beat(self):
        pause = threading.Event()
        while not pause.wait(BEAT_SECONDS):
            self.tell(beat=1)

    def take(self, size):
        """Reads so many bytes of an archive and unpacks it where there is room."""
        given = bytearray()
        while len(given) < size:
            piece = self.asked.read(min(PIECE, size - len(given)))
            if not piece:
                return
            given += piece
            signal.alarm(DEAF_SECONDS)
        reasons = []
        for base in bases():
            place = ""
            try:
                why = unfit(base, size)
                if why:
                    reasons.append("%s: %s" % (base, why))
                    continue
                place = tempfile.mkdtemp(prefix="gpuassist-half-", dir=base)
                self.keeper = keep(place)
                archive = os.path.join(place, "half.zip")
                with open(archive, "wb") as file:
                    file.write(given)
                with zipfile.ZipFile(archive) as opened:
                    opened.extractall(place, [one for one in opened.namelist() if one != "__main__.py"])
                os.unlink(archive)
                self.place = place
                self.tell(took=place)
                return
            except (OSError, zipfile.BadZipFile) as error:
                reasons.append("%s: %s" % (base, getattr(error, "strerror", "") or error))
                if place:
                    shutil.rmtree(place, ignore_errors=True)
        self.tell(refused="; ".join(reasons))

    def run(self, number, python, words):
        """Starts gpuassist with these words: what was copied, by that interpreter, or the installed one, whose path it then is."""
        command = [python, "-I", "-c", _BEGIN.format(place=self.place, words=words)] if self.place else [python] + words
        command = [sys.executable, "-I", "-S", "-c", _WITH_US, str(os.getpid())] + command
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            child = subprocess.Popen(command, cwd="/", start_new_session=True, **pipes)
        except (OSError, ValueError) as error:
            self.tell(id=number, status=127, said=str(error))
            return
        self.children[number] = child
        threading.Thread(target=self.pass_on, args=(number, child), daemon=True).start()

    def pass_on(self, number, child):
        errors = bytearray()
        listening = threading.Thread(target=drain, args=(child.stderr, errors), daemon=True)
        listening.start()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            piece = os.read(child.stdout.fileno(), PIECE)
            words = decoder.decode(piece, not piece)
            if words:
                self.tell(id=number, out=words)
            if not piece:
                break
        status = child.wait()
        listening.join(1.0)
        self.children.pop(number, None)
        self.tell(id=number, status=status, said=bytes(errors).decode("utf-8", "replace"))

    def end(self, number):
        child = self.children.get(number)
        if child is not None:
            signal_group(child.pid, signal.SIGINT)  # at which gpuassist ends what it has started itself

    def end_all(self):
        children = list(self.children.values())
        for child in children:
            signal_group(child.pid, signal.SIGINT)
        until = time.monotonic() + LAST_WAIT_SECONDS
        for child in children:
            try:
                child.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                signal_group(child.pid, signal.SIGKILL)


def drain(pipe, kept):
    while True:
        piece = os.read(pipe.fileno(), PIECE)
        if not piece:
            return
        kept += piece
        del kept[:-ERRORS_AT_MOST]


def signal_group(pid, number):
    try:
        os.killpg(pid, number)
    except OSError:
        pass


def bases():
    """Where it may be unpacked, the best first: never where somebody who comes later would find it."""
    home = os.path.expanduser("~")
    named = [os.environ.get("TMPDIR", ""), "/tmp", os.environ.get("XDG_RUNTIME_DIR", ""), "/var/tmp", "/dev/shm", home]
    return [one for one in dict.fromkeys(named) if one.startswith("/") and os.path.isdir(one)]


def unfit(base, size):
    there = os.statvfs(base)
    if there.f_flag & getattr(os, "ST_NOEXEC", 8):
        return "mounted noexec"
    if there.f_bavail * there.f_frsize < size * UNPACKED_TIMES:
        return "no room"
    return "" if os.access(base, os.W_OK) else "not writable"


def look_around():
    """The interpreters there, newest first (path, version, the ending of the compiled modules that it loads), and a gpuassist that
    is installed (path, version). All are asked at once, since a shim of pyenv takes its time.
    """
    own = ".".join(map(str, sys.version_info[:3])), sysconfig.get_config_var("EXT_SUFFIX") or ""
    found = {os.path.realpath(sys.executable): sys.executable}
    for name in ["python3"] + ["python3.%d" % minor for minor in range(NEWEST, OLDEST - 1, -1)]:
        path = shutil.which(name)
        if path:
            found.setdefault(os.path.realpath(path), path)
    others = [(path, ask(path, "-I", "-c", _QUESTION)) for path in list(found.values())[1:]]
    gpuassist = shutil.which("gpuassist") or os.path.expanduser("~/.local/bin/gpuassist")
    asked = ask(gpuassist, "--version")
    told = {own: sys.executable}
    for path, child in others:
        answer = answered(child).split()
        if len(answer) == 2:
            told.setdefault(tuple(answer), path)
    order = sorted(told, key=lambda one: [int(part) for part in one[0].split(".")], reverse=True)
    name, _, version = answered(asked).partition(" ")
    return [[told[one], one[0], one[1]] for one in order], [gpuassist, version.strip()] if name == "gpuassist" else None


def ask(*command):
    nothing = subprocess.DEVNULL
    try:
        return subprocess.Popen(command, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing, cwd="/", start_new_session=True)
    except (OSError, ValueError):
        return None


def answered(child):
    if child is None:
        return ""
    try:
        words = child.communicate(timeout=ANSWER_SECONDS)[0]
    except subprocess.TimeoutExpired:
        signal_group(child.pid, signal.SIGKILL)
        child.communicate()
        return ""
    return words[:4096].decode("utf-8", "replace") if child.returncode == 0 else ""


def keep(place):
    """Has a process beside this one remove the place once this one is gone, however it goes."""
    nothing = subprocess.DEVNULL
    command = [sys.executable, "-I", "-S", "-c", _KEEPER, place]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, cwd="/", start_new_session=True)


def main():
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints is not heard as an answer
    agent = Agent(sys.stdin.buffer, told)

    def leave(_number=0, _frame=None):
        agent.end_all()
        if agent.place:
            shutil.rmtree(agent.place, ignore_errors=True)
        os._exit(0)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, leave)
    signal.alarm(DEAF_SECONDS)
    try:
        agent.serve()
    finally:
        leave()


if TOKEN:
    main()
