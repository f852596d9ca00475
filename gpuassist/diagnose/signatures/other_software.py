"""What other software says for itself in texts that name a GPU somewhere: ports, locked doors, arguments, other devices."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, one_of, sign
from gpuassist.model.paste import Weight
from gpuassist.model.text import Text, text

_OF_NVIDIA = ("nvidia", "nvrm", "nouveau", "geforce", "cuda")


def _elsewhere(cause_id: str, cause: Text, literals: tuple[str, ...], *patterns: str) -> Signature:
    """A state only: where the text names a fault of the GPU as well, that one counts."""
    named = {"cause_id": cause_id} if cause_id else {}
    return Signature(literals, one_of(*patterns), means("not-a-gpu-problem", Weight.STATE, cause=cause, **named), 300)


def _rejected(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    if "key" in match["reason"].lower():
        cause = text("Secure Boot refuses the kernel module {module} of another device", module=match["module"])
        yield sign("not-a-gpu-problem", Weight.STATE, cause_id="other-module-unsigned", cause=cause)
        return
    cause = text("{module} is the kernel module of another device", module=match["module"])
    yield sign("not-a-gpu-problem", Weight.STATE, cause_id="other-module", cause=cause)


def _not_there(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    cause = text("the kernel that runs has no module {module}", module=match["module"])
    yield sign("not-a-gpu-problem", Weight.STATE, cause_id="other-module-absent", cause=cause)


def _other_build(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    module = next(one for one in match.groups() if one)
    cause = text("{module}, the kernel module of another device, does not build", module=module)
    yield sign("not-a-gpu-problem", Weight.STATE, cause_id="other-build", module=module, cause=cause)


def _no_attribute(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    cause = text("this release of {package} has no {name}", package=match["package"].partition(".")[0], name=match["name"])
    yield sign("not-a-gpu-problem", Weight.STATE, cause_id="release", package=match["package"].partition(".")[0], cause=cause)


def _no_opencl(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A machine whose only OpenCL is that of its processor."""
    if setting.says("pocl", "pthread-", "portable computing language", "intel opencl") and not setting.says(*_OF_NVIDIA):
        yield sign(
            "not-a-gpu-problem", Weight.STATE, cause_id="opencl", cause=text("the program finds the processor's OpenCL alone")
        )


