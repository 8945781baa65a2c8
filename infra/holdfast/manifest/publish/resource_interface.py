"""What the kinds are to a cluster beyond their spec: names, columns, status, scale. Data.

Sources: Kubernetes documentation, "Extend the Kubernetes API with CustomResourceDefinitions":
additional printer columns, subresources; API conventions, "Typical status
properties".
"""

from typing import Any, Final

Schema = dict[str, Any]

CONDITIONS: Final = (
    "Accepted",
    "ResolvedRefs",
    "PolicyCompliant",
    "Programmed",
    "RolloutComplete",
    "Ready",
    "Drifted",
    "Stalled",
)
"""Types of the conditions of an agent, in the order in which they come true."""

PHASES: Final = (
    "Pending",
    "Invalid",
    "Progressing",
    "Ready",
    "Degraded",
    "Paused",
    "Terminating",
    "Unknown",
)

AGENT_STACK_KIND: Final = "AgentStack"
"""What a loop tells of a stack; nobody declares it, and it belongs to no namespace."""

STACK_DECLARATION_KIND: Final = "StackDeclaration"
"""What a stack's last update has declared; cluster-scoped, and written by updates alone."""

STACK_CONDITIONS: Final = ("Synced", "Stalled", "Stable", "Drifted")
"""Types of the conditions of a stack that a loop holds to a branch."""

SHORT_NAMES: Final = {"Agent": ["ag"], "AgentTeam": ["agteam"], AGENT_STACK_KIND: ["agstack"]}

_TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "integer", "format": "int32"}
_CONDITION: Final[Schema] = {
    "type": "object",
    "required": ["type", "status", "lastTransitionTime", "reason", "message"],
    "properties": {
        "type": {**_TEXT, "maxLength": 316},
        "status": {**_TEXT, "enum": ["True", "False", "Unknown"]},
        "lastTransitionTime": {**_TEXT, "format": "date-time"},
        "reason": {**_TEXT, "minLength": 1, "maxLength": 1024},
        "message": {**_TEXT, "maxLength": 32768},
        "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
    },
}
_CONDITIONS: Final[Schema] = {
    "type": "array",
    "description": "What is true of it now, and why.",
    "items": _CONDITION,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
}
_GENERATION: Final[Schema] = {
    "type": "integer",
    "format": "int64",
    "description": "Generation of the spec that the status is about.",
}

AGENT_STACK_SPEC: Final[Schema] = {
    "type": "object",
    "description": "What the stack is held to, written by the loop, and whether it is suspended.",
    "properties": {
        "repository": {**_TEXT, "description": "Repository, without user and password."},
        "branch": {**_TEXT, "description": "Branch that says what is wanted."},
        "path": {**_TEXT, "description": "The project's folder in it."},
        "suspend": {"type": "boolean", "description": "While true, the loop changes nothing."},
        "suspension": {
            "type": "object",
            "description": "Who suspended it, when and why; written by `holdfast gitops suspend`.",
            "properties": {
                "by": {**_TEXT, "description": "User who suspended it."},
                "since": {**_TEXT, "format": "date-time", "description": "When."},
                "reason": {**_TEXT, "description": "Why."},
            },
        },
        "conflictsResetAt": {
            **_TEXT,
            "format": "date-time",
            "description": "Field conflicts from before are over: the loop reverts those fields.",
        },
    },
}

STACK_DECLARATION_SPEC: Final[Schema] = {
    "type": "object",
    "description": "What the last update of the stack has declared, by digest.",
    "properties": {
        "mode": {**_TEXT, "enum": ["observe", "expand"], "description": "Who applies objects."},
        "resources": {
            "type": "object",
            "description": "Kind, namespace and name of a resource to the digest of its content.",
            "additionalProperties": _TEXT,
        },
        "digest": {**_TEXT, "description": "Digest of mode and resources."},
    },
}

