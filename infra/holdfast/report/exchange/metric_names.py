"""Names of the metrics of drift, of a watch and of one scan.

Source: Prometheus documentation, "Metric and label naming", "Exposition formats".
"""

from typing import Final

METRICS: Final = {
    "holdfast_drift_objects": "Declared objects that are watched.",
    "holdfast_drift_findings": "Open findings, by class and severity; severity info is no drift.",
    "holdfast_drift_oldest_finding_age_seconds": "Age of the oldest open finding, by severity.",
    "holdfast_drift_complete": "1 while everything that is declared can be seen, else 0.",
    "holdfast_drift_last_success_timestamp_seconds": "When everything was last seen and judged.",
    "holdfast_drift_looks_total": "Objects looked at because something had changed.",
    "holdfast_drift_detection_seconds": "From the first news of a change to its verdict.",
    "holdfast_drift_scanned_objects_total": "Objects decoded and judged when places were read.",
    "holdfast_drift_scan_seconds": "How long reading and judging one place took.",
    "holdfast_drift_finding_turns_total": "Findings opened, changed and closed.",
    "holdfast_drift_watch_restarts_total": "Streams that had to begin again, by kind.",
    "holdfast_drift_webhook_deliveries_total": "Events handed to the webhook: delivered, lost.",
}
"""Name to meaning; every metric has the label `stack`."""
