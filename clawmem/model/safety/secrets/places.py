"""Find credentials by their place: a command's option, an XML element, a header, or a code in a sentence.

This module is loaded only if a text contains one of the words in `PLACES`. Every repetition is bounded, so each
pattern takes linear time.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from clawmem.model.safety.secrets.hints import RECOVERY_NOUNS
from clawmem.model.safety.secrets.kept_rules import KEPT
from clawmem.model.safety.secrets.looks import (
    could_be_chosen,
    could_be_password,
    entropy,
    is_mixed,
    is_placeholder,
    is_row_of_words,
    is_sample,
    is_stand_in,
)

Hit = tuple[str, int, int]
"""Rule, start, end."""

_REST = r"[^\n|;]"
_VALUE = r"""[\\]{0,3}["']?([^\s"'`<>\\]{3,200})"""
_CODES = (
    r"pin(?:[ -]?(?:code|number|nummer))?|puk|passcode|"
    r"(?:door|alarm|gate|entry|unlock|lock|access|security|safe|garage|building|screen|phone|verification)[ -]code"
)
_DOORS = (
    r"(?:doors?|gate|garage|alarm|lock|padlock|locker|safe|building|entry|entrance|lobby|keypad|keybox|lockbox|"
    r"shed|gym|"
    r"cottage|cabin|airbnb|burglar|parking|elevator|phone|sim|iphone|ipad|tablet|card|debit|credit|voicemail|"
    r"haustür|tür|tor|alarmanlage|tresor|safe|schloss|fahrradschloss|schlüsselbox|schlüsseltresor|"
    r"schlüsselkasten|keller|"
    r"eingang|ferienwohnung|handy|telefon|karte|ec-karte|kreditkarte|bankkarte|aufzug|büro|schranke|"
    r"portes?|portail|porte d'entrée|immeuble|entrée|alarme|coffre(?:-fort)?|cadenas|boîte à clés?|téléphone|tél|"
    r"portable|"
    r"mobile|carte(?: bleue| bancaire)?|cb|bâtiment|résidence|parking|interphone|vélo|déverrouillage|gîte|hall|"
    r"bureau|"
    r"puerta|portal|verja|garaje|alarma|caja fuerte|candado|llavero|teléfono|móvil|tarjeta|edificio|oficina|entrada|"
    r"desbloqueo|ascensor|taquilla|"
    r"porta|portão|portaria|prédio|garagem|cofre|cadeado|celular|telemóvel|cartão|fechadura|escritório|desbloqueio|"
    r"portone|cancello|allarme|cassaforte|lucchetto|telefono|cellulare|bancomat|carta|citofono|ingresso|ufficio|"
    r"sblocco|"
    r"deur|voordeur|achterdeur|poort|kluis|slot|fietsslot|sleutelkastje|telefoon|pas|bankpas|pinpas|kantoor|"
    r"schuur|lift|"
    r"ontgrendel\w{0,4})"
)
_DOOR_CODE = (
    r"(?:(?:haus|keller|wohnungs|eingangs|garagen)?(?:tür|tor)|alarm|garagen|zugangs?|tresor|safe|schloss|"
    r"schlüsselbox|"
    r"schlüsselsafe|handy|entsperr|sperr|bildschirm|eingangs|zahlen|keller|keypad|geheim|zutritts|sicherheits|"
    r"aufzugs?|"
    r"schranken|hof|sim|karten)-?(?:code|kode|pin)|"
    r"(?:voor|achter)?deur-?code|poort-?code|kluis-?code|garage-?code|schermcode|slotcode|"
    r"digicodes?|geheimzahl|geheimnummer|bankomatcode|vigik"
)
_IS = (
    r"(?:\s{0,2}[:=→]\s{0,3}|\s{1,3}(?:is|was|are|now|ist|war|jetzt|lautet|wurde|es|era|est|è|é|sera|nu|wordt|"
    r"c'est|c’est|"
    r"ahora es|agora é|cambiado a|changed to|set to|geändert auf|gesetzt auf|auf)(?:\s(?:le|el|il|o|de|now|nu|"
    r"jetzt|auf|to|still|immer noch|"
    r"toujours|toujours le|ancora))?\s{0,2}:?\s{1,3})"
)
_CODE_VALUE = (
    r"[\"'*«“„ ]{0,3}([A-Z*#]?\d(?:[ -]?\d){2,9}[A-Z]?[#*]?|\d{1,4}[A-Z]\d{1,5}[A-Z]?)"
    r"(?![\w%€$£°]|[.,:/-]\d| ?(?:h|uhr|euros?|€|%)\b)"
)
_TOOL = r"(?:[^\n|;\"']|\"[^\n\"]{0,80}\"|'[^\n']{0,80}')"
_WORTH = r"[\"']?([^\s\"'`$<>|;-][^\s\"'`|<>]{3,199})"
_KEY64 = r"(?:0x)?[0-9a-f]{64}(?![0-9a-f])"
_CHOSEN = r"([^\s\"'`«»“”„<>|]{6,64})"
_QUOTE = r"[\"'«“„`]{0,2}\s?"
_AFTER_QUOTE = r"\s?[\"'»”“`]{0,2}"
_LOGIN_LABEL = (
    r"\b(?:[\w-]{0,12}log-?ins?|log-?on|[\w-]{0,20}zugang(?:sdaten)?|anmelde(?:daten|name)|anmeldung|acc[eè]s|"
    r"accesos?|accesso|"
    r"acessos?|access|identifiants?|credentials?|credenciales|credenciais|credenziali|creds|inlog(?:gegevens)?|"
    r"accounts?|"
    r"konto|compte|cuenta|conta|wi-?fi|wlan|usuario|usuário|utilisateur|utente|gebruiker|benutzer(?:name)?|user(?:name)?|"
    r"sign in|signin|"
    r"log in)"
)
_LOGIN_NAME = (
    rf"{_QUOTE}(?!(?:id|name|e-?mail|role|type|https?|uid|gid|group|host|port|date|from|since|vom|seit)\b)"
    rf"[\w.@+-]{{2,60}}{_AFTER_QUOTE}"
)
_USUAL_NAME = (
    rf"{_QUOTE}(?:admin|root|user|administrator|guest|gast|pi|demo|[\w.+-]{{1,40}}@[\w.-]{{3,40}}|"
    rf"[a-z][a-z._-]{{0,20}}[\d._][\w.-]{{0,20}}){_AFTER_QUOTE}"
)
_AND = r"(?:/|\||and|und|et|y|e|en|with|mit|avec|con|com|met|–|—|-|→|password|pw|pass)"
_SAYS = r"(?:\s{0,2}[:=：は]\s{0,3}|\s{1,3}(?:is|was|are|ist|war|lautet|es|est|è|é)\s{0,2}:?\s{1,3})"

PATTERNS: dict[str, str] = {
    "curl-login": (
        rf"\bcurl\b{_REST}{{0,300}}?"
        r"\s(?:-u|--user|--proxy-user)[ =]{0,2}[\"']?[^\s:\"'$]{1,80}:([^\s\"']{3,200})"
    ),
    "mysql-option": rf"\b(?:mysql|mariadb)[a-z-]{{0,12}}\b{_REST}{{0,200}}?\s-p[\"']?([^\s\"'$<-][^\s\"']{{2,200}})",
    "sshpass-option": rf"\bsshpass\s{{1,3}}(?:-v\s{{1,3}})?-p\s{{0,2}}{_VALUE}",
    "login-option": rf"\blogin\b{_REST}{{0,200}}?\s-p\s{{1,2}}{_VALUE}",
    "redis-option": rf"\bredis-cli\b{_REST}{{0,200}}?\s-a\s{{1,2}}{_VALUE}",
    "smb-option": (
        rf"\b(?:smb|rpc)client\b{_REST}{{0,200}}?"
        r"\s(?:-U|--user)[ =][\"']?[^\s%\"']{1,80}%([^\s\"']{3,200})"
    ),
    "defined-constant": (
        r"\bdefine\(\s{0,3}[\"'][A-Z_]{0,40}(?:PASSWORD|PASS|SECRET|KEY|SALT)[A-Z_]{0,20}[\"']\s{0,3},\s{0,3}"
        r"[\"']([^\s\"']{6,200})[\"']"
    ),
    "pgpass": r"(?<![^\s\"'])[^\s:\"']{1,100}:[56]432:[^\s:]{1,100}:[^\s:]{1,100}:([^\s:\"']{6,200})(?![^\s\"'])",
    "netrc": r"\bmachine\s{1,3}\S{1,100}\s{1,9}login\s{1,3}\S{1,100}\s{1,9}password\s{1,3}(\S{3,200})",
    "xml-element": (
        r"<[\w:.-]{0,40}?(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_-]?key|passwort|kennwort)[\w.-]{0,20}>"
        r"\s{0,3}([^<>\s]{4,200})\s{0,3}</"
    ),
    "docker-auth": r"\\{0,3}[\"']auth\\{0,3}[\"']\s{0,3}:\s{0,3}\\{0,3}[\"']([A-Za-z0-9+/]{8,400}={0,2})",
    "npmrc": r":_(?:authToken|password|auth)\s{0,3}=\s{0,3}[\"']?([^\s\"']{6,400})",
    "otpauth": r"otpauth://[^\s?\"']{1,200}\?(?:[^\s\"'&]{1,80}&){0,6}secret=([A-Z2-7]{16,128})",
    "cookie": (
        r"\bcookie\b[^\n]{0,200}?(?:sess(?:ion)?[\w.-]{0,12}|sid|[\w.-]{0,10}sid|auth[\w.-]{0,12}|"
        r"remember[\w.-]{0,12})"
        r"=([A-Za-z0-9%._+/-]{20,400})"
    ),
    "json-web-key": r"[\"'][dk]\\{0,3}[\"']\s{0,3}:\s{0,3}\\{0,3}[\"']([A-Za-z0-9_-]{20,700})",
    "genie-key": r"\bGenieKey\s{1,3}([0-9a-f-]{32,40})",
    "ssws-key": r"\bSSWS\s{1,3}([A-Za-z0-9_-]{30,60})",
    "pin": rf"(?:\b(?:{_CODES})\b|暗証番号|пин-код)(?:\s[^\n\d:=.;]{{1,40}}?)?{_SAYS}"
    r"[\"'*]{0,3}(\d(?:[ -]?\d){3,9})(?![\d.,]?\d)",
    "card-code": r"\b(?:cvv|cvc)2?\b(?:\s(?:code|number))?\s{0,2}(?::|=|is|ist)?\s{0,2}(\d{3,4})(?!\d)",
    "recovery-codes": (
        rf"\b(?:recovery|backup|rescue|wiederherstellungs?)[ -]?(?:codes?|keys?|schlüssel)\b[^\n:.]{{0,40}}?{_SAYS}"
        r"((?:[A-Za-z0-9]{4,12}(?:[- ][A-Za-z0-9]{4,12}){0,4}[\s,;*•-]{0,6}){1,40})"
    ),
    "piped-password": (
        r"\becho\s{1,3}(?:-[ne]{1,2}\s{1,3})?[\"']?(?:[\w.@-]{1,60}:)?([^\s\"'|$<]{4,200})[\"']?\s{0,3}\|\s{0,3}"
        r"(?:sudo\s{1,3})?(?:chpasswd|passwd\s{1,3}--stdin|sudo\s{1,3}-s|kinit|cryptsetup|"
        r"[a-z]{2,12}\s[^\n]{0,60}?-stdin)"
        r"|\bchpasswd\s{0,3}<<<\s{0,3}[\"']?[^\s:\"']{1,60}:([^\s\"'$]{4,200})"
    ),
    "ldap-option": (
        r"\bldap(?:search|modify|add|delete|whoami|passwd|compare|modrdn)\b"
        rf"{_TOOL}{{0,200}}?\s-(?-i:[ws])\s{{0,2}}{_WORTH}"
    ),
    "short-option": (
        r"\b(?:mongo(?:sh|dump|restore|export|import|stat|top)?|cqlsh|twine|nxc|netexec|crackmapexec|evil-winrm|"
        r"psexec"
        rf"|rdesktop|unlock-keychain|ncftp(?:put|get|ls)|nuget|smbmap|"
        rf"vncdo)\b{_TOOL}{{0,200}}?\s-(?-i:p)\s{{1,2}}{_WORTH}"
    ),
    "capital-option": (
        rf"\b(?:sqlcmd|bcp|ipmitool|zip|unzip|mosquitto_(?:pub|sub|rr)|"
        rf"tsql)\b{_TOOL}{{0,200}}?\s-(?-i:P)\s{{0,2}}{_WORTH}"
    ),
    "archive-option": rf"\b(?:7z[ar]?|7zz|rar|unrar)\s{{1,3}}[a-z]\b{_TOOL}{{0,200}}?\s-h?p{_WORTH}",
    "named-option": (
        r"\s-(?:pw|storepass|keypass|srcstorepass|deststorepass|srckeypass|destkeypass)(?:\s{1,3}|=)"
        + _WORTH
        + rf"|\b(?:add-generic-password|add-internet-password)\b{_TOOL}{{0,200}}?\s-w\s{{1,2}}{_WORTH}"
        + rf"|\b(?:ssh-keygen\b{_TOOL}{{0,100}}?\s-(?-i:N)|openssl enc\b{_TOOL}{{0,100}}?\s-k)\s{{1,2}}{_WORTH}"
        + rf"|\bsecrets? set\b{_TOOL}{{0,100}}?\s(?:-b|--body)[ =]{{1,2}}{_WORTH}"
        + rf"|\bx11vnc\b{_TOOL}{{0,100}}?\s-passwd\s{{1,2}}{_WORTH}"
    ),
    "slash-option": rf"\b(?:[xw]freerdp3?|cmdkey|winrs)\b{_TOOL}{{0,200}}?\s[/-](?:p|pass|password):{_WORTH}",
    "windows-user": (
        rf"\bnet\s{{1,2}}user\s{{1,2}}[\w.@-]{{1,40}}\s{{1,2}}(?!/){_WORTH}(?=\s{{1,2}}/|\s{{0,3}}$)"
        rf"|\bnet\s{{1,2}}use\b[^\n]{{1,120}}?\s(?!/|\\|[a-z]:){_WORTH}\s{{1,2}}/user:"
        rf"|\bnet\s{{1,2}}use\b[^\n]{{1,120}}?\s/user:\S{{1,60}}\s{{1,2}}(?!/){_WORTH}"
    ),
    "openssl-pass": r"\s(?:-pass(?:in|out)?|--(?:ks|key)-pass)[ =]{1,2}[\"']?pass:([^\s\"'$]{4,200})",
    "placed-password": (
        rf"\bhtpasswd\s{{1,3}}-[a-z]{{0,4}}b[a-z]{{0,4}}\s{{1,3}}(?:\S{{1,100}}\s{{1,3}}){{1,2}}{_WORTH}(?=\s{{0,3}}(?:$|\n|[|;&]))"
        rf"|\bwpa_passphrase\s{{1,3}}(?:\"[^\"\n]{{1,60}}\"|'[^'\n]{{1,60}}'|\S{{1,60}})\s{{1,3}}{_WORTH}"
        rf"|\brabbitmqctl\s{{1,3}}(?:add_user|change_password|authenticate_user)\s{{1,3}}\S{{1,60}}\s{{1,3}}{_WORTH}"
        rf"|\bhttp-basic\.\S{{1,80}}\s{{1,3}}\S{{1,80}}\s{{1,3}}{_WORTH}"
        r"|\bsqlplus\b[^\n/]{0,60}?\s[\"']?\w{1,40}/([^\s@\"'$/]{4,100})@"
        r"|\blftp\b[^\n]{0,60}?\s-u\s{1,2}[\"']?[^\s,\"']{1,60},([^\s\"'$]{4,100})"
    ),
    "pair-option": r"\s(?:-a|--auth)[ =]{1,2}[\"']?[\w.@-]{1,60}:([^\s\"'$<{/][^\s\"']{3,200})",
    "snmp-option": (
        r"\bsnmp(?:get|walk|set|bulkwalk|trap|getnext|table)\b"
        rf"{_TOOL}{{0,200}}?\s-(?-i:[AX])\s{{1,2}}{_WORTH}"
    ),
    "sql-password": (
        r"\bidentified\s{1,3}(?:with\s{1,3}\S{1,40}\s{1,3})?by\s{1,3}[\"']([^\n\"']{4,200})[\"']"
        r"|\b(?:user|role|login)\s[^\n;]{1,120}?\bpassword\s{0,3}=?\s{0,3}N?'([^\n']{4,200})'"
    ),
    "command-token": (
        r"(?:^|[\s`'\"$(])[a-z][\w-]{1,24}\s(?:[a-z]{2,12}\s)?(?:login|auth|authtoken|add-authtoken|"
        r"login --with-token|"
        r"auth login|auth token|login -)\s{1,3}(?:--?[\w-]{1,24}(?:=\S{1,40})?\s{1,3}){0,3}(?:<<<\s{0,2}[\"']?)?"
        r"([A-Za-z0-9_-]{20,200})(?![\w./@:-])"
        r"|\bconfig\s(?:pypi-token|github-oauth|gitlab-token)\.\S{1,60}\s{1,3}([A-Za-z0-9_-]{20,300})"
        r"|\baws_secret_access_key\s{1,3}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"
    ),
    "wifi-code": r"\bWIFI:(?:[TSHREAI]{1,3}:(?:\\.|[^;\\\n]){0,64};){0,5}P:[\"']?((?:\\.|[^;\\\n\"]){4,100})",
    "bitlocker-key": r"(?<!\d)(\d{6}(?:[- ]\d{6}){7})(?!\d)",
    "wallet-key": (
        r"(?:wallet|account|accounts|signer|keypair|private[ _-]?key\w{0,12}|importprivkey|fromsecret\w{0,6}|"
        r"from_key|"
        rf"privatekeytoaccount)[\s\"']{{0,3}}[(\[:= ]{{1,3}}[\s\[\"'`]{{0,6}}({_KEY64})"
        r"|(?:secret|private|keypair|wallet|"
        r"solana)[^\n\[]{0,60}(\[(?:\s{0,4}\d{1,3}\s{0,3},){63}\s{0,4}\d{1,3}\s{0,3},?\s{0,3}\])"
    ),
    "constructor-pair": (
        r"(?:client|api|credentials?|auth\w{0,12}|algoliasearch|twilio|pusher|plivo|binance\w{0,10}|exchange)\s{0,2}"
        r"\(\s{0,8}[\"'][\w@.:+/-]{2,100}[\"']\s{0,3},\s{0,8}[\"']([A-Za-z0-9_+/=-]{20,200})[\"']"
    ),
    "pair-in-code": (
        r"(?:\bauth\s{0,2}[=:]\s{0,2}(?:[\w.]{0,30}(?=[(\[]))?[(\[]\s{0,4}|(?:basic_?auth|credentials?|"
        r"auth\.basic|\.login|\.auth|auth)\s{0,2}"
        r"\(\s{0,4})(?:u?[\"'][^\"'\n]{0,100}[\"']|"
        r"[a-z_.]{1,30})\s{0,3},\s{0,6}(?:password\s{0,2}=\s{0,2})?[\"']([^\s\"']{6,200})[\"']\s{0,3}[,)\]]"
    ),
    "connection-password": (
        r"(?:\bmysqli(?:_connect)?|\bmysql_p?connect|\bPDO|"
        r"getConnection)\s{0,2}\(\s{0,8}(?:[\"'][^\"'\n]{0,160}[\"']|[\w.$]{1,40})"
        r"\s{0,3},\s{0,8}[\"'][^\"'\n]{0,60}[\"']\s{0,3},\s{0,8}[\"']([^\s\"']{4,200})[\"']"
    ),
    "lock-combination": (
        r"\b(?:(?:zahlen)?kombination|combination|combo|combinaison|combinación|combinação|combinazione|"
        r"combinatie|safe code|safe opens with)\b[^\n]{0,60}?"
        r"(?<![\w.,-])(\d{1,2}(?:\s?(?:left|right|[lr]|links|rechts|gauche|droite|izquierda|derecha|esquerda|"
        r"direita|sinistra|"
        r"destra)\b)?(?:[\s,/–-]{1,3}(?:(?:then|and|left|right|to|the|[lr]|links|rechts|gauche|droite|izquierda|"
        r"derecha|"
        r"esquerda|direita|sinistra|destra|dann|puis|luego|poi|en)\b[\s,]{0,2}){0,3}\d{1,2}(?:\s?(?:left|right|"
        r"[lr]|links|rechts|gauche|"
        r"droite|izquierda|derecha|esquerda|direita|sinistra|destra)\b)?){2,5}|\d{3,8}(?![\w.,:/-]\d))(?!\w|"
        r"[.,:/-]\d)"
    ),
    "spoken-code": (
        rf"\b(?:{_DOOR_CODE})\b(?:[^\n\d:=;.?!]{{1,50}}?)?(?:{_IS}|\s{{1,3}}|\s?[—–-]\s){_CODE_VALUE}"
        rf"|(?<!error )(?<!fault )(?<!zip )(?<!promo )(?<!status )\b(?:codes?|código|codigo|codice|kode|pin|"
        rf"geheimzahl)\s(?:[^\n\d:=;.?!]{{0,30}}?[\s'’])?{_DOORS}\b[^\n\d:=;?!]{{0,40}}?"
        rf"(?:{_IS}|\s?[—–]\s|\s(?!(?:19|20)\d\d\b)){_CODE_VALUE}"
        r"|\b(?-i:PIN)\s(\d{4,6})(?=\s(?:für|for|of|pour|para|per|voor|vom|del|della|van|du)\b)"
        r"|\b(?:door|gate|garage|entry|keypad|lockbox|safe|locker)\scode\s(\d{4,8}[#*]?)(?![\w.,:/-]?\d)"
        rf"|\b(?:keypad|lockbox|key ?box|key ?safe){_IS}{_CODE_VALUE}"
        rf"|\b{_DOORS}(?<!phone)(?<!mobile)(?<!tel)\s(?:code|pin){_IS}{_CODE_VALUE}"
    ),
    "recovery-key": (
        r"\b(?:(?:recovery|backup|back-up|rescue|emergency|wiederherstellungs?|notfall|ersatz|herstel|filevault)[ -]?"
        r"(?:codes?|keys?|schlüssel|sleutels?)|(?:codes?|clés?|claves?|códigos?|codigos?|chaves?|codici|codice|"
        r"chiavi|chiave)\s"
        r"(?:de |di |d')?(?:secours|récupération|recuperación|recuperacion|respaldo|recuperação|backup|recupero|"
        r"emergencia|"
        r"emergência|urgence|emergenza))\b[^\n:.]{0,60}?(?:\s{0,2}[:=]\s{0,3}|\s(?:is|are|ist|sind|est|sont|es|"
        r"son|é|são|è|sono)\s)"
        r"[\"'`*«]{0,2}([A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,12}(?:[\s,;/•]{1,4}[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,12}){0,40}|"
        r"\d{4,8}(?:[\s,;/•]{1,4}\d{4,8}){1,40}|[A-Za-z0-9]{16,64})(?![\w-])"
    ),
    "recovery-list": (
        rf"(?:{'|'.join(RECOVERY_NOUNS)})\w{{0,4}}(?:[^\n:=：\d]{{0,40}}?(?:\s{{0,2}}[:=：→]\s{{0,3}}|[はが은는이]\s?|"
        r"\s[—–-]\s)|\s{1,3})[\"'`*«「『]{0,2}((?:[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,6}[\s,、，;/•]{0,4}){1,40})"
    ),
    "seed-words": (
        r"\b(?:seed|recovery|mnemonic|secret|semilla|récupération|recuperación|recuperação|recupero|"
        r"seed[ -]?phrase|wallet|"
        r"wiederherstellungs|herstel)[ -]?(?:phrases?|words?|phrase|frase|secreta|"
        r"semilla)?\b[^\n:=]{0,40}?\s{0,2}[:=]\s{0,3}"
        r"[\"'`*«“„ ]{0,3}((?:(?:\d{1,2}[.)]\s?)?[^\W\d_]{3,12}[\s,]{1,3}){11,23}"
        r"(?:\d{1,2}[.)]\s?)?[^\W\d_]{3,12})(?!\w)"
    ),
    "login-pair": (
        rf"{_LOGIN_LABEL}\b[^\n:=]{{0,60}}?(?:\s{{0,2}}[:=]\s{{0,3}}{_LOGIN_NAME}(?:\s{{1,2}}{_AND}\s{{1,2}}|"
        rf"\s?[,/|:]\s{{0,2}})|"
        rf"\s(?:is|ist|est|es|é|è|still|noch|with|mit|avec|con|com|met|as|als|nog|"
        rf"toujours)\s{{1,2}}{_USUAL_NAME}(?:\s{{1,2}}{_AND}\s{{1,2}}|\s?[,/|:]\s{{0,2}})|"
        rf"\s{{1,2}}{_LOGIN_NAME}\s{{1,2}}[/|]\s{{1,2}}){_QUOTE}{_CHOSEN}"
        rf"|(?<![\w/.@-])(?:admin|root|administrator|administrador)\s{{0,2}}[/:]\s{{0,2}}{_CHOSEN}"
        rf"|(?<![\w.+-])[\w.+-]{{1,40}}@[\w.-]{{3,40}}\s{{1,2}}[/|]\s{{1,2}}{_CHOSEN}"
    ),
    "spelled-password": (
        r"(?:\b(?:try|use|is|was|it's|mit|ist|nimm|c'?est|c’est|c|essaie|prueba|usa|es|é|è|prova|probeer|met)\s|"
        r"[:=]\s{0,2})"
        rf"[\"'«“„`]{{0,2}}{_CHOSEN}[\"'»”“`]{{0,2}}(?=[\s,.;(–—-]{{1,3}}[^\n]{{0,70}}?"
        r"(?:\b(?:capital|upper ?case|lower ?case|all one word|one word|no spaces?|tt attach|tout attach|"
        r"majuscule|minuscule|"
        r"zusammengeschrieben|zusammen ?geschrieben|kleingeschrieben|großgeschrieben|alles klein|alles groß|"
        r"todo junto|minúscula|"
        r"mayúscula|tudo junto|maiúscula|tutto attaccato|minuscol|maiuscol|aan elkaar|hoofdletter|kleine letters)))"
    ),
    "totp-seed": (
        r"\b(?:secret|2fa|totp|otp|authenticator|setup key|key)\b[^\n]{0,40}?"
        r"(?<![A-Za-z0-9])((?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4}|(?:[a-z2-7]{4} ){7,15}[a-z2-7]{4}|"
        r"(?-i:[A-Z2-7]{16,64}))(?![A-Za-z0-9])"
    ),
}
_LISTS = ("recovery-codes", "recovery-list")
# What a text must have near a match.
_NEAR = 80
_NEEDED = {
    "lock-combination": (
        r"\b(?:safe|lock|locker|padlock|gym|bike|luggage|suitcase|briefcase|vault|gun|tresor|schloss|"
        r"fahrradschloss|koffer|spind|"
        r"zahlenschloss|coffre|cadenas|valise|casier|caja|candado|maleta|taquilla|cofre|cadeado|mala|cassaforte|"
        r"lucchetto|"
        r"valigia|armadietto|kluis|slot|fietsslot|cijferslot|handle)\b"
    ),
}
_SECRET_ENTRY = r"(?m)^[ \t]{1,8}[\w.-]{1,80}:[ \t]{1,3}([A-Za-z0-9+/]{8,4000}={0,2})[ \t]*$"
_OF_WALLETS = r"\b(?:wallet|metamask|ledger|trezor|seed|mnemonic|recovery phrase|bitcoin|btc|ethereum)\b"
_ROW = r"[A-Za-z0-9+/]{20,}={0,2}"
_END_OF_KEY = r"-----END [A-Z ]{0,40}PRIVATE KEY"


@cache
def compile_pattern(pattern: str, ignores_case: bool = True) -> re.Pattern[str]:
    """Compile a pattern on first use; compiling all of them would take many milliseconds."""
    return re.compile(pattern, re.IGNORECASE if ignores_case else 0)


def find_at_places(text: str, lower: str, places: Sequence[str]) -> Iterator[Hit]:
    """Yield the credentials at the given places."""
    for place in places:
        if place == "kept":
            yield from _kept(text, lower)
        elif place == "private-key-end":
            yield from _rows_before_end(text)
        elif place == "kubernetes-secret":
            yield from _entries(text)
        else:
            accepts = _CHECKS.get(place, _says_something)
            for match in compile_pattern(PATTERNS[place]).finditer(text):
                group = match.lastindex or 1
                value = match[group].rstrip(" \n\t,、，;/*•-") if place in _LISTS else match[group]
                near = text[max(0, match.start() - _NEAR) : match.end() + _NEAR] if place in _NEEDED else ""
                if accepts(value) and (not near or compile_pattern(_NEEDED[place]).search(near)):
                    yield place, match.start(group), match.start(group) + len(value)


def _says_something(value: str) -> bool:
    return not is_stand_in(value) and not is_sample(value)


def _is_login(value: str) -> bool:
    """Return whether a value is base64 of a name and a password."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    name, colon, password = plain.partition(b":")
    return bool(name and colon and password) and plain.isascii() and plain.decode().isprintable()


def _are_codes(value: str) -> bool:
    """Return whether a value has at least two codes; each needs a digit, so that sentences about codes do not count."""
    words = re.split(r"[\s,、，;/•]+", value)
    coded = [word for word in words if any(letter.isdigit() for letter in word)]
    return len(coded) >= 2 and len(coded) * 2 >= len(words)


def _is_random(value: str) -> bool:
    return entropy(value) >= 3.0 and not is_placeholder(value)


def _always(_: str) -> bool:
    return True


def _is_recovery_key(value: str) -> bool:
    """Return whether a value is some codes or a key in groups; a date, a UUID and a plain word are not."""
    words = re.split(r"[\s,;/•]+", value)
    if len(words) > 1:
        return len(set(words)) > 1 and _has_digit(value)
    groups = value.split("-")
    return _has_digit(value) and (len(groups) == 1 or len(groups) > 2) and not is_stand_in(value)


def _has_digit(value: str) -> bool:
    return any(letter.isdigit() for letter in value) and len(set(value)) > 4


_CHECKS: dict[str, Callable[[str], bool]] = {
    "docker-auth": _is_login,
    "recovery-codes": _are_codes,
    "pin": _always,
    "bitlocker-key": lambda value: len(set(value)) > 5 and len(set(value.replace(" ", "-").split("-"))) > 4,
    "wallet-key": lambda value: len(set(value)) > 6,
    "lock-combination": _always,
    "spoken-code": lambda value: len(value) >= 4,
    "constructor-pair": lambda value: is_mixed(value) and not is_placeholder(value) and not is_sample(value),
    "command-token": lambda value: is_mixed(value) and not is_placeholder(value) and not is_sample(value),
    "pair-in-code": lambda value: could_be_password(value) and _says_something(value),
    "recovery-key": _is_recovery_key,
    "recovery-list": lambda value: _are_codes(value) or (" " not in value and _is_recovery_key(value)),
    "seed-words": is_row_of_words,
    "login-pair": could_be_chosen,
    "spelled-password": could_be_chosen,
    "card-code": _always,
    "genie-key": _is_random,
    "cookie": _is_random,
    "otpauth": _is_random,
    "json-web-key": _is_random,
    "totp-seed": _has_digit,
    "npmrc": lambda value: not value.startswith(("$", "<", "{", "%")) and not is_placeholder(value),
}


def _kept(text: str, lower: str) -> Iterator[Hit]:
    for rule in KEPT:
        if any(word in lower for word in rule.words):
            for match in compile_pattern(rule.pattern, rule.ignores_case).finditer(text):
                start, end = match.span(match.lastindex or 0)
                while start < end and text[start] in ' \t\n=:"':
                    start += 1
                if not is_placeholder(text[start:end]):
                    yield rule.plugin, start, end


def _rows_before_end(text: str) -> Iterator[Hit]:
    """Yield the base64 lines of a private key without its first line, up to the line that ends it."""
    row = compile_pattern(_ROW, False)
    for match in compile_pattern(_END_OF_KEY, False).finditer(text):
        start = end = match.start()
        while start > 0:
            line = text[text.rfind("\n", 0, start - 1) + 1 : start].strip()
            if not row.fullmatch(line):
                break
            start = text.rfind("\n", 0, start - 1) + 1
        if start < end:
            yield "private-key", start, end


def _entries(text: str) -> Iterator[Hit]:
    """Yield the values of a Kubernetes secret, which are base64."""
    for match in compile_pattern(_SECRET_ENTRY, False).finditer(text):
        if len(match[1].rstrip("=")) % 4 != 1 and _has_digit(match[1]):
            yield "kubernetes-secret", match.start(1), match.end(1)


def find_recovery_phrases(text: str) -> Iterator[Hit]:
    """Yield recovery phrases: at least twelve words in a row from the word list of wallets."""
    from clawmem.model.safety.secrets.phrase_words import PHRASE_WORDS

    run: list[re.Match[str]] = []
    for match in (*compile_pattern(r"[^\W\d_]+", False).finditer(text), None):
        near = match is not None and (
            not run or not text[run[-1].end() : match.start()].strip(" \n\t,0123456789.)[]\"'")
        )
        if match is not None and near and match[0].lower() in PHRASE_WORDS:
            run.append(match)
            continue
        ended = bool(run) and not text[run[-1].end() : run[-1].end() + 2].strip(" ")[:1].isalnum()
        ended = ended or (len(run) >= 12 and compile_pattern(_OF_WALLETS).search(text) is not None)
        if len(run) >= 12 and ended and len({one[0] for one in run}) > len(run) / 2:
            yield "recovery-phrase", run[0].start(), run[-1].end()
        run = [match] if match is not None and match[0].lower() in PHRASE_WORDS else []
