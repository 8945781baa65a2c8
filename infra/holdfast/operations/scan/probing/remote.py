"""Probes that ask over HTTP: an agent for its card, a provider for the model behind a name."""

from collections.abc import Mapping
from typing import Any

from holdfast.adapters.http.http_answer import UnansweredError, get_json
from holdfast.drift.probes.answers import CARD_PATH, ExpectedModel, judge_card, judge_model
from holdfast.drift.probes.outcome import Outcome, Subject, unknown


def probe_card(
    subject: Subject, declared: Mapping[str, Any], address: str, headers: Mapping[str, str]
) -> Outcome:
    """Ask an agent for its card, and compare."""
    url = address.rstrip("/") + CARD_PATH
    try:
        served = get_json(url, headers)
    except UnansweredError as error:
        return unknown(subject, "agent card", str(error))
    if not isinstance(served, dict):
        return unknown(subject, "agent card", f"{url} answers no JSON object")
    return judge_card(subject, declared, served)


def probe_model(subject: Subject, model: ExpectedModel, headers: Mapping[str, str]) -> Outcome:
    """Ask what a name stands for, and compare."""
    what = f"model {model.name}"
    if not model.address:
        reason = f"no Models API is known of provider {model.provider}: declare its baseUrl"
        return unknown(subject, what, reason)
    try:
        answer = get_json(model.address, headers)
    except UnansweredError as error:
        return unknown(subject, what, str(error))
    return judge_model(subject, model, answer)
