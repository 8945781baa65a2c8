"""The engine, as the pack meets it: its requests, in its order."""

from collections.abc import Mapping
from typing import Any

import grpc
from google.protobuf import json_format, struct_pb2
from holdfast_policies.evaluation.weakened import NO_RULE_ASKED, RULE_WEAKENED
from holdfast_policies.pack.sdk import proto
from holdfast_policies.pack.servicer import Servicer
from holdfast_policies.table import RULES

from tests.policies.rule_cases import allowed_case, with_value

SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
POD = "kubernetes:core/v1:Pod"


class AbortedError(Exception):
    """What gRPC raises in place of an answer."""


class Context:
    """The part of a gRPC context that a servicer uses."""

    def abort(self, code: grpc.StatusCode, details: str) -> None:
        raise AbortedError(code, details)


class Engine:
    """Talks to a servicer as the engine does, in its order."""

    def __init__(
        self,
        stack: str | None = "prod",
        config: Mapping[str, Any] | None = None,
        stack_config: Mapping[str, str] | None = None,
    ) -> None:
        self.servicer: Any = Servicer()
        self.weakened: list[Any] = []
        self.stack = stack
        if stack is not None:
            request = proto.AnalyzerStackConfigureRequest(stack=stack, project="p", dry_run=True)
            request.config.update(stack_config or {})
            self.servicer.ConfigureStack(request, Context())
        self.info = self.servicer.GetAnalyzerInfo(None, Context())
        self.configure(config or {})

    def configure(self, config: Mapping[str, Any]) -> None:
        """Send what we announced, with what a file overrides, as the engine merges them."""
        request = proto.ConfigureAnalyzerRequest()
        names = {policy.name: policy.enforcementLevel for policy in self.info.policies}
        for name in {**names, **config}:
            given = config.get(name, {})
            given = {"enforcementLevel": given} if isinstance(given, str) else dict(given)
            level = given.pop("enforcementLevel", None)
            number = proto.EnforcementLevel.Value(level.upper()) if level else names[name]
            request.policyConfig[name].enforcementLevel = number
            request.policyConfig[name].properties.update(given)
        self.servicer.Configure(request, Context())

    def analyze(self, properties: Mapping[str, Any], token: str = POD) -> Any:
        """Judge one resource."""
        urn = f"urn:pulumi:{self.stack or 'dev'}::p::{token}::x"
        request = proto.AnalyzeRequest(type=token, name="x", urn=urn)
        request.properties.CopyFrom(struct(properties))
        return self.servicer.Analyze(request, Context())

    def remediate(self, properties: Mapping[str, Any], token: str = DEPLOYMENT) -> Any:
        """Ask what is to be put right, as the engine does before it asks for a judgement."""
        urn = f"urn:pulumi:{self.stack or 'dev'}::p::{token}::x"
        request = proto.AnalyzeRequest(type=token, name="x", urn=urn)
        request.properties.CopyFrom(struct(properties))
        return self.servicer.Remediate(request, Context())

    def analyze_stack(self, *resources: tuple[str, Mapping[str, Any]]) -> Any:
        """Judge resources together; what settings have weakened is kept apart, in `weakened`."""
        request = proto.AnalyzeStackRequest()
        for number, (token, properties) in enumerate(resources):
            urn = f"urn:pulumi:prod::p::{token}::r{number}"
            resource = request.resources.add(type=token, name=f"r{number}", urn=urn)
            resource.properties.CopyFrom(struct(properties))
        response = self.servicer.AnalyzeStack(request, Context())
        about_settings = (RULE_WEAKENED, NO_RULE_ASKED)
        told = list(response.diagnostics)
        self.weakened = [each for each in told if each.policyName in about_settings]
        del response.diagnostics[:]
        response.diagnostics.extend(each for each in told if each not in self.weakened)
        return response


def struct(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    message = struct_pb2.Struct()
    json_format.ParseDict(dict(properties), message)
    return message


def pod(pointer: str = "", value: Any = None) -> dict[str, Any]:
    allowed = allowed_case(RULES[0]).kube_object
    return with_value(allowed, pointer, value) if pointer else allowed


def summary(engine: Engine, response: Any, stack: bool = False) -> tuple[set[str], set[str]]:
    """What the engine makes of an answer: names of policies that passed, and that failed."""
    wanted = proto.POLICY_TYPE_STACK if stack else proto.POLICY_TYPE_RESOURCE
    failed = {each.policyName for each in response.diagnostics}
    left_out = {each.policy_name for each in response.not_applicable}
    passed = {each.name for each in engine.info.policies if each.policy_type == wanted}
    return passed - failed - left_out, failed


PRIVILEGED = pod("/spec/containers/0/securityContext/privileged", True)
