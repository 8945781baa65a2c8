"""Command lines, and whether what they run is fetched at that moment.

Not a shell: a line is cut into words and simple commands, quotes and escapes dropped, so that what
a shell would put together (`pi''p`, `sh -c "npx x"`, `a && b`) reads as what it runs. All of it is
linear in the text.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from holdfast_policies.facts.programs import (
    CALLED,
    CODE,
    COPIES,
    DECODERS,
    EXECUTABLE,
    FETCHERS,
    INSTALLERS,
    INTERPRETERS,
    LIBRARY_FETCH,
    LIBRARY_RUN,
    LOADED,
    LOCAL_ONLY,
    PACMAN,
    QUIET,
    REMOTE,
    REMOTE_SOCKET,
    RUN_FROM_PIPE,
    RUNNERS,
    SHELLS,
    SOURCED,
    STARTERS,
    UNPACKERS,
)

_SEPARATORS = re.compile(r"[;&|\n\r(){}`]|\$\(|<\(")
_DROPPED = str.maketrans("", "", "'\"\\")
_GLUED = re.compile(r"\\\r?\n")
_BLANK = re.compile(r"\$(?:IFS\b|\{IFS[^}]{0,8}\})")
_VERSIONED = re.compile(r"(pip|python|pypy|node|ruby|perl|php|easy_install)[\d.]+")

_LOADERS = INTERPRETERS | SOURCED | UNPACKERS
"""Programs that run, or unpack, what they are given."""

_LONGEST_REMEMBERED = 400
_MOST_SKIPPED = 16
_NESTED = 4
"""Words within which a program stands behind `sh -c` and the like."""


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
    if found := CALLED.search(script):
        return found.group(0)
    if remote := REMOTE_SOCKET.search(script):
        return remote.group(0)
    library = LIBRARY_FETCH.search(script)
    if library and LIBRARY_RUN.search(script):
        return library.group(0)
    downloads: set[str] = set()
    is_downloaded = is_piped = False
    for separator, words in _commands(script):
        index = _start(words)
        name = _program(words[index]) if index < len(words) else ""
        if name in QUIET:
            is_piped = False
            continue
        if installed := _installed(words[index:]):
            return installed
        if is_piped and separator == "|" and name in RUN_FROM_PIPE:
            return f"what is fetched and run by {name}"
        if is_downloaded and any(word.startswith(LOADED) for word in words[:index]):
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
        decodes = any(_program(word) in DECODERS for word in words[index : index + _NESTED])
        is_source = fetches is not None or decodes
        is_piped = is_source or (is_piped and separator == "|")
    return ""


def _ran_before(script: str) -> bool:
    """Whether a script runs what a command prints: `sh -c "$(curl x)"`, `bash <(curl x)`."""
    words = set(script.translate(_DROPPED).replace("$(", " ").replace("<(", " ").split())
    return any(_program(word.strip("`")) in SHELLS | SOURCED for word in words)


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
        if _program(word) in STARTERS:
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
        if name in RUNNERS:
            following = words[index + 1 : index + 1 + _MOST_SKIPPED]
            if following and not LOCAL_ONLY.intersection(following):
                return f"{word} {following[0]}"
        elif name == "cpanm" and index + 1 < len(words):
            return name
        elif name == "pacman" and any(PACMAN.fullmatch(each) for each in words[index + 1 :]):
            return f"{word} -S"
        elif name in ("python", "pypy") and (module := _module(words, index)):
            return f"{word} -m {module}"
        elif name in ("deno", "jbang") and any(REMOTE.match(each) for each in words[index + 1 :]):
            return f"{word} of an address"
        elif name == "go" and _goes_remote(words[index + 1 :]):
            return f"{word} run of a module"
        elif name in ("uv", "uvx") and _uv_fetches(words[index + 1 :]):
            return f"{word} {words[index + 1]}"
        elif name == "yarn" and index + 1 == len(words) and index == 0:
            return word
        elif name in INSTALLERS and (verb := _verb(name, words, index)):
            return f"{word} {verb}"
    return ""


def _verb(name: str, words: list[str], index: int) -> str:
    """The word that makes an installer fetch, past options and what they are given."""
    wanted, is_value = INSTALLERS[name], False
    for word in words[index + 1 : index + 1 + _MOST_SKIPPED]:
        if word in wanted:
            if LOCAL_ONLY.intersection(words):
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
    return any(word.startswith(adds) or REMOTE.match(word) for word in words)


def _fetch(words: list[str]) -> Iterator[str] | None:
    """Files that a command fetches, empty names for those it does not name; None for no fetch."""
    for index, word in enumerate(words[:_MOST_SKIPPED]):
        name = _program(word)
        if name in FETCHERS:
            given = words[index + 1 :]
            if name in ("aws", "gsutil", "gcloud", "mc", "rclone", "azcopy", "s3cmd") and not (
                COPIES.intersection(given[:_MOST_SKIPPED])
            ):
                return None
            return _files(name, given)
        if name in SHELLS or word.startswith("-") or name in ("sudo", "env", "exec", "timeout"):
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
    if name == "chmod" and any(EXECUTABLE.fullmatch(word) for word in words[1:4]):
        return "what is fetched and made executable"
    is_loader = name in _LOADERS
    if not is_loader and not _is_one_of(words[0], files):
        return ""
    if any(_is_one_of(word, files) for word in words):
        return "what is fetched and run"
    if any(word.lower().endswith(CODE) for word in files):
        return "code that is fetched"
    return "what is fetched and unpacked" if name in UNPACKERS and "" in files else ""


def _is_one_of(word: str, files: set[str]) -> bool:
    last = word.rpartition("/")[2]
    return any(file and last == file.rpartition("/")[2] for file in files) if last else False
