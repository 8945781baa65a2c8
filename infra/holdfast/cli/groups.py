"""The groups of verbs: what each is for, and examples. The verbs are in the table."""

import click

from holdfast.cli.lazy_group import LazyGroup
from holdfast.cli.verbs import VERBS


@click.group(cls=LazyGroup, verbs=VERBS["agent"].below)
def agent() -> None:
    """Operate one agent.

    restart, evacuate, recreate and backup act on the cluster at once, under the stack's lock, and
    change nothing that is declared. set and restore change the stack's
    file, which overrides the agent's manifest; the next update applies it.

    Each shows its plan first: --dry-run stops there, --yes confirms it, -o json prints it as one
    document. `holdfast history` lists each action with its reason and its outcome.

    \b
    Examples:
      holdfast agent restart support-rag -s prod --reason "stuck connections"
      holdfast agent evacuate support-rag -s prod --node worker-3 \\
        --reason "maintenance"
      holdfast agent recreate support-rag -s prod --dry-run \\
        --reason "stuck ReplicaSets"
      holdfast agent backup support-rag -s prod --reason "before the migration"
      holdfast agent set support-rag scaling.replicas=4 -s prod \\
        --reason "the sale"
      holdfast agent restore support-rag -s prod        (lists the backups)
    """


@click.group(cls=LazyGroup, verbs=VERBS["ci"].below)
def ci() -> None:
    """Keep one comment a change, one issue a stack, and gates before an update.

    Runs in a job of GitHub Actions or GitLab CI, and finds repository and change in its
    variables; docs/ci.md has complete pipelines.

    \b
    Examples:
      holdfast ci gate -s prod --result gate.json -- holdfast up -s prod
      holdfast ci comment comment.md --marker policy/prod
      holdfast ci issue drift.md --marker drift/prod \\
        --title "Drift of stack prod" --code 7
    """


@click.group(cls=LazyGroup, verbs=VERBS["gitops"].below)
def gitops() -> None:
    """Reconcile a stack with a Git branch continuously.

    \b
    Examples:
      holdfast gitops run -s prod --repo https://git.example/fleet.git \\
        --branch main
      holdfast gitops suspend -s prod --reason "an incident"
      holdfast gitops resume -s prod
    """


@click.group(cls=LazyGroup, verbs=VERBS["mcp"].below)
def mcp() -> None:
    """Review the tools that agents may call, and detect when a server changes them.

    A model acts on the description of a tool: a server that changes one changes the agent, and no
    image digest shows it. `lock` writes tools and instructions to agents/tools.lock for
    review; `check` compares servers with it; `validate` and `pulumi up` refuse tools and digests
    that are not in it.

    \b
    Examples:
      holdfast mcp lock
      holdfast mcp check -s prod
    """


@click.group(cls=LazyGroup, verbs=VERBS["operator"].below)
def operator() -> None:
    """Run agents as resources of their cluster: `kubectl get agents` shows their state.

    A stack opts in with `holdfast:agentResources: {mode: observe}`; its cluster needs the kinds
    first.

    \b
    Examples:
      holdfast operator install --context prod
      kubectl get agents -A
      kubectl wait --for=condition=Ready agent/support-rag -n cx
    """


@click.group(cls=LazyGroup, verbs=VERBS["policy"].below)
def policy() -> None:
    """Evaluate objects by the policy rules; list, export and write rules.

    \b
    Examples:
      holdfast policy check -s prod
      holdfast policy check --files deploy/ --profile prod -o json
      holdfast policy list --profile prod
      holdfast policy export -s prod -o dir --to policies
      holdfast policy new team-label
    """


@click.group(cls=LazyGroup, verbs=VERBS["sandbox"].below)
def sandbox() -> None:
    """Run a local Kubernetes control plane, started in seconds.

    etcd, API server, controller manager and scheduler are real; kwok simulates nodes, pods, volumes
    and load balancers: what is applied becomes ready at once, and no image is pulled. With
    `up --node` there is also a node on which pods really run. It listens on the loopback address
    only. RBAC and the audit log are on: `admin` may do everything, `alice` edits workloads, `bob`
    only reads.

    \b
    Examples:
      holdfast sandbox up
      export KUBECONFIG=$(holdfast sandbox kubeconfig)
      kubectl get nodes
      holdfast sandbox down
    """


@click.group("images", cls=LazyGroup, verbs=VERBS["sandbox"].below["images"].below)
def sandbox_images() -> None:
    """Build images for a sandbox's real node.

    \b
    Example:
      holdfast sandbox images build
    """
