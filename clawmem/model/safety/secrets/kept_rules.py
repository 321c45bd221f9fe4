"""Patterns of detect-secrets 1.5.0, as data: see NOTICE. Written by benchmarks/kept_rules.py."""

# ruff: noqa: E501

from __future__ import annotations

from clawmem.model.named_tuple import NamedTuple


class KeptRule(NamedTuple):
    """A pattern: its plugin, the words of which one stands in small letters in what it matches, whether case is ignored."""

    plugin: str
    words: tuple[str, ...]
    pattern: str
    ignores_case: bool


# fmt: off
KEPT = (
    KeptRule('artifactory', ('akc',), '(?:\\s|=|:|"|^)AKC[a-zA-Z0-9]{10,}+(?:\\s|"|$)', False),
    KeptRule('aws', ('aws',), 'aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?[\\\'\\"]([0-9a-zA-Z/+]{40})[\\\'\\"]', True),
    KeptRule('azure-storage-key', ('accountkey=',), 'AccountKey=[a-zA-Z0-9+\\/=]{88}', False),
    KeptRule('cloudant', ('cloudant',), '(?:(?<=\\W)|(?<=^))(?:\\[|)(?:"|\\\'|)(?:cloudant)(?:_|-|)(?:api|)(?:key|pwd|pw|password|pass|token)(?:"|\\\'|)(?:\\]|)(?: {0,3})(?:=|:|:=|=>| {1,3}|::)(?: {0,3})(?:"|\\\'|)([0-9a-f]{64})(?:"|\\\'|)', True),
    KeptRule('cloudant', ('cloudant',), '(?:(?<=\\W)|(?<=^))(?:\\[|)(?:"|\\\'|)(?:cloudant)(?:_|-|)(?:api|)(?:key|pwd|pw|password|pass|token)(?:"|\\\'|)(?:\\]|)(?: {0,3})(?:=|:|:=|=>| {1,3}|::)(?: {0,3})(?:"|\\\'|)([a-z]{24})(?:"|\\\'|)', True),
    KeptRule('cloudant', ('cloudant',), '(?:https?\\:\\/\\/)[\\w\\-]{1,100}\\:([0-9a-f]{64})\\@[\\w\\-]{1,100}\\.cloudant\\.com', True),
    KeptRule('cloudant', ('cloudant',), '(?:https?\\:\\/\\/)[\\w\\-]{1,100}\\:([a-z]{24})\\@[\\w\\-]{1,100}\\.cloudant\\.com', True),
    KeptRule('github-token', ('ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'), '(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9_]{36}', False),
    KeptRule('gitlab-token', ('glpat-', 'gldt-', 'glft-', 'glsoat-', 'glrt-', 'gr1348941', 'glcbt-', 'glimt-', 'glptt-', 'glagent-', 'gloas-'), '(?:glpat|gldt|glft|glsoat|glrt)-[A-Za-z0-9_\\-]{20,50}(?!\\w)', False),
    KeptRule('gitlab-token', ('glpat-', 'gldt-', 'glft-', 'glsoat-', 'glrt-', 'gr1348941', 'glcbt-', 'glimt-', 'glptt-', 'glagent-', 'gloas-'), 'GR1348941[A-Za-z0-9_\\-]{20,50}(?!\\w)', False),
    KeptRule('gitlab-token', ('glpat-', 'gldt-', 'glft-', 'glsoat-', 'glrt-', 'gr1348941', 'glcbt-', 'glimt-', 'glptt-', 'glagent-', 'gloas-'), 'glcbt-(?:[0-9a-fA-F]{2}_)?[A-Za-z0-9_\\-]{20,50}(?!\\w)', False),
    KeptRule('gitlab-token', ('glpat-', 'gldt-', 'glft-', 'glsoat-', 'glrt-', 'gr1348941', 'glcbt-', 'glimt-', 'glptt-', 'glagent-', 'gloas-'), 'glimt-[A-Za-z0-9_\\-]{25}(?!\\w)', False),
    KeptRule('gitlab-token', ('glpat-', 'gldt-', 'glft-', 'glsoat-', 'glrt-', 'gr1348941', 'glcbt-', 'glimt-', 'glptt-', 'glagent-', 'gloas-'), 'glptt-[A-Za-z0-9_\\-]{40}(?!\\w)', False),
    KeptRule('gitlab-token', ('glpat-', 'gldt-', 'glft-', 'glsoat-', 'glrt-', 'gr1348941', 'glcbt-', 'glimt-', 'glptt-', 'glagent-', 'gloas-'), 'glagent-[A-Za-z0-9_\\-]{50,1024}(?!\\w)', False),
    KeptRule('gitlab-token', ('glpat-', 'gldt-', 'glft-', 'glsoat-', 'glrt-', 'gr1348941', 'glcbt-', 'glimt-', 'glptt-', 'glagent-', 'gloas-'), 'gloas-[A-Za-z0-9_\\-]{64}(?!\\w)', False),
    KeptRule('ibm-cos-hmac', ('secret',), '(?:(?<=\\W)|(?<=^))(?:\\[|)(?:"|\\\'|)(?:(?:ibm)?[-_]?cos[-_]?(?:hmac)?|)(?:_|-|)(?:secret[-_]?(?:access)?[-_]?key)(?:"|\\\'|)(?:\\]|)(?: {0,3})(?:=|:|:=|=>| {1,3}|::)(?: {0,3})(?:"|\\\'|)([a-f0-9]{48}(?![a-f0-9]))(?:"|\\\'|)', True),
    KeptRule('mailchimp', ('-us',), '[0-9a-z]{32}-us[0-9]{1,2}', False),
    KeptRule('npm', (':_authtoken',), '\\/:_authToken=\\s{0,3}(npm_\\S+|[A-Fa-f0-9-]{36})', False),
    KeptRule('pypi-token', ('pypi-ag',), 'pypi-AgEIcHlwaS5vcmc[A-Za-z0-9-_]{70,}', False),
    KeptRule('pypi-token', ('pypi-ag',), 'pypi-AgENdGVzdC5weXBpLm9yZw[A-Za-z0-9-_]{70,}', False),
    KeptRule('sendgrid', ('sg.',), 'SG\\.[a-zA-Z0-9_-]{22}\\.[a-zA-Z0-9_-]{43}', False),
    KeptRule('slack', ('xox', 'hooks.slack.com'), 'https://hooks\\.slack\\.com/services/T[a-zA-Z0-9_]{1,40}/B[a-zA-Z0-9_]{1,40}/[a-zA-Z0-9_]+', True),
    KeptRule('softlayer', ('softlayer',), '(?:(?<=\\W)|(?<=^))(?:\\[|)(?:"|\\\'|)(?:softlayer)(?:_|-|)(?:api|)(?:_|-|)(?:key|pwd|password|pass|token)(?:"|\\\'|)(?:\\]|)(?: {0,3})(?:=|:|:=|=>| {1,3}|::)(?: {0,3})(?:"|\\\'|)([a-z0-9]{64})(?:"|\\\'|)', True),
    KeptRule('softlayer', ('softlayer',), '(?:http|https)://api.softlayer.com/soap/(?:v3|v3.1)/([a-z0-9]{64})', True),
    KeptRule('square-oauth', ('sq0csp-',), 'sq0csp-[0-9A-Za-z\\\\\\-_]{43}', False),
    KeptRule('stripe', ('k_live_',), '(?:r|s)k_live_[0-9a-zA-Z]{24}', False),
)
# fmt: on
