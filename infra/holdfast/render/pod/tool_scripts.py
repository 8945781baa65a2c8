"""What the stack's tool image runs: POSIX shell with curl and sha256sum; skills take git or tar.

Parameters come in by variables, never by the text of a script, and credentials by files: they
show neither in an object nor in a list of processes.
"""

from typing import Final

FETCH: Final = """\
set -eu
umask 002
target="$FETCH_FOLDER/$FETCH_FILE"
has_digest() { echo "$FETCH_SHA256  $1" | sha256sum -c >/dev/null 2>&1; }
if [ -f "$target" ] && has_digest "$target"; then
  echo "holdfast: $target is there already"
  exit 0
fi
part="$target.$HOSTNAME.part"
trap 'rm -f "$part"' EXIT
mkdir -p "$FETCH_FOLDER"
request() {
  echo "url = \\"$FETCH_URL\\""
  if [ -n "${FETCH_TOKEN_FILE:-}" ]; then
    echo "oauth2-bearer = \\"$(cat "$FETCH_TOKEN_FILE")\\""
  fi
  if [ -n "${FETCH_KEYS_FOLDER:-}" ]; then
    echo "aws-sigv4 = \\"aws:amz:$FETCH_REGION:s3\\""
    id="$(cat "$FETCH_KEYS_FOLDER/access-key-id")"
    echo "user = \\"$id:$(cat "$FETCH_KEYS_FOLDER/secret-access-key")\\""
  fi
}
request | curl --config - --fail --silent --show-error --location --retry 5 --output "$part"
if ! has_digest "$part"; then
  echo "holdfast: $FETCH_URL has another digest than the declared $FETCH_SHA256" >&2
  exit 1
fi
mv "$part" "$target"
echo "holdfast: fetched $target"
"""
"""Variables: FETCH_URL, FETCH_FOLDER, FETCH_FILE, FETCH_SHA256; FETCH_TOKEN_FILE, or
FETCH_KEYS_FOLDER with FETCH_REGION."""

CHECK: Final = """\
set -u
answer="${TMPDIR:-/tmp}/answer"
initialize='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":\
"2025-06-18","capabilities":{},"clientInfo":{"name":"holdfast-check","version":"1"}}}'
discover='{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{\
"io.modelcontextprotocol/protocolVersion":"2026-07-28",\
"io.modelcontextprotocol/clientInfo":{"name":"holdfast-check","version":"1"},\
"io.modelcontextprotocol/clientCapabilities":{}}}}'
key() {
  if [ -n "${CHECK_KEY_FILE:-}" ]; then cat "$CHECK_KEY_FILE"; else printenv "$CHECK_KEY_ENV"; fi
}
request() {
  echo "url = \\"$1\\""
  case "${CHECK_KEY_HEADER:-}" in
    bearer) echo "oauth2-bearer = \\"$(key)\\"" ;;
    x-api-key)
      echo "header = \\"x-api-key: $(key)\\""
      echo "header = \\"anthropic-version: 2023-06-01\\"" ;;
  esac
}
get() {
  curl --silent --show-error --max-time 15 --output "$answer" --write-out '%{http_code}' "$@"
}
post() {
  data="$1"; shift
  get --max-filesize 1048576 --header 'Content-Type: application/json' \\
    --header 'Accept: application/json, text/event-stream' --data "$data" "$@"
}
ask() {
  case "$1" in
    model)
      code="$(request "$2" | get --config -)" || return 1
      if [ -z "${CHECK_KEY_HEADER:-}" ] && { [ "$code" = 401 ] || [ "$code" = 403 ]; }; then
        return 0
      fi
      [ "$code" = 200 ] || { echo "status $code"; return 1; }
      grep -qF "\\"$3\\"" "$answer" || { echo "it does not offer $3"; return 1; } ;;
    mcp)
      code="$(post "$discover" --header 'MCP-Protocol-Version: 2026-07-28' \\
        --header 'Mcp-Method: server/discover' "$2")" || return 1
      if [ "$code" = 200 ] && grep -q '"supportedVersions"' "$answer" \\
        && grep -q '"2026-07-28"' "$answer"; then
        return 0
      fi
      code="$(post "$initialize" "$2")" || return 1
      [ "$code" = 200 ] || [ "$code" = 401 ] || { echo "status $code"; return 1; }
      [ "$code" = 401 ] || grep -q serverInfo "$answer" || { echo "no MCP server"; return 1; } ;;
    sse)
      get --no-buffer --header 'Accept: text/event-stream' --max-time 5 "$2" >/dev/null 2>&1
      grep -q '^event: *endpoint' "$answer" || { echo "no MCP server"; return 1; } ;;
    agent)
      code="$(get "$2/.well-known/agent-card.json")" || return 1
      [ "$code" = 200 ] || { echo "status $code"; return 1; } ;;
    http)
      code="$(get "$2")" || return 1
      [ "$code" -lt 500 ] || { echo "status $code"; return 1; } ;;
  esac
}
end=$(($(date +%s) + CHECK_TIMEOUT_SECONDS))
echo "$CHECK_TARGETS" | while read -r kind url name; do
  until reason="$(: >"$answer"; ask "$kind" "$url" "$name" 2>&1)"; do
    if [ "$(date +%s)" -ge "$end" ]; then
      echo "holdfast: $kind $url does not answer: $reason" >&2
      exit 1
    fi
    sleep 2
  done
  echo "holdfast: $kind $url answers"
done
"""
"""Variables: CHECK_TARGETS (lines of kind, URL and, for a model, its name), CHECK_TIMEOUT_SECONDS;
CHECK_KEY_HEADER (bearer or x-api-key) with CHECK_KEY_FILE or CHECK_KEY_ENV."""