STATUS: Final[dict[str, Schema]] = {
    "Agent": {
        "observedGeneration": _GENERATION,
        "phase": {**_TEXT, "enum": list(PHASES), "description": "All conditions in one word."},
        "replicas": {**_NUMBER, "description": "Pods that its workload has."},
        "readyReplicas": {**_NUMBER, "description": "Pods that are ready."},
        "selector": {**_TEXT, "description": "Label selector of its pods."},
        "revision": {**_TEXT, "description": "Hash of its objects as they were deployed."},
        "commit": {**_TEXT, "description": "Commit that the deployed revision came with."},
        "model": {**_TEXT, "description": "Model that it talks to, looked up where it is shared."},
        "tools": {
            "type": "array",
            "description": "Reviewed tools that it may call.",
            "items": {
                "type": "object",
                "required": ["server"],
                "properties": {
                    "server": {**_TEXT, "description": "Server, as the manifest names it."},
                    "digest": {**_TEXT, "description": "Digest of its reviewed tools."},
                },
            },
        },
        "drift": {
            "type": "object",
            "description": "Findings that count.",
            "properties": {
                "findings": {**_NUMBER, "description": "How many."},
                "severity": {**_TEXT, "description": "The worst of them."},
                "since": {**_TEXT, "format": "date-time", "description": "The oldest of them."},
            },
        },
        "conditions": _CONDITIONS,
    },
    "AgentTeam": {
        "observedGeneration": _GENERATION,
        "members": {**_NUMBER, "description": "Members that are declared."},
        "readyMembers": {**_NUMBER, "description": "Members that are ready."},
        "conditions": _CONDITIONS,
    },
    AGENT_STACK_KIND: {
        "observedGeneration": _GENERATION,
        "wantedCommit": {**_TEXT, "description": "Newest commit of the branch."},
        "commit": {**_TEXT, "description": "Commit that runs, as far as it is known."},
        "conflicts": {
            "type": "array",
            "description": "Fields that others keep writing: only reported, not reverted.",
            "items": {
                "type": "object",
                "required": ["object", "path", "since"],
                "properties": {
                    "object": {**_TEXT, "description": "The object."},
                    "path": {**_TEXT, "description": "The field."},
                    "since": {**_TEXT, "format": "date-time", "description": "Since when."},
                },
            },
        },
        "conditions": _CONDITIONS,
    },
}
"""Kind to the properties of its status; the other kinds have none."""


def _condition(name: str) -> str:
    return f'.status.conditions[?(@.type=="{name}")].status'


def _reason(name: str) -> str:
    return f'.status.conditions[?(@.type=="{name}")].reason'


COLUMNS: Final[dict[str, tuple[Schema, ...]]] = {
    "Agent": (
        {"name": "Ready", "type": "string", "jsonPath": _condition("Ready")},
        {"name": "Drift", "type": "string", "jsonPath": _condition("Drifted")},
        {"name": "Policy", "type": "string", "jsonPath": _condition("PolicyCompliant")},
        {"name": "Model", "type": "string", "jsonPath": ".status.model"},
        {"name": "Version", "type": "string", "jsonPath": ".spec.version"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        {"name": "Phase", "type": "string", "jsonPath": ".status.phase", "priority": 1},
        {"name": "Type", "type": "string", "jsonPath": ".spec.type", "priority": 1},
        {"name": "Owner", "type": "string", "jsonPath": ".spec.owner", "priority": 1},
        {"name": "Revision", "type": "string", "jsonPath": ".status.revision", "priority": 1},
    ),
    "AgentTeam": (
        {"name": "Ready", "type": "string", "jsonPath": _condition("Ready")},
        {"name": "Members", "type": "integer", "jsonPath": ".status.members"},
        {"name": "Owner", "type": "string", "jsonPath": ".spec.owner"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ),
    AGENT_STACK_KIND: (
        {"name": "Synced", "type": "string", "jsonPath": _condition("Synced")},
        {"name": "Stalled", "type": "string", "jsonPath": _condition("Stalled")},
        {"name": "Stable", "type": "string", "jsonPath": _condition("Stable")},
        {"name": "Drift", "type": "string", "jsonPath": _condition("Drifted")},
        {"name": "Reason", "type": "string", "jsonPath": _reason("Synced")},
        {"name": "Suspended", "type": "boolean", "jsonPath": ".spec.suspend"},
        {"name": "Commit", "type": "string", "jsonPath": ".status.commit"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        {"name": "Branch", "type": "string", "jsonPath": ".spec.branch", "priority": 1},
        {"name": "Repository", "type": "string", "jsonPath": ".spec.repository", "priority": 1},
    ),
}
"""Kind to its columns in `kubectl get`; those of priority 1 with `-o wide` only."""

SUBRESOURCES: Final[dict[str, Schema]] = {
    "Agent": {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.scaling.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    },
}
"""Kind to its subresources; the others have a status alone."""