def _hardware(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if not setting.says(*_OF_NVIDIA, "gpu", "xid"):
        cause = text("the kernel's message is of another device of the computer")
        yield sign("not-a-gpu-problem", Weight.STATE, cause_id="hardware", cause=cause)


_ANOTHER = r"(?!nv|nouveau|bbswitch|vfio|NVIDIA)[\w.-]{1,40}"

SIGNATURES = (
    _elsewhere(
        "damaged",
        text("a saved model is damaged, incomplete or of another kind"),
        ("pytorchstreamreader", "unpicklingerror", "invalid load key", "safetensorerror", "headertoolarge", "not a zip file"),
        r"PytorchStreamReader failed|UnpicklingError: [^\n]{0,80}|invalid load key, '[^'\n]{1,8}'|SafetensorError: [^\n]{0,80}"
        r"|BadZipFile: File is not a zip file",
    ),
    _elsewhere(
        "display",
        text("an image could not be read or shown"),
        ("opencv(", "libgl.so.1", "libgthread-2.0"),
        r"OpenCV\([\d.]{3,12}\)[^\n]{0,200}error: \(-(?!21[67]:)\d{1,4}"  # 216 and 217 are of its CUDA modules
        r"|lib(?:GL\.so\.1|gthread-2\.0\.so\.0): cannot open shared object file",
    ),
    _elsewhere(
        "build-tools",
        text("a compiler or a header of the system is missing"),
        ("python.h", "visual c++ 14", "no acceptable c compiler", "command 'gcc' failed", "command 'x86_64-linux-gnu-gcc'"),
        r"fatal error: Python\.h: No such file|Microsoft Visual C\+\+ 14\.\d or greater is required|no acceptable C compiler found"
        r"|command '(?:x86_64-linux-gnu-)?gcc' failed: No such file or directory",
    ),
    _elsewhere(
        "",
        text("the memory of another program ran out, which is the computer's and not the GPU's"),
        ("java heap space", "javascript heap", "reached heap limit", "gc overhead limit"),
        r"OutOfMemoryError: (?:Java heap space|GC overhead limit exceeded)|JavaScript heap out of memory|Reached heap limit",
    ),
    _elsewhere(
        "",
        text("the package manager was interrupted, or does not reach its server"),
        ("condahttperror", "dpkg was interrupted", "failed to fetch http"),
        r"CondaHTTPError: HTTP \d{3}|dpkg was interrupted, you must manually run"
        r"|Failed to fetch https?://\S{1,200}",
    ),
    _elsewhere(
        "",
        text("a program is not installed or not on PATH"),
        (
            *("conda: command not found", "pip: command not found", "python: command not found", "git: command not found"),
            *("pip3: command not found", "python3: command not found", "make: command not found", "ninja: command not found"),
        ),
        r"\b(?:conda|pip3?|python3?|git|cmake|make|ninja): command not found",
    ),
    _elsewhere(
        "",
        text("the training diverges: the loss is no number any more"),
        ("loss is nan", "loss: nan", "loss=nan", "loss is inf"),
        r"\bloss(?: is |: ?|=)(?:nan|inf)\b",
    ),
    _elsewhere(
        "port",
        text("the network port is taken by another program"),
        ("address already in use", "eaddrinuse", "already allocated", "empty port in range", "usage of each socket", "is in use"),
        r"Address already in use|EADDRINUSE|port is already allocated|Cannot find empty port in range"
        r"|Only one usage of each socket address|\bPort \d{2,5} is (?:already )?in use",
    ),
    _elsewhere(
        "token",
        text("a model, a repository or a service asks for a log-in or an agreement"),
        (
            *("gatedrepoerror", "gated repo", "repositorynotfounderror", "client error", "is restricted", "api_key", "api key"),
            *("authenticationerror", "(publickey)", "repository not found", "invalid username or password", "user token"),
        ),
        r"GatedRepoError|Cannot access gated repo|Repository ?Not ?Found(?:Error| for url)|\b40[13] Client Error"
        r"|Access to model \S{1,80} is restricted",
        r"api_key not configured|(?:Incorrect|Invalid|No) API key(?: provided)?|AuthenticationError: \S"
        r"|Permission denied \(publickey",
        r"Invalid user(?:name or password| token)",
    ),
    _elsewhere(
        "model",
        text("the program does not find the model, or is too old for it"),
        (
            *("is not a valid model identifier", "entrynotfounderror", "does not appear to have a file named", "has model type"),
            *(
                "can't load tokenizer",
                "trust_remote_code",
                "unrecognized configuration class",
                "value not in list",
                "404 client error",
            ),
            *("unrecognized model in", "error no file named", "no valid checkpoint", "unknown model architecture"),
        ),
        r"is not a valid model identifier|EntryNotFoundError|does not appear to have a file named"
        r"|you are trying to load has model type"
        r"|Can't load tokenizer for|(?:set the option|pass) `?trust_remote_code=True|Unrecognized (?:configuration class|model in)",
        r"Value not in list: \w{2,30}|404 Client Error|Error no file named \S{3,60}|unknown model architecture",
    ),
    _elsewhere(
        "lock",
        text("another program is installing packages"),
        ("get lock", "dpkg frontend", "lock database", "cache lock", "yum lock", "management is locked", "rpm transaction lock"),
        r"Could not get lock /\S{3,60}|Unable to acquire the dpkg|[Uu]nable to lock database|[Ww]aiting for cache lock"
        r"|holding the yum lock|System management is locked|rpm transaction lock",
    ),
    _elsewhere(
        "shape",
        text("the program is given data of a wrong shape or value"),
        (
            *("incompatible shapes", "must be equal, but are", "is incompatible with the layer", "be broadcast together"),
            *(
                "inconsistent numbers of samples",
                "kernel size can't be greater",
                "used as indices must be",
                "got incompatible shapes",
            ),
            *("logits and labels must", "shape mismatch", "size mismatch", "indices element is out of", "cannot reshape"),
            *("cannot batch tensors", "shape of the mask", "cannot feed value of shape", "1-hot", "size of input tensor"),
        ),
        r"Incompatible shapes(?: for broadcasting)?:|must be equal, but are \d|is incompatible with the layer"
        r"|could not be broadcast together",
        r"inconsistent numbers of samples|Kernel size can't be greater than actual input|used as indices must be \w"
        r"|got incompatible shapes",
        r"logits and labels must (?:have|be)|shape mismatch: |size mismatch(?: for|,)|cannot reshape array of size"
        r"|Cannot batch tensors with",
        r"[Tt]he shape of the mask \[|Cannot feed value of shape",
    ),
    Signature(
        ("has no attribute",),
        r"module '(?P<package>(?:torch|transformers|diffusers|tensorflow|jax|keras|pytorch_lightning|accelerate|peft"
        r"|PIL)(?:\.\w{1,30}){0,3})'"
        r" has no attribute '(?P<name>(?!_C|cuda|version|ops|_)\w{2,40})'",
        _no_attribute,
    ),
    _elsewhere(
        "protobuf",
        text("protobuf and the code that was made for it do not fit together"),
        ("descriptors cannot be created directly", "descriptors cannot not be created", "google.protobuf", "protobuf gencode"),
        r"Descriptors cannot (?:not )?be created directly|cannot import name '\w{2,30}' from 'google\.protobuf\S{0,40}'"
        r"|Protobuf Gencode\S{0,3} [^\n]{0,60}[Vv]ersion",
    ),
    Signature(
        ("could not insert",),
        rf"could not insert (?:module )?['\"‘]?(?P<module>{_ANOTHER})['\"’]?: (?P<reason>[^\n]{{3,60}})",
        _rejected,
    ),
    Signature(
        ("not found in directory",),
        rf"Module (?P<module>{_ANOTHER}) not found in directory /lib/modules/",
        _not_there,
    ),
    Signature(
        ("dkms make.log for", "/var/lib/dkms/", "building module"),
        rf"DKMS make\.log for (?P<one>{_ANOTHER}?)-[\d.v]{{1,20}}\w{{0,8}} for kernel"
        rf"|Consult /var/lib/dkms/(?P<two>{_ANOTHER})/"
        rf"|/var/lib/dkms/(?P<three>{_ANOTHER})/[^\s:]{{1,60}}:\d{{1,5}}:\d{{1,4}}: (?:fatal )?error",
        _other_build,
        300,
    ),
    _elsewhere(
        "arguments",
        text("the program was called with arguments that it does not take"),
        (
            *(
                "unrecognized arguments",
                "arguments are required",
                "invalid choice:",
                "no such option",
                "unrecognized option",
                "invalid int",
            ),
            *(
                "got an unexpected keyword",
                "unknown option",
                "unexpected argument",
                "could not override",
                "unknown flag",
                "error: argument",
            ),
        ),
        r"error: unrecognized arguments: \S|error: the following arguments are required: \S|error: argument \S{1,60}: [^\n]{4,80}",
        r"[Nn]o such option:? \S|unrecognized option '\S|got an unexpected keyword argument '(?!device|cuda)\w"
        r"|error: unexpected argument '",
        r"Could not override '|unknown flag: \S",
    ),
    _elsewhere(
        "launcher",
        text("the processes of a distributed run do not find each other, or were started without their launcher"),
        (
            "env:// rendezvous",
            "rendezvoustimeout",
            "rendezvousconnection",
            "invalid partition",
            "batch job submission failed",
            "due to time limit",
        ),
        r"env:// rendezvous: environment variable \w{3,20} expected|Rendezvous(?:Timeout|Connection)Error",
        r"(?:sbatch|srun): error: [^\n]{0,80}(?:Invalid partition|Invalid account|Batch job submission failed)"
        r"|CANCELLED AT \S{5,30} DUE TO TIME LIMIT",
    ),
    _elsewhere(
        "hashcat",
        text("hashcat does not take the file or the hash that it is given"),
        (
            *("old hccap format", "token length exception", "separator unmatched", "no hashes loaded", "signature unmatched"),
            *("line-length exception", "hash-encoding exception", "hash-mode was not", "invalid hccapx", "salt-length exception"),
        ),
        r"Old hccap format detected|Token length exception|Separator unmatched|No hashes loaded|Signature unmatched"
        r"|(?:Line-length|Hash-encoding|Salt-length) exception|[Ii]nvalid hccapx",
    ),
    Signature(("no devices found/left",), r"No devices found/left", _no_opencl),
    _elsewhere(
        "display",
        text("the program finds no display, or none that it may draw on"),
        (
            *(
                "qt platform plugin",
                "connect to display",
                "cannot open display",
                "can't open display",
                "connect to x server",
                "no $display",
            ),
            *(
                "no authorization protocol",
                "sdl_init",
                "sdl could not",
                "couldn't connect to x",
                "no available video device",
                "glfw error",
            ),
            *("unable to init server", "_tkinter.tclerror", "could not connect to wayland", "no protocol specified"),
        ),
        r"Could not (?:load|find) the Qt platform plugin|no Qt platform plugin could be|[Cc]ould not connect to display",
        r"[Cc]an(?:'t|not) open display|annot connect to X server|no display name and no \$DISPLAY"
        r"|no authorization protocol specified",
        r"SDL(?:_Init(?: failed| error)|  ?could not initiali[sz]e)[^\n]{0,80}|No available video device|Unable to init server",
    ),
    _elsewhere(
        "wine",
        text("Wine or Proton does not start the program"),
        ("wine: ", "err:module:", "pressure-vessel", "proton: "),
        r"wine: (?:could not load|failed to|Unhandled exception|cannot)[^\n]{0,100}|err:module:(?:import_dll"
        r"|loader_init)[^\n]{0,100}"
        r"|pressure-vessel-\w{3,10}(?:\[\d{1,8}\])?: E: [^\n]{3,100}",
    ),
    _elsewhere(
        "git",
        text("git does not get the repository"),
        ("fatal: unable to access", "fatal: repository", "rpc failed; curl", "not a git repository", "fatal: could not read"),
        r"fatal: (?:unable to access 'http|repository '\S{3,100}' not found|not a git repository|could not read (?:Username"
        r"|from remote))"
        r"|RPC failed; curl \d{1,3}",
    ),
    _elsewhere(
        "build",
        text("the build does not find its own files"),
        (
            "no rule to make target",
            "missing separator",
            "no makefile found",
            "does not appear to contain cmakelists",
            "npm err! code",
        ),
        r"\*\*\* No rule to make target '(?!\S{0,60}nv)\S{1,60}|\*\*\* missing separator|No targets specified and no makefile found"
        r"|does not appear to contain CMakeLists\.txt|npm ERR! code \w{3,20}",
    ),
    _elsewhere(
        "orchestration",
        text("what schedules the job does not start it"),
        ("broken dag", "airflow.exceptions", "imagepullbackoff", "errimagepull", "insufficient cpu", "insufficient memory"),
        r"Broken DAG|airflow\.exceptions\.\w{4,40}|ImagePullBackOff|ErrImagePull|\bInsufficient (?:cpu"
        r"|memory)\b(?![^\n]{0,80}nvidia)",
    ),
    _elsewhere(
        "docker",
        text("Docker itself does not answer, or does not get the image"),
        (
            "docker daemon",
            "pull access denied",
            "manifest unknown",
            "manifest for",
            "container name",
            "toomanyrequests",
            "reference format",
        ),
        r"Cannot connect to the Docker daemon|permission denied while trying to connect to the Docker daemon|pull access denied for"
        r"|manifest (?:for \S{1,120} not found|unknown)|Conflict\. The container name|toomanyrequests: |invalid reference format",
    ),
    _elsewhere(
        "video",
        text("the file cannot be read as a video, or the program lacks a codec that is none of NVIDIA's"),
        ("moov atom not found", "invalid data found when processing", "unknown encoder 'lib", "unknown decoder 'lib"),
        r"moov atom not found|Invalid data found when processing input|Unknown (?:en|de)coder 'lib\w{2,20}'",
    ),
    Signature(
        ("iwlwifi", "snd_hda", "bluetooth: hci", "device descriptor read", "ata1", "ata2", "nvme nvme", "rtw", "ath1"),
        r"(?:iwlwifi|rtw\w{1,8}|ath1\dk\S{0,8}) \S{4,14}: [^\n]{0,60}(?:fail|error|timeout)[^\n]{0,40}"
        r"|snd_hda\w{0,20} \S{4,14}: [^\n]{0,60}(?:fail|error|timeout)"
        r"|Bluetooth: hci\d: [^\n]{0,60}(?:fail|error|timeout|tx)|device descriptor read/\S{1,8}, error"
        r"|ata\d\S{0,4}: [^\n]{0,40}(?:fail|error)"
        r"|nvme nvme\d: [^\n]{0,60}(?:timeout|fail|error)",
        _hardware,
        200,
    ),
)
