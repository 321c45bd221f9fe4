"""Find prompt injection: words that address the machine that reads a text.

Every text from outside and every served text is checked, so this module only does the cheap test which rules could
match. The rules and their patterns are loaded only when one could.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Groups = tuple[tuple[str, ...], ...]

# Parts of words, in lower case: a rule is tried only if the text contains a part from each of its groups.
_MACHINES = ("ai", "llm", "model", "bot", "gpt", "claude", "gemini", "copilot", "assistant", "agent")
FORGERY_HINTS: Mapping[str, Groups] = {
    "ignore-orders": ((
        "ignor", "disregard", "forget", "overrid", "bypass", "discard", "drop ", " follow", "obey", "adhere", "apply",
        "listen to", "pay no attention", "oubli", "pas compte", "vergiss", "vergess", "missachte", "olvid", "descart",
        "dimentic", "trascur", "esque", "desconsider", "negeer", "vergeet", "zapomnij", "glöm", "glem", "игнор",
        "забудь", "忽略", "无视", "忘", "忽視", "無視", "무시", "잊", "تجاهل", "انس", "निर्देश", "talimat", "komut",
        "kural", "bỏ qua", "abaikan",
    ),),
    "role-marker": ((
        "<|", "<im_", "inst]", "sys>>", "</", "[user]", "<events", "<tool_r", "<function_r", "<user_m", "<system_p",
        "<untrusted", "<document_c", "system", "developer", "instruction", "prompt", "message", "assistant",
    ),),
    "new-role": ((
        "you are now", "you're now", "no longer", "pretend", "imagine", "act as", "your new", "your real",
        "your actual", "your true", "your updated", "your only", "your primary", "your system", "your developer",
        " mode",
    ),),
    "new-orders": (
        ("instruction", "directive", "order", "command", "notice", "message", "note", "request", "text"),
        (*_MACHINES, "system", "developer", "creator", "owner", "operator", "administrator", "programming",
         "anthropic", "instruction", "order", "rule"),
    ),
    "exfiltration": (
        ("send", "post", "upload", "forward", "mail", "leak", "transmit", "exfiltrat", "submit", "share", "deliver",
         "copy", "relay", "attach", "append", "cc ", "without", "get ", "curl", "wget", "fetch", "visit", "open",
         "load", "request", "navigate", "ping", "add ", "put ", "include", "encode", "insert", "ly "),
        ("http", "www.", "@", "server", "webhook", "address", "endpoint", "mail", "url", "site", "account",
         "pastebin", "telegram", "discord", "exfiltrat", "secretly", "silently", "covertly", "quietly", "without",
         "query", "link", "image", "parameter", "path"),
    ),
    "image-leak": (("](", "<img"),),
    "reveal-prompt": (
        ("reveal", "print", "repeat", "output", "display", "dump", "leak", "disclos", "show", "recite", "tell"),
        ("prompt", "message", "instructions", "everything", "text", "words"),
    ),
    "decode-and-obey": (("decode", "decrypt", "unscramble", "base64", "rot13", "translate", "encoded", "hex"),),
    "conceal": (
        ("user", "human", "owner", "person you"),
        (" not ", "not ", "n't ", "never", "without", "hide", "conceal", "keep"),
    ),
    "tool-smuggling": ((
        "function_call", "invoke", "tool_call", "tool_use", "tool_code", "parameter name", "functions.",
    ),),
}  # fmt: skip
ORDER_HINTS: Mapping[str, Groups] = {
    "tool-order": ((
        "tool", "function", "shell", "terminal", "browser", "bash", "memory", "rm -rf", "curl", "wget", "always",
        "from now on", "henceforth", "before ", "immediately", "right now", "at once", "without",
    ),),
    "speaks-to-machine": ((
        *_MACHINES, "user", "human", "system", "developer", "assistent", "asistente", "ki", "modell", "musst",
        "sollst", "müssen", "debe", "tienes que", "dois", "devez", "doit", "doivent", "ab jetzt", "ab sofort",
    ),),
    "standing-order": ((
        "always", "never", "only", "from now on", "henceforth", "going forward", "repl", "respon", "answer",
        "message", "conversation", "session", "output", "user", "someone", "anyone", "you", "summar", "describ",
        "rate ", "rank", "review", "don't", "do not", "répond", "antworte", "rispondi", "antwoord", "odpowiadaj",
        "отвечай", "必须", "请", "务必", "常に",
    ),),
    "memory-order": ((
        "memor", "bio", "note", "profile", "preference", "belief", "knowledge", "user", "future ", "history", "fact",
        "merk", "speicher", "notier", "behalte", "recuerda", "guarda", "anota", "retien", "mémoris", "enregistr",
        "souviens",
    ),),
    "false-authority": ((
        "user", "you are", "you have been", "override", "command", "directive", "order", "confirmation", "approval",
        "permission", "consent", "access", "proceed",
    ),),
    "secret-order": (
        ("http", "@", "."),
        ("token", "key", "password", "secret", "credential", ".env", "id_rsa", "cookie", "отправ", "перешл", "переда",
         "загруз", "надішл", "надісл", "传送", "傳送", "发送", "發送", "上传", "上傳", "转发", "轉發", "送信", "転送",
         "アップロード", "送って", "보내", "전송", "업로드", "أرسل", "إرسال", "ارسل", "भेज", "gönder", "wyśl", "wysl",
         "prześl", "przesl", "gửi", "kirim", "ส่ง", "pošl", "odešl", "στείλ", "שלח", "lähet"),
    ),
    "payment-order": ((
        "$", "€", "£", "usd", "eur", "btc", "eth", "bitcoin", "money", "funds", "dollars", "payment", "crypto",
        "balance", "savings", "coin",
    ),),
    "hidden-page-part": (("<!--", "[//]:", "[comment]:", "display", "visibility", "font-size", "color", "opacity"),),
}  # fmt: skip
HIDDEN, STANDING = "hidden-text", "standing-order"
# Typographic dashes and quotes hide nothing; other characters above `_LAST_PLAIN` may.
_LAST_PLAIN, _SIGNS = "\u02ff", frozenset("\u2010\u2011\u2012\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u20ac")
_LEET = str.maketrans("013457@$", "oieastas")


class InjectionMatch(NamedTuple):
    """An injection: the rule that matched, the words (shortened for display), and whether it is `forged`.

    A forgery is text that no honest author writes. Other matches are orders that a person may give.
    """

    rule: str
    words: str
    forged: bool


def find_injection(text: str, forged_only: bool = False, advice: bool = False) -> InjectionMatch | None:
    """Return the first match, or None; with `forged_only`, only the rules against forgeries are tried, and with
    `advice`, no rule about how to answer and work.

    Takes time linear in the text.
    """
    forms = [text]
    odd = not text.isascii() and any(letter > _LAST_PLAIN and letter not in _SIGNS for letter in text)
    if odd or _spread(text):
        # Plain Latin text, which is most text, needs no normalization.
        from clawmem.model.safety.injection.rules import normalize_disguises

        forms.append(normalize_disguises(text))
    rules = _in_question(forms, {**FORGERY_HINTS, **({} if forged_only else ORDER_HINTS)})
    if advice and STANDING in rules:
        rules.remove(STANDING)
    if odd:
        rules = [HIDDEN, *rules]
    if not rules:
        return None
    # The patterns take milliseconds to load, and ordinary text rarely gets here.
    from clawmem.model.safety.injection.rules import replace_leetspeak, search

    found = search(list(dict.fromkeys((*forms, replace_leetspeak(forms[-1])))), rules)
    return InjectionMatch(*found, found[0] == HIDDEN or found[0] in FORGERY_HINTS) if found else None


def _in_question(forms: list[str], rules: Mapping[str, Groups]) -> list[str]:
    """Return the rules with a part from each group in some form of the text."""
    lower = "\n".join(form.lower() for form in forms)
    lower += "\n" + lower.translate(_LEET)
    return [rule for rule, groups in rules.items() if all(any(piece in lower for piece in group) for group in groups)]


def _spread(text: str) -> bool:
    """Return whether the text has a row of single letters, a way to get past filters."""
    run = 0
    for word in text.replace(".", " ").replace("-", " ").replace("*", " ").replace("_", " ").split(" "):
        run = run + 1 if len(word) == 1 else 0
        if run >= 4:
            return True
    return False
