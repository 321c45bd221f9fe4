"""Normalize disguised text (hidden letters, look-alikes, spread-out words), and search it by rules.

Patterns of text that no honest author writes: orders to forget orders, forged roles, smuggled tool calls.

Patterns of orders to a machine that a person may give, but a tool or a web page may not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache

# Parts of the patterns for injection rules.

ORDERS = (
    r"(?:instruction|prompt|rule|guideline|guardrail|direction|directive|constraint|restriction|message|command|"
    r"order|polic(?:y|ie)|training|programming)s?\b"
)
AI = (
    r"(?:AIs?|LLMs?|(?:large )?language models?|chat ?bots?|ChatGPT|Claude|GPT(?:-\d\w*)?|Gemini|Copilot|"
    "(?:AI|LLM|virtual|digital|automated|autonomous)[ -](?:agents?|assistants?|models?|systems?|readers?|"
    "crawlers?|bots?))"
)
READER = rf"(?:{AI}|(?:the |any |all |dear |every )?(?:assistants?|agents?|models?|bots?))"
BIDDEN_VERBS = (
    r"(?:recommend|mention|say|tell|reply|respond|answer|include|ignore|send|visit|open|click|run|execute|call|use|"
    r"treat|rate|rank|approve|disclose|state|report|remember|store|save|forget|append|output|print|write|insert|"
    r"delete|describe|present|prioriti[sz]e|follow|refuse|forward|email|post|upload|reveal|add|praise|stop|start|"
    r"immediately|always|never|only|not|also|instead|first|download|install|fetch|submit|skip|buy|purchase|share)"
)
SENSITIVE_DATA = (
    r"(?:passwords?|credentials?|api[ _-]?keys?|secrets?|(?:access |auth |session )?tokens?|private keys?|ssh keys?|"
    r"cookies?|(?:~/)?\.ssh\b\S*|(?:the )?\S*\.env\b|\S*id_rsa\S*|e-?mails?|inbox|contacts?|calendar|"
    r"(?:credit )?card (?:number|detail)s?|personal (?:data|details|information)|address(?:es)?|(?:\w+ )?files?|data|"
    r"conversations?|chat (?:history|log)s?|message history|history|notes|memor(?:y|ies)|system prompt|"
    r"environment variables?|everything|documents?|messages?|invoices?|database|responses?|answers?)"
)
DETERMINER = (
    "(?:(?:a |the )?(?:full |complete |entire |whole )?(?:copy|content|contents|summary|list|dump|transcript|"
    "export) of |"
    "all (?:of )?|any |every |the user(?:'s|s'|s)? |the (?:full|entire|whole|complete|current|previous|last|last "
    r"\w+|"
    r"above|stored|saved|earlier) |their |your (?:full |entire |whole |complete |stored |saved )?|users?'?s? |"
    r"the )"
)
DESTINATION = (
    r"(?:https?://|www\.|[\w.+-]+@[\w-]+\.\w|(?:my|our|this|the following) (?:server|webhook|address|endpoint|e-?mail|"
    r"url|site|account)|webhook|pastebin|telegram|discord)"
)
# An address, a mailbox, or the name of a host after a preposition, which is no name of a file.
_MAILBOX = r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.\w"
OUTSIDE_ADDRESS = (
    rf"(?:https?://|www\.|{_MAILBOX}|\b(?:from|to|at|via) (?:[\w-]{{1,63}}\.){{1,5}}(?!(?:py|md|sh|js|ts|go|rs|c|h|cpp|"
    r"rb|java|json|ya?ml|toml|txt|html?|css|sql|cfg|ini|lock|log|env|xml|csv)\b)[a-z]{2,12}\b)"
)
OUTSIDE_HOST = (
    rf"(?:https?://|{_MAILBOX}|(?<![\w.-])(?:[a-zA-Z\d-]{{1,63}}\.){{1,5}}"
    r"(?:com|org|net|io|example|dev|xyz|ru|cn|info|app)(?![a-zA-Z\d]))"
)
SENDING = (
    r"отправ\w*|перешл\w*|переда\w*|загруз\w*|надішл\w*|надісл\w*|传送|傳送|发送|發送|上传|上傳|转发|轉發|送信|転送|アップロード|送って|"
    r"보내|전송|업로드|أرسل|إرسال|ارسل|भेज|gönder\w*|wy[śs]l\w+|prze[śs]l\w+|gửi|kirim\w*|ส่ง|pošl\w+|odešl\w+|στείλ\w+|שלח\w*|lähet\w+"
)
SENTENCE_START = (
    r"(?:^|[.!?:;,\]>)\"'“”*#-]\s*|\b(?:please|then|and|now|must|should|shall"
    r"|to|you|also|first|immediately|secretly|silently)\s+)"
)

# "Ignore your earlier instructions" in other languages.
ORDERS_IN_OTHER_LANGUAGES = (
    r"\b(?:oublie[zr]?|ignore[zr]?|ne (?:tiens|tenez) pas compte de) (?:\w+ ){0,3}(?:instructions|consignes|"
    r"directives|règles)(?: \w+){0,2} (?:précédentes|antérieures|ci-dessus|du système)",
    r"\b(?:ignorier(?:e|en|t)?|vergiss|vergesst|vergessen sie|missachte) (?:\w+ ){0,3}(?:vorherigen?|vorigen|"
    r"bisherigen?|obigen|früheren|deine|ihre|alle) (?:\w+ )?(?:anweisung|instruktion|regel|vorgabe|befehl)",
    r"\b(?:ignor[aeá]|olvid[ae]|descarta) (?:\w+ ){0,3}(?:instrucciones|indicaciones|órdenes|reglas)(?: \w+)? "
    "(?:anteriores|previas|del sistema|de arriba)",
    r"\b(?:ignora|dimentica|trascura) (?:\w+ ){0,3}(?:istruzioni|indicazioni|regole)(?: \w+)? (?:precedenti|"
    "anteriori|di sistema|sopra)",
    r"\b(?:ignor[ea]|esque[çc]a|desconsidere) (?:\w+ ){0,3}(?:instruções|instrucoes|orientações|regras)(?: \w+)? "
    "(?:anteriores|prévias|acima|do sistema)",
    r"\b(?:negeer|vergeet) (?:\w+ ){0,3}(?:voorgaande|vorige|eerdere|bovenstaande|alle) (?:\w+ )?(?:instructies|"
    "aanwijzingen|regels|opdrachten)",
    r"\b(?:zignoruj|zapomnij) (?:\w+ ){0,3}(?:poprzedni\w+|wcześniejsz\w+|powyższ\w+) (?:instrukcj|polece|zasad)",
    r"\b(?:ignorera|glöm|ignorer|glem) (?:\w+ ){0,2}(?:tidigare|föregående|tidligere|forrige) (?:instruktion|"
    "anvisning|instruks)",
    r"(?:игнорируй(?:те)?|проигнорируй(?:те)?|забудь(?:те)?) (?:\w+ ){0,3}(?:предыдущи|прежни|все|прошл)\w* (?:\w+ "
    ")?(?:инструкци|указани|команд|правил)",
    r"(?:忽略|无视|忘记|忽視|忘記).{0,8}(?:之前|以上|先前|前面|所有|上述|此前).{0,8}(?:指令|指示|说明|提示|規則|规则|命令)",
    r"(?:以前|これまで|上記|前|すべて|先).{0,8}(?:指示|命令|プロンプト|ルール).{0,6}(?:無視|忘れ)",
    r"(?:이전|위의?|앞의?|지금까지의?|모든).{0,8}(?:지시|명령|지침|프롬프트|규칙).{0,8}(?:무시|잊)",
    r"(?:تجاهل|انس).{0,24}(?:التعليمات|الأوامر|تعليمات)",
    r"(?:पिछले|उपरोक्त|सभी|पहले).{0,24}निर्देश.{0,24}(?:अनदेखा|नज़रअंदाज़|भूल|ध्यान न)",
    r"\b(?:önceki|yukarıdaki|tüm) (?:\w+ )?(?:talimat|komut|kural)\w* (?:yok say|unut|göz ardı|dikkate alma)",
    r"\bbỏ qua (?:\w+ ){0,3}(?:hướng dẫn|chỉ dẫn|lệnh)|\babaikan (?:\w+ ){0,2}(?:instruksi|perintah)",
)
# Orders to an assistant, and to keep something about its user, in German, Spanish and French.
_HELPER = r"(?:ki|ia|llm|assistent(?:in)?|asistente|agente?n?|modell?|modelo|modèle|chat ?bot|bot)"
SPEAKS_IN_OTHER_LANGUAGES = (
    r"(?:^|[.!?>*#\"-]\s*+|\n[^\S\n]*+)"
    r"(?:hallo |hinweis (?:an|für) (?:den |die |das |alle )?|an (?:den |die |das |alle )"
    rf"|hola |nota para (?:el |la |los )?|al |note (?:à|pour) (?:l['’]|le |la |les )?|à l['’])?{_HELPER}\s*[,:]\s+\w",
    rf"\b(?:der|die|das|jede[rs]?|dieser?|el|la|los|cualquier|l['’]|le|les|tout) ?{_HELPER}\b[^.!?\n]{{0,40}}?\b"
    r"(?:muss|soll|sollen|müssen|hat zu|debe|deben|tiene que|doit|doivent)\b",
    r"\b(?:du|sie) (?:musst|müssen|sollst|sollen|wirst) (?:ab (?:jetzt|sofort)|immer|nie|stets|dem nutzer|keine?)\b",
    r"\b(?:debes|tienes que|deberás) (?:siempre|nunca|responder|ignorar|decir|recordar)\b",
    r"\b(?:tu dois|vous devez) (?:toujours|jamais|désormais|répondre|ignorer|dire|retenir)\b",
    r"\bab (?:jetzt|sofort) (?:antworte|sag|empfiehl|nenne|musst|sollst|schreib)\w*",
)
MEMORY_IN_OTHER_LANGUAGES = (
    r"\b(?:merke? dir|merken sie sich|speichere?|notiere?|behalte)\b[^.\n]{0,80}\b(?:nutzer|benutzer|user|dauerhaft|"
    r"gedächtnis|speicher|profil|als fakt|für immer|dass (?:er|sie|ich))\b",
    r"\b(?:recuerda|guarda|memoriza|anota)\b[^.\n]{0,80}\b(?:usuari[oa]|memoria|perfil|para siempre|como hecho)\b",
    r"\b(?:retiens|retenez|mémorise[zr]?|enregistre[zr]?|souviens-toi)\b[^.\n]{0,80}\b(?:utilisat\w+|mémoire|profil|"
    r"pour toujours|comme (?:un )?fait)\b",
)
# "Always answer ..." as an order, in other languages.
STANDING_IN_OTHER_LANGUAGES = (
    r"(?:^|[.!?:]\s*)(?:toujours répondre|réponds|répondez|antworte|antworten sie|responde|responda|rispondi|"
    "antwoord|odpowiadaj|отвечай(?:те)?) (?:toujours|immer|siempre|sempre|altijd|zawsze|всегда|nur|seulement|solo|"
    r"only|en|auf|in)\b",
    r"(?:必须|请|务必).{0,6}(?:始终|总是|永远).{0,12}(?:回答|推荐|回复)|常に.{0,24}(?:答え|推薦|勧め|返信)",
)


ORDERS_BY_RULE = {
    "tool-order": (
        rf"{SENTENCE_START}(?:call|use|invoke|run|execute|trigger) (?:the |your )(?:[`'\"]?[\w.-]+[`'\"]? )?(?:tool|"
        rf"function|shell|terminal|browser|bash|memory)\b(?:[^.\n]{{0,40}})\b(?:to|with|and|on)\b(?! (?:find|"
        r"search|look|see|view|read|add|create|edit)\b)",
        r"\b(?:run|execute|type|use)\b[^.\n]{0,24}\brm -rf (?:~|/|\$HOME|\*)",
        rf"(?:\b(?:run|execute|type|paste|always)\b[^.\n]{{0,24}}|{SENTENCE_START})\b(?:curl|wget)\b[^|\n]{{0,200}}\|\s*"
        r"(?:sudo )?(?:ba|z|da)?sh\b",
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


# Letters of other scripts that look like Latin ones and are used to get past filters.
_TWINS = str.maketrans(
    "аеорсухіјѕԁԛɡһкмтвнАВЕКМНОРСТХІЈЅοαειρυνΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdqghkmtbhABEKMHOPCTXIJSoaeipuvABEZHIKMNOPTYX",
)
_MIXED = re.compile(r"\b(?=\w*[a-zA-Z])(?=\w*[\u0370-\u04ff\u0500-\u052f\u0261\u04bb])\w+\b")
_SPREAD = re.compile(r"\b(?:[A-Za-z][ .*_-]){3,}[A-Za-z]\b")
_GAPS = re.compile(r"[ .*_-]")
_LEET = str.maketrans("013457@$", "oieastas")
_LEETED = re.compile(r"\b(?=[A-Za-z]*[013457@$])(?=[013457@$]{0,2}[A-Za-z])[A-Za-z013457@$]{4,20}\b")
_DROPPED = {ord(letter): None for letter in "\u200b\u200c\u200d\u2060\ufeff\u00ad\u2061\u2062\u2063\u2064"}
_TAG_FIRST, _TAG_LAST = 0xE0020, 0xE007E
_LONGEST_SHOWN = 80
PATTERNS: Mapping[str, Sequence[str]] = {**FORGERIES, **ORDERS_BY_RULE}
_MANY_LINES = frozenset(("hidden-page-part",))


def normalize_disguises(text: str) -> str:
    """Return the text in a plain form with its white space; text spelled in tag characters is added at the end."""
    if text.isascii():
        plain = text
    else:
        hidden = "".join(chr(ord(letter) - 0xE0000) for letter in text if _TAG_FIRST <= ord(letter) <= _TAG_LAST)
        plain = unicodedata.normalize("NFKC", text.translate(_DROPPED)) + (f"\n{hidden}" if len(hidden) > 5 else "")
        plain = _MIXED.sub(lambda found: found[0].translate(_TWINS), plain)
    return _SPREAD.sub(lambda found: _GAPS.sub("", found[0]), plain)


def replace_leetspeak(text: str) -> str:
    """Return the text with digits and signs replaced by the letters they stand for ("1gn0re")."""
    return _LEETED.sub(lambda found: found[0].translate(_LEET), text)


def names_outside_address(text: str) -> bool:
    """Return whether a text names a web address, a mailbox, or a host that something goes to or comes from."""
    return _compiled(OUTSIDE_ADDRESS, re.IGNORECASE).search(text) is not None


def search(forms: Collection[str], rules: Collection[str]) -> tuple[str, str] | None:
    """Return the first rule that matches one of the forms, and the matching words, or None."""
    for form in forms:
        for rule in rules:
            flags = re.IGNORECASE | re.MULTILINE | (re.DOTALL if rule in _MANY_LINES else 0)
            for pattern in PATTERNS[rule]:
                match = _compiled(pattern, flags).search(form)
                if match:
                    return rule, _shown(match[0])
    return None


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    """Compile a pattern on first use; compiling all of them would take 25 ms."""
    return re.compile(pattern, flags)


def _shown(words: str) -> str:
    line = " ".join("".join(letter if letter.isprintable() else "\ufffd" for letter in words).split())
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1].rstrip() + "…"