WARM: Final = """\
trap 'exit 0' TERM INT
while true; do
  curl --silent --show-error --max-time 60 --output /dev/null --retry 1000000 --retry-delay 2 \\
    --retry-connrefused "$WARM_URL" &
  wait $! || true
  sleep "$WARM_INTERVAL_SECONDS" &
  wait $!
done
"""
"""Variables: WARM_URL, WARM_INTERVAL_SECONDS. The agent starts after its warmer: a request that is
refused, or answered with a passing failure, is repeated after 2 s."""

WAIT: Final = """\
set -u
for url in $WAIT_URLS; do
  until [ "$(curl --silent --output /dev/null --max-time 5 \\
      --write-out '%{num_connects}' "$url")" = 1 ]; do
    echo "holdfast: waiting for $url"
    sleep 2
  done
  echo "holdfast: $url listens"
done
"""
"""Variables: WAIT_URLS, separated by spaces. A connection is enough, whatever the answer."""

SKILL_FROM_GIT: Final = """\
set -eu
export HOME="${TMPDIR:-/tmp}"
rm -rf "$SKILL_FOLDER"
git init --quiet "$SKILL_FOLDER"
cd "$SKILL_FOLDER"
git fetch --quiet --depth 1 "$SKILL_URL" "$SKILL_COMMIT"
git checkout --quiet --detach FETCH_HEAD
if [ "$(git rev-parse HEAD)" != "$SKILL_COMMIT" ]; then
  echo "holdfast: $SKILL_URL has no commit $SKILL_COMMIT" >&2
  exit 1
fi
rm -rf .git
[ -d "$SKILL_PATH" ] || { echo "holdfast: no folder $SKILL_PATH in $SKILL_URL" >&2; exit 1; }
echo "holdfast: fetched $SKILL_URL at $SKILL_COMMIT"
"""
"""Variables: SKILL_URL, SKILL_COMMIT, SKILL_FOLDER, SKILL_PATH."""

SKILL_FROM_BUCKET: Final = """\
set -eu
archive="$SKILL_FOLDER.part"
trap 'rm -f "$archive"' EXIT
rm -rf "$SKILL_FOLDER"
mkdir -p "$SKILL_FOLDER"
curl --fail --silent --show-error --location --retry 5 --output "$archive" "$SKILL_URL"
if ! echo "$SKILL_SHA256  $archive" | sha256sum -c >/dev/null 2>&1; then
  echo "holdfast: the skill has another digest than the declared $SKILL_SHA256" >&2
  exit 1
fi
tar -xzf "$archive" -C "$SKILL_FOLDER"
cd "$SKILL_FOLDER"
[ -d "$SKILL_PATH" ] || { echo "holdfast: no folder $SKILL_PATH in the skill" >&2; exit 1; }
echo "holdfast: fetched $SKILL_FOLDER"
"""
"""Variables: SKILL_URL, SKILL_SHA256, SKILL_FOLDER, SKILL_PATH."""
