"""Whether all is as it must be when a storm is over, asked of the cluster and of Holdfast."""

import json
import urllib.request
from dataclasses import dataclass

from holdfast.adapters.git.repository import run_git

from bench.storm_stage import BRANCH, NAMESPACE, STACK, Member, Stage


@dataclass(frozen=True)
class Verdict:
    """Judges one stage."""

    stage: Stage

    def is_at_newest(self) -> bool:
        """Whether the loop runs the newest commit, and says so."""
        status = self._ask(self.stage.loop, "/status")
        newest = run_git(self.stage.bare, "rev-parse", BRANCH)
        if not status:
            return False
        said = json.loads(status)
        return bool(said["isRunning"] and said["wantedCommit"] == newest)

    def _ask(self, member: Member, path: str) -> str:
        address = member.address("listen" if member.name == "loop" else "start")
        try:
            with urllib.request.urlopen(f"http://{address}{path}", timeout=5) as answer:
                return str(answer.read().decode())
        except OSError:
            return ""

    def faults_found(self) -> list[str]:
        """Everything that is not as it must be when it is calm."""
        found = []
        done = self.stage.holdfast("drift", "-s", STACK, "--no-history", "-o", "json")
        if done.returncode:
            report = json.loads(done.stdout or "{}")
            names = [
                f"{each['class']} {each['object']['kind']} {each['object']['name']} "
                f"{each.get('path', '')}"
                for each in report.get("findings", ())
            ]
            unseen = [each["reason"] for each in report.get("notChecked", ())]
            found.append(f"drift ends with {done.returncode}: {names or unseen or done.stderr}")
        found += self._lost_and_doubled()
        found += self._fights()
        return found

    def _lost_and_doubled(self) -> list[str]:
        """Rendered objects that are not there exactly once, and others that say they are."""
        rendered = self.stage.holdfast("render", "-s", STACK, "-o", "json")
        listed = json.loads(rendered.stdout)
        items = listed["items"] if isinstance(listed, dict) else listed
        wanted = sorted(_name(each) for each in items if _is_of_fleet(each))
        kinds = sorted({each["kind"].lower() for each in items if _is_of_fleet(each)})
        label = f"app.kubernetes.io/managed-by=holdfast,app.kubernetes.io/instance={STACK}"
        got = self.stage.kubectl("get", ",".join(kinds), "-n", NAMESPACE, "-l", label, "-o", "json")
        if got.returncode:
            return [f"cannot be listed: {got.stderr}"]
        live = sorted(
            _name(each)
            for each in json.loads(got.stdout)["items"]
            if not each["metadata"].get("ownerReferences")
        )
        lost = [f"lost: {name}" for name in wanted if name not in live]
        return lost + [f"not declared: {name}" for name in live if name not in wanted]

    def _fights(self) -> list[str]:
        found = []
        for member in self.stage.members:
            lines = self._ask(member, "/metrics").splitlines()
            counts = [each for each in lines if each.startswith("holdfast_conflicts_open")]
            if not counts:
                found.append(f"{member.name} does not tell of fights")
            elif any(float(each.rpartition(" ")[2]) for each in counts):
                found.append(f"{member.name} has open fights")
        return found


def _name(one: dict[str, dict[str, str]]) -> str:
    return f"{one['kind']} {one['metadata']['name']}"


def _is_of_fleet(one: dict[str, dict[str, str]]) -> bool:
    return one["metadata"].get("namespace") == NAMESPACE
