"""Patterns of text that no honest author writes: orders to forget orders, forged roles, smuggled tool calls."""

from __future__ import annotations

from clawmem.model.safety.injection.words import (
    DESTINATION,
    DETERMINER,
    ORDERS,
    ORDERS_IN_OTHER_LANGUAGES,
    READER,
    SENSITIVE_DATA,
    SENTENCE_START,
)

FORGERIES = {
    "hidden-text": (
        r"(?<![\U0001F3F4\U000E0020-\U000E007E])[\U000E0020-\U000E007E]{4,}",
        r"[\U000E0100-\U000E01EF]{3,}|(?:[\uFE00-\uFE0F]){4,}",
        r"[\u202d\u202e]",
        r"[\u200b\u200c\u200d\u2060\u2061-\u2064\ufeff]{6,}",
        r"[A-Za-z](?:[\u200b\u2060\ufeff\u00ad][A-Za-z]{1,3}){4,}",
    ),
    "ignore-orders": (
        rf"\b(?:ignore|disregard|forget|override|bypass|discard|drop) (?:\w+ ){{0,3}}(?:your|previous|prior|above|"
        rf"earlier|preceding|foregoing|existing|original|initial|system) (?:\w+ ){{0,3}}{ORDERS}",
        rf"\b(?:ignore|disregard|forget|bypass|override|pay no attention to) (?:\w+ ){{0,4}}{ORDERS}(?: "
        rf"\w+){{0,2}} (?:above|before|so far|you (?:were|have been|had been|got|received)|given to you)\b",
        r"\b(?:ignore|disregard|forget) (?:everything|anything|all|whatever) (?:\w+ ){0,3}(?:above|before|told|"
        r"said|instructed|know|learned|so far)\b",
        r"\b(?:ignore|disregard|forget|override) (?:all|any)(?: of)?(?: the| these| those| other)?(?: \w+)? "
        rf"{ORDERS}(?! (?:in|of|from|for|files?|on|at|with|about)\b)",
        r"\b(?:do not|don't|stop|never|no longer) (?:follow|obey|apply|listen to|adhere to)(?:ing)? (?:\w+ "
        rf"){{0,2}}(?:your|previous|prior|above|earlier|original|system) (?:\w+ ){{0,2}}{ORDERS}",
        rf"\bpay no attention to (?:\w+ ){{0,3}}(?:previous|prior|above|earlier|your) (?:\w+ ){{0,2}}{ORDERS}",
        *ORDERS_IN_OTHER_LANGUAGES,
    ),
    "role-marker": (
        r"<\|[a-z_]{3,20}\|>|</?\|?im_(?:start|end)\|?>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant)>|\[(?:system|assistant|"
        r"user)\][^\[\n]{0,400}\[(?:system|assistant|user)\]",
        r"</?\s*(?:events|tool_results?|function_results?|user_message|system_prompt|untrusted_content|"
        r"document_content)\s*>",
        r"^(?:[^\w\n]|_)*\[?\(?(?:system|developer)(?: prompt| message| override| note| notice| alert| instructions?| "
        r"update)?[\])*]*\s*[:>-]\s*[\"“*]{0,2}(?:you|ignore|override|new|from now|the (?:user|assistant)|"
        "assistant|disregard|always|never|do not|all (?:previous|safety)|your|please|immediately|forward|send|"
        r"execute|run|call|stop)\b",
        r"^#{1,4} ?(?:system|instruction|new instructions?)(?: prompt| message)?\s*(?::|$)",
        r"^(?:human|user)\s*:.{0,400}?\s+assistant\s*:",
        r"\b(?:begin|start|end) (?:of )?(?:system|developer|new|admin) (?:prompt|message|instructions?)\b",
    ),
    "new-role": (
        r"\byou (?:are|'re) (?:now|no longer) (?:DAN\b|in \w+ mode|bound\b|free from|an? (?:unrestricted|"
        r"uncensored|evil|jailbroken|different)\b|(?:an? |the )?(?:\w+ )?(?:AI|assistant|model|shell|terminal|root|"
        r"chatbot)\b)",
        r"\b(?:pretend|imagine) (?:that )?you (?:are|have) (?:an? )?(?:unrestricted|uncensored|evil|no (?:rules|"
        r"restrictions|guidelines|limits)|jailbroken|DAN)\b",
        r"\bact as (?:an? )?(?:DAN|unrestricted|uncensored|jailbroken|evil)\b",
        r"\byour (?:new|real|actual|true|updated|only|primary) (?:task|goal|instructions?|role|objective|mission|"
        r"purpose|job|directive|orders?|priority|system prompt) (?:is|are|will be)\b(?! (?:to be|not|still|unclear|"
        "due))",
        r"\byour (?:new |updated |real )?(?:system|developer) (?:prompt|message|instruction)s?\b",
        r"\b(?:developer|debug|admin|god|jailbreak|DAN|maintenance|unrestricted) mode (?:is )?(?:now )?(?:enabled|"
        r"activated|on|engaged|unlocked)\b.{0,80}\byou\b",
    ),
    "new-orders": (
        r"\b(?:new|updated|revised|real|actual|important|urgent|special|following|hidden|secret|additional|"
        r"critical) (?:\w+ )?(?:instructions?|directives?|orders?|commands?|notice|message|note)s? (?:for|to) "
        rf"(?:the |all |any |every )?{READER}\b",
        r"\bthis (?:message|instruction|text|note|directive|request|order) (?:is|comes|was sent|overrides|"
        r"supersedes|replaces) (?:\w+ ){0,3}(?:the system|your (?:developers?|creators?|owners?|operators?|"
        "administrators?|programming|instructions)|anthropic|openai|the developers?|(?:all |any )?(?:previous|"
        "prior|earlier) (?:instructions|orders|rules))",
    ),
    "exfiltration": (
        rf"{SENTENCE_START}(?:send|post|upload|forward|e-?mail|leak|transmit|exfiltrate|submit|share|deliver|copy|relay|"
        rf"attach|append|bcc|cc) (?:me |us )?(?:\w+ )?{DETERMINER}(?:\w+ ){{0,2}}{SENSITIVE_DATA}"
        r"(?:[^.\n]{0,60}?)\b(?:to|at|"
        rf"into|via|on|in|with)\s(?:[^.\n]{{0,30}}?){DESTINATION}",
        r"\bexfiltrat(?:e|ing) (?:the |all |any |user|your|their)",
        r"\b(?:secretly|silently|covertly|quietly|without (?:asking|telling|mentioning)) (?:send|post|upload|"
        r"forward|e-?mail|copy|add|run|execute|call|delete|transfer|include|insert|append|store)\b",
        r"\b(?:GET|POST|curl|wget|fetch|visit|open|load|request|navigate to|ping) (?:-\S+ "
        r")*[\"'`]?https?://\S{0,200}?[?&/=](?:\{|<|\[|\$\(|%7B)",
        r"\b(?:append|add|put|include|encode|insert) (?:the |all |any |every )?(?:\w+ ){0,2}(?:conversation|chat "
        r"history|system prompt|user's \w+|passwords?|api keys?|secrets?|memor(?:y|ies)|previous messages?|user "
        r"data|answers?) (?:\w+ ){0,4}(?:url|query|link|image|address|parameter|path)\b",
    ),
    "image-leak": (
        r"!\[[^\]\n]{0,80}\]\(\s*(?:https?:)?//[^)\s]{1,200}[?=/&](?:\{|<|\[|\$|%7B|%5B|[A-Z]{2,}[_A-Z]*(?:HERE|"
        "DATA|HISTORY|PROMPT|SECRET|CHAT|CONVERSATION|BASE64|CONTENT|MEMORY)|(?:BASE64|DATA|SECRET|CHAT|"
        r"CONVERSATION|SUMMARY|HISTORY|MEMORY)\b)",
        r"!\[[^\]\n]{0,80}\]\(\s*(?:https?:)?//[^)\s]{1,200}[?&](?:data|q|secret|token|conversation|history|leak|"
        r"exfil|chat|prompt|memory|payload|log|msg|stolen|p|d|c)=(?:\)|\s|$|\{|\+|[A-Za-z0-9+/_-]{0,2}\.\.\.)",
        r"<img[^>]{0,120}src=[\"']?(?:https?:)?//[^>\s\"']{1,200}[?=/&](?:\{|<|\[|\$|%7B)",
        r"\]\(\s*(?:javascript|data:text/html)",
    ),
    "reveal-prompt": (
        r"\b(?:reveal|print|repeat|output|display|dump|leak|disclose|show|recite|tell)(?: me| us| back)? (?:\w+ "
        "){0,3}(?:your|the) (?:full |entire |exact |complete |own |original |initial |hidden |secret )*(?:system "
        "prompt|system message|developer message|initial prompt|hidden prompt|hidden instructions|(?<=your "
        r")instructions)\b",
        r"\b(?:repeat|print|output) (?:everything|all(?: of)? the (?:text|words)|the (?:text|words)) (?:above|"
        r"before|that came before|you were)\b",
    ),
    "decode-and-obey": (
        r"\b(?:decode|decrypt|unscramble|base64[- ]?decode|rot13|translate)\b[^.\n]{0,120}\b(?:and|"
        r"then)\b[^.\n]{0,24}\b(?:follow|execute|obey|run|perform|carry out|comply|act on|do (?:what|as|exactly)|"
        r"treat (?:it|the result) as)\b",
        r"\b(?:follow|execute|obey|run|carry out|perform|comply with) (?:\w+ ){0,4}(?:base64|encoded|rot13|"
        r"hex(?:adecimal)?)\b(?! (?:tests?|suites?))",
        r"\bbase64 (?:-d|-D|--decode)\b[^\n]{0,40}\|\s*(?:ba|z|da)?sh\b",
    ),
    "conceal": (
        r"\b(?:do not|don't|never|must not|should not|without) (?:tell(?:ing)?|inform(?:ing)?|alert(?:ing)?|"
        "warn(?:ing)?|let(?:ting)?|mention(?:ing)? (?:this|it|that|any of this|anything)(?: to)?|reveal(?:ing)? "
        "(?:this|it|that|any of this)(?: to)?|disclos(?:e|ing) (?:this|it|that)(?: to)?|show(?:ing)? (?:this|it|"
        r"that)(?: to)?|ask(?:ing)?) (?:the )?(?:user|human|owner|person you)\b(?!['’-]|s\b)",
        r"\bwithout (?:the )?user(?:'s|s'|s)? (?:knowledge|knowing|consent|noticing|awareness|approval|permission)\b",
        r"\b(?:hide|conceal|keep) (?:this|it|that)(?: \w+){0,3} (?:secret |hidden )?from the (?:user|human)\b",
    ),
    "tool-smuggling": (
        r"<\s*/?\s*(?:antml:)?(?:function_calls?|invoke|tool_calls?|tool_use|tool_code|parameter name)\b",
        r"\bto=functions\.\w+|\bfunctions\.\w+\(\{|\"tool_calls\"\s*:\s*\[\s*\{|\"function_call\"\s*:\s*\{",
        r"^```(?:tool_code|tool_call|tool_use)\b|\[/?(?:tool_calls?|tool_use|function_call)\]",
    ),
}  # fmt: skip
