"""Which sentences of other programs `refresh_messages` takes from their catalogues: package, catalogue, and the English of each."""

from __future__ import annotations

_C_LIBRARY = (
    *("No such file or directory", "Permission denied", "No space left on device", "No such device", "No such device or address"),
    *("Operation not permitted", "Operation not supported", "Exec format error", "Invalid argument", "Cannot allocate memory"),
    *("Device or resource busy", "Input/output error", "Read-only file system", "Required key not available", "Not a directory"),
    *("Key was rejected by service", "Connection refused", "Connection timed out", "Connection reset by peer", "File exists"),
    *("Network is unreachable", "Temporary failure in name resolution", "Name or service not known", "Too many open files"),
    *("Disk quota exceeded", "Text file busy", "Killed", "Segmentation fault", "Aborted", "Bus error", "Illegal instruction"),
    *("cannot open shared object file", "error while loading shared libraries", "symbol lookup error", "file too short"),
    *("invalid ELF header", "wrong ELF class: ELFCLASS32", "wrong ELF class: ELFCLASS64", "cannot stat shared object"),
    *("cannot allocate memory in static TLS block", "failed to map segment from shared object", "Resource temporarily unavailable"),
    *("cannot enable executable stack as shared object requires", "%s: invalid ELF header", "No route to host"),
)
_APT = (
    *("Depends", "PreDepends", "Conflicts", "Breaks", "Replaces", "Obsoletes", "Recommends"),
    *("Unable to correct problems, you have held broken packages.", "Unable to locate package %s", "Hash Sum mismatch"),
    *("Could not get lock %s", "Could not get lock %s. It is held by process %d", "Failed to fetch %s  %s"),
    *("Could not get lock %s. It is held by process %d (%s)", "Sub-process %s returned an error code (%u)"),
    *("Unable to acquire the dpkg frontend lock (%s), is another process using it?", "Waiting for cache lock: %s"),
    *("Unable to acquire the dpkg frontend lock (%s), are you root?", "Unable to lock directory %s"),
    *("Unable to lock the administration directory (%s), is another process using it?",),
    *("The repository '%s' is not signed.", "The repository '%s' is no longer signed.", "GPG error: %s: %s"),
    *("The repository '%s' does not have a Release file.", "The repository '%s' no longer has a Release file."),
    "Conflicting values set for option %s regarding source %s %s: %s != %s",
    "Conflicting values set for option %s regarding source %s %s",
    "Release file for %s is not valid yet (invalid for another %s). Updates for this repository will not be applied.",
    "Release file for %s is expired (invalid since %s). Updates for this repository will not be applied.",
    *("Version '%s' for '%s' was not found", "Temporary failure resolving '%s'", "Could not resolve '%s'"),
    "dpkg was interrupted, you must manually run '%s' to correct the problem. ",
    "Some index files failed to download. They have been ignored, or old ones used instead.",
    "Error, pkgProblemResolver::Resolve generated breaks, this may be caused by held packages.",
)
_APT_GET = (
    *("but %s is installed", "but %s is to be installed", "but it is a virtual package", "but it is not installable"),
    *("but it is not going to be installed", "but it is not installed", "The following packages have unmet dependencies:"),
    *("Unable to locate package %s", "Package '%s' has no installation candidate", "Failed to fetch %s  %s"),
    *(
        "The following packages will be REMOVED:",
        "The following packages have been kept back:",
        "You don't have enough free space in %s.",
    ),
    *("Couldn't find any package by regex '%s'", "Couldn't find any package by glob '%s'", "Unable to connect to %s:%s:"),
    "Unmet dependencies. Try 'apt --fix-broken install' with no packages (or specify a solution).",
    "Unmet dependencies. Try 'apt-get -f install' with no packages (or specify a solution).",
    "The following signatures couldn't be verified because the public key is not available:\n",
    *("Temporary failure resolving '%s'", "Could not resolve '%s'", "Could not connect to %s:%s (%s)."),
    "Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?",
)
_DPKG = (
    *(
        "error processing package %s (--%s):\n %s",
        "error processing archive %s (--%s):\n %s",
        "conflicting packages - not installing %.250s",
    ),
    *("dependency problems prevent configuration of %s:\n%s", "dependency problems - leaving unconfigured"),
    *("trying to overwrite '%.250s', which is also in package %.250s %.250s", "%s subprocess returned error exit status %d"),
    "trying to overwrite shared '%.250s', which is different from other instances of package %.250s",
    *("Errors were encountered while processing:\n", "  Package %s is not configured yet.\n", "  Package %s is not installed.\n"),
    *(" %s depends on %s", " %s conflicts with %s", "%s depends on %s", "%s breaks %s", "%s conflicts with %s"),
    "installed %s package %s script",
)
_MAKE = (
    *("%s[%s: %s] Error %d%s", "%sNo rule to make target '%s', needed by '%s'%s", "%sNo rule to make target '%s'%s"),
    *(".  Stop.\n", "*** Waiting for unfinished jobs....", "%s: Command not found", "Target '%s' not remade because of errors."),
)
_LD = (
    *("cannot find %s", "cannot find %s: %s", "cannot find %s (%s): %s", "undefined reference to `%s'", "cannot find -l%s"),
    *("skipping incompatible %s when searching for %s", "more undefined references to `%s' follow"),
    *("warning: %s, needed by %s, not found (try using -rpath or -rpath-link)", "error adding symbols: %s"),
)
_GCC = (
    *("fatal error: ", "error: ", "warning: ", "compilation terminated.\n", "ld returned %d exit status"),
    *(
        "cannot execute %qs: %s: %m",
        "cannot execute %qs: %s",
        "unrecognized command-line option %qs",
        "%s: No such file or directory",
    ),
)
_BASH = (
    *(
        "%s: command not found",
        "%s: cannot execute binary file",
        "%s: cannot execute binary file: %s",
    ),
    *(" (core dumped)", "Killed", "Segmentation fault", "%s: cannot execute: required file not found"),
)
_NOT_FOUND = (
    *("%s: command not found", "Command '%s' not found, did you mean:", "Command '%s' not found, but there are %s similar ones."),
    *("Command '%(command)s' not found, but can be installed with:", "Command '%s' not found, but can be installed with:"),
)
_DNF_RULES = (
    *("nothing provides %s needed by %s", "nothing provides requested %s", "conflicting requests", "package %s is not installable"),
    *("package %s requires %s, but none of the providers can be installed", "cannot install both %s and %s"),
    *("package %s conflicts with %s provided by %s", "package %s obsoletes %s provided by %s", "problem with installed package "),
    *("package %s is filtered out by modular filtering", "package %s is filtered out by exclude filtering"),
    *("installed package %s obsoletes %s provided by %s", "package %s does not exist", " Problem: %s\n", " Problem %1$i: %2$s\n"),
    *("package %s has inferior architecture", "cannot install the best update candidate for package ", "%s is disabled"),
    *("cannot install the best candidate for the job", "problem with installed package %s"),
    *("Cannot find a valid baseurl for repo: %s", "Failed to download metadata for repo '%s': %s"),
)
_DNF = (
    *("No match for argument: %s", "No match for argument", "Unable to find a match: %s", "Error: %s", "Error:", "Error: "),
    *("GPG check FAILED", "Public key for %s is not installed", "Error: Transaction test error:", "Problem: "),
    *("Failed to download metadata for repo '%s'", "Errors during downloading metadata for repository '%s':", "Nothing to do."),
    *(
        "Package %s is not signed",
        "Public key for %s is not trusted",
        "Transaction test error:\n",
        "All matches were filtered out by modular filtering for argument: %s",
    ),
    *("All matches were filtered out by exclude filtering for argument: %s", "Skipping packages with conflicts:", "Error: "),
)
_ZYPP = (
    *(
        "nothing provides %s needed by %s",
        "nothing provides requested %s",
        "cannot install both %s and %s",
        "%s is not installable",
    ),
    *("%s requires %s, but this requirement cannot be provided", "%s conflicts with %s provided by %s", "conflicting requests"),
    *("the to be installed %s requires '%s', but this requirement cannot be provided", "installed %s obsoletes %s provided by %s"),
    *("the installed %s requires '%s', but this requirement cannot be provided", "%s obsoletes %s provided by %s"),
    *("the to be installed %s conflicts with '%s' provided by the to be installed %s", "problem with installed package %s"),
    *("the to be installed %s conflicts with '%s' provided by the installed %s", "%s does not belong to a distupgrade repository"),
    *("the installed %s conflicts with '%s' provided by the to be installed %s", "%s has inferior architecture"),
    *(
        "not installable providers: ",
        "some dependency problem",
        "package %s does not exist",
        "do not install %s",
        "deinstallation of %s",
    ),
    *("System management is locked by the application with pid %d (%s).\nClose this application before trying again.",),
)
_ZYPPER = (
    *(
        "Problem: %s",
        "Problem: ",
        " Solution %d: ",
        "No provider of '%s' found.",
        "Package '%s' not found in specified repositories.",
    ),
    *(
        "'%s' not found in package names. Trying capabilities.",
        "Signature verification failed for file '%1%' from repository '%2%'.",
    ),
    *("Package '%s' not found.", "Problem retrieving files from '%s'.", "Signature verification failed"),
)
_ALPM = (
    *(
        "could not satisfy dependencies",
        "conflicting dependencies",
        "conflicting files",
        "invalid or corrupted package (PGP signature)",
    ),
    *(
        "unresolvable package conflicts detected\n",
        "unable to lock database",
        "failed to retrieve some files\n",
        "invalid or corrupted package",
    ),
    *('cannot resolve "%s", a dependency of "%s"\n', "failed retrieving file '%s' from %s : %s\n", "failed to retrieve some files"),
    *("could not find or read package", "command failed to execute correctly\n", 'key "%s" is unknown\n'),
)
_PACMAN = (
    *(
        "failed to prepare transaction (%s)\n",
        "failed to commit transaction (%s)\n",
        "failed to init transaction (%s)\n",
        "error: ",
        "warning: ",
    ),
    *("unable to satisfy dependency '%s' required by %s\n", "installing %s (%s) breaks dependency '%s' required by %s\n"),
    *("removing %s breaks dependency '%s' required by %s\n", "%s: %s exists in filesystem\n", "%s exists in both '%s' and '%s'\n"),
    *(
        "%s: %s exists in filesystem (owned by %s)\n",
        "target not found: %s\n",
        "%s and %s are in conflict\n",
        "%s and %s are in conflict (%s)\n",
    ),
    *("%s and %s are in conflict. Remove %s?", "%s and %s are in conflict (%s). Remove %s?", "could not lock database: %s\n"),
    "Errors occurred, no packages were upgraded.\n",
)
_FILES = (
    *("cannot access %s", "cannot open %s", "cannot open %s for reading", "cannot open %s for writing", "cannot stat %s"),
    *("failed to access %s", "failed to open %s"),
)

