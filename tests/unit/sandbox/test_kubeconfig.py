import base64
import json
from pathlib import Path

import pytest
from holdfast.sandbox import certificates
from holdfast.sandbox.api_server import kubeconfig, write_kubeconfig
from holdfast.sandbox.paths import SandboxPaths


@pytest.fixture
def place(tmp_path: Path) -> SandboxPaths:
    made = SandboxPaths("team-a", tmp_path)
    certificates.make_certificates(made)
    return made


def test_its_only_context_is_the_sandboxs(place: SandboxPaths) -> None:
    content = kubeconfig(place, "alice", port=6443)

    assert content["current-context"] == "holdfast-team-a"
    assert [context["name"] for context in content["contexts"]] == ["holdfast-team-a"]
    assert content["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:6443"
    assert content["contexts"][0]["context"] == {
        "cluster": content["clusters"][0]["name"],
        "user": content["users"][0]["name"],
    }


def test_users_of_one_sandbox_have_names_of_their_own(place: SandboxPaths) -> None:
    # So that kubectl can merge two of these files.
    names = {kubeconfig(place, user, 1)["users"][0]["name"] for user in ("admin", "alice")}

    assert names == {"holdfast-team-a-admin", "holdfast-team-a-alice"}


def test_carries_its_certificates_inside(place: SandboxPaths) -> None:
    user = kubeconfig(place, "bob", 1)["users"][0]["user"]

    embedded = base64.b64decode(user["client-certificate-data"])
    assert embedded == (place.certificates / "bob.crt").read_bytes()


def test_is_written_for_the_owners_eyes_only(place: SandboxPaths) -> None:
    write_kubeconfig(place, "admin", 1)

    assert place.kubeconfig().stat().st_mode & 0o777 == 0o600
    assert json.loads(place.kubeconfig().read_text()) == kubeconfig(place, "admin", 1)
