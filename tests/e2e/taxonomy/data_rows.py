"""Rows 38 to 48, 58, 59 and 74: sets, data, claims and jobs."""

from tests.e2e.taxonomy.case import Case, Expected, Write, added, changed, patched, put, take
from tests.e2e.taxonomy.objects import claim, config_map, secret, stateful_set, template, thing

_C = "ConfigMap"
_S = "StatefulSet"
_SECRET = "Secret"
_CLAIM = "PersistentVolumeClaim"
_STRATEGY = "/spec/updateStrategy"
_JOB = {
    "template": {
        "spec": {**template()["spec"], "restartPolicy": "Never"},
    },
}
_OTHER = {"token": "c3dvcmRmaXNo"}

SETS = (
    Case(
        38,
        "claim templates",
        (stateful_set(),),
        proof=(_S, ("spec", "volumeClaimTemplates", 0, "spec", "volumeMode"), "Filesystem"),
    ),
    Case(
        39,
        "on delete",
        (stateful_set(updateStrategy={"type": "RollingUpdate"}),),
        (patched(_S, put(_STRATEGY, {"type": "OnDelete"})),),
        (changed(_S, "spec.updateStrategy.type"),),
    ),
    Case(
        39,
        "partition raised",
        (
            stateful_set(
                updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
            ),
        ),
        (patched(_S, put(f"{_STRATEGY}/rollingUpdate/partition", 2)),),
        (changed(_S, "spec.updateStrategy.rollingUpdate.partition"),),
    ),
    Case(
        40,
        "made again in parallel",
        (stateful_set(podManagementPolicy="OrderedReady"),),
        (
            Write("delete", _S),
            Write(
                "create",
                _S,
                stateful_set(podManagementPolicy="Parallel"),
                manager="kubectl-replace",
            ),
        ),
        (changed(_S, "spec.podManagementPolicy"), Expected("recreated", _S)),
    ),
)

MAPS = (
    Case(
        41,
        "key changed",
        (config_map(),),
        (patched(_C, put("/data/key", "two\n")),),
        (changed(_C, "data.key"),),
    ),
    Case(
        41,
        "key added",
        (config_map(),),
        (patched(_C, put("/data/other", "two")),),
        (added(_C, "data.other"),),
    ),
    Case(
        41,
        "key removed",
        (config_map(),),
        (patched(_C, take("/data/key")),),
        (Expected("removed", _C, "data.key"),),
    ),
    Case(
        42,
        "line end",
        (config_map(),),
        (patched(_C, put("/data/key", "one\r\n")),),
        (changed(_C, "data.key"),),
    ),
    Case(
        42,
        "newline lost",
        (config_map(),),
        (patched(_C, put("/data/key", "one")),),
        (changed(_C, "data.key"),),
    ),
    Case(
        43,
        "made immutable",
        (config_map(),),
        (patched(_C, put("/immutable", value=True)),),
        (added(_C, "immutable"),),
    ),
    Case(44, "empty", (config_map({}, binaryData=None),)),
)

SECRETS = (
    Case(45, "string data", (secret(data=None, stringData={"token": "hunter2"}),)),
    Case(
        46,
        "rotated as expected",
        (secret(),),
        (Write("merge", _SECRET, {"data": _OTHER}, manager="external-secrets", user="admin"),),
        proof=(_SECRET, ("data", "token"), _OTHER["token"]),
    ),
    Case(
        46,
        "rotated by others",
        (secret(),),
        (Write("merge", _SECRET, {"data": _OTHER}, manager="vault-sync", user="admin"),),
        (changed(_SECRET, "data.token", "high"),),
    ),
    Case(
        47,
        "edited",
        (secret(),),
        (Write("merge", _SECRET, {"data": _OTHER}),),
        (changed(_SECRET, "data.token", "high"),),
    ),
    Case(
        47,
        "key added to secret",
        (secret(),),
        (Write("merge", _SECRET, {"data": {"extra": _OTHER["token"]}}),),
        (added(_SECRET, "data.extra", "high"),),
    ),
    Case(
        48,
        "token filled in",
        (
            thing("v1", "ServiceAccount"),
            thing(
                "v1",
                _SECRET,
                type="kubernetes.io/service-account-token",
                metadata={"annotations": {"kubernetes.io/service-account.name": "$name"}},
            ),
        ),
        proof=(_SECRET, ("data", "token"), None),
    ),
)

CLAIMS_AND_JOBS = (
    Case(
        58,
        "claim enlarged",
        (claim(),),
        (Write("merge", _CLAIM, {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}),),
        (changed(_CLAIM, "spec.resources.requests.storage"),),
    ),
    Case(59, "claim bound", (claim(),), proof=(_CLAIM, ("spec", "volumeName"), None)),
    Case(
        74,
        "job",
        (thing("batch/v1", "Job", spec=_JOB),),
        proof=("Job", ("spec", "selector", "matchLabels"), None),
    ),
    Case(
        74,
        "schedule suspended",
        (
            thing(
                "batch/v1", "CronJob", spec={"schedule": "0 0 1 1 *", "jobTemplate": {"spec": _JOB}}
            ),
        ),
        (Write("merge", "CronJob", {"spec": {"suspend": True}}),),
        (changed("CronJob", "spec.suspend"),),
    ),
)

DATA = (*SETS, *MAPS, *SECRETS, *CLAIMS_AND_JOBS)
