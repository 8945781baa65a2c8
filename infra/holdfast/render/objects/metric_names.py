"""The metrics by which an agent is judged: those of OpenTelemetry's semantic conventions.

Analyses of rollouts and alerts ask for the same series, so that they cannot disagree.

Source: OpenTelemetry semantic conventions 1.37, HTTP server and generative AI; names as the
Prometheus exporter writes them.
"""

from typing import Final

REQUESTS: Final = "http_server_request_duration_seconds_count"
REQUEST_BUCKETS: Final = "http_server_request_duration_seconds_bucket"
FAILED_REQUESTS: Final = 'http_response_status_code=~"5.."'
OPERATIONS: Final = "gen_ai_client_operation_duration_seconds_count"
TOOL_CALLS: Final = 'gen_ai_operation_name="execute_tool"'
SUCCEEDED: Final = 'error_type=""'
TOKENS: Final = "gen_ai_client_token_usage_sum"


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


def percent(part: str, whole: str) -> str:
    """PromQL of a share in percent."""
    return f"100 * ({part} or vector(0)) / {whole}"


def latency_quantile_ms(quantile: float, pods: str, window_seconds: int) -> str:
    """PromQL of a quantile of requests' duration, in milliseconds."""
    buckets = f"sum by (le) (rate({REQUEST_BUCKETS}{{{pods}}}[{window_seconds}s]))"
    return f"1000 * histogram_quantile({quantile}, {buckets})"
