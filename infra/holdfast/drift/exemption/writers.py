"""Who wrote a field: what shows that it was a controller, and what contradicts it.

Any client chooses its field manager, so a user of the audit log decides where one is known.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class FieldWriter:
    """Who owns a field.

    Attributes:
        manager: Field manager, chosen by the client.
        user: User of that write in the audit log; empty where it is not known.
    """

    manager: str
    user: str = ""


@dataclass(frozen=True)
class WriterProof:
    """What shows that a controller wrote a field.

    Attributes:
        managers: Names that it writes under.
        users: Users that it runs as; a known user decides, whatever the name.
    """

    managers: re.Pattern[str]
    users: re.Pattern[str]

    def holds_for(self, writer: FieldWriter) -> bool:
        """Whether nothing speaks against the controller."""
        if writer.user:
            return self.users.fullmatch(writer.user) is not None
        return self.managers.fullmatch(writer.manager) is not None


ACCOUNT: Final = "system:serviceaccount:"
OF_KUBERNETES: Final = WriterProof(
    re.compile(r"kube-controller-manager|kube-scheduler|openshift-controller-manager"),
    re.compile(
        rf"system:(kube-controller-manager|kube-scheduler|apiserver)"
        rf"|{ACCOUNT}(kube-system|openshift-infra):[a-z0-9-]+"
    ),
)
OF_CLOUD: Final = WriterProof(
    re.compile(
        r"cloud-controller-manager|glbc|gke-[a-z-]+|aws-load-balancer-controller|service-controller"
    ),
    re.compile(rf"system:(cloud-controller-manager|glbc)|{ACCOUNT}kube-system:[a-z0-9-]+"),
)


def of_controller(managers: str, accounts: str) -> WriterProof:
    """Proof of a controller by its manager names, and by the names of its accounts anywhere."""
    return WriterProof(re.compile(managers), re.compile(rf"{ACCOUNT}[a-z0-9-]+:({accounts})"))


OF_INJECTOR: Final = of_controller("(cert-manager-)?cainjector", ".*cainjector")
OF_FLUX: Final = of_controller("(kustomize|helm)-controller", "(kustomize|helm)-controller")
OF_ARGO_CD: Final = of_controller("argocd-controller", "argocd-application-controller")
OF_HELM: Final = WriterProof(re.compile("helm"), re.compile(".*"))
IDENTITY: Final = re.compile(rf"system:[a-z-]+|{ACCOUNT}kube-system:[a-z0-9-]+")
"""Users that only the cluster itself is: its components, and what runs in its own namespace."""


def is_forged(writer: FieldWriter) -> bool:
    """Whether the audit log contradicts a name: a controller's, by a user that it never runs as."""
    proofs = (OF_KUBERNETES, OF_CLOUD, OF_INJECTOR, OF_FLUX, OF_ARGO_CD)
    claimed = [proof for proof in proofs if proof.managers.fullmatch(writer.manager)]
    return bool(writer.user and claimed) and not any(proof.holds_for(writer) for proof in claimed)
