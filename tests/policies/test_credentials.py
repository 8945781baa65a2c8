"""Credentials are known by their issuers' shapes, or by a name that promises one; words are not."""

import pytest
from holdfast_policies.facts.credentials import credentials_in, known_credential, named_credential

WORD = "a1B2c3D4e5F6g7H8i9J0" * 4
HEX = "0123456789abcdef" * 4
SHAPES = [
    ("an Anthropic key", "sk-ant-" + WORD),
    ("an OpenAI key", "sk-proj-" + WORD),
    ("an AWS access key", "AKIA" + "A1B2C3D4E5F6G7H8"),
    ("a GitHub token", "ghs_" + WORD),
    ("a GitHub token", "github_pat_" + WORD),
    ("a GitLab token", "glpat-" + WORD),
    ("a Google key", "AIza" + WORD[:35]),
    ("a Google client secret", "GOCSPX-" + WORD[:28]),
    ("a Hugging Face token", "hf_" + WORD),
    ("a Slack token", "xoxb-" + WORD),
    ("a Slack webhook", "https://hooks.slack.com/services/T0/B0/" + WORD),
    ("a Stripe key", "sk_live_" + WORD),
    ("an npm token", "npm_" + WORD[:36]),
    ("a PyPI token", "pypi-AgEI" + WORD),
    ("a SendGrid key", f"SG.{WORD[:22]}.{WORD[:43]}"),
    ("a DigitalOcean token", "dop_v1_" + HEX),
    ("a Databricks token", "dapi" + HEX[:32]),
    ("a Groq key", "gsk_" + WORD),
    ("an xAI key", "xai-" + WORD),
    ("a Perplexity key", "pplx-" + WORD),
    ("a Replicate token", "r8_" + WORD[:37]),
    ("a LangSmith key", f"lsv2_pt_{HEX[:32]}_{HEX[:10]}"),
    ("a Pulumi token", "pul-" + HEX[:40]),
    ("a Vault token", "hvs." + WORD),
    ("a Telegram bot token", "12345678:AA" + WORD[:33]),
    ("an age key", "AGE-SECRET-KEY-1" + WORD[:58].upper()),
    ("a JSON Web Token", ".".join(["eyJ" + WORD, "eyJ" + WORD, WORD])),
    ("an Azure account key", f"AccountKey={(WORD * 2)[:86]}=="),
    ("a private key", "-----BEGIN RSA PRIVATE KEY-----"),
    ("a password in a URL", "postgres://user:" + "hunter22" + "@db:5432/x"),
]


@pytest.mark.parametrize(("label", "text"), SHAPES, ids=[text[:12] for _, text in SHAPES])
def test_a_credential_is_known_by_its_shape_wherever_it_stands(label: str, text: str) -> None:
    assert known_credential(text) == label
    assert known_credential(f"export KEY='{text}'\n") == label


@pytest.mark.parametrize(
    "text",
    ["a single disk-based task", "https://kb.example.com/mcp", "postgres://user:$(PASSWORD)@db/x"],
)
def test_words_addresses_and_references_are_not_credentials(text: str) -> None:
    assert known_credential(text) == ""
    assert list(credentials_in(text)) == []


def test_a_name_that_promises_a_credential_makes_random_text_one() -> None:
    random = "q8Zr2LmX0vT5nB7c"
    assert named_credential("SERVICE_TOKEN", random) == "a credential"
    assert named_credential("SERVICE_NAME", random) == ""
    assert list(credentials_in(f"url: x\nservice_token: {random}\n")) == ["a credential"]
    assert list(credentials_in("the token: see the vault")) == []
