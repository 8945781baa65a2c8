"""The skills of an agent: image volumes, and folders that are fetched before it starts."""

from collections.abc import Iterator
from typing import Final

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.skills import AgentSkill, BucketSource, GitSource
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.environment import proxy_env
from holdfast.render.pod.settings import skill_folder
from holdfast.render.pod.tool_container import Script, script_container
from holdfast.render.pod.tool_scripts import SKILL_FROM_BUCKET, SKILL_FROM_GIT

FETCHED: Final = "skills"
FETCHED_FOLDER: Final = "/skills"
FETCHED_SIZE: Final = "256Mi"


def skill_mounts(spec: AgentSpec) -> list[KubeObject]:
    """Mounts in the agent's container, one a skill, read-only."""
    return [_mount(skill) for skill in spec.skills]


def skill_volumes(spec: AgentSpec) -> Iterator[KubeObject]:
    """An image volume for each skill from an image; one folder for all that are fetched."""
    for skill in spec.skills:
        if skill.oci:
            source = {"reference": skill.oci, "pullPolicy": "IfNotPresent"}
            yield {"name": f"skill-{skill.name}", "image": source}
    if any(skill.git or skill.bucket for skill in spec.skills):
        yield {"name": FETCHED, "emptyDir": {"sizeLimit": FETCHED_SIZE}}


def skill_containers(spec: AgentSpec, context: RenderContext) -> list[KubeObject]:
    """Init containers that fetch skills and refuse any other content than the declared one."""
    return [
        _fetch(skill, skill.git or skill.bucket, spec, context)
        for skill in spec.skills
        if not skill.oci
    ]


def _mount(skill: AgentSkill) -> KubeObject:
    mount: KubeObject = {"mountPath": skill_folder(skill), "readOnly": True}
    if skill.oci:
        return (
            mount
            | {"name": f"skill-{skill.name}"}
            | ({"subPath": skill.path} if skill.path else {})
        )
    inside = f"{skill.name}/{skill.path}" if skill.path else skill.name
    return mount | {"name": FETCHED, "subPath": inside}


def _fetch(
    skill: AgentSkill,
    source: GitSource | BucketSource | None,
    spec: AgentSpec,
    context: RenderContext,
) -> KubeObject:
    variables = {
        "SKILL_FOLDER": f"{FETCHED_FOLDER}/{skill.name}",
        "SKILL_PATH": skill.path or ".",
    }
    if isinstance(source, GitSource):
        script = SKILL_FROM_GIT
        variables |= {"SKILL_URL": source.url, "SKILL_COMMIT": source.commit}
    else:
        assert source is not None  # noqa: S101 - one of the two, by validation
        script = SKILL_FROM_BUCKET
        joint = "&" if "?" in source.url else "?"
        digest = source.sha256.removeprefix("sha256:")
        variables |= {
            "SKILL_URL": f"{source.url}{joint}versionId={source.version_id}",
            "SKILL_SHA256": digest,
        }
    return script_container(
        f"skill-{skill.name}",
        context.image("tools"),
        spec,
        Script(script, variables),
        env=proxy_env(spec, context),
        mounts=[{"name": FETCHED, "mountPath": FETCHED_FOLDER}],
    )