CATALOGUES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "libc": ("libc-l10n", "libc", _C_LIBRARY),
    "bash": ("bash", "bash", _BASH),
    "command-not-found": ("command-not-found", "command-not-found", _NOT_FOUND),
    "sudo": ("sudo", "sudo", ("%s: command not found",)),
    "fish": ("fish-common", "fish", ("Unknown command:", "Unknown command: %ls", "%ls: command not found\n")),
    "coreutils": ("coreutils", "coreutils", _FILES),
    "libapt": ("libapt-pkg6.0", "libapt-pkg6.0", _APT),
    "apt": ("apt", "apt", _APT_GET),
    "dpkg": ("dpkg", "dpkg", _DPKG),
    "libdnf": ("libdnf2-common", "libdnf", _DNF_RULES),
    "dnf": ("dnf-data", "dnf", (*_DNF_RULES, *_DNF)),
    "zypp": ("libzypp-common", "zypp", _ZYPP),
    "zypper": ("zypper-common", "zypper", _ZYPPER),
    "alpm": ("libalpm13", "libalpm", _ALPM),
    "pacman": ("pacman-package-manager", "pacman", _PACMAN),
    "make": ("make", "make", _MAKE),
    "ld": ("binutils-common", "ld", _LD),
    "bfd": ("binutils-common", "bfd", ("DSO missing from command line", "undefined reference to symbol '%s'")),
    "gold": ("binutils-common", "gold", ("undefined reference to '%s'", "cannot find -l%s")),
    "gcc": ("gcc-12-locales", "gcc-12", _GCC),
}

