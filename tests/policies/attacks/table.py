"""Attacks on what the rules mean, each with a clean twin one edit away.

An attack is refused on prod by a mandatory violation that its twin does not have; the twin has none
beside those about governance, which small objects do not declare.
"""

from tests.policies.attacks import by_gain
from tests.policies.attacks.control_plane import accelerators, control_plane, settings
from tests.policies.attacks.network import egress, exposure, metadata
from tests.policies.attacks.objects import Attack, Kube
from tests.policies.attacks.rights import rights
from tests.policies.attacks.secrets_and_code import code, credentials
from tests.policies.attacks.storage import storage, tokens
from tests.policies.attacks.workloads import deliverers, workloads

__all__ = ["Attack", "Kube", "all_attacks"]

FAMILIES = {
    function.__name__: function
    for function in (
        workloads,
        deliverers,
        storage,
        tokens,
        egress,
        metadata,
        exposure,
        rights,
        credentials,
        code,
        control_plane,
        accelerators,
        settings,
    )
}


def all_attacks() -> list[Attack]:
    return [
        Attack(family, name, tuple(bad), tuple(clean))
        for family, make in FAMILIES.items()
        for name, bad, clean in make()
    ] + [
        Attack(family, f"by gain: {name}", tuple(bad), tuple(clean))
        for family, name, bad, clean in by_gain.cases()
    ]
