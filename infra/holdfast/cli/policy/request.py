"""What `holdfast policy check` is to judge, as the command line says it. Wiring."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from holdfast_policies.waivers import Waiver, WaiverFileError, read_waivers

from holdfast.errors import InputError
from holdfast.operations.policy.sources import (
    Gathered,
    StackPolicy,
    objects_of_files,
    policy_of,
    rendered_objects,
)
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.validate.waivers import WAIVERS_FILE

if TYPE_CHECKING:
    from holdfast.adapters.engine.state.checkpoint import Deployment

Command = Callable[..., int]


@dataclass(frozen=True)
class CheckRequest:
    """What is to be judged.

    Attributes:
        stack: Whose profile, rules and waivers hold; and, without a source, whose manifests.
        files: Files and folders of objects.
        is_state: The state of the stack.
        state_file: A state that `pulumi stack export` has written.
        is_live: A cluster: that of the stack, else that of the kubeconfig.
        namespaces: Where in it; empty for its own or the stack's.
        is_everywhere: In all namespaces.
        kubeconfig: File instead of the stack's or the usual ones.
        context: Of the kubeconfig, instead of the stack's or the current one.
    """

    stack: str = ""
    files: tuple[Path, ...] = ()
    is_state: bool = False
    state_file: Path | None = None
    is_live: bool = False
    namespaces: tuple[str, ...] = ()
    is_everywhere: bool = False
    kubeconfig: Path | None = None
    context: str | None = None

    def check(self) -> None:
        """See that it says one thing.

        Raises:
            InputError: it names no source, two, or what only another source knows.
        """
        sources = (bool(self.files), self.is_state, self.state_file is not None, self.is_live)
        if sum(sources) > 1:
            raise InputError(
                "--files, --state, --state-file and --live exclude one another",
                remedy="judge one at a time",
            )
        if not any(sources) and not self.stack:
            raise InputError(
                "nothing to judge is named",
                remedy="add -s STACK, --files PATH, --state-file FILE or --live",
            )
        if self.is_state and not self.stack:
            raise InputError("--state needs a stack", remedy="add -s STACK")
        asks_place = self.namespaces or self.is_everywhere or self.kubeconfig or self.context
        if asks_place and not self.is_live:
            raise InputError("-n, -A, --kubeconfig and --context need --live", remedy="add --live")
        if self.namespaces and self.is_everywhere:
            raise InputError("-n excludes --all-namespaces", remedy="leave one of them out")

    @property
    def words(self) -> str:
        """What is judged, in words."""
        if self.files:
            return f"files {', '.join(map(str, self.files))}"
        if self.state_file is not None:
            return f"state file {self.state_file}"
        if self.is_live:
            return f"the cluster of stack {self.stack}" if self.stack else "the cluster"
        return f"the state of stack {self.stack}" if self.is_state else f"stack {self.stack}"

    @property
    def identifier(self) -> str:
        """The same as a stable name."""
        sources = (
            ("files", bool(self.files)),
            ("state", self.is_state or self.state_file is not None),
            ("cluster", self.is_live),
        )
        source = next((name for name, is_chosen in sources if is_chosen), "")
        return "/".join(part for part in ("policy", self.stack, source) if part)

    @cached_property
    def state(self) -> StackContext:
        """The stack."""
        return StackContext(find_project_root(), self.stack)

    @cached_property
    def export(self) -> "Deployment":
        """The state that was exported to a file."""
        from holdfast.operations.policy.state import read_export  # noqa: PLC0415  (start-up time)

        assert self.state_file is not None  # noqa: S101  (the caller has looked)
        return read_export(self.state_file)

    def policy(self, today: date) -> StackPolicy:
        """How it is judged: as the stack says; without one as production, by the project's waivers.

        A state says of which stack it is, and with that its profile.
        """
        if self.stack:
            return policy_of(self.state, today)
        profile = "prod"
        if self.state_file is not None:
            from holdfast.operations.policy.state import stack_in  # noqa: PLC0415  (start-up time)

            profile = stack_in(self.export)
        return StackPolicy(profile, today, {}, _compiled_waivers())

    def gather(self) -> Gathered:
        """The objects."""
        if self.files:
            return objects_of_files(self.files)
        if self.is_live:
            return self._live()
        if self.is_state or self.state_file is not None:
            from holdfast.operations.policy.state import (  # noqa: PLC0415  (start-up time)
                gathered,
                recorded_objects,
            )

            if self.state_file is not None:
                return gathered(self.export)
            return recorded_objects(self.state.root, self.stack)
        return rendered_objects(self.state)

    def _live(self) -> Gathered:
        from holdfast.operations.policy.live import LiveRequest, live_objects  # noqa: PLC0415  (start-up)

        request = LiveRequest(self.kubeconfig, self.context, self.namespaces, self.is_everywhere)
        if not self.stack:
            return live_objects(request)
        request = replace(
            request,
            kubeconfig=self.kubeconfig or self.state.kubeconfig,
            context=self.context or self.state.kube_context,
        )
        if not self.namespaces and not self.is_everywhere:
            declared = {agent.namespace for agent in self.state.fleet.workloads}
            request = replace(request, namespaces=tuple(sorted(declared)))
        return live_objects(request)


def _compiled_waivers() -> tuple[Waiver, ...]:
    """Waivers of the project around the working directory; none where there is no project.

    Raises:
        InputError: the compiled file is not what Holdfast writes.
    """
    try:
        root = find_project_root()
    except InputError:
        return ()
    try:
        return read_waivers(root / WAIVERS_FILE)
    except WaiverFileError as error:
        raise InputError(str(error)) from error


_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option("-s", "--stack", default="", help="Stack: its objects, profile, rules, waivers."),
    click.option(
        "--files",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Judge a YAML or JSON file, or a folder of them; repeatable.",
    ),
    click.option("--state", "is_state", is_flag=True, help="Judge what the stack's state records."),
    click.option(
        "--state-file",
        type=click.Path(path_type=Path),
        help="Judge what `pulumi stack export` has written.",
    ),
    click.option("--live", "is_live", is_flag=True, help="Judge what runs, whoever deployed it."),
    click.option("-n", "--namespace", "namespaces", multiple=True, help="With --live: only there."),
    click.option(
        "-A", "--all-namespaces", "is_everywhere", is_flag=True, help="With --live: everywhere."
    ),
    click.option("--kubeconfig", type=click.Path(path_type=Path), help="With --live: another one."),
    click.option("--context", help="With --live: another context of the kubeconfig."),
)


def source_options(command: Command) -> Command:
    """Options that say what is judged; the command receives them as `request`."""

    @wraps(command)
    def with_request(*arguments: Any, **options: Any) -> int:  # noqa: ANN401  (the command's own)
        names = CheckRequest.__dataclass_fields__
        chosen = {name: options.pop(name) for name in names if name in options}
        request = CheckRequest(**chosen)
        request.check()
        return command(*arguments, request=request, **options)

    decorated: Command = with_request
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
