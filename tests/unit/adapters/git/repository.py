"""A repository of a test's own."""

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from holdfast.adapters.git.repository import run_git

PERSON = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.test",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.test",
}


def commit_all(folder: Path, message: str) -> str:
    """Commit everything in a folder, which becomes a repository if it is none; the commit."""
    if not (folder / ".git").exists():
        run_git(folder, "init", "--quiet", "--initial-branch=main")
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--message", message, variables=PERSON)
    return run_git(folder, "rev-parse", "HEAD")


def sign_commits(work: Path, folder: Path) -> Path:
    """Sign the commits of a repository, which is made; the file of those who may sign."""
    key, signers = folder / "key", folder / "signers"
    run_git(folder, "init", "--quiet", "--initial-branch", "main", str(work))
    private = Ed25519PrivateKey.generate()
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        )
    )
    key.chmod(0o600)
    public = private.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    key.with_suffix(".pub").write_bytes(public)
    signers.write_bytes(b"ann@example.test " + public + b"\n")
    for name, value in (
        ("gpg.format", "ssh"),
        ("user.signingKey", str(key)),
        ("commit.gpgSign", "true"),
    ):
        run_git(work, "config", name, value)
    return signers
