"""Credentials are found in every shape and nothing harmless is taken for one.

Every credential-shaped string here is put together at run time, so that scanners of repositories stay quiet.
"""

from __future__ import annotations

import base64
import random
import re
import string
import subprocess
import sys
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.credential_formats import formats, look_alikes
from benchmarks.secret_texts import credentials
from clawmem.model.safety.secrets.find import find_secret, find_secrets, redact
from clawmem.model.safety.secrets.rules import ADDRESS, INSIDE, STARTING

MIXED = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
DICE = random.Random(20261121)


def some(count: int, letters: str = MIXED) -> str:
    """Random letters, a digit among them."""
    body = "".join(DICE.choice(letters) for _ in range(count - 1))
    return body[: count // 2] + (DICE.choice("234567") if letters != string.ascii_letters else "x") + body[count // 2 :]


def b64(count: int) -> str:
    return base64.b64encode(DICE.randbytes(count)).decode()


def jwt() -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    return ".".join((part('{"alg":"HS256","typ":"JWT"}'), part('{"sub":"4711","name":"Jane"}'), some(43)))


def pem(kind: str, line: str = "\n") -> str:
    rows = [b64(48) for _ in range(6)]
    return line.join([f"-----BEGIN {kind}PRIVATE KEY-----", *rows, f"-----END {kind}PRIVATE KEY-----"])


def login(scheme: str, secret: str) -> str:
    return f"{scheme}://jane:{secret}@" + "db.acme.test/app"


POSITIVES: list[tuple[str, str]] = [
    ("aws-access-key", "AK" + "IA" + some(16, UPPER)),
    ("aws-access-key", "AS" + "IA" + some(16, UPPER)),
    ("aws-access-key", "AB" + "IA" + some(16, UPPER)),
    ("assigned-key", "aws_secret_access" + "_key = " + some(40, MIXED + "/+")),
    ("assigned-key", "AWS_SECRET_ACCESS" + "_KEY=" + some(40, MIXED + "/+")),
    ("random-token", "the other half is " + some(40)),
    ("google-api-key", "AI" + "za" + some(35, MIXED + "-_")),
    ("gcp-oauth", "GOC" + "SPX-" + some(28)),
    ("gcp-oauth", "ya" + "29.a0" + some(60, MIXED + "-_")),
    ("gcp-refresh-token", "1/" + "/0" + some(50, MIXED + "-_")),
    ("github-token", "gh" + "p_" + some(36)),
    ("github-token", "gh" + "o_" + some(36)),
    ("github-token", "gh" + "u_" + some(36)),
    ("github-token", "gh" + "s_" + some(36)),
    ("github-token", "gh" + "r_" + some(76)),
    ("github-pat", "github" + "_pat_" + some(22) + "_" + some(59)),
    ("gitlab-token", "gl" + "pat-" + some(20)),
    ("gitlab-token", "gl" + "rt-" + some(20)),
    ("gitlab-token", "gl" + "dt-" + some(20)),
    ("gitlab-runner-token", "GR" + "1348941" + some(20)),
    ("slack-token", "xo" + "xb-" + some(12, string.digits) + "-" + some(12, string.digits) + "-" + some(24)),
    ("slack-token", "xo" + "xp-" + some(12, string.digits) + "-" + some(32, HEX)),
    ("slack-app-token", "xa" + "pp-1-" + "A" + some(10, UPPER) + "-" + some(13, string.digits) + "-" + some(64, HEX)),
    ("slack-webhook", "https://hooks.slack" + ".com/services/" + f"T{some(9, UPPER)}/B{some(9, UPPER)}/{some(24)}"),
    ("stripe-key", "sk_" + "live_" + some(24)),
    ("stripe-key", "sk_" + "test_" + some(24)),
    ("stripe-key", "rk_" + "live_" + some(99)),
    ("stripe-webhook-secret", "wh" + "sec_" + some(32)),
    ("openai-key", "sk" + "-" + some(48)),
    ("openai-project-key", "sk" + "-proj-" + some(120, MIXED + "-_")),
    ("openai-project-key", "sk" + "-svcacct-" + some(60)),
    ("openrouter-key", "sk" + "-or-v1-" + some(64, HEX)),
    ("anthropic-key", "sk" + "-ant-api03-" + some(93, MIXED + "-_") + "AA"),
    ("anthropic-key", "sk" + "-ant-oat01-" + some(80)),
    ("azure-storage-key", "DefaultEndpointsProtocol=https;AccountName=acme;Account" + "Key=" + b64(64)),
    ("azure-storage-key", "Endpoint=sb://acme/;SharedAccess" + "Key=" + b64(32)),
    ("azure-sas", "https://acme.blob.test/x?sv=2026&si" + "g=" + some(43) + "%3D"),
    ("azure-client-secret", some(3) + "8Q" + "~" + some(34)),
    ("twilio-key", "S" + "K" + some(32, HEX)),
    ("sendgrid-key", "S" + "G." + some(22) + "." + some(43)),
    ("mailgun-key", "ke" + "y-" + some(32, HEX)),
    ("mailchimp-key", some(32, HEX) + "-u" + "s14"),
    ("npm-token", "np" + "m_" + some(36)),
    ("pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + some(120, MIXED + "-_")),
    ("rubygems-key", "rubyg" + "ems_" + some(48, HEX)),
    ("docker-token", "dckr" + "_pat_" + some(27)),
    ("huggingface-token", "h" + "f_" + some(34)),
    ("groq-key", "gs" + "k_" + some(52)),
    ("telegram-bot-token", some(10, string.digits) + ":A" + "A" + some(33, MIXED + "_")),
    ("discord-token", "M" + some(23) + "." + some(6) + "." + some(38)),
    ("discord-webhook", "https://discord.com/api/web" + "hooks/" + some(18, string.digits) + "/" + some(68)),
    ("digitalocean-token", "do" + "p_v1_" + some(64, HEX)),
    ("shopify-token", "shp" + "at_" + some(32, HEX)),
    ("databricks-token", "da" + "pi" + some(32, HEX)),
    ("vault-token", "hv" + "s." + some(24)),
    ("linear-key", "lin" + "_api_" + some(40)),
    ("grafana-token", "gl" + "sa_" + some(32) + "_" + some(8, HEX)),
    ("new-relic-key", "NR" + "AK-" + some(27, UPPER)),
    ("postman-key", "PM" + "AK-" + some(24, HEX) + "-" + some(34, HEX)),
    ("atlassian-token", "ATA" + "TT3" + some(60)),
    ("terraform-token", some(14) + ".atlas" + "v1." + some(67)),
    ("jwt", jwt()),
    ("bearer-token", "Authorization: Bear" + "er " + some(32)),
    ("basic-authorization", "Authorization: Bas" + "ic " + b64(24)),
    ("private-key", pem("RSA ")),
    ("private-key", pem("OPENSSH ")),
    ("private-key", pem("EC ")),
    ("private-key", pem("")),
    ("private-key", pem("ENCRYPTED ", line=" ")),
    ("private-key", pem("", line="\\n")),
    ("age-key", "AGE-SECRET" + "-KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".replace("1", ""))),
    ("url-password", login("https", "hunter22")),
    ("url-password", login("postgres", some(16))),
    ("url-password", login("mongodb+srv", some(16))),
    ("url-password", login("redis", "pw9" + some(4))),
    ("url-password", login("amqp", "s3cr3t!")),
    ("password", "pass" + "word = Sunny2024!"),
    ("password", "pass" + 'word: "opensesame!"'),
    ("password", "DB_PASS" + "WORD=tr0ub4dor&3"),
    ("password", "Server=db;User Id=sa;Pass" + "word=Kx82hsPq;Encrypt=yes"),
    ("password", "the wifi pass" + "word is Sunny2024"),
    ("password", "My pass" + "word was: blue-Horse7!"),
    ("password", "mysql --pass" + "word kx82hsPq"),
    ("password", "das Pass" + "wort: Sonne2024"),
    ("password", "the wifi pass" + "word is password123"),
    ("password", "my pass" + 'word is "password123"'),
    ("password", "wifi pass" + "word: test1234"),
    ("password", "pass" + 'word = "Password2024"'),
    ("password", "pass" + 'word = "mysunnykey77"'),
    ("password", '{\\"pass' + 'word\\": \\"kx82hsPq\\"}'),
    ("assigned-secret", "client_sec" + "ret=" + some(32)),
    ("assigned-secret", '"client_sec' + 'ret": "' + some(24) + '"'),
    ("assigned-token", "to" + "ken = " + some(40, HEX)),
    ("assigned-token", "curl --to" + "ken " + some(24)),
    ("assigned-key", "api" + "_key: " + some(32, HEX)),
    ("assigned-key", "X-Api" + "-Key: " + some(32)),
    ("assigned-key", "the API" + " key is " + some(24)),
]

HARMLESS = [
    "Jane works at Acme and prefers tea.",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixed it",
    "see 9fceb02 and 356a192b7913b04c54574d18c28d46e6395428ab",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "token: 550e8400-e29b-41d4-a716-446655440000",
    "request_id=6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "fact_1a2b3c4d supersedes fact_99aa88bb",
    "fact_1a2b3c4d5e6f708192a3b4c5d6e7f809",
    "token: fact_1a2b3c4d5e6f7081",
    "key: value",
    "the key point is the budget",
    "the key was under the doormat: 3rd from the left",
    "keyboard: mechanical, 87 keys",
    "monkey=banana",
    "primary_key=customer_id_2024",
    "sort key: created_at#2026-11-21T10:00:00Z",
    "The password policy asks for 12 characters.",
    "password must be changed every 90 days",
    "Password: required",
    "Password: 8-character minimum",
    "The password is required.",
    "The password is case-sensitive.",
    "The password is base64-encoded before it is sent",
    "The password was sha256-hashed",
    "password is stored in 1Password",
    "her password was reset on Monday",
    "password = changeme",
    "password=CHANGEME123",
    "password = your-password-here",
    "password: <password>",
    "password=${DB_PASSWORD}",
    "password = $DB_PASSWORD",
    "password={{ vault_password }}",
    "password=********",
    "password: xxxxxxxx",
    "password = getpass.getpass()",
    "password = os.environ['DB_PASSWORD']",
    "password = request.form['password']",
    "password = settings.DB_PASSWORD",
    "password=hashed_password",
    "User(name=name, password=new_password)",
    "provided_pass" + "word = 'secure_password123'",
    'return username == "user1" and pass' + 'word == "password123"',
    "login('user1', pass" + "word='wrong_password_1')",
    "pass" + 'word = "MySecretPassword123!"',
    '{"pass' + 'word": "test1234"}',
    "app.config['SECRET" + "_KEY'] = 'my-super-secret-key-123'",
    "api" + "_key = 'abc123def456'",
    "postgres://app:" + "password123@localhost/app",
    "password = None",
    "password: null",
    "if password == expected_password:",
    "password=/run/secrets/db_password",
    "set --password to skip the prompt",
    "the --username and --password options can be given",
    "passwd: files systemd",
    "pwd is /home/jane/projects",
    "api_key = your-api-key",
    "api_key: YOUR_API_KEY_GOES_HERE_123",
    "api_key=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "API key: ask Tom",
    "the api key is in the vault",
    "API_KEY=$(cat key.txt)",
    "api_key=process.env.API_KEY",
    "api_key: 00000000000000000000000000000000",
    "secret santa: Jane draws Tom in 2026",
    "the secret is out",
    "secret: none",
    "SECRET_NAME=prod-database-2026",
    "client_secret=<client-secret>",
    "client_secret: op://vault/item/field2024",
    "the secret of good bread is time: 24 hours",
    "token count: 4096",
    "max_tokens=4096",
    "tokens: 1234567",
    "token_type=bearer",
    "token expired: log in again",
    "next_token = None",
    "split_token = split_token[:-1]",
    "a bearer of bad news",
    "Authorization: Bearer <token>",
    "Authorization: Bearer YOUR_ACCESS_TOKEN_1234",
    "Authorization: Bearer $ACCESS_TOKEN_FROM_ENV",
    "Authorization: Basic auth is fine for tests",
    "AK" + "IAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AKIA is how such keys begin",
    "gh" + "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "gh" + "p_1234567890abcdefghijklmnopqrstuvwxyz",
    "ghp_ is the prefix of personal tokens",
    "sk-" + "your-api-key-here-xxxxxxxxxxxxxxxx",
    "sk-learn-pipelines-and-feature-unions-explained",
    "a risk-averse-and-well-planned-approach-to-2026",
    "task-management-and-follow-up-planning-2026",
    "sk_" + "test_xxxxxxxxxxxxxxxxxxxxxxxx",
    "xox" + "b-your-token-goes-here",
    "hooks.slack.com is blocked at the office",
    "hf_hub_download fetches a file",
    "npm_config_registry=https://registry.npmjs.org/",
    "pypi-publish is the name of the action",
    "SG. means Singapore here",
    "key-value stores are fast",
    "non-user facing, real-us1 region",
    "dp.notify and mfa.enabled are settings",
    "https://github.com/acme/project/blob/9fceb02d0ae598e95dc970b74767f19372d61af8/src/main.py",
    "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://example.com:8080/path and mail jane@acme.test",
    "postgres://user:password@localhost/app",
    "postgres://postgres:postgres@localhost:5432/app",
    "https://user:${TOKEN}@git.acme.test/repo.git",
    "https://user:<password>@git.acme.test/repo.git",
    "git@github.com:acme/project.git",
    "ssh://git@github.com:22/acme/project.git",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7Vd3kQx9mZ2bT4yHcJq1LpWsN8uFgRt5oXeYiKa0zDvBh jane@laptop",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4kV9xQ2mZ7bT1yHcLpWsN8uFgRt5oXeYiKa0zDvBhS jane@laptop",
    "SHA256:uNiVztksCsDhcc0u9e8BrmQxr2nnkFtoVQx6wzCbGQ4 (ED25519)",
    "integrity sha512-Vd3kQx9mZ2bT4yHcJq1LpWsN8uFgRt5oXeYiKa0zDvBhVd3kQx9mZ2bT4yHcJq1LpWsN8uFgRt5oXeYiKa0zDg==",
    "golang.org/x/text v0.3.7 h1:olpwvP2KacW1ZWvsR7uQhoyTYvKAupfQrRGBFM352Gk=",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg",
    "-----BEGIN PUBLIC KEY----- MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE -----END PUBLIC KEY-----",
    "-----BEGIN PRIVATE KEY----- is how such a file starts",
    "-----BEGIN CERTIFICATE-----",
    "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
    "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG is the address",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "0x742d35Cc6634C0532925a3b844Bc454e4438f44e",
    "AbstractSingletonProxyFactoryBeanConfigurationV2",
    "src/components/Dashboard/V2/ChartPanel/IndexView.tsx",
    "my-Project-2024-Report-Final-V2-For-Review-By-Jane",
    "test_user_can_reset_their_password_after_3_failed_logins",
    "CAFd8yQ2mZ7bT1yHcLpWsN8uFgRt5oXeYiKa0zDvBhS@mail.acme.test",
    "PHONE: +49 30 1234567, IBAN DE89 3704 0044 0532 0130 00",
    "2026-11-21T10:00:00Z to 2026-11-21T11:00:00Z",
    "Sie sagte: das Passwort: siehe Tresor",
    "She was İstanbul's best; password: see the safe",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "================================================================",
    "[redacted: github-token] was here, password = [redacted: password]",
    "",
]


def test_the_tables_are_as_large_as_they_should_be() -> None:
    assert len(POSITIVES) >= 60
    assert len({rule for rule, _ in POSITIVES}) >= 20
    assert len(set(HARMLESS)) >= 100


@pytest.mark.parametrize(("rule", "text"), POSITIVES, ids=[f"{n}-{rule}" for n, (rule, _) in enumerate(POSITIVES)])
def test_a_credential_is_found_in_a_sentence_and_redacted(rule: str, text: str) -> None:
    sentence = f"Jane said: {text} and left."
    found = find_secret(sentence)
    assert found is not None
    assert found.rule == rule
    assert sentence[found.start : found.end] in text
    cleaned = redact(sentence)
    assert f"[redacted: {rule}]" in cleaned
    assert cleaned.startswith("Jane said: ")
    assert cleaned.endswith(" and left.")
    assert find_secret(cleaned) is None


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_credential_passes(text: str) -> None:
    assert find_secret(text) is None
    assert redact(text) == text


def test_what_a_pattern_matches_has_a_literal_that_asks_for_the_pattern() -> None:
    """The literals stand beside the patterns, so a search that skips a pattern must miss nothing."""
    texts = [known.text for seed in range(3) for known in (*formats(seed), *look_alikes(seed))]
    texts += [known.text for known in credentials(each=2)]
    matched = set()
    for rule, parts, pattern in INSIDE:
        for found in re.finditer(pattern, "\n\n".join(texts)):
            assert any(part in found[0] for part in parts.split()), (rule, found[0])
            matched.add(rule)
    assert len(matched) >= 14
    assert all(parts == ADDRESS or ADDRESS not in parts for _, parts, _ in INSIDE)
    rules = [rule for rule, _, _ in (*STARTING, *INSIDE)]
    assert len(set(rules)) == len(rules)


def test_nothing_is_compiled_where_a_plain_sentence_is_looked_at() -> None:
    """Every command that writes looks at a text, and to compile all patterns takes many times as long."""
    text = (
        "import re, sys; real, seen = re.compile, []; re.compile = lambda *given: (seen.append(given), real(*given))[1]"
    )
    text += "; from clawmem.model.safety.secrets.find import find_secrets; before = len(seen)"
    text += "; assert find_secrets('Jane moved from Oslo to Rome in May 2026 and likes her flat.') == ()"
    text += "; print(len(seen) - before, 'clawmem.model.safety.secrets.search' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["0", "False"]


def test_several_are_found_in_order_and_each_is_redacted() -> None:
    first, second = "gh" + "p_" + some(36), "gl" + "pat-" + some(20)
    text = f"use {first} or {second}, not both"
    assert [text[match.start : match.end] for match in find_secrets(text)] == [first, second]
    assert redact(text) == "use [redacted: github-token] or [redacted: gitlab-token], not both"


def test_overlapping_rules_give_one_match_under_the_exact_rule() -> None:
    token = "gh" + "p_" + some(36)
    found = find_secrets("to" + f"ken = {token}")
    assert [match.rule for match in found] == ["github-token"]


def test_only_the_password_of_an_address_is_taken() -> None:
    text = login("postgres", "hunter22")
    assert redact(text) == "postgres://jane:[redacted: url-password]@db.acme.test/app"


def test_a_whole_private_key_is_taken() -> None:
    assert redact(f"here: {pem('RSA ')}\nthat was it") == "here: [redacted: private-key]\nthat was it"


def test_places_hold_after_letters_whose_lower_case_is_longer() -> None:
    text = "İİİ pass" + "word = Sunny2024!"
    assert redact(text) == "İİİ pass" + "word = [redacted: password]"


@given(st.text())
def test_any_text_is_searched_and_redaction_is_stable(text: str) -> None:
    matches = find_secrets(text)
    assert all(0 <= match.start < match.end <= len(text) for match in matches)
    assert all(match.end <= other.start for match, other in pairwise(matches))
    assert redact(redact(text)) == redact(text)


@given(st.sampled_from(POSITIVES), st.text(" abcdefghij.,\n", max_size=60), st.text(" abcdefghij.,\n", max_size=60))
def test_a_credential_is_found_wherever_it_stands(positive: tuple[str, str], before: str, after: str) -> None:
    assert find_secret(f"{before} {positive[1]} {after}") is not None


# Texts that make careless patterns take the square of the time.
HARD = """
Jane_works. sk- eyJ- password= password_is_ aB3+xY9z ://a:b@ :// 12345678:AA 0a-us1 aaa8Q~ a MMMMM. api_key:_ xoxb-
-----BEGIN_PRIVATE_KEY----- -----BEGIN_ bearer_ gl key_ SG.aaaaaaaaaaaaaaaaaa.
-----BEGIN_PRIVATE_KEY-----_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
""".split()


@pytest.mark.soak
@pytest.mark.parametrize("unit", HARD)
def test_a_long_text_takes_linear_time(unit: str) -> None:
    text = unit.replace("_", " ") * (400_000 // len(unit))
    quarter = min(_seconds(text[:100_000]) for _ in range(2))
    assert _seconds(text) < max(0.5, 10 * quarter)


def _seconds(text: str) -> float:
    start = time.process_time()
    find_secrets(text)
    return time.process_time() - start


def test_two_codes_are_codes_and_one_is_not() -> None:
    assert find_secret("recovery codes: 8f3k2k9d, 7h2j9d8s")
    assert find_secret("recovery codes: 8f3k2k9d") is None
