"""Steps before an agent starts: files that are fetched, commands that are run, in order."""

from collections.abc import Iterator

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.lifecycle import Fetch
from holdfast.manifest.fleet.egress import fetched_url, store_of
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.container import security_context
from holdfast.render.pod.environment import proxy_env
from holdfast.render.pod.tool_container import Script, script_container
from holdfast.render.pod.tool_scripts import FETCH


def render_prestart(spec: AgentSpec, agent: KubeObject, context: RenderContext) -> list[KubeObject]:
    """Init containers `prestart-<n>`, numbered from 1.

    Args:
        spec: The agent.
        agent: Its own container as rendered: commands run like it.
        context: Where the tool image and the stores are.
    """
    rendered = []
    for number, step in enumerate(spec.container.lifecycle.pre_start, 1):
        name = f"prestart-{number}"
        if step.fetch:
            rendered.append(_fetch(name, step.fetch, spec, agent, context))
        else:
            rendered.append(command_container(name, step.command, spec, agent))
    return rendered


def command_container(
    name: str, command: tuple[str, ...], spec: AgentSpec, agent: KubeObject
) -> KubeObject:
    """A container that runs a command like the agent: its image, variables, volumes and limits."""
    kept = ("image", "imagePullPolicy", "env", "envFrom", "resources", "workingDir", "volumeMounts")
    return {
        "name": name,
        "command": list(command),
        "securityContext": security_context(spec),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        **{key: agent[key] for key in kept if key in agent},
    }


def fetch_folders(spec: AgentSpec) -> Iterator[tuple[KubeObject, KubeObject]]:
    """Mounts and volumes of folders of fetches that lie on no declared volume.

    Such a volume lives as long as the pod, and may hold what the agent may keep on its node.
    """
    _, limits = spec.container.resources.effective()
    known = [volume.mount_path.rstrip("/") for volume in spec.storage.volumes]
    folders: list[str] = []
    for step in spec.container.lifecycle.pre_start:
        folder = step.fetch.to.rstrip("/") if step.fetch else ""
        if folder and folder not in folders and not any(_lies_in(folder, each) for each in known):
            folders.append(folder)
    for number, folder in enumerate(folders, 1):
        name = f"fetched-{number}"
        volume = {"name": name, "emptyDir": {"sizeLimit": limits["ephemeral-storage"]}}
        yield {"name": name, "mountPath": folder}, volume


def _lies_in(folder: str, other: str) -> bool:
    return folder == other or folder.startswith(f"{other}/")


def _fetch(
    name: str, fetch: Fetch, spec: AgentSpec, agent: KubeObject, context: RenderContext
) -> KubeObject:
    folder = fetch.to.rstrip("/")
    variables = {
        "FETCH_URL": fetched_url(fetch, context.environment) or "",
        "FETCH_FOLDER": folder,
        "FETCH_FILE": fetch.file_name,
        "FETCH_SHA256": fetch.sha256,
    }
    needed = {folder}
    secret = next((each for each in spec.secrets if each.name == fetch.credentials), None)
    if secret is not None and secret.mount_path:
        path = secret.mount_path.rstrip("/")
        needed.add(path)
        store = store_of(fetch, context.environment)
        if store is not None:
            variables |= {"FETCH_KEYS_FOLDER": path, "FETCH_REGION": store.region}
        else:
            variables["FETCH_TOKEN_FILE"] = f"{path}/{secret.key}"
    mounts = [
        mount
        for mount in agent["volumeMounts"]
        if any(_lies_in(each, mount["mountPath"].rstrip("/")) for each in needed)
    ]
    return script_container(
        name,
        context.image("tools"),
        spec,
        Script(FETCH, variables),
        env=proxy_env(spec, context),
        mounts=[mount for mount in mounts if mount["name"] != "tmp"],
    )