# Some words mean what they mean in their place alone: between a package and what it depends on; on a line of their own; beside `-l`
# and a library.
FRAMED = {
    **dict.fromkeys(("Depends", "PreDepends", "Conflicts", "Breaks", "Replaces", "Obsoletes", "Recommends"), "relation"),
    **dict.fromkeys(("Killed", "Segmentation fault", "Aborted", "Bus error", "Illegal instruction"), "line"),
    **dict.fromkeys(("cannot find %s", "cannot find %s: %s", "cannot find %s (%s): %s"), "linked"),
}

# Of other releases of the same programs, as public reports show them.
SEEN_SOURCE = "public reports of errors, and the same programs' catalogues in other releases"
ALSO_SEEN: dict[str, dict[str, str]] = {
    "de": {
        "undefinierter Verweis auf »{0}«": "undefined reference to `{0}'",
        "Nicht definierter Verweis auf »{0}«": "undefined reference to `{0}'",
        "Befehl nicht gefunden": "command not found",
        "Kommando nicht gefunden": "command not found",
        "fataler Fehler:": "fatal error:",
    },
    "es": {
        "No existe el archivo o el directorio": "No such file or directory",
        "no se puede abrir el archivo del objeto compartido": "cannot open shared object file",
        "orden no encontrada": "command not found",
        "error fatal:": "fatal error:",
    },
    "fr": {
        "Aucun fichier ou répertoire de ce type": "No such file or directory",
        "impossible d'ouvrir le fichier d'objet partagé": "cannot open shared object file",
        "Impossible de trouver le paquet": "Unable to locate package",
        "erreur fatale :": "fatal error:",
    },
    "it": {"errore fatale:": "fatal error:", 'riferimento non definito a "{0}"': "undefined reference to `{0}'"},
    "pt": {"Ficheiro ou diretório inexistente": "No such file or directory"},
    "pt_BR": {
        "Arquivo ou diretório não encontrado": "No such file or directory",
        "erro fatal:": "fatal error:",
    },
    "ko": {
        "그런 파일이나 디렉토리가 없습니다": "No such file or directory",
        "치명적 오류:": "fatal error:",
        "명령을 찾을 수 없습니다": "command not found",
        "명령어를 찾을 수 없습니다": "command not found",
        "{0}에 대한 정의되지 않은 참조": "undefined reference to `{0}'",
    },
    "zh_CN": {
        "没有此文件或目录": "No such file or directory",
        "未找到命令": "command not found",
        "找不到命令": "command not found",
        "对“{0}”未定义的引用": "undefined reference to `{0}'",
        "无法定位软件包": "Unable to locate package",
        "不能打开共享对象文件": "cannot open shared object file",
    },
    "zh_TW": {
        "沒有這個檔案或目錄": "No such file or directory",
        "找不到指令": "command not found",
        "未找到命令": "command not found",
        "致命錯誤：": "fatal error:",
    },
    "ru": {
        "команда не найдена": "command not found",
        "не удается открыть общий объектный файл": "cannot open shared object file",
        "неопределенная ссылка на «{0}»": "undefined reference to `{0}'",
    },
    "tr": {"Böyle bir dosya veya dizin yok": "No such file or directory"},
    "cs": {"Soubor nebo adresář neexistuje": "No such file or directory", "příkaz nenalezen": "command not found"},
}
