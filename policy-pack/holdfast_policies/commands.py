"""Command lines, and whether what they run is fetched at that moment.

Not a shell: a line is cut into words and simple commands, quotes and escapes dropped, so that what
a shell would put together (`pi''p`, `sh -c "npx x"`, `a && b`) reads as what it runs. All of it is
linear in the text.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_SEPARATORS = re.compile(r"[;&|\n\r(){}`]|\$\(|<\(")
_DROPPED = str.maketrans("", "", "'\"\\")
_GLUED = re.compile(r"\\\r?\n")
_BLANK = re.compile(r"\$(?:IFS\b|\{IFS[^}]{0,8}\})")
_VERSIONED = re.compile(r"(pip|python|pypy|node|ruby|perl|php|easy_install)[\d.]+")

_RUNNERS = frozenset({"npx", "pnpx", "bunx", "uvx", "dlx", "easy_install", "pip-sync", "cpan"})
"""Whatever they are called with, they fetch it and run it."""
_LOCAL_ONLY = frozenset({"--no-install", "--no", "--offline"})
_NODE = frozenset({"install", "i", "ci", "add", "exec", "x", "dlx", "create", "init", "update"})
_SYSTEM = frozenset({"install", "add", "reinstall", "localinstall", "groupinstall", "build-dep"})
_CONDA = frozenset({"install", "create", "update", "env"})
_INSTALLERS: dict[str, frozenset[str]] = {
    "pip": frozenset({"install", "download", "wheel"}),
    "pipx": frozenset({"install", "run", "inject", "runpip", "upgrade"}),
    "pipenv": frozenset({"install", "sync", "update"}),
    "poetry": frozenset({"install", "add", "sync", "update"}),
    "pdm": frozenset({"install", "sync", "add", "update"}),
    "rye": frozenset({"sync", "add", "install"}),
    "hatch": frozenset({"env"}),
    "uv": frozenset({"sync", "add", "tool", "pip", "python"}),
    "npm": _NODE,
    "pnpm": _NODE,
    "yarn": frozenset({"add", "dlx", "install", "global", "create", "up"}),
    "bun": _NODE,
    "corepack": frozenset({"prepare", "install", "use"}),
    **dict.fromkeys(
        (
            "apt",
            "apt-get",
            "aptitude",
            "apk",
            "dnf",
            "yum",
            "microdnf",
            "tdnf",
            "zypper",
            "brew",
            "snap",
            "opkg",
            "xbps-install",
            "port",
            "choco",
            "winget",
            "flatpak",
        ),
        _SYSTEM,
    ),
    **dict.fromkeys(("conda", "mamba", "micromamba"), _CONDA),
    "gem": frozenset({"install", "update", "exec"}),
    "bundle": frozenset({"install", "add", "update"}),
    "cargo": frozenset({"install", "binstall", "add"}),
    "go": frozenset({"install", "get"}),
    "composer": frozenset({"install", "require", "create-project", "update", "global"}),
    "cpanm": frozenset(),
    "luarocks": frozenset({"install", "build"}),
    "dotnet": frozenset({"restore", "tool", "add", "new"}),
    "nuget": frozenset({"install", "restore"}),
    "deno": frozenset({"install", "add", "cache"}),
    "helm": frozenset({"plugin", "pull"}),
    "kubectl-krew": frozenset({"install"}),
    "nix-env": frozenset({"-i", "-iA", "--install"}),
    "nix": frozenset({"run", "shell", "profile", "develop"}),
    "git": frozenset({"clone", "pull", "fetch", "submodule"}),
    "svn": frozenset({"checkout", "co", "export"}),
    "hg": frozenset({"clone", "pull"}),
    "docker": frozenset({"run", "pull"}),
    "podman": frozenset({"run", "pull"}),
    "nerdctl": frozenset({"run", "pull"}),
    "oras": frozenset({"pull"}),
    "playwright": frozenset({"install"}),
    "asdf": frozenset({"install"}),
    "mise": frozenset({"install", "use", "exec"}),
    "sdk": frozenset({"install"}),
    "code": frozenset({"--install-extension"}),
    "code-server": frozenset({"--install-extension"}),
}
"""Program to the words with which it fetches what is then run."""
_PACMAN = re.compile(r"-S[a-z]{0,6}")
_REMOTE = re.compile(r"(?:https?|npm|jsr|ftp|git\+\w{1,8}|git)://?\S|npm:|jsr:", re.IGNORECASE)

_FETCHERS = frozenset(
    {"curl", "wget", "aria2c", "axel", "http", "https", "httpie", "xh", "fetch", "lftp", "ftp"}
    | {"scp", "rsync", "sftp", "tftp", "gsutil", "aws", "s3cmd", "rclone", "azcopy", "mc", "gcloud"}
    | {"iwr", "invoke-webrequest", "irm", "certutil", "bitsadmin", "nc", "ncat", "socat"}
)
_COPIES = frozenset({"cp", "sync", "copy", "copyto"})
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "pwsh", "powershell"})
_INTERPRETERS = _SHELLS | {"python", "pypy", "node", "perl", "ruby", "php", "lua", "deno", "bun"}
_CODE = tuple(
    f".{ending}"
    for ending in (
        *(
            "sh",
            "bash",
            "py",
            "pyz",
            "js",
            "mjs",
            "ts",
            "rb",
            "pl",
            "php",
            "lua",
            "jar",
            "whl",
            "so",
        ),
        *("bin", "run", "exe", "deb", "rpm", "apk", "appimage", "wasm", "egg"),
    )
)
_STARTERS = frozenset(
    {
        "sudo",
        "doas",
        "env",
        "exec",
        "nohup",
        "time",
        "timeout",
        "nice",
        "ionice",
        "setsid",
        "stdbuf",
    }
    | {"tini", "dumb-init", "busybox", "command", "chroot", "setpriv", "unshare", "catchsegv"}
)
_LOADED = (
    "LD_PRELOAD=",
    "PYTHONPATH=",
    "NODE_OPTIONS=",
    "BASH_ENV=",
    "PYTHONSTARTUP=",
    "PERL5LIB=",
)
_SOURCED = frozenset({"source", ".", "eval", "iex", "invoke-expression"})
_UNPACKERS = frozenset({"tar", "unzip", "bsdtar", "gunzip", "7z", "dpkg", "rpm", "install"})
_QUIET = frozenset({"echo", "printf", "logger", "#", ":", "which", "type", "man"})
_MOST_SKIPPED = 16
_LONGEST_REMEMBERED = 400
_EXECUTABLE = re.compile(r"[ugoa]*[+=][rwxst]*x[rwxst]*|0?[0-7]*[1357][0-7]{0,2}")

_LIBRARY_FETCH = re.compile(
    r"urlopen|urlretrieve|requests\.get|httpx\.get|aiohttp|http\.get\(|https\.get\(|Net::HTTP"
    r"|LWP::Simple|open-uri|URI\.open|file_get_contents\(http|DownloadString|DownloadFile"
    r"|fetch\(\s?http|hf_hub_download|/dev/tcp/|socket\.create_connection|IO::Socket",
    re.IGNORECASE,
)
_LIBRARY_RUN = re.compile(
    r"\bexec\s?\(|\beval\s?\(|\beval\b|os\.system|subprocess|Popen|\bspawn|child_process|import_module"
    r"|__import__|runpy|\bcompile\s?\(|\bIEX\b|instance_eval|Function\s?\(|os\.exec|vm\.run"
    r"|marshal|pickle|ctypes|zipimport|chmod",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"(?:pip3?|uv|npm|npx|apt-get|apt|apk|conda|gem|yarn|pnpm)[\"']?\s{0,4},\s{0,4}[\"']"
    r"(?:install|add|i|-y|sync|ci)[\"']"
    r"|\bpip(?:\._internal)?(?:\.cli)?(?:\.main)?\.main\s?\(|\bpip\.main\s?\(|\bensurepip\b"
)


def fetched(words: Iterable[str]) -> str:
    """What of a command line is fetched when it runs; empty when all of it is there.

    Args:
        words: The words of a command, one of which may be a whole script.
    """
    return fetched_by_script(" ".join(words))


def fetched_by_script(script: str) -> str:
    """The same of a script, or of a line; the same probes and commands stand on many objects."""
    return _fetched_short(script) if len(script) <= _LONGEST_REMEMBERED else _fetched(script)


@lru_cache(maxsize=2048)
def _fetched_short(script: str) -> str:
    return _fetched(script)


def _fetched(script: str) -> str:  # noqa: PLR0911  # one answer a way of fetching
    if found := _CALLED.search(script):
        return found.group(0)
    library = _LIBRARY_FETCH.search(script)
    if library and _LIBRARY_RUN.search(script):
        return library.group(0)
    downloads: set[str] = set()
    is_downloaded = is_piped = False
    for separator, words in _commands(script):
        index = _start(words)
        name = _program(words[index]) if index < len(words) else ""
        if name in _QUIET:
            is_piped = False
            continue
        if installed := _installed(words[index:]):
            return installed
        if is_piped and separator == "|" and name in _INTERPRETERS | _UNPACKERS - {"tar", "gunzip"}:
            return f"what is fetched and run by {name}"
        if is_downloaded and any(word.startswith(_LOADED) for word in words[:index]):
            return "what is fetched and loaded"
        if is_downloaded and index < len(words) and (run := _runs(words[index:], name, downloads)):
            return run
        fetches = _fetch(words[index:])
        if fetches is not None:
            files = list(fetches)
            downloads.update(files)
            is_downloaded = is_downloaded or bool(files)
            if separator in ("$(", "`", "<(") and (_ran_before(script)):
                return f"what {name} fetches, run at once"
        is_piped = fetches is not None or (is_piped and separator == "|")
    return ""


def _ran_before(script: str) -> bool:
    """Whether a script runs what a command prints: `sh -c "$(curl x)"`, `bash <(curl x)`."""
    words = set(script.translate(_DROPPED).replace("$(", " ").replace("<(", " ").split())
    return any(_program(word.strip("`")) in _SHELLS | _SOURCED for word in words)


def _commands(script: str) -> Iterator[tuple[str, list[str]]]:
    """Simple commands with what stands before each: a pipe, a semicolon, `$(`."""
    text = _BLANK.sub(" ", _GLUED.sub(" ", script))
    separator, begin = "", 0
    for match in _SEPARATORS.finditer(text):
        words = text[begin : match.start()].translate(_DROPPED).split()
        if words:
            yield separator, words
            separator = match.group(0)
        elif match.group(0) != "|" or separator != "|":
            separator = match.group(0)
        else:
            separator = ";"  # `||` is no pipe
        begin = match.end()
    words = text[begin:].translate(_DROPPED).split()
    if words:
        yield separator, words


def _start(words: list[str]) -> int:
    """Where the program stands, past assignments of variables and what only starts programs."""
    is_started = False
    for index, word in enumerate(words):
        name, equals, _ = word.partition("=")
        is_option = is_started and (word.startswith("-") or word[:1].isdigit())
        if _program(word) in _STARTERS:
            is_started = True
        elif not is_option and not (equals and name.isidentifier()):
            return index
    return len(words)


def _program(word: str) -> str:
    name = word.rpartition("/")[2].lower().removesuffix(".exe").removesuffix(".cmd")
    found = _VERSIONED.fullmatch(name)
    return found.group(1) if found else name


def _installed(words: list[str]) -> str:  # noqa: PLR0911  # one answer a family
    """An installer and the word by which it fetches, wherever they stand in a simple command."""
    for index, word in enumerate(words):
        name = _program(word)
        if name in _RUNNERS:
            following = words[index + 1 : index + 1 + _MOST_SKIPPED]
            if following and not _LOCAL_ONLY.intersection(following):
                return f"{word} {following[0]}"
        elif name == "cpanm" and index + 1 < len(words):
            return name
        elif name == "pacman" and any(_PACMAN.fullmatch(each) for each in words[index + 1 :]):
            return f"{word} -S"
        elif name in ("python", "pypy") and (module := _module(words, index)):
            return f"{word} -m {module}"
        elif name == "deno" and any(_REMOTE.match(each) for each in words[index + 1 :]):
            return f"{word} of an address"
        elif name == "go" and _goes_remote(words[index + 1 :]):
            return f"{word} run of a module"
        elif name in ("uv", "uvx") and _uv_fetches(words[index + 1 :]):
            return f"{word} {words[index + 1]}"
        elif name == "yarn" and index + 1 == len(words) and index == 0:
            return word
        elif name in _INSTALLERS and (verb := _verb(name, words, index)):
            return f"{word} {verb}"
    return ""


def _verb(name: str, words: list[str], index: int) -> str:
    """The word that makes an installer fetch, past options and what they are given."""
    wanted, is_value = _INSTALLERS[name], False
    for word in words[index + 1 : index + 1 + _MOST_SKIPPED]:
        if word in wanted:
            if _LOCAL_ONLY.intersection(words):
                return ""
            return word
        if word.startswith(("-", "+")):
            is_value = "=" not in word
        elif is_value:
            is_value = False
        else:
            return ""
    return ""


def _module(words: list[str], index: int) -> str:
    """`python -m pip install`: the module, where it fetches."""
    for place in range(index + 1, min(index + 1 + _MOST_SKIPPED, len(words))):
        word = words[place]
        module = words[place + 1] if word == "-m" and place + 1 < len(words) else ""
        module = module or (word[2:] if word.startswith("-m") and len(word) > 2 else "")  # noqa: PLR2004  # its length
        if module in ("pip", "pipx", "uv", "poetry", "pdm", "pipenv"):
            return (
                module
                if _verb(module, words, words.index(word, index) + 1) or _verb(module, words, place)
                else ""
            )
        if module in ("ensurepip", "easy_install"):
            return module
        if word == "setup.py" and {"install", "develop"}.intersection(words):
            return "setup.py"
        if not word.startswith("-"):
            return ""
    return ""


def _goes_remote(words: list[str]) -> bool:
    return "run" in words[:4] and any("@" in word for word in words)


def _uv_fetches(words: list[str]) -> bool:
    """`uv run` that adds packages, or runs what stands at an address."""
    if "run" not in words[:_MOST_SKIPPED]:
        return False
    adds = ("--with", "--with-requirements", "--with-editable", "--script")
    return any(word.startswith(adds) or _REMOTE.match(word) for word in words)


def _fetch(words: list[str]) -> Iterator[str] | None:
    """Files that a command fetches, empty names for those it does not name; None for no fetch."""
    for index, word in enumerate(words[:_MOST_SKIPPED]):
        name = _program(word)
        if name in _FETCHERS:
            given = words[index + 1 :]
            if name in ("aws", "gsutil", "gcloud", "mc", "rclone", "azcopy", "s3cmd") and not (
                _COPIES.intersection(given[:_MOST_SKIPPED])
            ):
                return None
            return _files(name, given)
        if name in _SHELLS or word.startswith("-") or name in ("sudo", "env", "exec", "timeout"):
            continue
    return None


def _files(name: str, given: list[str]) -> Iterator[str]:
    if name == "wget" and not any(_is_output_to_pipe(given, place) for place in range(len(given))):
        yield from (word.rpartition("/")[2] for word in given if "/" in word)
        yield ""
    if name not in ("wget", "curl"):
        yield from (word.rpartition("/")[2] for word in given)
        yield ""
    for place, word in enumerate(given):
        following = given[place + 1] if place + 1 < len(given) else ""
        if word in (">", ">>"):
            yield following
        elif word.startswith((">", "--output=", "--output-document=")):
            yield word.lstrip(">").rpartition("=")[2]
        elif word in ("--output", "--output-document", "-OutFile", "-outfile"):
            yield following
        elif word in ("--remote-name", "--remote-name-all"):
            yield ""
        elif word.startswith("-") and not word.startswith("--"):
            if word.endswith(("o", "O")) and following not in ("-", "/dev/null"):
                yield following.rpartition("/")[2] if "://" in following else following
            elif "o" in word[1:3] and len(word) > 3 and name == "curl":  # noqa: PLR2004  # -o/x
                yield word.partition("o")[2]


def _is_output_to_pipe(given: list[str], place: int) -> bool:
    word, following = given[place], given[place + 1] if place + 1 < len(given) else ""
    return word.endswith("O-") or (word.endswith("O") and following in ("-", "/dev/null"))


def _runs(words: list[str], name: str, files: set[str]) -> str:
    """What makes code of a file that was fetched before."""
    if name == "chmod" and any(_EXECUTABLE.fullmatch(word) for word in words[1:4]):
        return "what is fetched and made executable"
    meant = [word for word in words if _is_one_of(word, files)]
    runs_it = name in _INTERPRETERS | _SOURCED | _UNPACKERS or _is_one_of(words[0], files)
    if meant and runs_it:
        return "what is fetched and run"
    is_code = any(word.lower().endswith(_CODE) for word in files)
    if is_code and name in _INTERPRETERS | _SOURCED | _UNPACKERS:
        return "code that is fetched"
    return "what is fetched and unpacked" if name in _UNPACKERS and "" in files else ""


def _is_one_of(word: str, files: set[str]) -> bool:
    last = word.rpartition("/")[2]
    return any(file and last == file.rpartition("/")[2] for file in files) if last else False
