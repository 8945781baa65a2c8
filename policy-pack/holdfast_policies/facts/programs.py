"""Programs that fetch code, install it, run it or decode it, and the words by which they do."""

import re

RUNNERS = frozenset(
    {"npx", "pnpx", "bunx", "uvx", "dlx", "easy_install", "pip-sync", "cpan", "ansible-pull"}
)
"""Whatever they are called with, they fetch it and run it."""
LOCAL_ONLY = frozenset({"--no-install", "--no", "--offline"})
NODE = frozenset({"install", "i", "ci", "add", "exec", "x", "dlx", "create", "init", "update"})
SYSTEM = frozenset({"install", "add", "reinstall", "localinstall", "groupinstall", "build-dep"})
CONDA = frozenset({"install", "create", "update", "env"})
INSTALLERS: dict[str, frozenset[str]] = {
    "pip": frozenset({"install", "download", "wheel"}),
    "pipx": frozenset({"install", "run", "inject", "runpip", "upgrade"}),
    "pipenv": frozenset({"install", "sync", "update"}),
    "poetry": frozenset({"install", "add", "sync", "update"}),
    "pdm": frozenset({"install", "sync", "add", "update"}),
    "rye": frozenset({"sync", "add", "install"}),
    "hatch": frozenset({"env"}),
    "uv": frozenset({"sync", "add", "tool", "pip", "python"}),
    "npm": NODE,
    "pnpm": NODE,
    "yarn": frozenset({"add", "dlx", "install", "global", "create", "up"}),
    "bun": NODE,
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
        SYSTEM,
    ),
    **dict.fromkeys(("conda", "mamba", "micromamba"), CONDA),
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
    "mvn": frozenset({"install", "exec:java", "dependency:get", "spring-boot:run"}),
    "gradle": frozenset({"run", "bootRun", "build"}),
    "jbang": frozenset({"run", "app", "trust"}),
    "ansible-galaxy": frozenset({"install", "collection", "role"}),
    "code": frozenset({"--install-extension"}),
    "code-server": frozenset({"--install-extension"}),
}
"""Program to the words with which it fetches what is then run."""
PACMAN = re.compile(r"-S[a-z]{0,6}")
REMOTE = re.compile(r"(?:https?|npm|jsr|ftp|git\+\w{1,8}|git)://?\S|npm:|jsr:", re.IGNORECASE)

FETCHERS = frozenset(
    {"curl", "wget", "aria2c", "axel", "http", "https", "httpie", "xh", "fetch", "lftp", "ftp"}
    | {"scp", "rsync", "sftp", "tftp", "gsutil", "aws", "s3cmd", "rclone", "azcopy", "mc", "gcloud"}
    | {"iwr", "invoke-webrequest", "irm", "certutil", "bitsadmin", "nc", "ncat", "socat"}
)
COPIES = frozenset({"cp", "sync", "copy", "copyto"})
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "pwsh", "powershell"})
INTERPRETERS = SHELLS | {"python", "pypy", "node", "perl", "ruby", "php", "lua", "deno", "bun"}
CODE = tuple(
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
STARTERS = frozenset(
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
LOADED = (
    "LD_PRELOAD=",
    "PYTHONPATH=",
    "NODE_OPTIONS=",
    "BASH_ENV=",
    "PYTHONSTARTUP=",
    "PERL5LIB=",
)
SOURCED = frozenset({"source", ".", "eval", "iex", "invoke-expression"})
UNPACKERS = frozenset({"tar", "unzip", "bsdtar", "gunzip", "7z", "dpkg", "rpm", "install"})
RUN_FROM_PIPE = (INTERPRETERS | SOURCED | UNPACKERS) - {"tar", "gunzip", "."}
DECODERS = frozenset({"base64", "base32", "xxd", "uudecode", "openssl", "gpg", "age", "basenc"})
"""What a shell runs of these nobody has read."""
REMOTE_SOCKET = re.compile(r"/dev/(?:tcp|udp)/(?!localhost\b|127\.|\[?::1)")
QUIET = frozenset({"echo", "printf", "logger", "#", ":", "which", "type", "man"})
EXECUTABLE = re.compile(r"[ugoa]*[+=][rwxst]*x[rwxst]*|0?[0-7]*[1357][0-7]{0,2}")

LIBRARY_FETCH = re.compile(
    r"urlopen|urlretrieve|requests\.get|httpx\.get|aiohttp|http\.get\(|https\.get\(|Net::HTTP"
    r"|LWP::Simple|open-uri|URI\.open|file_get_contents\(http|DownloadString|DownloadFile"
    r"|fetch\(\s?http|hf_hub_download|/dev/tcp/|socket\.create_connection|IO::Socket",
    re.IGNORECASE,
)
LIBRARY_RUN = re.compile(
    r"\bexec\s?\(|\beval\s?\(|\beval\b|os\.system|subprocess|Popen|\bspawn|child_process|import_module"
    r"|__import__|runpy|\bcompile\s?\(|\bIEX\b|instance_eval|Function\s?\(|os\.exec|vm\.run"
    r"|marshal|pickle|ctypes|zipimport|chmod",
    re.IGNORECASE,
)
CALLED = re.compile(
    r"(?:pip3?|uv|npm|npx|apt-get|apt|apk|conda|gem|yarn|pnpm)[\"']?\s{0,4},\s{0,4}[\"']"
    r"(?:install|add|i|-y|sync|ci)[\"']"
    r"|\bpip(?:\._internal)?(?:\.cli)?(?:\.main)?\.main\s?\(|\bpip\.main\s?\(|\bensurepip\b"
    r"|\binstall\.packages\s?\(|\bPkg\.add\s?\(|\bhub\.load\s?\(|\bQuicklisp\b"
)
