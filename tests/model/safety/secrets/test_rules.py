"""Keys of vendors are found by their shape; each is put together at run time."""

from __future__ import annotations

import random
import string

import pytest

from clawmem.model.safety.secrets.find import find_known_secret

MIXED = string.ascii_letters + string.digits
LOW = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
DICE = random.Random(20261122)


def some(count: int, letters: str = MIXED) -> str:
    """Random letters, with a small letter, a capital and a digit where the alphabet has them."""
    first = "".join(text for text in "q7K" if text in letters)
    return first + "".join(DICE.choice(letters) for _ in range(count - len(first)))


def uid() -> str:
    return "-".join(some(n, HEX) for n in (8, 4, 4, 4, 12))


SHAPES = {
    "huggingface-token": lambda: "hf" + "_" + some(34, string.ascii_letters),
    "aws-session-token": lambda: "IQoJb3" + "JpZ2lu" + some(120),
    "mailersend-token": lambda: "mls" + "n." + some(64, HEX),
    "mandrill-key": lambda: "m" + "d-" + some(22),
    "clickup-token": lambda: "p" + "k_48213377_" + some(32, UPPER),
    "vercel-token": lambda: "vc" + "p_" + some(56),
    "netlify-token": lambda: "nf" + "c_" + some(36),
    "deno-token": lambda: "dd" + "p_" + some(36),
    "xata-key": lambda: "xa" + "u_" + some(40),
    "mongodb-atlas-secret": lambda: "mdb_sa" + "_sk_" + some(40),
    "llamacloud-key": lambda: "ll" + "x-" + some(48),
    "voyage-key": lambda: "p" + "a-" + some(43),
    "jina-key": lambda: "jin" + "a_" + some(32, HEX) + some(28),
    "fireworks-key": lambda: "f" + "w_" + some(24),
    "cerebras-key": lambda: "cs" + "k-" + some(48, LOW),
    "brave-key": lambda: "BS" + "A" + some(28),
    "browserbase-key": lambda: "bb_" + "live_" + some(27),
    "modal-token": lambda: "a" + "s-" + some(22),
    "mem0-key": lambda: "m" + "0-" + some(40),
    "volcengine-key": lambda: "AK" + "LT" + some(43),
    "baidu-key": lambda: "bce-v3" + "/ALTAK-" + some(21) + "/" + some(40, HEX),
    "tencent-key": lambda: "AK" + "ID" + some(32),
    "vk-token": lambda: "vk1" + ".a." + some(120),
    "pinterest-token": lambda: "pin" + "a_" + some(64, UPPER),
    "matrix-token": lambda: "sy" + "t_amFuZQ_" + "".join(DICE.choices(string.ascii_letters, k=20)) + "_" + some(6),
    "ntfy-token": lambda: "t" + "k_" + some(29, LOW),
    "axiom-token": lambda: "xaa" + "t-" + uid(),
    "splunk-token": lambda: "Authorization: Splu" + "nk " + uid(),
    "mollie-key": lambda: "liv" + "e_" + some(30),
    "razorpay-pair": lambda: '"rzp_' + 'live_' + some(14) + '", "' + some(24) + '"',
    "paddle-key": lambda: "pdl_" + "live_apikey_" + some(40),
    "woocommerce-key": lambda: "c" + "s_" + some(40, HEX),
    "amazon-mws-token": lambda: "amzn" + ".mws." + uid(),
    "telnyx-key": lambda: "KEY" + "0" + some(31, "0123456789ABCDEF") + "_" + some(22),
    "salesforce-token": lambda: "00" + "D5g000004abcD!" + some(90),
    "onesignal-key": lambda: "os_v2" + "_app_" + some(103, LOW),
    "backblaze-key": lambda: "K00" + "4" + some(27),
    "google-bound-key": lambda: "AQ." + "Ab8" + some(50),
    "crates-token": lambda: "ci" + "o" + some(32),
    "netbird-token": lambda: "nb" + "p_" + some(36),
    "konnect-token": lambda: "kp" + "at_" + some(50),
    "nostr-key": lambda: "nse" + "c1" + "q7" + "".join(DICE.choices("023456789acdefghjklmnpqrstuvwxyz", k=56)),
    "calcom-key": lambda: "cal_" + "live_" + some(32, HEX),
    "build-hook": lambda: "https://api.netlify.com/build_hooks/" + some(24, HEX),
    "google-chat-webhook": lambda: "https://chat.googleapis.com/v1/spaces/AAAAx1/messages?key=a&token=" + some(43),
    "pagerduty-webhook": lambda: "https://events.pagerduty.com/integration/" + some(32, LOW) + "/enqueue",
    "webex-webhook": lambda: "https://webexapis.com/v1/webhooks/incoming/" + some(76),
    "azure-service-key": lambda: some(42) + "Az" + "SeA" + some(6),
}  # fmt: skip
HARMLESS = [
    "test_everything_that_the_parser_can_read_at_once",
    "live_streaming_of_the_conference_in_three_rooms",
    "hook.eu1.make.com is down today",
    "pa-system and md-files in as-is condition for everyone",
    "key_management_is_hard_and_nobody_likes_it_at_all",
    "secret-sharing-schemes-for-small-and-large-teams",
    "kit_contents_are_listed_on_the_back_of_the_box",
    "ck_editor_5_with_all_of_its_plugins_and_themes",
    "cs_101_introduction_to_computer_science_2026",
    "PRD-4711-requirements-for-the-new-checkout-flow",
    "https://chat.googleapis.com/v1/spaces documents the interface",
    "BSA-certified-translators-and-interpreters-2026",
]


@pytest.mark.parametrize("rule", SHAPES)
def test_a_vendors_key_is_found(rule: str) -> None:
    found = find_known_secret(f"use {SHAPES[rule]()} for it")
    assert found is not None and found.rule == rule


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_begins_like_a_key_passes(text: str) -> None:
    assert find_known_secret(text) is None
