"""What a scan is asked for: what is compared, how it is recorded, which probes run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from holdfast.adapters.http.peers import is_loopback_url
from holdfast.errors import InputError

DEFAULT_ALERT_THRESHOLD = 5


@dataclass(frozen=True)
class ScanRequest:
    """What is compared: a stack of a project, or plain objects of a file.

    Attributes:
        root: Folder of Pulumi.yaml; None for plain objects.
        stack: Name of the stack; empty for plain objects.
        desired: File or folder of plain objects; None for a stack.
        live: Live objects from a file; None for a cluster.
        baseline: Live objects right after the last good update; None for the stack's own record.
        kubeconfig: None for the stack's own, else the usual one.
        context: Context of the kubeconfig; None for the stack's own, else its current one.
        audit_log: The API server's audit log; None for that of the stack's sandbox, if any.
        request_timeout_seconds: No read of the cluster takes longer, with all its tries.
        engine_timeout_seconds: Of a run of Pulumi's refresh; None for the default.
        ignore_file: Rules on expected drift; None for the project's own.
        use_cache: What an earlier run has rendered will do, where it still holds.
    """

    root: Path | None = None
    stack: str = ""
    desired: Path | None = None
    live: Path | None = None
    baseline: Path | None = None
    kubeconfig: Path | None = None
    context: str | None = None
    audit_log: Path | None = None
    request_timeout_seconds: float = 60.0
    engine_timeout_seconds: float | None = None
    ignore_file: Path | None = None
    use_cache: bool = False

    @property
    def project_root(self) -> Path:
        """Folder of Pulumi.yaml.

        Raises:
            InputError: plain objects are compared, which are in no project.
        """
        if self.root is None:
            raise InputError("plain objects are in no project", remedy="name a stack with --stack")
        return self.root


@dataclass(frozen=True)
class RecordingRequest:
    """Whether and where a scan is recorded.

    Attributes:
        file: Instead of the stack's own; None for that one.
        is_off: Record nothing.
        observed_at: RFC 3339 time of the scan; None for now.
        alert_threshold: How many low findings together raise an alert.
    """

    file: Path | None = None
    is_off: bool = False
    observed_at: str | None = None
    alert_threshold: int = DEFAULT_ALERT_THRESHOLD


@dataclass(frozen=True)
class HostHeaders:
    """Headers by the host that they are for: a manifest may name any address.

    Attributes:
        headers: By `HOST` or `HOST:PORT`, sent by https or to this machine only; or by
            `http://HOST`, sent in clear text.
    """

    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    def for_url(self, url: str) -> Mapping[str, str]:
        """Headers for one address: those of its host (with its port) and of no other."""
        try:
            parts = urlsplit(url.lower())
        except ValueError:
            return {}
        if parts.scheme == "http" and not is_loopback_url(url):
            return self.headers.get(f"http://{parts.netloc}", {})
        return self.headers.get(parts.netloc, {})


@dataclass(frozen=True)
class ProbeRequest:
    """Which probes are wanted, and how things are reached from here.

    Attributes:
        is_on: Any at all.
        commands: Also those that run commands.
        contents: Also the Secrets and ConfigMaps that pods mount.
        addresses: Address by agent (name, or namespace and name) or tool server.
        headers: Their values are never shown.
    """

    is_on: bool = False
    commands: bool = False
    contents: bool = False
    addresses: Mapping[str, str] = field(default_factory=dict)
    headers: HostHeaders = field(default_factory=HostHeaders)

    def headers_for(self, url: str) -> Mapping[str, str]:
        """Headers for one address."""
        return self.headers.for_url(url)
