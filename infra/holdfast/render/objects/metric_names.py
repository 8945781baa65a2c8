"""The metrics by which an agent is judged: those of OpenTelemetry's semantic conventions.

Analyses of rollouts and alerts ask for the same series, so that they cannot disagree.

The conventions for generative AI have two generations of names, and an instrumentation emits the
older one, the newer one, or both. So a query takes, pod by pod, the newer series where the pod has
them and the older ones where it has not: nothing is missed, and nothing is counted twice.

Source: OpenTelemetry semantic conventions 1.37, HTTP server and generative AI (the older names);
`open-telemetry/semantic-conventions-genai`, metrics and token metrics (the newer names). Names as
the Prometheus exporter writes them.
"""

from typing import Final

REQUESTS: Final = "http_server_request_duration_seconds_count"
REQUEST_BUCKETS: Final = "http_server_request_duration_seconds_bucket"
FAILED_REQUESTS: Final = 'http_response_status_code=~"5.."'
SUCCEEDED: Final = 'error_type=""'

_TOOL_CALLS: Final = "gen_ai_execute_tool_duration_seconds_count"
_OLDER_TOOL_CALLS: Final = "gen_ai_client_operation_duration_seconds_count"
_IS_TOOL_CALL: Final = 'gen_ai_operation_name="execute_tool"'
_TOKENS: Final = (
    "gen_ai_client_inference_usage_input_tokens_total",
    "gen_ai_client_inference_usage_output_tokens_total",
)
_OLDER_TOKENS: Final = "gen_ai_client_token_usage_sum"


def increase(metric: str, pods: str, window_seconds: int, *matchers: str) -> str:
    """PromQL of how much a counter grew in a window, all pods together.

    Args:
        metric: Name of the counter.
        pods: Matcher that selects the pods, such as `namespace="a",pod=~"b-.*"`.
        window_seconds: Length of the window.
        matchers: Further label matchers.
    """
    selector = ",".join((pods, *matchers))
    return f"sum(increase({metric}{{{selector}}}[{window_seconds}s]))"


def tool_calls(function: str, pods: str, time: str) -> str:
    """PromQL of the tool calls of all pods, in either generation of names.

    Args:
        function: `rate` or `increase`.
        pods: Matcher that selects the pods.
        time: The time it is taken over, such as `5m`.
    """
    newer, older = _tool_calls(function, pods, time)
    return f"sum({newer} or {older})"


def tool_successes(function: str, pods: str, time: str) -> str:
    """PromQL of the tool calls that succeeded; see `tool_calls`.

    Of a pod with newer series only these count: where none of them is a success, an older success
    is of a call that the newer ones have as well.
    """
    newer, older = _tool_calls(function, pods, time, SUCCEEDED)
    every, _ = _tool_calls(function, pods, time)
    return f"sum({newer} or ({older} unless {every}))"


def _tool_calls(function: str, pods: str, time: str, *matchers: str) -> tuple[str, str]:
    newer = ",".join((pods, *matchers))
    older = ",".join((pods, _IS_TOOL_CALL, *matchers))
    return (
        f"sum by (pod) ({function}({_TOOL_CALLS}{{{newer}}}[{time}]))",
        f"sum by (pod) ({function}({_OLDER_TOOL_CALLS}{{{older}}}[{time}]))",
    )


def tokens(function: str, pods: str, time: str) -> str:
    """PromQL of the tokens that all pods used, input and output, in either generation of names."""
    # An embedding has no output: the sum of the two counters would be empty where one is absent.
    used = " or ".join(
        f'label_replace({function}({name}{{{pods}}}[{time}]), "of", "{name}", "", "")'
        for name in _TOKENS
    )
    older = f"sum by (pod) ({function}({_OLDER_TOKENS}{{{pods}}}[{time}]))"
    return f"sum(sum by (pod) ({used}) or {older})"


def percent(part: str, whole: str) -> str:
    """PromQL of a share in percent."""
    return f"100 * ({part} or vector(0)) / {whole}"


def latency_quantile_ms(quantile: float, pods: str, window_seconds: int) -> str:
    """PromQL of a quantile of requests' duration, in milliseconds."""
    buckets = f"sum by (le) (rate({REQUEST_BUCKETS}{{{pods}}}[{window_seconds}s]))"
    return f"1000 * histogram_quantile({quantile}, {buckets})"
