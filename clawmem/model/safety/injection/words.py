"""Parts of the patterns for injection rules."""

from __future__ import annotations

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
