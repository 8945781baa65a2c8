"""What can be called from outside is encrypted, and asks who is calling."""

from collections.abc import Iterator

from holdfast_policies.cel import Admission, breaches, declared_in, in_object
from holdfast_policies.finding import Breach, Finding
from holdfast_policies.governance import DECLARATIONS, declared
from holdfast_policies.kinds import GATEWAY, HTTP_ROUTE, INGRESS
from holdfast_policies.parts import all_of, each
from holdfast_policies.rule import Fix, Level, Levels, Parameter, Rule, Settings, Severity
from holdfast_policies.subject import Subject, field_path, items, mapping, text
from holdfast_policies.wording import shown

AUTHENTICATION = Parameter(
    name="authentication_keys",
    description="Annotations or labels, any of which says how callers are authenticated.",
    schema=DECLARATIONS,
    default=[
        "authentication",
        "nginx.ingress.kubernetes.io/auth-url",
        "nginx.ingress.kubernetes.io/auth-tls-secret",
        "traefik.ingress.kubernetes.io/router.middlewares",
        "alb.ingress.kubernetes.io/auth-type",
    ],
)


def check_tls(subject: Subject, _: Settings) -> Iterator[Finding]:
    """An Ingress or a listener of a Gateway without TLS; a route has that of its Gateway."""
    if subject.kind == INGRESS and not items(subject.spec.get("tls")):
        yield Breach("spec.tls", got="nothing", required="a certificate for every host")

    def check_listener(listener: object, path: str) -> Iterator[Breach]:
        protocol = mapping(listener).get("protocol")
        if text(protocol) in ("HTTP", "TCP"):
            yield Breach(field_path(path, "protocol"), shown(protocol), '"HTTPS" or "TLS"')

    if subject.kind == GATEWAY:
        yield from each(subject.spec.get("listeners"), "spec.listeners", check_listener)


def check_authentication(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """A route on which anyone may call: no declaration, no filter of an extension."""
    if subject.kind == GATEWAY:
        return
    if any(declared(subject.metadata, key) for key in settings["authentication_keys"]):
        return
    if subject.kind == INGRESS:
        yield Breach("metadata.annotations", "no authentication", "how callers are authenticated")
        return

    def check_rule(rule: object, path: str) -> Iterator[Breach]:
        filters = [mapping(each_filter) for each_filter in items(mapping(rule).get("filters"))]
        if not any(each_filter.get("type") == "ExtensionRef" for each_filter in filters):
            required = "a filter that authenticates, or annotation authentication"
            yield Breach(field_path(path, "filters"), "no authentication", required)

    yield from each(subject.spec.get("rules"), "spec.rules", check_rule, "")


_IS_AUTHENTICATED = (
    "variables.settings.authentication_keys.exists(k,"
    f' {declared_in("variables.subject.?metadata", "k")} != "")'
)


RULE = Rule(
    id="ingress-tls-and-authn",
    title="TLS and a known caller",
    description="An agent can be called from outside in the clear, or by anyone",
    rationale="Who may talk to an agent may try to talk it into something.",
    remedy="add TLS, and say by annotation authentication which policy asks who is calling",
    source="https://gateway-api.sigs.k8s.io/guides/tls/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-8",
        "IA-9",
        "AC-3",
        "ASI07",
        "MCP",
    ),
    fix=Fix.NO,
    kinds=frozenset({INGRESS, GATEWAY, HTTP_ROUTE}),
    check=all_of(check_tls, check_authentication),
    parameters=(AUTHENTICATION,),
    admission=Admission(
        (
            in_object(
                'object.kind == "Ingress" && variables.subject.?spec.?tls.orValue([]).size() == 0',
                "spec.tls",
                "a certificate for every host",
            ),
            breaches(
                'object.kind == "Gateway" ? variables.subject.?spec.?listeners.orValue([]) : []',
                "l",
                'l.?protocol.orValue("") in ["HTTP", "TCP"]',
                '"spec.listeners[name=" + l.name + "].protocol"',
                '"HTTPS" or "TLS"',
                "string(l.protocol)",
            ),
            in_object(
                'object.kind == "Ingress" && !variables.isAuthenticated',
                "metadata.annotations",
                "how callers are authenticated",
            ),
            breaches(
                'object.kind == "HTTPRoute" && !variables.isAuthenticated'
                " ? variables.subject.?spec.?rules.orValue([]) : []",
                "r",
                '!r.?filters.orValue([]).exists(f, f.?type.orValue("") == "ExtensionRef")',
                '"spec.rules"',
                "a filter that authenticates, or annotation authentication",
            ),
        ),
        variables=(("isAuthenticated", _IS_AUTHENTICATED),),
        differs="an HTTPRoute without rules has one there: the API server adds it",
    ),
)
