"""One text of every kind of credential in use, and texts that only look so, generated from a seed.

The formats are those that the vendors document: prefix, alphabet and length. Each text is written as a person or a tool
would write it. The secret in it stands between two marks, which `formats` takes out; its letters are random, so no
credential stands in the repository.

A kind belongs to the open part or to the held part by a hash of its name. The rules were written against the open part
and what is known of the kinds; the held part was first run when the rules were done.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import uuid
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.secret_texts import B32, HEX, MIXED, SAFE, UPPER, Dice

LOW = "abcdefghijklmnopqrstuvwxyz0123456789"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
B58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
START, END = "\N{LEFT WHITE SQUARE BRACKET}", "\N{RIGHT WHITE SQUARE BRACKET}"
OPEN, HELD = "open", "held"
# Words of the public list from which wallets take recovery phrases.
_PHRASE = (
    "abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid"
    " acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult advance"
    " advice aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm album alcohol alert"
    " alien all alley allow almost alone alpha already also alter always amateur amazing among amount amused analyst"
    " zebra zero zone zoo youth young yellow year wrong write wrist wreck world word wool wood woman wolf witness"
).split()


class Format(NamedTuple):
    """A text of one kind, and the credential in it (None where there is none)."""

    kind: str
    part: str
    text: str
    secret: str | None


def _uuid(dice: Dice) -> str:
    return str(uuid.UUID(bytes=dice.chance.randbytes(16), version=4))


def _url64(record: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(record).encode()).decode().rstrip("=")


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _rows(dice: Dice, count: int = 6) -> str:
    return "\n".join(["MII" + dice.bytes(48)[3:], *(dice.bytes(48) for _ in range(count))])


def _fullwidth(text: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) if letter.isascii() and letter.isalnum() else letter for letter in text)


def _made(dice: Dice) -> str:
    """A password as people make them up."""
    return dice.one("Sommer", "tiger", "Blau", "moon", "Kaffee", "river") + dice.number(3) + dice.one(*"!?*+#")


def _word(dice: Dice) -> str:
    """A password that is a plain word."""
    return dice.one("Sommerregen", "Apfelbaum", "Mitternacht", "Kirschkuchen", "Donnerstag", "Butterblume")


def _phrase(dice: Dice, count: int) -> str:
    return " ".join(dice.one(*_PHRASE) for _ in range(count))


Make = Callable[[Dice], str]


def _token(prefix: str, count: int, letters: str = MIXED, after: str = "", carrier: str = "{}") -> Make:
    return lambda d: carrier.format(f"{START}{prefix}{d.some(count, letters)}{after}{END}")


def _said(carrier: str, make: Make) -> Make:
    return lambda d: carrier.format(START + make(d) + END)


CREDENTIALS: dict[str, Make] = {
    "aws secret key": _said("aws_secret_access_key = {}", lambda d: d.some(40, MIXED + "/+")),
    "aws session token": _said("AWS_SESSION_TOKEN={}", lambda d: "FwoGZXIvYXdzE" + d.bytes(150)),
    "aws access key": _token("AKIA", 16, B32, carrier="new key for the bucket: {}"),
    "aws bedrock key": _said("bedrock: {}", lambda d: "ABSKQmVkcm9ja0FQSUtleS" + d.some(110, MIXED + "+/")),
    "1password secret key": _said(
        "Secret Key: {}",
        lambda d: "A3-" + "-".join(d.some(n, UPPER) for n in (6, 6, 5, 5, 5, 5)),
    ),
    "1password service account": _said("OP={}", lambda d: "ops_" + _url64({"email": d.some(190), "d": d.some(60)})),
    "adafruit io key": _token("aio_", 28, carrier="ADAFRUIT {}"),
    "adobe client secret": _token("p8e-", 32, LOW + "ABCDEF", carrier="adobe secret {}"),
    "age key": _token("AGE-SECRET-KEY-1", 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "airtable token": _said("the base uses {}", lambda d: "pat" + d.some(14) + "." + d.some(64, HEX)),
    "airtable legacy key": _token("key", 14, carrier="AIRTABLE_API_KEY={}"),
    "algolia admin key": _token("", 32, HEX, carrier="ALGOLIA_ADMIN_KEY={}"),
    "alibaba access key": _token("LTAI", 20, carrier="aliyun id {}"),
    "anthropic key": _token("sk-ant-api03-", 93, SAFE, "AA", "ANTHROPIC {}"),
    "apify token": _token("apify_api_", 36),
    "artifactory key": _token("AKCp", 69, carrier="X-JFrog-Art-Api {}"),
    "artifactory reference token": _token("cmVmdGtuOjAxOj", 50),
    "asana token": _said("asana {}", lambda d: f"2/{d.number(16)}/{d.number(16)}:{d.some(32, HEX)}"),
    "asana old token": _said("asana {}", lambda d: f"1/{d.number(16)}:{d.some(32, HEX)}"),
    "atlassian token": _said("jira: {}", lambda d: "ATATT3xFfGF0" + d.some(172, SAFE) + "=" + d.some(8, UPPER)),
    "bitbucket app password": _token("ATBB", 32),
    "trello token": _token("ATTA", 72, HEX),
    "azure client secret": _said("AZ {}", lambda d: d.some(3) + "8Q~" + d.some(34)),
    "azure devops token": _token("", 52, "abcdefghijklmnopqrstuvwxyz234567", carrier="AZURE_DEVOPS_EXT_PAT={}"),
    "azure openai key": _token("", 32, HEX, carrier="AZURE_OPENAI_API_KEY={}"),
    "azure storage key": _said("AccountName=acme;AccountKey={}", lambda d: d.bytes(64)),
    "beamer key": _token("b_", 44, SAFE, carrier="beamer_api_key: {}"),
    "buildkite token": _token("bkua_", 40, HEX),
    "buildkite agent token": _token("bkct_", 40, HEX, carrier="agent started with {}"),
    "circleci token": _said("{}", lambda d: "CCIPAT_" + d.some(22) + "_" + d.some(40, HEX)),
    "cloudflare api token": _token("", 40, SAFE, carrier="CLOUDFLARE_API_TOKEN={}"),
    "cloudflare origin key": _said("{}", lambda d: "v1.0-" + d.some(24, HEX) + "-" + d.some(146, HEX)),
    "cloudinary address": _said("cloudinary://" + "582934827384512:{}@acme", lambda d: d.some(27, SAFE)),
    "clojars token": _token("CLOJARS_", 60, HEX),
    "codecov token": _said("CODECOV_TOKEN={}", _uuid),
    "cohere key": _token("", 40, carrier="CO_API_KEY={}"),
    "confluent secret": _token("", 64, MIXED + "/+", carrier="CONFLUENT_CLOUD_API_SECRET={}"),
    "contentful token": _token("CFPAT-", 43, SAFE),
    "databricks token": _token("dapi", 32, HEX, "-2"),
    "datadog key": _token("", 32, HEX, carrier="DD_API_KEY={}"),
    "deepseek key": _token("sk-", 32, HEX, carrier="deepseek gave me {}"),
    "digitalocean token": _token("dop_v1_", 64, HEX),
    "discord bot token": _said("{}", lambda d: "MT" + d.some(24) + "." + d.some(6) + "." + d.some(38, SAFE)),
    "discord webhook": _said("{}", lambda d: f"https://discord.com/api/webhooks/{d.number(18)}/{d.some(68, SAFE)}"),
    "docker token": _token("dckr_pat_", 27, SAFE),
    "docker auths": _said(
        '{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{}"}}}}}}', lambda d: _b64("jane:" + d.some(10))
    ),
    "doppler token": _token("dp.st.dev.", 43),
    "dropbox token": _token("sl.", 135, SAFE),
    "duffel token": _token("duffel_live_", 43, SAFE),
    "dynatrace token": _said("{}", lambda d: "dt0c01." + d.some(24, UPPER) + "." + d.some(64, UPPER)),
    "easypost key": _token("EZAK", 54),
    "elastic cloud key": _token("essu_", 64),
    "elevenlabs key": _token("sk_", 48, HEX, carrier="ElevenLabs: {}"),
    "e2b key": _token("e2b_", 40, HEX),
    "facebook token": _token("EAAG", 150, MIXED, carrier="page token {}"),
    "figma token": _token("figd_", 40, SAFE),
    "firebase server key": _said("{}", lambda d: "AAAA" + d.some(7) + ":APA91b" + d.some(134, SAFE)),
    "firecrawl key": _token("fc-", 32, HEX),
    "flutterwave key": _token("FLWSECK-", 32, HEX, "-X"),
    "fly.io token": _token("fo1_", 43, SAFE),
    "fly.io macaroon": _said("FlyV1 {}", lambda d: "fm2_" + d.bytes(120)),
    "frame.io token": _token("fio-u-", 64, SAFE),
    "google api key": _token("AIza", 35, SAFE),
    "google oauth secret": _token("GOCSPX-", 28, SAFE),
    "google service account": lambda d: (
        '{"type": "service_account", "private_key": "'
        + START
        + "-----BEGIN PRIVATE KEY-----\\n"
        + _rows(d).replace("\n", "\\n")
        + "\\n-----END PRIVATE KEY-----\\n"
        + END
        + '"}'
    ),
    "ghost admin key": _said("ghost admin api key: {}", lambda d: d.some(24, HEX) + ":" + d.some(64, HEX)),
    "gitea token": _token("", 40, HEX, carrier="GITEA_TOKEN={}"),
    "github token": _token("ghp_", 36),
    "github fine-grained token": _said("{}", lambda d: "github_pat_" + d.some(22) + "_" + d.some(59)),
    "gitlab token": _token("glpat-", 20, SAFE),
    "gitlab pipeline trigger": _token("glptt-", 40, HEX),
    "gocardless token": _token("live_", 40, SAFE, carrier="GOCARDLESS_ACCESS_TOKEN={}"),
    "grafana service account": _said("{}", lambda d: "glsa_" + d.some(32) + "_" + d.some(8, HEX)),
    "grafana legacy key": _said("{}", lambda d: "eyJrIjoi" + d.some(86) + "=="),
    "groq key": _token("gsk_", 52),
    "harness token": _said("{}", lambda d: "pat." + d.some(22, SAFE) + "." + d.some(24, HEX) + "." + d.some(20)),
    "hashicorp vault token": _token("hvs.", 95, SAFE),
    "hashicorp vault old token": _token("s.", 24, carrier="VAULT_TOKEN={}"),
    "heroku key": _token("HRKU-AA", 58, SAFE),
    "heroku old key": _said("HEROKU_API_KEY={}", _uuid),
    "hubspot token": _said("{}", lambda d: "pat-na1-" + _uuid(d)),
    "hugging face token": _token("hf_", 34),
    "infracost key": _token("ico-", 32),
    "intercom token": _said("INTERCOM_ACCESS_TOKEN={}", lambda d: _b64("tok:" + _uuid(d) + ":1:0")),
    "intra42 secret": _token("s-s4t2ud-", 64, HEX),
    "json web token": _said(
        "{}", lambda d: _url64({"alg": "HS256", "typ": "JWT"}) + "." + _url64({"sub": d.number(9)}) + "." + d.some(43)
    ),
    "kubeconfig key": _said("    client-key-data: {}", lambda d: _b64("-----BEGIN RSA PRIVATE KEY-----\n" + _rows(d))),
    "kubeconfig token": _token("", 44, carrier="users:\n- name: ci\n  user:\n    token: {}"),
    "kubernetes secret": _said("kind: Secret\ndata:\n  db-password: {}", lambda d: _b64(d.some(18))),
    "langsmith key": _said("{}", lambda d: "lsv2_pt_" + d.some(32, HEX) + "_" + d.some(10, HEX)),
    "langfuse key": _said("{}", lambda d: "sk-lf-" + _uuid(d)),
    "launchdarkly key": _said("{}", lambda d: "sdk-" + _uuid(d)),
    "linear key": _token("lin_api_", 40),
    "linear oauth": _token("lin_oauth_", 64, HEX),
    "lob key": _token("live_", 35, HEX, carrier="LOB_API_KEY={}"),
    "mailchimp key": _token("", 32, HEX, "-us14"),
    "mailgun key": _token("key-", 32, HEX),
    "mailgun new key": _said(
        "MAILGUN_API_KEY={}", lambda d: d.some(32, HEX) + "-" + d.some(8, HEX) + "-" + d.some(8, HEX)
    ),
    "mapbox secret token": _said("{}", lambda d: "sk." + _url64({"u": "jane", "a": d.some(25)}) + "." + d.some(22)),
    "maxmind key": _said("{}", lambda d: d.some(6) + "_" + d.some(29) + "_mmk"),
    "mistral key": _token("", 32, carrier="MISTRAL_API_KEY={}"),
    "mongodb address": _said("mongodb+srv://jane:{}@cluster0.acme.mongodb.net/app", lambda d: d.some(16)),
    "neon key": _token("napi_", 64, LOW),
    "netlify token": _token("nfp_", 36),
    "new relic user key": _token("NRAK-", 27, UPPER),
    "new relic insert key": _token("NRII-", 32, SAFE),
    "new relic license key": _token("", 36, HEX, "FFFFNRAL", "{}"),
    "ngrok token": _said("ngrok config add-authtoken {}", lambda d: "2" + d.some(26) + "_" + d.some(21)),
    "notion token": _token("ntn_", 46),
    "notion old token": _token("secret_", 43),
    "npm token": _token("npm_", 36),
    "npmrc uuid token": _said("//registry.npmjs.org/:_authToken={}", _uuid),
    "npmrc password": _said("//npm.acme.test/:_password={}", lambda d: _b64(d.some(14))),
    "nuget key": _token("oy2", 43, LOW),
    "nvidia key": _token("nvapi-", 64, SAFE),
    "octopus deploy key": _token("API-", 26, UPPER),
    "okta token": _token("00", 40, SAFE, carrier="Authorization: SSWS {}"),
    "openai key": _said("{}", lambda d: "sk-proj-" + d.some(74, SAFE) + "T3BlbkFJ" + d.some(74, SAFE)),
    "openai old key": _said("{}", lambda d: "sk-" + d.some(20) + "T3BlbkFJ" + d.some(20)),
    "openrouter key": _token("sk-or-v1-", 64, HEX),
    "openshift token": _token("sha256~", 43, SAFE, carrier="oc login --token={}"),
    "opsgenie key": _said("Authorization: GenieKey {}", _uuid),
    "pagerduty key": _token("u+", 18, SAFE, carrier="PAGERDUTY_API_KEY={}"),
    "paypal access token": _said("{}", lambda d: "access_token$production$" + d.some(16, LOW) + "$" + d.some(32, HEX)),
    "paypal client secret": _token("E", 79, SAFE, carrier="PAYPAL_CLIENT_SECRET={}"),
    "perplexity key": _token("pplx-", 48),
    "pinecone key": _said("{}", lambda d: "pcsk_" + d.some(6) + "_" + d.some(63)),
    "plaid token": _said("{}", lambda d: "access-production-" + _uuid(d)),
    "planetscale token": _token("pscale_tkn_", 43, SAFE),
    "posthog key": _token("phx_", 43),
    "postman key": _said("{}", lambda d: "PMAK-" + d.some(24, HEX) + "-" + d.some(34, HEX)),
    "prefect key": _token("pnu_", 36),
    "private key block": lambda d: (
        START + "-----BEGIN RSA PRIVATE KEY-----\n" + _rows(d) + "\n-----END RSA PRIVATE KEY-----" + END
    ),
    "private key without its head": lambda d: (
        "the rest of it:\n" + START + _rows(d, 9) + "\n-----END RSA PRIVATE KEY-----" + END
    ),
    "private key rows alone": lambda d: "id_rsa was\n" + START + _rows(d, 9) + END,
    "pgp private key": lambda d: (
        START + "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + _rows(d) + "\n-----END PGP PRIVATE KEY BLOCK-----" + END
    ),
    "pulumi token": _token("pul-", 40, HEX),
    "pypi token": _token("pypi-AgEIcHlwaS5vcmc", 130, SAFE),
    "rabbitmq address": _said("amqps://svc:{}@mq.acme.test:5671", lambda d: d.some(12)),
    "rapidapi key": _said(
        "x-rapidapi-key: {}",
        lambda d: d.some(10, HEX) + "msh" + d.some(15, HEX) + "p1" + d.some(6, HEX) + "jsn" + d.some(12, HEX),
    ),
    "readme key": _token("rdme_", 70, LOW),
    "redis address": _said("redis://:{}@cache.acme.test:6379/0", lambda d: d.some(20)),
    "render key": _token("rnd_", 32),
    "replicate token": _token("r8_", 37),
    "resend key": _said("{}", lambda d: "re_" + d.some(8) + "_" + d.some(24)),
    "rubygems key": _token("rubygems_", 48, HEX),
    "runpod key": _token("rpa_", 46),
    "scaleway key": _said("SCW_SECRET_KEY={}", _uuid),
    "scalingo token": _token("tk-us-", 48, SAFE),
    "sendgrid key": _said("{}", lambda d: "SG." + d.some(22, SAFE) + "." + d.some(43, SAFE)),
    "sendinblue key": _said("{}", lambda d: "xkeysib-" + d.some(64, HEX) + "-" + d.some(16)),
    "sentry org token": _said(
        "{}", lambda d: "sntrys_" + _url64({"iat": 17, "url": "x" + d.some(60)}) + "_" + d.some(43)
    ),
    "sentry user token": _token("sntryu_", 64, HEX),
    "shippo token": _token("shippo_live_", 40, HEX),
    "shopify token": _token("shpat_", 32, HEX),
    "slack bot token": _said("{}", lambda d: f"xoxb-{d.number(12)}-{d.number(12)}-{d.some(24)}"),
    "slack app token": _said("{}", lambda d: f"xapp-1-A{d.some(10, UPPER)}-{d.number(13)}-{d.some(64, HEX)}"),
    "slack configuration token": _token("xoxe.xoxp-1-", 140, carrier="{}"),
    "slack webhook": _said(
        "{}", lambda d: f"https://hooks.slack.com/services/T{d.some(8, UPPER)}/B{d.some(9, UPPER)}/{d.some(24)}"
    ),
    "snyk token": _said("SNYK_TOKEN={}", _uuid),
    "sonarqube token": _token("squ_", 40, HEX),
    "sourcegraph token": _token("sgp_", 40, HEX),
    "square token": _token("EAAAE", 59, SAFE, carrier="square {}"),
    "stripe key": _token("sk_live_", 24),
    "stripe webhook secret": _token("whsec_", 32),
    "sumo logic key": _token("", 64, carrier="SUMOLOGIC_ACCESS_KEY={}"),
    "supabase token": _token("sbp_", 40, HEX),
    "supabase secret key": _said("{}", lambda d: "sb_secret_" + d.some(22, SAFE) + "_" + d.some(8)),
    "tailscale key": _said("{}", lambda d: "tskey-auth-" + d.some(16) + "-" + d.some(32)),
    "tavily key": _token("tvly-", 32),
    "teams webhook": _said(
        "{}",
        lambda d: (
            f"https://acme.webhook.office.com/webhookb2/{_uuid(d)}@{_uuid(d)}/IncomingWebhook/{d.some(32, HEX)}/"
            + _uuid(d)
        ),
    ),
    "telegram bot token": _said("{}", lambda d: d.number(10) + ":AA" + d.some(33, SAFE)),
    "terraform token": _said("{}", lambda d: d.some(14) + ".atlasv1." + d.some(67)),
    "together key": _token("tgp_v1_", 43, SAFE),
    "travis token": _token("", 22, SAFE, carrier="TRAVIS_API_TOKEN={}"),
    "twilio auth token": _token("", 32, HEX, carrier="TWILIO_AUTH_TOKEN={}"),
    "twilio key": _token("SK", 32, HEX),
    "twitch oauth": _token("oauth:", 30, LOW, carrier="twitch pass {}"),
    "twitter bearer": _said("{}", lambda d: "A" * 22 + d.some(20) + "%2F" + d.some(40) + "%3D" + d.some(20)),
    "typeform token": _token("tfp_", 59, SAFE),
    "vercel token": _token("", 24, carrier="VERCEL_TOKEN={}"),
    "weights and biases key": _token("", 40, HEX, carrier="WANDB_API_KEY={}"),
    "xai key": _token("xai-", 80),
    "yandex key": _token("AQVN", 36, SAFE),
    "zapier hook": _said("https://hooks.zapier.com/hooks/catch/{}/", lambda d: d.number(8) + "/" + d.some(7, LOW)),
    # Credentials by the place where they stand.
    "netrc": _said("machine api.acme.test login jane password {}", _made),
    "netrc rows": _said("machine api.acme.test\n  login jane\n  password {}\n", lambda d: d.some(12, LOW)),
    "curl user": _said("curl -s -u jane:{} https://api.acme.test/v1/me", lambda d: d.some(11)),
    "curl long user": _said("curl --user 'jane:{}' https://api.acme.test", _made),
    "wget password": _said("wget --http-user=jane --http-password={} https://x.test", _made),
    "mysql option": _said("mysql -u root -p{} shop", lambda d: d.some(10)),
    "mysqldump option": _said("mysqldump -h db -uroot -p{} shop > a.sql", _made),
    "sshpass": _said("sshpass -p {} ssh jane@host.test", lambda d: d.some(10)),
    "sshpass quoted": _said("sshpass -p '{}' scp a jane@host.test:", _made),
    "docker login": _said("docker login -u jane -p {} ghcr.io", lambda d: d.some(16)),
    "PGPASSWORD": _said("PGPASSWORD={} psql -h db shop", lambda d: d.some(9, LOW)),
    "pgpass": _said("db.acme.test:5432:shop:jane:{}", lambda d: d.some(12)),
    "redis cli": _said("redis-cli -h cache -a {} ping", lambda d: d.some(16)),
    "smbclient": _said("smbclient //nas/share -U jane%{}", lambda d: d.some(10)),
    "htpasswd hash": _said("jane:{}", lambda d: "$apr1$" + d.some(8) + "$" + d.some(22)),
    "shadow line": _said("root:{}:19700:0:99999:7:::", lambda d: "$6$" + d.some(16) + "$" + d.some(86)),
    "wp-config": _said("define('DB_PASSWORD', '{}');", _made),
    "DB_PASS": _said("DB_PASS={}", lambda d: d.some(10)),
    "smtp_pass": _said("smtp_pass = {}", _made),
    "xml password": _said("<user>jane</user><password>{}</password>", lambda d: d.some(9)),
    "xml attribute": _said('<add name="db" password="{}" />', _made),
    "maven settings": _said("<server><id>c</id><passphrase>{}</passphrase></server>", lambda d: d.some(14)),
    "jdbc address": _said("jdbc:postgresql://db/shop?user=jane&password={}", lambda d: d.some(12)),
    "ado connection": _said("Server=db;Database=shop;Uid=sa;Pwd={};", _made),
    "ansible variable": _said("ansible_become_pass: {}", lambda d: d.some(10)),
    "ansible ssh": _said("ansible_ssh_pass='{}'", _made),
    "wpa supplicant": _said('network={{\n ssid="home"\n psk="{}"\n}}', lambda d: d.some(12)),
    "wireguard key": _said("[Interface]\nPrivateKey = {}", lambda d: d.bytes(32)),
    "django key": _said("SECRET_KEY = 'django-insecure-{}'", lambda d: d.some(50, LOW + "!@#$%^&*(-_=+)")),
    "rails master key": _token("", 32, HEX, carrier="RAILS_MASTER_KEY={}"),
    "jwt secret": _said("JWT_SECRET={}", lambda d: d.some(24)),
    "json web key": _said('{{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2", "d": "{}"}}', lambda d: d.some(43, SAFE)),
    "otpauth": _said("otpauth://totp/acme:jane?secret={}&issuer=acme", lambda d: d.some(32, B32)),
    "totp seed": _said("my 2FA secret is {}", lambda d: " ".join(d.some(4, B32) for _ in range(8))),
    "sas address": _said("https://acme.blob.core.windows.net/x?sv=2026-01-01&sig={}", lambda d: d.some(43) + "%3D"),
    "s3 signed address": _said(
        "https://b.s3.amazonaws.com/a?X-Amz-Signature={}&X-Amz-Expires=3600", lambda d: d.some(64, HEX)
    ),
    "basic header": _said("Authorization: Basic {}", lambda d: _b64("jane:" + d.some(14))),
    "bearer header": _said("-H 'Authorization: Bearer {}'", lambda d: d.some(40)),
    "api key header": _said("X-Api-Key: {}", lambda d: d.some(32)),
    "cookie": _said("Cookie: sessionid={}; theme=dark", lambda d: d.some(32, LOW)),
    "ethereum key": _token("0x", 64, HEX, carrier="the wallet's private key is {}"),
    "ethereum key assigned": _token("0x", 64, HEX, carrier="PRIVATE_KEY={}"),
    "bitcoin wif": _said("{}", lambda d: d.one("K", "L") + d.some(51, B58)),
    "extended private key": _token("xprv9", 106, B58),
    "seed phrase of twelve": _said("seed phrase: {}", lambda d: _phrase(d, 12)),
    "seed phrase of twenty-four": _said("My wallet's recovery phrase is {}", lambda d: _phrase(d, 24)),
    "seed phrase alone": _said("{}", lambda d: _phrase(d, 12)),
    "recovery codes": _said(
        "GitHub recovery codes:\n{}", lambda d: "\n".join(f"{d.some(5, HEX)}-{d.some(5, HEX)}" for _ in range(6))
    ),
    "backup codes": _said(
        "My backup codes are {}", lambda d: ", ".join(f"{d.number(4)} {d.number(4)}" for _ in range(5))
    ),
    "pin": _said("my PIN is {}", lambda d: d.number(4)),
    "card pin": _said("The PIN of my debit card: {}", lambda d: d.number(4)),
    "german pin": _said("Die PIN meiner Karte ist {}", lambda d: d.number(4)),
    "passcode": _said("the passcode for my phone is {}", lambda d: d.number(6)),
    "door code": _said("the alarm code is {}", lambda d: d.number(5)),
    "security code": _said("card 4111 1111 1111 1111, CVV {}", lambda d: d.number(3)),
    "said in English": _said("my password is {}", _word),
    "said in English, for a thing": _said("The wifi password is {}.", lambda d: _word(d).lower()),
    "said with a dash": _said("password correct-{}-battery", lambda d: d.one("horse", "zebra", "tiger")),
    "pw colon": _said("pw: {}", _word),
    "pass colon": _said("login jane, pass: {}", _made),
    "said in German": _said("Mein Passwort ist {}", _word),
    "said in German, lautet": _said("Das WLAN-Passwort lautet {}.", _word),
    "german kennwort": _said("Kennwort fürs Portal: {}", _word),
    "said in Spanish": _said("la contraseña es {}", lambda d: d.one("mariposa", "Girasol", "tormenta") + d.number(2)),
    "said in Spanish, my": _said("Mi contraseña del wifi es {}", lambda d: d.one("mariposa", "girasol", "tormenta")),
    "said in Spanish, clave": _said("Mi clave es {}", _made),
    "said in French": _said("mon mot de passe est {}", lambda d: d.one("papillon", "tournesol", "orage")),
    "said in French, colon": _said("Mot de passe : {}", _made),
    "said in Italian": _said("la mia password è {}", lambda d: d.one("farfalla", "girasole", "tempesta")),
    "said in Portuguese": _said("minha senha é {}", lambda d: d.one("borboleta", "girassol", "trovoada")),
    "passphrase of words": _said("the passphrase is {}", lambda d: f"violet {d.one('heron', 'otter')} drinks rain"),
    # Credentials that somebody tried to hide, or that were broken on the way.
    "split over two lines": lambda d: f"token:\n{START}ghp_{d.some(18)}\n{d.some(18)}{END}",
    "split with a backslash": lambda d: f"export KEY={START}sk_live_{d.some(12)}\\\n{d.some(14)}{END}",
    "zero width": lambda d: f"{START}ghp_{d.some(12)}\u200b{d.some(24)}{END}",
    "zero width in the prefix": lambda d: f"{START}gh\u200bp_{d.some(36)}{END}",
    "soft hyphens": lambda d: f"{START}sk_live_{d.some(12)}\u00ad{d.some(12)}{END}",
    "full width": lambda d: START + _fullwidth("ghp_" + d.some(36)) + END,
    "full width name": lambda d: f"\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44\uff1a {START}{_made(d)}{END}",
    "percent encoded": lambda d: f"?token={START}ghp%5F{d.some(36)}{END}",
    "escaped twice": lambda d: '{\\"api_key\\": \\"' + START + d.some(32) + END + '\\"}',
    "bold": lambda d: f"**Password:** {START}{_made(d)}{END}",
    "code": lambda d: f"password: `{START}{_made(d)}{END}`",
    "unknown vendor said": _token("", 33, carrier="The Harbourline token is {}, ask Bo"),
    "unknown vendor in german": _token("", 36, LOW, carrier="Der Schlüssel für den Leuchtturm lautet {}"),
    "unknown vendor in polish": _token("", 30, carrier="klucz do latarni: {}"),
    "unknown vendor in russian": _token("", 32, carrier="Токен маяка — {}"),
    "unknown vendor in japanese": _token("", 28, carrier="灯台のAPIキーは{}です"),
    "unknown vendor in chinese": _token("", 40, HEX, carrier="灯塔的密钥：{}"),
    "unknown prefix": _token("qzl_", 34, LOW, carrier="for the buoys we use {}"),
    "prefix that tells": _token("buoy_live_", 28, carrier="for the buoys we use {}"),
    "noun after the value": _token("", 30, carrier="{} is the API token of the lighthouse"),
    "key of an application": _token("", 40, HEX, carrier="ORCHARD_APP_KEY={}"),
    "key in camel case": _token("", 32, HEX, carrier="new Beacon({{ ingestKey: '{}' }})"),
    "pair in a line of json": _said(
        '{{\\"Login\\": new NetworkCredential(\\"buoy\\", \\"{}\\")}}', lambda d: "k9" + d.some(14)
    ),
    "hash-long secret in json": _token("", 32, HEX, carrier='{{"id": "7", "name": "buoy", "secret": "{}"}}'),
    "short token after its name": _token("c0", 16, HEX, carrier="the buoy token {}"),
    "uuid of a named token": _said("Lanternfish deploy token is {}", _uuid),
    "uuid in a header": _said("Authorization: Beacon {}", _uuid),
    "token in the user part": _token("", 40, carrier="git clone https://{}@git.acme.test/buoy.git"),
    "aiven password": _token("AVNS_", 19, SAFE, carrier="pg: {}"),
    "azure devops new token": _said("pat {}", lambda d: d.some(76) + "AZDO" + d.some(4)),
    "locationiq key": _token("pk.", 32, HEX, carrier="maps {}"),
    "zuplo key": _token("zpka_", 32, HEX, carrier="gateway {}"),
    "jenkins token": _token("11", 32, HEX, carrier="jenkins: jane:{}"),
    "infisical token": _said("ci: {}", lambda d: f"st.{_uuid(d)}.{d.some(32, HEX)}.{d.some(32, HEX)}"),
    "node address": _token("", 32, HEX, carrier="https://mainnet.infura.io/v3/{}"),
    "windows hashes": _said("jane:1001{}", lambda d: f":{d.some(32, HEX)}:{d.some(32, HEX)}:::"),
    "ssh key's passphrase": _said("ssh-keygen -t ed25519 -N '{}'", _made),
    "secret of a repository": _token("", 24, carrier='gh secret set BUOY --body "{}"'),
    "recovery codes in japanese": _said(
        "リカバリーコードは{}です", lambda d: f"{d.some(4, LOW)}-{d.number(4)}-{d.some(4, LOW)}"
    ),
    "recovery codes in chinese": _said("备用码：{}", lambda d: f"{d.number(8)}、{d.number(8)}"),
    "recovery codes in korean": _said("복구 코드는 {}", lambda d: f"{d.number(8)} {d.number(8)}"),
    "recovery codes in russian": _said("Резервные коды: {}", lambda d: f"{d.number(8)}, {d.number(8)}"),
    "recovery codes in turkish": _said(
        "Kurtarma kodları: {}", lambda d: f"{d.some(5, HEX)}-{d.number(5)} a1b2c-{d.number(5)}"
    ),
    "pin in japanese": _said("金庫の暗証番号は{}", lambda d: d.number(4)),
    "table": lambda d: f"| user | password |\n|---|---|\n| jane | {START}{_made(d)}{END} |",
}


def _digest(dice: Dice, name: str) -> str:
    return hashlib.new(name, dice.chance.randbytes(16)).hexdigest()


def _plain(text: str) -> Make:
    return lambda d: text


LOOK_ALIKES: dict[str, Make] = {
    "publishable stripe key": lambda d: "pk_live_" + d.some(24),
    "publishable test key": lambda d: "Stripe(pk_test_" + d.some(24) + ")",
    "mapbox public token": lambda d: "pk." + _url64({"u": "jane", "a": d.some(25)}) + "." + d.some(22),
    "recaptcha site key": lambda d: f'<div class="g-recaptcha" data-sitekey="6L{d.some(6)}AAAAA{d.some(27, SAFE)}">',
    "recaptcha site key named": lambda d: f"recaptcha site key: 6L{d.some(6)}AAAAA{d.some(27, SAFE)}",
    "turnstile site key": lambda d: f'data-sitekey="0x4AAAAAAA{d.some(14)}"',
    "supabase publishable": lambda d: "sb_publishable_" + d.some(22, SAFE) + "_" + d.some(8),
    "solana address": lambda d: f"Send it to {d.some(44, B58)}",
    "bitcoin address": lambda d: "pay to 1" + d.some(33, B58),
    "bech32 address": lambda d: "bc1q" + d.some(38, "qpzry9x8gf2tvdw0s3jn54khce6mua7l"),
    "ethereum address": lambda d: "0x" + d.some(40, HEX),
    "ethereum transaction": lambda d: "transaction 0x" + d.some(64, HEX),
    "ipfs cid": lambda d: "bafybei" + d.some(52, "abcdefghijklmnopqrstuvwxyz234567"),
    "mime boundary": lambda d: f'Content-Type: multipart/mixed; boundary="----=_Part_{d.number(6)}_{d.some(24)}"',
    "webkit boundary": lambda d: "------WebKitFormBoundary" + d.some(16),
    "mime boundary long": lambda d: f"boundary=000000000000{d.some(30)}",
    "message id": lambda d: f"Message-ID: <CA+{d.some(40, SAFE)}@mail.gmail.com>",
    "git hash": lambda d: "fixed in " + _digest(d, "sha1"),
    "git range": lambda d: f"{_digest(d, 'sha1')}..{_digest(d, 'sha1')}",
    "git tree line": lambda d: f"100644 blob {_digest(d, 'sha1')}\tREADME.md",
    "sha256": lambda d: "sha256:" + _digest(d, "sha256"),
    "sha256 alone": lambda d: _digest(d, "sha256"),
    "sha512 integrity": lambda d: f'"integrity": "sha512-{d.bytes(64)}"',
    "md5": lambda d: _digest(d, "md5") + "  report.pdf",
    "uuid": _uuid,
    "uuid upper": lambda d: _uuid(d).upper(),
    "uuid without dashes": lambda d: "device " + _uuid(d).replace("-", ""),
    "uuid as request id": lambda d: "X-Request-Id: " + _uuid(d),
    "token of uuid kind": lambda d: f"idempotency-key: {_uuid(d)}",
    "ulid": lambda d: "01J" + d.some(23, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
    "nanoid": lambda d: "id " + d.some(21, SAFE),
    "ksuid": lambda d: "2" + d.some(26),
    "mongodb id": lambda d: f'{{"_id": "{d.some(24, HEX)}"}}',
    "trace id": lambda d: f"traceparent: 00-{d.some(32, HEX)}-{d.some(16, HEX)}-01",
    "aws arn": lambda d: f"arn:aws:iam::{d.number(12)}:role/deploy-production-role",
    "aws instance": lambda d: f"i-{d.some(17, HEX)} in vpc-{d.some(17, HEX)}",
    "gcp client id": lambda d: f"{d.number(12)}-{d.some(32, LOW)}.apps.googleusercontent.com",
    "azure tenant": lambda d: "tenant " + _uuid(d),
    "twilio account": lambda d: "AC" + d.some(32, HEX),
    "stripe customer": lambda d: "cus_" + d.some(14),
    "stripe payment": lambda d: "pi_3" + d.some(23),
    "stripe price": lambda d: "price_1" + d.some(23),
    "openai response id": lambda d: "resp_" + d.some(48, HEX),
    "openai completion id": lambda d: "chatcmpl-" + d.some(29),
    "openai tool call": lambda d: '{"tool_call_id": "call_' + d.some(24) + '"}',
    "anthropic message": lambda d: "msg_01" + d.some(22),
    "anthropic tool use": lambda d: '{"type": "tool_use", "id": "toolu_01' + d.some(22) + '"}',
    "slack channel": lambda d: f"channel C0{d.some(9, UPPER)} of team T0{d.some(9, UPPER)}",
    "slack message": lambda d: f"https://acme.slack.com/archives/C0{d.some(9, UPPER)}/p{d.number(16)}",
    "notion page": lambda d: "https://www.notion.so/acme/Roadmap-" + d.some(32, HEX),
    "google document": lambda d: f"https://docs.google.com/document/d/{d.some(44, SAFE)}/edit",
    "google analytics": lambda d: "G-" + d.some(10, UPPER),
    "youtube": lambda d: "https://youtu.be/" + d.some(11, SAFE),
    "figma file": lambda d: f"https://www.figma.com/file/{d.some(22)}/Design-System",
    "zoom meeting": lambda d: f"https://zoom.us/j/{d.number(11)}",
    "spotify": lambda d: "spotify:track:" + d.some(22),
    "linear issue": lambda d: f"https://linear.app/acme/issue/ENG-{d.number(4)}/fix-login-page",
    "tracking number": lambda d: "1Z" + d.some(16, UPPER),
    "iban": lambda d: f"IBAN DE{d.number(2)} {d.number(4)} {d.number(4)} {d.number(4)} {d.number(4)} {d.number(2)}",
    "isbn": lambda d: f"ISBN 978-3-{d.number(3)}-{d.number(5)}-{d.number(1)}",
    "phone": lambda d: f"+49 {d.number(3)} {d.number(7)}",
    "version": lambda d: f"v{d.number(1)}.{d.number(2)}.{d.number(1)}-beta.{d.number(2)}+{d.some(7, HEX)}",
    "docker digest": lambda d: f"FROM python@sha256:{_digest(d, 'sha256')}",
    "public ssh key": lambda d: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{d.bytes(32)} jane@laptop",
    "ssh fingerprint": lambda d: f"SHA256:{d.bytes(32).rstrip('=')} jane@laptop (ED25519)",
    "known host": lambda d: f"|1|{d.bytes(20)}|{d.bytes(20)} ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{d.bytes(32)}",
    "wireguard public key": lambda d: f"[Peer]\nPublicKey = {d.bytes(32)}",
    "age recipient": lambda d: "age1" + d.some(58, "qpzry9x8gf2tvdw0s3jn54khce6mua7l"),
    "certificate": lambda d: f"-----BEGIN CERTIFICATE-----\n{_rows(d)}\n-----END CERTIFICATE-----",
    "public key block": lambda d: f"-----BEGIN PUBLIC KEY-----\n{_rows(d)}\n-----END PUBLIC KEY-----",
    "pgp public block": lambda d: (
        f"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{_rows(d)}\n-----END PGP PUBLIC KEY BLOCK-----"
    ),
    "pgp signature": lambda d: f"-----BEGIN PGP SIGNATURE-----\n\n{_rows(d)}\n-----END PGP SIGNATURE-----",
    "kubeconfig authority": lambda d: (
        "certificate-authority-data: " + _b64("-----BEGIN CERTIFICATE-----\n" + _rows(d, 3))
    ),
    "base64 image": lambda d: f"![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUg{d.bytes(120)})",
    "base64 of text": lambda d: "It decodes: " + _b64("the quick brown fox jumps over " + d.some(3, LETTERS)),
    "go sum": lambda d: f"golang.org/x/net v0.{d.number(2)}.0 h1:{d.bytes(32)}",
    "cargo checksum": lambda d: f'checksum = "{_digest(d, "sha256")}"',
    "yarn lock": lambda d: f'resolved "https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#{_digest(d, "sha1")}"',
    "etag": lambda d: f'ETag: W/"{d.some(27, SAFE)}"',
    "css class": lambda d: f"css-{d.some(6, LOW)}-MuiButton-root-{d.number(3)}",
    "webpack chunk": lambda d: f"/static/js/main.{d.some(8, HEX)}.chunk.js",
    "commit that changed a token": lambda d: f"the token check was mended in commit {_digest(d, 'sha1')}",
    "hash far from a noun": lambda d: f"We moved the key store to the new service at {_digest(d, 'sha1')}",
    "cache key": lambda d: f"cache key: v3-linux-{_digest(d, 'sha256')}",
    "row's key": lambda d: f"redis key visit:{_uuid(d)} lives for a day",
    "token's id": lambda d: f"token id {_uuid(d)} was used",
    "key's id in json": lambda d: f'{{"key_id": "{d.some(32, HEX)}", "alg": "RS256"}}',
    "name of a policy": _plain('ChangePassword = "arn:aws:iam::aws:policy/ChangePassword"'),
    "page token": lambda d: f"next page token: {d.some(40, SAFE)}",
    "device token": lambda d: f"device token {d.some(64, HEX)}",
    "hash of a key file": lambda d: f"sha256 of the key file: {_digest(d, 'sha256')}",
    "image of a token service": lambda d: f"registry.acme.test/auth-api:{_digest(d, 'sha1')}",
    "file that a person shares": lambda d: f"the file id is 1{d.some(32)} on Drive",
    "recovery codes in the safe": _plain("リカバリーコードは金庫の中にあります"),
    "recovery codes by the dozen": _plain("Резервные коды: 10 штук, в сейфе"),
    "long camel name": _plain("AbstractSingletonProxyFactoryBeanConfigurationProvider2Test"),
    "long test name": _plain("test_that_the_second_password_reset_mail_is_sent_2_times_only"),
    "environment reference": _plain("api_key: ${{ secrets.DEPLOY_API_KEY }}"),
    "shell reference": _plain('curl -u "$USER:$PASS" https://api.acme.test'),
    "curl user without password": _plain("curl -u jane https://api.acme.test"),
    "curl placeholder": _plain("curl -u user:pass https://example.com"),
    "mysql asks": _plain("mysql -u root -p shop"),
    "mkdir option": _plain("mkdir -p build/output && ssh -p 2222 host"),
    "sshpass from file": _plain("sshpass -f /run/pass ssh host"),
    "sshpass variable": _plain('sshpass -p "$PASS" ssh host'),
    "docker login stdin": _plain("docker login -u jane --password-stdin"),
    "netrc placeholder": _plain("machine example.com login user password your-password"),
    "password reset": _plain("password reset requested for jane@acme.test"),
    "forgot password": _plain("I forgot my password again"),
    "forgot password question": _plain("Forgot your password? Click here."),
    "password manager": _plain("My password manager is Bitwarden."),
    "password is wrong": _plain("my password is wrong"),
    "password is strong": _plain("Her password is very strong and 20 characters long."),
    "password is stored": _plain("The password is stored in the keychain."),
    "password is the same": _plain("my password is the same everywhere"),
    "password is not": _plain("The wifi password is not written down anywhere."),
    "password is needed": _plain("A password is needed to open the archive."),
    "password is expired": _plain("Your password is expired."),
    "password field": _plain("the password: field must not be empty"),
    "password min length": _plain("password: min 12 characters"),
    "password in 1Password": _plain("pw: see 1Password"),
    "pw in sentence": _plain("PW is short for power"),
    "german forgot": _plain("Ich habe mein Passwort vergessen."),
    "german password is safe": _plain("Mein Passwort ist sicher."),
    "german password is secret": _plain("Das Passwort ist geheim."),
    "german password changed": _plain("Das Passwort wurde am Montag geändert."),
    "spanish forgot": _plain("Olvidé mi contraseña otra vez."),
    "spanish safe": _plain("La contraseña es muy segura."),
    "spanish clave": _plain("La clave es dormir bien."),
    "french forgot": _plain("J'ai oublié mon mot de passe."),
    "french too short": _plain("Le mot de passe est trop court."),
    "italian forgot": _plain("La password è scaduta."),
    "pin": _plain("PIN 13 of the chip is ground"),
    "pin of a map": _plain("The pin is on the map near 4050 Basel"),
    "pin in Germany": _plain("Die PIN ist gesperrt."),
    "area code": _plain("the area code is 4051"),
    "exit code": _plain("the exit code is 137"),
    "postal code": _plain("my postal code is 10115"),
    "error code": _plain("The error code is 50412."),
    "code review": _plain("The code is in review since 2024."),
    "dress code": _plain("the dress code is smart casual"),
    "recovery": _plain("The recovery codes are printed and in the safe."),
    "recovery mode": _plain("recovery code path returns 404"),
    "seed words in a sentence": _plain(
        "The actor was able to act above all across the airport, almost alone, and again about an hour ahead."
    ),
    "twelve plain words": _plain("about above across act add again age ahead air all almost also are fine words here"),
    "secret santa": _plain("the secret santa budget is 25 euro"),
    "secret of success": _plain("The secret is patience."),
    "token count": _plain("token count: 128000"),
    "max tokens": _plain("max_tokens = 4096"),
    "tokenizer": _plain("tokenizer: cl100k_base"),
    "token type": _plain("token_type: urn:ietf:params:oauth:token-type:access_token"),
    "key signature": _plain("The key signature is C minor."),
    "primary key": _plain("primary_key = order_id_2024"),
    "public key named": lambda d: f"public_key: {d.some(44, SAFE)}",
    "partition key": _plain("partition key: customer#12345#2026-11"),
    "keyboard shortcut": _plain("key: ctrl+shift+p12"),
    "password hash column": _plain("ALTER TABLE users ADD COLUMN password_hash varchar(255)"),
    "password type": _plain('<input type="password" name="password" autocomplete="current-password">'),
    "password element empty": _plain("<password></password>"),
    "password element variable": _plain("<password>${env.MAVEN_PASS}</password>"),
    "password variable": _plain("const password = req.body.password"),
    "password function": _plain("password = generate_password(16)"),
    "pass in tests": _plain("tests pass: 120 of 122"),
    "pass rate": _plain("pass = total - failed"),
    "python pass": _plain("except ValueError: pass  # fine"),
    "boarding pass": _plain("boarding pass: seat 14C"),
    "basic example": _plain("Authorization: Basic <credentials>"),
    "bearer example": _plain("Authorization: Bearer <your token here>"),
    "cookie consent": _plain("Cookie: consent=yes; theme=dark"),
    "auth empty": _plain('{"auths": {"ghcr.io": {}}}'),
    "auth method": _plain('"auth": "oauth2-client-credentials"'),
    "otpauth described": _plain("otpauth://totp/LABEL?secret=SECRET"),
    "passphrase advice": _plain("A good passphrase is long and easy to remember."),
    "placeholder of an openai key": _plain("OPENAI_API_KEY=sk-..."),
    "placeholder of a github token": _plain("GITHUB_TOKEN=ghp_your_token_here"),
    "aws example": _plain("aws_access_key_id = AKIAIOSFODNN7" + "EXAMPLE"),
    "connection placeholder": _plain("postgres://USER:PASSWORD@HOST:5432/DB"),
    "connection without password": _plain("postgres://jane@db.acme.test:5432/shop"),
    "log line": lambda d: f"2026-11-21T10:00:00Z INFO span={d.some(16, HEX)} took 31ms user={d.number(8)}",
    "stack address": lambda d: f"at 0x00007f{d.some(10, HEX)} in libc.so.6",
    "colour list": lambda d: " ".join("#" + d.some(6, HEX) for _ in range(6)),
    "coordinates": lambda d: f"52.{d.number(6)}, 13.{d.number(6)}",
    "chess game": _plain("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O"),
    "dna": lambda d: d.some(60, "ACGT"),
    "german compound": _plain("Die Donaudampfschifffahrtsgesellschaftskapitänsmütze ist weg."),
    "join address": lambda d: f"https://discord.gg/{d.some(8)}",
    "calendar id": lambda d: f"c_{d.some(26, LOW)}@group.calendar.google.com",
    "unsubscribe link": lambda d: f"https://mail.acme.test/u/{d.some(60, SAFE)}",
}


def part_of(kind: str) -> str:
    """Which part a kind belongs to."""
    return HELD if hashlib.sha256(kind.encode()).digest()[0] % 2 else OPEN


def formats(seed: int = 20261122) -> Iterator[Format]:
    """One text of every kind of credential."""
    for kind, make in CREDENTIALS.items():
        value = make(Dice(_seeded(seed, kind)))
        before, _, rest = value.partition(START)
        secret, _, after = rest.partition(END)
        yield Format(kind, part_of(kind), before + secret + after, secret)


def look_alikes(seed: int = 20261123) -> Iterator[Format]:
    """One text of every kind that only looks like a credential."""
    for kind, make in LOOK_ALIKES.items():
        yield Format(kind, part_of(kind), make(Dice(_seeded(seed, kind))), None)


def _seeded(seed: int, kind: str) -> int:
    # Each kind has its own dice, so that a new one alters no other.
    return random.Random(f"{seed} {kind}").getrandbits(32)
