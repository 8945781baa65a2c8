"""Notices as OpenReports objects (`openreports.io/v1alpha1`), which policy dashboards read.

One Report a namespace and one ClusterReport for the rest, in a v1 List that kubectl applies.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from holdfast.kube.objects import ObjectRef
from holdfast.report.documents.json_text import json_text
from holdfast.report.exchange.notice import Notice, NoticeReport, Passed

API_VERSION: Final = "openreports.io/v1alpha1"
SOURCE: Final = "holdfast"
_NO_NAME: Final = re.compile("[^a-z0-9-]")


def openreports(report: NoticeReport) -> str:
    """A v1 List, one document, ending in a line end.

    What could not be checked is an `error` result of the ClusterReport: without it, a reader of
    the other reports would take the silence for a pass.
    """
    by_namespace: dict[str, list[dict[str, Any]]] = {"": []}
    for notice in report.notices:
        by_namespace.setdefault(notice.ref.namespace, []).append(_result(notice, report))
    for passed in report.passed:
        by_namespace.setdefault(passed.ref.namespace, []).append(_passed(passed, report))
    cluster_wide = by_namespace.pop("")
    cluster_wide += [
        {
            "source": SOURCE,
            "policy": _policy(report),
            "rule": "not-checked",
            "result": "error",
            "scored": True,
            "message": f"not checked: {item.scope}: {item.reason}",
            **_timestamp(report),
        }
        for item in report.not_checked
    ]
    items = [_object(report, "", cluster_wide)]
    items += [_object(report, each, by_namespace[each]) for each in sorted(by_namespace)]
    document = {"apiVersion": "v1", "kind": "List", "items": items}
    return json_text(document)


def _policy(report: NoticeReport) -> str:
    return report.identifier.partition("/")[0]


def _object(
    report: NoticeReport, namespace: str, results: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    counts = Counter(each["result"] for each in results)
    metadata: dict[str, Any] = {
        "name": f"holdfast-{_NO_NAME.sub('-', report.identifier.lower())}",
        "labels": {"app.kubernetes.io/managed-by": "holdfast"},
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Report" if namespace else "ClusterReport",
        "metadata": metadata | ({"namespace": namespace} if namespace else {}),
        "source": SOURCE,
        "summary": {each: counts[each] for each in ("pass", "fail", "warn", "error", "skip")},
        "results": list(results),
    }


def _result(notice: Notice, report: NoticeReport) -> dict[str, Any]:
    properties = {f"{at:02}-{fact.label}": fact.text for at, fact in enumerate(notice.facts)}
    properties |= {"fingerprint": notice.fingerprint, "agent": notice.agent}
    return {
        "source": SOURCE,
        "policy": _policy(report),
        "rule": notice.rule,
        "severity": notice.severity.value,
        # Remarks and advice are no failures; `warn` counts as unscored, which low findings are not.
        "result": "fail" if notice.is_failure else "warn",
        "scored": notice.is_failure,
        "message": notice.headline,
        "resources": [_resource(notice.ref, notice.path)],
        "properties": {key: value for key, value in properties.items() if value},
        **_timestamp(report),
    }


def _passed(passed: Passed, report: NoticeReport) -> dict[str, Any]:
    """One result for all rules that an object passed: one a rule would outgrow what etcd takes."""
    return {
        "source": SOURCE,
        "policy": _policy(report),
        "result": "pass",
        "scored": True,
        "message": passed.words,
        "resources": [_resource(passed.ref)],
        "properties": {"rules": ",".join(passed.rules)},
        **_timestamp(report),
    }


def _resource(ref: ObjectRef, path: str = "") -> dict[str, str]:
    resource = {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "fieldPath": path,
    }
    return {key: value for key, value in resource.items() if value}


def _timestamp(report: NoticeReport) -> dict[str, Any]:
    if not report.observed_at:
        return {}
    seconds = int(datetime.fromisoformat(report.observed_at).timestamp())
    return {"timestamp": {"seconds": seconds, "nanos": 0}}
