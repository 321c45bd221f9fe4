"""Patterns of orders to a machine that a person may give, but a tool or a web page may not."""

from __future__ import annotations

from clawmem.model.safety.injection.words import (
    AI,
    BIDDEN_VERBS,
    MEMORY_IN_OTHER_LANGUAGES,
    OUTSIDE_ADDRESS,
    OUTSIDE_HOST,
    SENDING,
    SENTENCE_START,
    SPEAKS_IN_OTHER_LANGUAGES,
    STANDING_IN_OTHER_LANGUAGES,
)

ORDERS_BY_RULE = {
    "tool-order": (
        rf"{SENTENCE_START}(?:call|use|invoke|run|execute|trigger) (?:the |your )(?:[`'\"]?[\w.-]+[`'\"]? )?(?:tool|"
        rf"function|shell|terminal|browser|bash|memory)\b(?:[^.\n]{{0,40}})\b(?:to|with|and|on)\b(?! (?:find|"
        r"search|look|see|view|read|add|create|edit)\b)",
        r"\b(?:run|execute|type|use)\b[^.\n]{0,24}\brm -rf (?:~|/|\$HOME|\*)",
        r"\b(?:run|execute|type|paste)\b[^.\n]{0,24}\b(?:curl|wget)\b[^|\n]{0,200}\|\s*(?:sudo )?(?:ba|z|da)?sh\b",
        rf"\b(?:always|from now on,?|henceforth,?)\s+(?:\w+ly )?(?:send|post|upload|forward|copy|push|deploy|install|"
        rf"download|run|execute|fetch|submit|publish|e-?mail|bcc|cc|report)\b[^\n]{{0,120}}?{OUTSIDE_ADDRESS}",
        rf"{SENTENCE_START}(?:run|execute|download|open|visit|install|fetch|click|go to|navigate "
        rf"to)\b[^.\n]{{0,100}}\b(?:before (?:answering|responding|replying|continuing|doing anything|you "
        "(?:answer|respond|reply|continue))|immediately|right now|at once|without (?:asking|confirmation|"
        r"confirming|hesitation))\b",
        r"\bbefore (?:answering|responding|replying|continuing|doing anything else|you (?:answer|respond|"
        r"reply))\b[^.\n]{0,40}\b(?:run|execute|download|open|visit|install|fetch|click|send|call|delete|read|"
        r"upload|add|include|insert|first|go to)\b",
    ),
    "speaks-to-machine": (
        rf"\b{AI}\b[^.!?\n]{{0,60}}?\b(?:must|should|shall|have to|need to|are (?:required|instructed|advised|"
        r"asked|requested) to|is (?:required|instructed|asked|requested) to|please|are to|has to)\b (?:\w+ "
        rf")?{BIDDEN_VERBS}\b",
        r"(?:^|[.!?>*#\"-]\s*+|\n[^\S\n]*+)(?:hey |dear |hello |hi |attention,? (?:all )?|note (?:to|for) (?:the |"
        "any |all )?|instructions? (?:to|for) (?:the |any |all )?|message (?:to|for) (?:the |any |all )?|to (?:the |"
        rf"any |all |every )){AI}\b",
        r"(?:^|[.!?>*#\"-]\s*+|\n[^\S\n]*+)(?:hey |dear |hello |attention,? |(?:note|message|instructions?) (?:to|for) "
        r"(?:the |all |every |any )?)(?:assistants?|agents?|models?|bots?)\b[,:]",
        r"^[^\w\n]*(?:assistants?|agent|AI|bot|model)\s*[,:]\s+(?:please |you |now |always |never |kindly )*"
        rf"{BIDDEN_VERBS}\b",
        rf"\bif you(?: are|'re) (?:an? |the )?(?:\w+ )?(?:{AI}|assistant|agent|bot|model)\b(?:[^.\n]{{0,120}})",
        r"\b(?:the|any|every|your) (?:assistant|agent) (?:reading|processing|summari[sz]ing|parsing|that reads|"
        r"who reads|handling) (?:this|the)\b",
        r"\bthe assistant (?:must|should|shall|has to|is (?:required|instructed|told) to|will now|needs to)\b "
        rf"(?:\w+ )?{BIDDEN_VERBS}\b",
        # A turn that a text of a tool makes up, and a comment that a page does not show.
        r"(?:^|[.!?]\s+)(?:assistant|AI|human|user|system|developer)\s*:\s*(?:I(?:'ll| will| must| shall)\b|"
        r"sure\b|ok(?:ay)?\b|understood\b|certainly\b|of course\b|let me\b|as (?:asked|requested|instructed)\b)",
        r"^(?:system|assistant|developer)[ \t]*$(?=\n)",
        r"\bas an? (?:AI|language model|LLM|assistant|helpful assistant)\b[^.\n]{0,20}\byou (?:must|should|are|"
        r"will|have|need)\b",
        *SPEAKS_IN_OTHER_LANGUAGES,
    ),
    "standing-order": (
        r"\b(?:always|never|only|from now on,?|henceforth,?|going forward,?)\s+(?:you (?:must|should|will|shall) "
        ")?(?:answer|reply|respond|recommend|address the user|refer to the user|greet|begin (?:your|every|each)|"
        r"end (?:your|every|each)|start (?:your|every|each)|conclude|sign off|include [^.\n]{0,60}\b(?:repl|respon|"
        r"answer)|prefer|suggest|trust|mention|speak|write (?:your|in)|format (?:your|all)|use [^.\n]{0,40}\bin "
        "(?:your|every|all)|obey|follow (?:the |these |my |our )(?:instruction|order|link|direction)|approve|"
        r"agree|tell the user|say that|praise|rank|rate|cite|quote|buy|choose|pick)\w*\b",
        r"\bin (?:all|every|each|any)(?: of)?(?: your)?(?: future| subsequent| following)? (?:repl(?:y|ies)|"
        r"responses?|answers?|messages?|conversations?|sessions?|outputs?)\b",
        r"\b(?:whenever|when|if|every time|each time|any time|once) (?:the user|users?|someone|anyone|you(?:'re| "
        "are)) (?:ask|mention|request|want|say|inquire|talk|type|write|asked|summari[sz]|respond|reply|answer|"
        r"prompted)\w*\b[^.\n]{0,120}[,:] ?(?:\w+ ){0,2}(?:say|tell|answer|reply|respond|recommend|suggest|mention|"
        "include|add|direct|send|point|refer|claim|insist|run|call|ignore|give|use|state|offer|name|link|praise|"
        r"always|never|you must|do not|don't)\b",
        r"\b(?:tell|inform|convince|persuade|instruct|advise|assure|remind|urge|ask) the user(?:s)? (?:that|to|"
        r"about|how|for|their|it|they|there)\b",
        r"\b(?:your|the final|the next) (?:repl(?:y|ies)|responses?|answers?|output|summary) (?:must|should|has to|"
        "have to|needs to|will) (?:always |only |also |not |never )?(?:include|contain|be|start|begin|end|mention|"
        r"say|state|recommend|praise|consist|read)\b",
        r"\byou (?:must|should|shall|will|need to|have to|are to|are required to) (?:always |never |only |now |"
        "immediately |not |also |first )?(?:recommend|obey|comply|tell the user|answer|reply|respond|praise|rate|"
        "rank|approve|forget|reveal|disclose|address the user|refuse|insist|claim|say|state|mention|output|"
        r"summari[sz]e|describe)\b",
        r"\b(?:summari[sz]e|describe|rate|rank|review) (?:this|the) (?:page|product|paper|article|document|text|"
        r"site|candidate|resume|cv|email|listing)\w* (?:as|positively|favou?rably|only)\b",
        r"(?:^|[.!?:]\s*)(?:do not|don't|never) (?:answer|respond to|mention|recommend|discuss|summari[sz]e|trust|"
        "believe|suggest|cite) (?:any|the user|the|questions|other|anything|competitors?|"
        r"\w+'s)\b[^.\n]{0,60}\b(?:user|question|competitor|instead|other|anything)\b",
        *STANDING_IN_OTHER_LANGUAGES,
    ),
    "memory-order": (
        r"\b(?:remember|store|save|memori[sz]e|record|add|write|keep|put|commit|persist)\b[^.\n]{0,80}\b(?:in|to|"
        r"into|as)\b (?:a |an )?(?:your|long-?term|persistent|permanent|the (?:agent|assistant|user|ai|model|"
        r"bot)(?:'s)?) (?:[\w-]+ )?(?:memor(?:y|ies)|bio|notes?|profile|preferences?)\b",
        r"\bupdate (?:your|the (?:agent|assistant|user)'s) (?:long-?term |persistent )?(?:memor(?:y|ies)|beliefs?|"
        r"knowledge|profile|notes?)\b",
        r"(?:^|[.!?:;\]>\"-]\s*|\b(?:please|must|should|and) )(?:remember|memori[sz]e|note|save|store|record)(?: "
        r"for(?:ever| later| all future \w+))?(?: that|:)? (?:the )?user(?:'s|s)? (?:\w+ ){0,2}(?:prefer|want|like|"
        "trust|is|has|ask|authori[sz]|approv|allow|consent|grant|agree|need|love|always|hate|only|password|bank|"
        r"e-?mail|account|doctor|favou?rite|home|name|address)\w*",
        r"\b(?:for|in) all future (?:sessions?|conversations?|interactions?|chats?|requests?|tasks?|quer(?:y|ies))\b",
        r"\b(?:forget|delete|erase|wipe|clear|remove) (?:\w+ ){0,3}(?:your|the user's|the agent's|the assistant's) "
        r"(?:\w+ )?(?:memor(?:y|ies)|facts?|notes?|history|preferences?)\b",
        *MEMORY_IN_OTHER_LANGUAGES,
    ),
    "false-authority": (
        r"\bthe user (?:has |have |had )?(?:already |previously |explicitly |just )*(?:approved|authori[sz]ed|"
        r"consented|confirmed|asked|instructed|told|wants|allowed|permitted|given you|granted you|expects) (?:\w+ "
        r"){0,3}?(?:you\b|this (?:action|transfer|request|payment|change)|permission|all (?:\w+ ){0,2}(?:actions?|"
        r"transfers?|requests?|payments?|changes?|commands?|operations?|access)|all(?=\s*[.;,!]))\b",
        r"\byou (?:are|have been) (?:hereby |now )?(?:authori[sz]ed|permitted|allowed|granted|instructed|ordered|"
        r"required|commanded) (?:\w+ ){0,2}(?:to (?:ignore|bypass|send|delete|share|access|run|execute|transfer|"
        r"approve|disclose|override|skip|act|install|reveal|obey)|full access|admin|root|permission)\b",
        r"\b(?:admin(?:istrator)?|developer|security|root|sudo|emergency|executive) (?:override|command|directive|"
        r"order)\b\s*[:!-]",
        r"\b(?:access|permission|approval|consent) (?:is|has been) (?:hereby )?(?:granted|given) (?:for|to) \w+",
        r"\bproceed with (?:the )?(?:deletion|removal|transfer|payment|upload|push|wipe|purchase)\b",
        r"\bno (?:further |additional |user )?(?:confirmation|approval|permission|consent) (?:is |will be "
        r")?(?:needed|required|necessary)\b",
    ),
    "secret-order": (
        r"\b(?:tokens?|keys?|passwords?|secrets?|credentials?|\.env|id_rsa|cookies?)\b[^.\n]{0,60}\b(?:belongs?|goes?|go|"
        r"(?:is|are|be|to be|get) (?:sent|posted|put|passed|appended|included|forwarded|submitted|copied|uploaded))\b"
        rf"[^.\n]{{0,20}}\b(?:in|into|to|at|on)\b[^\n]{{0,60}}{OUTSIDE_ADDRESS}",
        # A word for sending in another language, beside an address.
        rf"(?:{SENDING})[^\n]{{0,160}}{OUTSIDE_HOST}|{OUTSIDE_HOST}[^\n]{{0,160}}(?:{SENDING})",
    ),
    "payment-order": (
        rf"{SENTENCE_START}(?:transfer|wire|pay|send|move|deposit|withdraw)\b(?:[^.\n]|\.\d){{0,60}}(?:\$|€|£|"
        "(?<![A-Za-z])(?:USD|EUR|BTC|ETH|bitcoin|money|funds|dollars|euros|payment|crypto|balance|savings|"
        rf"coins?)\b)[^.\n]{{0,60}}\b(?:to|into)\b[^.\n]{{0,40}}\b(?:account|wallet|address|IBAN|0x[0-9a-fA-F]+|"
        rf"bc1\w+|[A-Z]{{2}}\d{{2}}\w{{4,}})",
    ),
    "hidden-page-part": (
        rf"(?:<!--|\[//\]: ?#|\[comment\]: ?#)(?:(?!-->|\n).){{0,300}}?(?:\b(?:{BIDDEN_VERBS}|hand over|give|keys?|"
        r"passwords?|tokens?|secrets?|credentials?|curl|wget|must|admin|access)\b|https?://|@\w)",
        rf"<!--(?:(?!-->).){{0,300}}?\b(?:{AI}|assistants?|agents?|ignore|instructions?|you must|the user|do not)\b",
        r"(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|color\s*:\s*(?:white|#fff(?:fff)?|"
        r"transparent)|opacity\s*:\s*0)[^>]{0,80}>[^<]{0,400}?\b(?:you|assistant|AI|ignore|must|always|never|user|"
        r"send|instructions?|agent)\b",
    ),
}  # fmt: skip
