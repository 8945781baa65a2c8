"""The shell script that takes snapshots of an agent's claims, and deletes those of old days.

POSIX sh with date and curl, and nothing else: it runs in an image of the stack's choice. Names are
validated before they are rendered, so nothing in them means anything to a shell.
"""

from collections.abc import Sequence

SNAPSHOTS = "/apis/snapshot.storage.k8s.io/v1"
DAY_LABEL = "holdfast.dev/backup-day"
ERROR_LOOKS = 30
"""Times in a row that a snapshot is seen with an error until it counts: drivers try again."""
ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"

_SCRIPT = """\
api=${{HOLDFAST_API:-https://kubernetes.default.svc}}
account=${{HOLDFAST_ACCOUNT:-{account}}}
pause=${{HOLDFAST_PAUSE_SECONDS:-2}}
now=$(date +%s)
stamp=$(date -u -d "@$now" +%Y%m%d%H%M%S)
today=$(date -u -d "@$now" +%Y%m%d)
call() {{
  curl --silent --show-error --fail-with-body --max-time 30 --cacert "$account/ca.crt" \\
    --header "Authorization: Bearer $(cat "$account/token")" \\
    --header "Content-Type: application/json" "$@"
}}
made=""
for claim in {claims}; do
  if ! found=$(call "$api/api/v1/namespaces/{namespace}/persistentvolumeclaims/$claim"); then
    echo "$claim could not be read: $found" >&2
    exit 1
  fi
  if ! echo "$found" | grep -q '"phase": *"Bound"'; then
    echo "$claim is not bound yet: nothing to save"
    continue
  fi
  name="$claim-$stamp"
  call --request POST "$api{snapshots}/namespaces/{namespace}/volumesnapshots" --data-binary @- \\
      >/dev/null <<END
{{"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
 "metadata": {{"name": "$name", "labels": {{"holdfast.dev/backup-of": "{agent}",
   "{day}": "$today"}}}},
 "spec": {{{snapshot_class}"source": {{"persistentVolumeClaimName": "$claim"}}}}}}
END
  echo "$name"
  made="$made $name"
done
for name in $made; do
  failures=0
  until found=$(call "$api{snapshots}/namespaces/{namespace}/volumesnapshots/$name") &&
      echo "$found" | grep -q '"readyToUse": *true'; do
    if echo "$found" | grep -q '"error": *{{'; then
      failures=$((failures + 1))
    else
      failures=0
    fi
    if [ "$failures" -ge {error_looks} ]; then
      reason=$(echo "$found" | tr '\\n' ' ' | sed 's/.*"error": *{{//; s/}}.*//')
      echo "$name failed: $reason" >&2
      exit 1
    fi
    sleep "$pause"
  done
done
kept=$today
age=1
while [ "$age" -lt {retention_days} ]; do
  kept="$kept,$(date -u -d "@$((now - age * 86400))" +%Y%m%d)"
  age=$((age + 1))
done
call --request DELETE --get "$api{snapshots}/namespaces/{namespace}/volumesnapshots" \\
  --data-urlencode "labelSelector=holdfast.dev/backup-of={agent},{day} notin ($kept)" >/dev/null
"""


def snapshot_script(
    agent: str,
    namespace: str,
    claims: Sequence[str],
    retention_days: int,
    snapshot_class: str | None = None,
) -> str:
    """Script that saves these claims, waits until the snapshots can be used, and tidies up.

    A claim that is not bound is passed over: before the first rollout there is nothing to save.
    It fails when the API server does not answer, or a snapshot keeps its error for a minute.

    Args:
        agent: Name of the agent; snapshots are found again by it.
        namespace: Namespace of the claims.
        claims: Names of the claims.
        retention_days: Days that a snapshot is kept.
        snapshot_class: VolumeSnapshotClass; None for the cluster's default.
    """
    named = f'"volumeSnapshotClassName": "{snapshot_class}", ' if snapshot_class else ""
    return _SCRIPT.format(
        account=ACCOUNT_FOLDER,
        agent=agent,
        claims=" ".join(claims),
        day=DAY_LABEL,
        error_looks=ERROR_LOOKS,
        namespace=namespace,
        retention_days=retention_days,
        snapshot_class=named,
        snapshots=SNAPSHOTS,
    )
