"""The places of credentials: options of commands, elements, headers, and codes in sentences, each with its words.

Every write imports this module, so it is data: no pattern is compiled here. Every repetition is bounded, so each
pattern takes linear time.
"""

from __future__ import annotations

from clawmem.model.named_tuple import NamedTuple


class PlaceRule(NamedTuple):
    """A pattern, and the words in small letters of which a text must have one, separated by bars.

    Many words are common: `needs` is what else a text must have before the pattern is worth compiling, one of some
    signs, or a word of so many characters with letters and a digit.
    """

    words: str
    pattern: str
    needs: str | int = ""


_DIGITS = "0|1|2|3|4|5|6|7|8|9"
_REST = r"[^\n|;]"
_VALUE = r"""[\\]{0,3}["']?([^\s"'`<>\\]{3,200})"""
_CODES = (
    r"pin(?:[ -]?(?:code|number|nummer))?|puk|passcode|(?:door|alarm|gate|entry|unlock|lock|access|security|safe|"
    r"garage|building|screen|phone|verification|emergency)[ -]code"
)
DOORS = (
    r"(?:doors?|gate|garage|alarm|lock|padlock|locker|safe|building|entry|entrance|lobby|keypad|keybox|lockbox|shed|"
    r"gym|port(?:en)?|dörren|grinden|garaget|døren|cottage|cabin|airbnb|burglar|parking|elevator|phone|sim|iphone|ipad|tablet|card|debit|credit|voicemail|siren|"
    r"haustür|tür|tor|alarmanlage|tresor|safe|schloss|fahrradschloss|schlüsselbox|schlüsseltresor|schlüsselkasten|"
    r"keller|eingang|ferienwohnung|handy|telefon|karte|ec-karte|kreditkarte|bankkarte|aufzug|büro|schranke|portes?|"
    r"portail|porte d'entrée|immeuble|entrée|alarme|coffre(?:-fort)?|cadenas|boîte à clés?|téléphone|tél|portable|"
    r"mobile|carte(?: bleue| bancaire)?|cb|bâtiment|résidence|parking|interphone|vélo|déverrouillage|gîte|hall|"
    r"bureau|puerta|portal|verja|garaje|alarma|caja fuerte|candado|llavero|teléfono|móvil|tarjeta|edificio|oficina|"
    r"entrada|desbloqueo|ascensor|taquilla|porta|portão|portaria|prédio|garagem|cofre|cadeado|celular|telemóvel|"
    r"cartão|fechadura|escritório|desbloqueio|portone|cancello|allarme|cassaforte|lucchetto|telefono|cellulare|"
    r"bancomat|carta|citofono|ingresso|ufficio|sblocco|deur|voordeur|achterdeur|poort|kluis|slot|fietsslot|"
    r"sleutelkastje|telefoon|pas|bankpas|pinpas|kantoor|schuur|lift|ontgrendel\w{0,4})"
)
_DOOR_CODE = (
    r"(?:(?:haus|keller|wohnungs|eingangs|garagen)?(?:tür|tor)|alarm|garagen|zugangs?|tresor|safe|schloss|"
    r"schlüsselbox|schlüsselsafe|handy|entsperr|sperr|bildschirm|eingangs|zahlen|keller|keypad|geheim|zutritts|"
    r"sicherheits|aufzugs?|schranken|hof|sim|karten|notfall)-?(?:code|kode|pin)|(?:port|dörr|dør|grind|garage|lås|larm|"
    r"alarm|nøgle|nyckel)-?(?:box|skåp|skab)?s?kode?n?|(?:voor|achter)?deur-?code|poort-?code|"
    r"kluis-?code|garage-?code|schermcode|slotcode|digicodes?|geheimzahl|geheimnummer|bankomatcode|vigik"
)
_IS = (
    r"(?:\s{0,2}[:=→]\s{0,3}|\s{1,3}(?:is|was|are|now|ist|war|jetzt|lautet|wurde|es|era|est|è|é|sera|nu|wordt|är|er|c'est|"
    r"c’est|ahora es|agora é|cambiado a|changed to|set to|geändert auf|gesetzt auf|auf)(?:\s(?:le|el|il|o|de|now|nu|"
    r"jetzt|auf|to|still|immer noch|toujours|toujours le|ancora))?\s{0,2}:?\s{1,3})"
)
_CODE_VALUE = (
    r"[\"'*«“„ ]{0,3}([A-Z*#]?\d(?:[ -]?\d){2,9}[A-Z]?[#*]?|\d{1,4}[A-Z]\d{1,5}[A-Z]?)(?![\w%€$£°]|[.,:/-]\d| ?(?:h|"
    r"uhr|euros?|€|%)\b)"
)
# How a code is entered, and the keys that end it.
_ENTER = (
    r"(?:punch(?: in)?|keys? in|types? in|enters?|press|takes|wants|"
    r"(?:opens?|unlocks?) (?:with|on(?! (?:19|20)\d\d\b))|tippe?n?|geht auf mit|"
    r"öffnet (?:sich )?mit|drücke?n?|tape[rz]?|compose[rz]?|s'ouvre avec|marcar?|teclea?r?|pulsar?|se abre con|"
    r"abre com|digita(?:re)?|premi|si apre con|toets|gaat open met|slå|tryck|tast)"
)
_CODE_WORDS = r"(?:\s(?:in|the|code|pin|number|first|just|erst|einfach|den|le|el|il|o|de)\b){0,3}\s"
_SHORT_CODE = r"\d(?:[ -]?\d){3,7}(?-i:[A-Z])?[#*]?"
_THEN = r"(?:and|then|followed by|und|dann|puis|et|y|luego|e|depois|poi|en|dan|och|sen|og)"
_END_KEY = (
    r"(?:star|hash|pound|raute|stern|sternchen|étoile|dièse|estrella|almohadilla|asterisco|estrela|cancelletto|"
    r"sterretje|hekje|fyrkant|stjärna|stjerne|firkant)"
)
_OPENS = (
    r"(?:opens?|unlocks?|decrypts?|öffnet|entsperrt|entschlüsselt|(?:s')?ouvre|déverrouille|abre|apre|sblocca|opent|"
    r"ontgrendelt)"
)
_SIDE = r"(?:left|right|links|rechts|gauche|droite|izquierda|derecha|esquerda|direita|sinistra|destra)"
_TOOL = r"(?:[^\n|;\"']|\"[^\n\"]{0,80}\"|'[^\n']{0,80}')"
_WORTH = r"[\"']?([^\s\"'`$<>|;-][^\s\"'`|<>]{3,199})"
_KEY64 = r"(?:0x)?[0-9a-f]{64}(?![0-9a-f])"
_CHOSEN = r"([^\s\"'`«»“”„<>|]{6,64})"
_QUOTE = r"[\"'«“„`]{0,2}\s?"
_AFTER_QUOTE = r"\s?[\"'»”“`]{0,2}"
_LOGIN_LABEL = (
    r"\b(?:[\w-]{0,12}log-?ins?|log-?on|[\w-]{0,20}zugang(?:sdaten)?|anmelde(?:daten|name)|anmeldung|acc[eè]s|"
    r"accesos?|accesso|acessos?|access|identifiants?|credentials?|credenciales|credenciais|credenziali|creds|"
    r"inlog(?:gegevens)?|accounts?|konto|compte|cuenta|conta|wi-?fi|wlan|usuario|usuário|utilisateur|utente|"
    r"gebruiker|benutzer(?:name)?|user(?:name)?|sign in|signin|log in)"
)
_LOGIN_NAME = (
    rf"{_QUOTE}(?!(?:id|name|e-?mail|role|type|https?|uid|gid|group|host|port|date|from|since|vom|"
    rf"seit)\b)[\w.@+-]{{2,60}}{_AFTER_QUOTE}"
)
_USUAL_NAME = (
    rf"{_QUOTE}(?:admin|root|user|administrator|guest|gast|pi|demo|[\w.+-]{{1,40}}@[\w.-]{{3,40}}|"
    rf"[a-z][a-z._-]{{0,20}}[\d._][\w.-]{{0,20}}){_AFTER_QUOTE}"
)
_AND = r"(?://?|\||and|und|et|y|e|en|with|mit|avec|con|com|met|–|—|-|→|password|pw|pass)"
_SAYS = r"(?:\s{0,2}[:=：は]\s{0,3}|\s{1,3}(?:is|was|are|ist|war|lautet|es|est|è|é)\s{0,2}:?\s{1,3})"

# Codes that open an account again, in the languages for which no other rule has words.
_RECOVERY = (
    "リカバリーコード|リカバリコード|回復コード|バックアップコード|復旧コード|復元コード|回復キー|リカバリーキー|恢复代码|恢复码|恢复密钥|备用码|备份码|备用验证码|備用碼|備份碼|備用驗證碼|恢復碼|復原碼|"
    "복구 코드|복구코드|백업 코드|백업코드|복구 키|коды восстановления|код восстановления|резервные коды|резервный код|"
    "ключ восстановления|коди відновлення|резервні коди|кодове за възстановяване|резервни кодове|رموز الاسترداد|"
    "رمز الاسترداد|رموز احتياطية|קודי שחזור|קודי גיבוי|रिकवरी कोड|बैकअप कोड|รหัสกู้คืน|รหัสสำรอง|mã khôi phục|"
    "mã dự phòng|kode pemulihan|kode cadangan|kurtarma kod|yedek kod|kody odzyskiwania|kod odzyskiwania|"
    "kody zapasowe|kod zapasowy|klucz odzyskiwania|záložní kód|obnovovací kód|kód pro obnovení|helyreállítási kód|"
    "tartalék kód|återställningskod|reservkod|gendannelseskod|backupkod|gjenopprettingskod|palautuskood|varakood|"
    "coduri de recuperare|coduri de rezervă|kodovi za oporavak|κωδικοί ανάκτησης|κωδικός ανάκτησης"
)

PLACES: dict[str, PlaceRule] = {
    "curl-login": PlaceRule(
        "curl",
        rf"\bcurl\b{_REST}{{0,300}}?"
        r"\s(?:-u|--user|--proxy-user)[ =]{0,2}[\"']?[^\s:\"'$]{1,80}:([^\s\"']{3,200})",
    ),
    "mysql-option": PlaceRule(
        "mysql|mariadb",
        rf"\b(?:mysql|mariadb)[a-z-]{{0,12}}\b{_REST}{{0,200}}?\s-p[\"']?([^\s\"'$<-][^\s\"']{{2,200}})",
    ),
    "sshpass-option": PlaceRule("sshpass", rf"\bsshpass\s{{1,3}}(?:-v\s{{1,3}})?-p\s{{0,2}}{_VALUE}"),
    "login-option": PlaceRule("login", rf"\blogin\b{_REST}{{0,200}}?\s-p\s{{1,2}}{_VALUE}"),
    "redis-option": PlaceRule("redis-cli", rf"\bredis-cli\b{_REST}{{0,200}}?\s-a\s{{1,2}}{_VALUE}"),
    "smb-option": PlaceRule(
        "smbclient|rpcclient",
        rf"\b(?:smb|rpc)client\b{_REST}{{0,200}}?"
        r"\s(?:-U|--user)[ =][\"']?[^\s%\"']{1,80}%([^\s\"']{3,200})",
    ),
    "defined-constant": PlaceRule(
        "define(",
        r"\bdefine\(\s{0,3}[\"'][A-Z_]{0,40}(?:PASSWORD|PASS|SECRET|KEY|"
        r"SALT)[A-Z_]{0,20}[\"']\s{0,3},\s{0,3}[\"']([^\s\"']{6,200})[\"']",
    ),
    "pgpass": PlaceRule(
        ":5432:|:6432:",
        r"(?<![^\s\"'])[^\s:\"']{1,100}:[56]432:[^\s:]{1,100}:[^\s:]{1,100}:([^\s:\"']{6,200})(?![^\s\"'])",
    ),
    "settings-line": PlaceRule(
        "pass",
        r"(?m)^[ \t]{0,8}[a-z][\w.-]{0,40}?pass(?:w(?:or)?d|phrase)?[ \t]{1,8}[\"']?([^\s\"'=:]{8,200})[\"']?"
        r"[ \t]{0,9}(?:#[^\n]{0,200})?$",
        8,
    ),
    "netrc": PlaceRule(
        "machine ", r"\bmachine\s{1,3}\S{1,100}\s{1,9}login\s{1,3}\S{1,100}\s{1,9}password\s{1,3}(\S{3,200})"
    ),
    "xml-element": PlaceRule(
        "</",
        r"<[\w:.-]{0,40}?(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_-]?key|passwort|"
        r"kennwort)[\w.-]{0,20}>\s{0,3}([^<>\s]{4,200})\s{0,3}</",
    ),
    "docker-auth": PlaceRule(
        "auth", r"\\{0,3}[\"']auth\\{0,3}[\"']\s{0,3}:\s{0,3}\\{0,3}[\"']([A-Za-z0-9+/]{8,400}={0,2})"
    ),
    "npmrc": PlaceRule(":_auth|:_password", r":_(?:authToken|password|auth)\s{0,3}=\s{0,3}[\"']?([^\s\"']{6,400})"),
    "otpauth": PlaceRule("otpauth:", r"otpauth://[^\s?\"']{1,200}\?(?:[^\s\"'&]{1,80}&){0,6}secret=([A-Z2-7]{16,128})"),
    "cookie": PlaceRule(
        "cookie",
        r"\bcookie\b[^\n]{0,200}?(?:sess(?:ion)?[\w.-]{0,12}|sid|[\w.-]{0,10}sid|auth[\w.-]{0,12}|"
        r"remember[\w.-]{0,12})=([A-Za-z0-9%._+/-]{20,400})",
    ),
    "kubernetes-secret": PlaceRule("kind: secret", ""),
    "json-web-key": PlaceRule("kty", r"[\"'][dk]\\{0,3}[\"']\s{0,3}:\s{0,3}\\{0,3}[\"']([A-Za-z0-9_-]{20,700})"),
    "genie-key": PlaceRule("geniekey", r"\bGenieKey\s{1,3}([0-9a-f-]{32,40})"),
    "ssws-key": PlaceRule("ssws", r"\bSSWS\s{1,3}([A-Za-z0-9_-]{30,60})"),
    "private-key-end": PlaceRule("private key-----", ""),
    "pin": PlaceRule(
        "pin|puk|暗証番号|пин-код|passcode| code",
        rf"(?:\b(?:{_CODES})\b|暗証番号|пин-код)(?:\s[^\n\d:=.;]{{1,40}}?)?{_SAYS}"
        r"[\"'*]{0,3}(\d(?:[ -]?\d){3,9})(?![\d.,]?\d)|\bpuk\s{1,2}(\d{8})(?!\d)",
        _DIGITS,
    ),
    "card-code": PlaceRule(
        "cvv|cvc", r"\b(?:cvv|cvc)2?\b(?:\s(?:code|number))?\s{0,2}(?::|=|is|ist)?\s{0,2}(\d{3,4})(?!\d)", _DIGITS
    ),
    "recovery-codes": PlaceRule(
        "recovery|backup|rescue|wiederherstellung",
        rf"\b(?:recovery|backup|rescue|wiederherstellungs?)[ -]?(?:codes?|keys?|schlüssel)\b[^\n:.]{{0,40}}?"
        rf"(?:{_SAYS}|\s)((?:[A-Za-z0-9]{{4,12}}(?:[- ][A-Za-z0-9]{{4,12}}){{0,4}}[\s,;*•-]{{0,6}}){{1,40}})",
        _DIGITS,
    ),
    "totp-seed": PlaceRule(
        "2fa|totp|authenticator|otp|setup key",
        r"\b(?:secret|2fa|totp|otp|authenticator|setup key|"
        r"key)\b[^\n]{0,40}?(?<![A-Za-z0-9])((?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4}|(?:[a-z2-7]{4} ){7,15}[a-z2-7]{4}|"
        r"(?-i:[A-Z2-7]{16,64}))(?![A-Za-z0-9])",
    ),
    "piped-password": PlaceRule(
        "chpasswd|passwd --stdin|sudo -s|kinit|cryptsetup|-stdin",
        r"\becho\s{1,3}(?:-[ne]{1,2}\s{1,3})?[\"']?(?:[\w.@-]{1,60}:)?([^\s\"'|"
        r"$<]{4,200})[\"']?\s{0,3}\|\s{0,3}(?:sudo\s{1,3})?(?:chpasswd|passwd\s{1,3}--stdin|sudo\s{1,3}-s|kinit|"
        r"cryptsetup|[a-z]{2,12}\s[^\n]{0,60}?-stdin)|"
        r"\bchpasswd\s{0,3}<<<\s{0,3}[\"']?[^\s:\"']{1,60}:([^\s\"'$]{4,200})",
    ),
    "ldap-option": PlaceRule(
        "ldap",
        r"\bldap(?:search|modify|add|delete|whoami|passwd|compare|modrdn)\b"
        rf"{_TOOL}{{0,200}}?\s-(?-i:[ws])\s{{0,2}}{_WORTH}",
        " -",
    ),
    "short-option": PlaceRule(
        "mongo|cqlsh|twine|nxc |netexec|crackmapexec|evil-winrm|psexec|rdesktop|unlock-keychain|ncftp|nuget|"
        "smbmap|vncdo",
        r"\b(?:mongo(?:sh|dump|restore|export|import|stat|top)?|cqlsh|twine|nxc|netexec|crackmapexec|evil-winrm|"
        rf"psexec|rdesktop|unlock-keychain|ncftp(?:put|get|ls)|nuget|smbmap|vncdo)\b{_TOOL}{{0,200}}?\s-(?-i:p)\s{{1,2}}{_WORTH}",
        " -",
    ),
    "capital-option": PlaceRule(
        "sqlcmd|bcp |ipmitool|zip |mosquitto|tsql",
        rf"\b(?:sqlcmd|bcp|ipmitool|zip|unzip|mosquitto_(?:pub|sub|rr)|tsql)\b{_TOOL}{{0,200}}?\s-(?-i:P)\s{{0,2}}{_WORTH}",
        " -",
    ),
    "archive-option": PlaceRule(
        "7z|rar ", rf"\b(?:7z[ar]?|7zz|rar|unrar)\s{{1,3}}[a-z]\b{_TOOL}{{0,200}}?\s-h?p{_WORTH}", " -"
    ),
    "named-option": PlaceRule(
        "-pw |storepass|keypass|add-generic-password|x11vnc|ssh-keygen|openssl enc|secret set",
        r"\s-(?:pw|storepass|keypass|srcstorepass|deststorepass|srckeypass|destkeypass)(?:\s{1,3}|=)"
        + _WORTH
        + rf"|\b(?:add-generic-password|add-internet-password)\b{_TOOL}{{0,200}}?\s-w\s{{1,2}}{_WORTH}"
        + rf"|\b(?:ssh-keygen\b{_TOOL}{{0,100}}?\s-(?-i:N)|openssl enc\b{_TOOL}{{0,100}}?\s-k)\s{{1,2}}{_WORTH}"
        + rf"|\bsecrets? set\b{_TOOL}{{0,100}}?\s(?:-b|--body)[ =]{{1,2}}{_WORTH}"
        + rf"|\bx11vnc\b{_TOOL}{{0,100}}?\s-passwd\s{{1,2}}{_WORTH}",
    ),
    "slash-option": PlaceRule(
        "freerdp|cmdkey|winrs",
        rf"\b(?:[xw]freerdp3?|cmdkey|winrs)\b{_TOOL}{{0,200}}?\s[/-](?:p|pass|password):{_WORTH}",
        ":",
    ),
    "windows-user": PlaceRule(
        "net user|net use ",
        rf"\bnet\s{{1,2}}user\s{{1,2}}[\w.@-]{{1,40}}\s{{1,2}}(?!/){_WORTH}(?=\s{{1,2}}/|\s{{0,3}}$)|"
        rf"\bnet\s{{1,2}}use\b[^\n]{{1,120}}?\s(?!/|\\|[a-z]:){_WORTH}\s{{1,2}}/user:|"
        rf"\bnet\s{{1,2}}use\b[^\n]{{1,120}}?\s/user:\S{{1,60}}\s{{1,2}}(?!/){_WORTH}",
    ),
    "openssl-pass": PlaceRule(
        "pass:", r"\s(?:-pass(?:in|out)?|--(?:ks|key)-pass)[ =]{1,2}[\"']?pass:([^\s\"'$]{4,200})"
    ),
    "placed-password": PlaceRule(
        "htpasswd|wpa_passphrase|rabbitmqctl|http-basic|sqlplus|oracle:|lftp",
        rf"\bhtpasswd\s{{1,3}}-[a-z]{{0,4}}b[a-z]{{0,4}}\s{{1,3}}(?:\S{{1,100}}\s{{1,3}}){{1,2}}{_WORTH}(?=\s{{0,3}}("
        rf"?:$|\n|[|;&]))|\bwpa_passphrase\s{{1,3}}(?:\"[^\"\n]{{1,60}}\"|'[^'\n]{{1,60}}'|"
        rf"\S{{1,60}})\s{{1,3}}{_WORTH}|\brabbitmqctl\s{{1,3}}(?:add_user|change_password|"
        rf"authenticate_user)\s{{1,3}}\S{{1,60}}\s{{1,3}}{_WORTH}|\bhttp-basic\.\S{{1,80}}\s{{1,3}}\S{{1,80}}\s{{1,3"
        rf"}}{_WORTH}"
        r"|\b(?:sqlplus\b[^\n/]{0,60}?\s|oracle:\w{1,10}:)[\"']?\w{1,40}/([^\s@\"'$/]{4,100})@|"
        r"\blftp\b[^\n]{0,60}?\s-u\s{1,2}[\"']?[^\s,\"']{1,60},([^\s\"'$]{4,100})",
    ),
    "pair-option": PlaceRule(
        "http -a|https -a|xh -a|--auth", r"\s(?:-a|--auth)[ =]{1,2}[\"']?[\w.@-]{1,60}:([^\s\"'$<{/][^\s\"']{3,200})"
    ),
    "snmp-option": PlaceRule(
        "snmp",
        r"\bsnmp(?:get|walk|set|bulkwalk|trap|getnext|table)\b"
        rf"{_TOOL}{{0,200}}?\s-(?-i:[AX])\s{{1,2}}{_WORTH}",
        " -",
    ),
    "sql-password": PlaceRule(
        "identified|password '|password n'|password='|password = '",
        r"\bidentified\s{1,3}(?:with\s{1,3}\S{1,40}\s{1,3})?by\s{1,3}[\"']([^\n\"']{4,200})[\"']|\b(?:user|role|"
        r"login)\s[^\n;]{1,120}?\bpassword\s{0,3}=?\s{0,3}N?'([^\n']{4,200})'",
    ),
    "command-token": PlaceRule(
        " login | auth |authtoken |pypi-token|aws_secret_access_key |--with-token",
        r"(?:^|[\s`'\"$(])[a-z][\w-]{1,24}\s(?:[a-z]{2,12}\s)?(?:login|auth|authtoken|add-authtoken|"
        r"login --with-token|auth login|auth token|"
        r"login -)\s{1,3}(?:--?[\w-]{1,24}(?:=\S{1,40})?\s{1,3}){0,3}(?:<<<\s{0,2}[\"']?)?([A-Za-z0-9_-]{20,200})(?!["
        r"\w./@:-])|\bconfig\s(?:pypi-token|github-oauth|gitlab-token)\.\S{1,60}\s{1,3}([A-Za-z0-9_-]{20,300})|"
        r"\baws_secret_access_key\s{1,3}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        20,
    ),
    "wifi-code": PlaceRule(
        "wifi:", r"\bWIFI:(?:[TSHREAI]{1,3}:(?:\\.|[^;\\\n]){0,64};){0,5}P:[\"']?((?:\\.|[^;\\\n\"]){4,100})"
    ),
    "bitlocker-key": PlaceRule(
        "bitlocker|recovery|wiederherst|récup|recuper|herstel", r"(?<!\d)(\d{6}(?:[- ]\d{6}){7})(?!\d)", _DIGITS
    ),
    "wallet-key": PlaceRule(
        "wallet|fromsecret|keypair|solana|from_key|privatekey|private_key|private-key|private key|accounts|"
        "importprivkey",
        r"(?:wallet|account|accounts|signer|keypair|private[ _-]?key\w{0,12}|importprivkey|fromsecret\w{0,6}|"
        r"from_key|"
        rf"privatekeytoaccount)[\s\"']{{0,3}}[(\[:= ]{{1,3}}[\s\[\"'`]{{0,6}}({_KEY64})"
        r"|(?:secret|private|keypair|wallet|"
        r"solana)[^\n\[]{0,60}(\[(?:\s{0,4}\d{1,3}\s{0,3},){63}\s{0,4}\d{1,3}\s{0,3},?\s{0,3}\])",
        64,
    ),
    "constructor-pair": PlaceRule(
        "client(|credential|api(|auth|algoliasearch(|twilio|pusher|plivo|binance|exchange(",
        r"(?:client|api|credentials?|auth\w{0,12}|algoliasearch|twilio|pusher|plivo|binance\w{0,10}|"
        r"exchange)\s{0,2}\(\s{0,8}[\"'][\w@.:+/-]{2,100}[\"']\s{0,3},\s{0,8}[\"']([A-Za-z0-9_+/=-]{20,200})[\"']",
        "(|[",
    ),
    "pair-in-code": PlaceRule(
        "auth|login(|credential",
        r"(?:\bauth\s{0,2}[=:]\s{0,2}(?:[\w.]{0,30}(?=[(\[]))?[(\[]\s{0,4}|(?:basic_?auth|credentials?|"
        r"auth\.basic|\.login|\.auth|auth)\s{0,2}\(\s{0,4})(?:u?[\"'][^\"'\n]{0,100}[\"']|"
        r"[a-z_.]{1,30})\s{0,3},\s{0,6}(?:password\s{0,2}=\s{0,2})?[\"']([^\s\"']{6,200})[\"']\s{0,3}[,)\]]",
        "(|[",
    ),
    "connection-password": PlaceRule(
        "mysqli|pdo(|getconnection(|mysql_connect(",
        r"(?:\bmysqli(?:_connect)?|\bmysql_p?connect|\bPDO|"
        r"getConnection)\s{0,2}\(\s{0,8}(?:[\"'][^\"'\n]{0,160}[\"']|"
        r"[\w.$]{1,40})\s{0,3},\s{0,8}[\"'][^\"'\n]{0,60}[\"']\s{0,3},\s{0,8}[\"']([^\s\"']{4,200})[\"']",
        "(|[",
    ),
    "lock-combination": PlaceRule(
        "combination|combo|safe code|opens with|kombination|combina|left |left:|links |gauche |izquierda|"
        "esquerda|sinistra",
        r"\b(?:safe|lock|padlock|combination|combo|tresor|schloss|coffre|cadenas|caja|candado|cofre|cassaforte|kluis|"
        rf"slot)\b[^\n\d]{{0,40}}?\b({_SIDE}\b[^\n\d]{{0,25}}\d{{1,2}}(?:[^\n\d]{{1,12}}?\b{_SIDE}\b[^\n\d]{{0,25}}\d{{1,2}}){{2,5}})(?!\d)|"
        r"\b(?:(?:zahlen)?kombination|combination|combo|combinaison|combinación|combinação|combinazione|"
        r"combinatie|safe code|safe\b[^\n.\d]{0,30}\bopens with)\b"
        r"[^\n]{0,60}?(?<![\w.,-])(\d{1,2}(?:\s?(?:left|right|[lr]|links|"
        r"rechts|gauche|droite|izquierda|derecha|esquerda|direita|sinistra|destra)\b)?(?:[\s,/–-]{1,3}(?:(?:then|"
        r"and|left|right|to|the|[lr]|links|rechts|gauche|droite|izquierda|derecha|esquerda|direita|sinistra|"
        r"destra|dann|puis|luego|poi|en)\b[\s,]{0,2}){0,3}\d{1,2}(?:\s?(?:left|right|[lr]|links|rechts|gauche|"
        r"droite|izquierda|derecha|esquerda|direita|sinistra|destra)\b)?){2,5}|\d{3,8}(?![\w.,:/-]\d))(?!\w|"
        r"[.,:/-]\d)",
        _DIGITS,
    ),
    "spoken-code": PlaceRule(
        "code|código|codigo|codice|geheimzahl|keypad|lockbox|geheimnummer|pin|kod",
        rf"\b(?:{_DOOR_CODE})\b(?:[^\n\d:=;.?!]{{1,50}}?)?(?:{_IS}|\s{{1,3}}(?!(?:19|20)\d\d\b)|\s?[—–-]\s){_CODE_VALUE}|"
        rf"(?<!error )(?<!fault )(?<!zip )(?<!promo )(?<!status )\b(?:codes?|código|codigo|codice|koden?|kod|pin|"
        rf"geheimzahl)\s(?:[^\n\d:=;.?!]{{0,30}}?[\s'’])?{DOORS}\b[^\n\d:=;?!]{{0,40}}?(?:{_IS}|\s?[—–]\s|"
        rf"\s(?!(?:19|20)\d\d\b)){_CODE_VALUE}"
        r"|\b(?-i:PIN)\s(\d{4,6})(?=\s(?:für|for|of|pour|para|per|voor|vom|del|della|van|du)\b)|"
        rf"\b(?:der|die|the|my|mit|with|le|la|el|il|de|{DOORS}),?[\s-](?-i:PIN)\s(?!(?:19|20)\d\d\b)(\d{{4,8}})"
        r"(?![\w.,:/-]?\d)|\b(?:door|gate|"
        r"garage|entry|keypad|lockbox|safe|locker)\scode\s(\d{4,8}[#*]?)(?![\w.,:/-]?\d)"
        rf"|\b(?:keypad|lockbox|key ?box|key ?safe){_IS}{_CODE_VALUE}|"
        rf"\b{DOORS}(?<!phone)(?<!mobile)(?<!tel)\s(?:code|pin){_IS}{_CODE_VALUE}",
        _DIGITS,
    ),
    "entered-code": PlaceRule(
        "punch|key in|keys in|type in|enter |press |takes |wants |opens with|open with|opens on|unlock|tippe|drück|"
        "geht auf|öffnet|raute| stern|the star|the hash|the pound|star key|hash key|pound key|tape|compose|ouvre|"
        "marca |marque |teclea|pulsa|abre co|digita|premi |apre con|toets|gaat open|étoile|dièse|estrella|almohadilla|"
        "asterisco|estrela|cancelletto|sterretje|hekje|fyrkant|stjärn|stjern|firkant|slå |tryck|tast|texted|sms",
        rf"\b{_ENTER}{_CODE_WORDS}[\"'*«“„ ]{{0,3}}({_SHORT_CODE})(?=[\"'*»”]{{0,2}}\s{{0,2}}(?:$|[,.;!?)\n]|{_THEN}\b|"
        rf"(?:within|on|at|to|an|am|à|en|no|na|op)\b))|(?<![\d.,:/-])({_SHORT_CODE})(?:\seingeben)?,?\s{_THEN}"
        r"\s(?:[^\W\d_]{1,8}\s){0,2}"
        rf"{_END_KEY}\b(?:\s(?:key|button|taste))?(?=\s?(?:[,.;!?)\n]|$))|\b(?:texted|sms|messaged)\b[^\n\d.]{{0,30}}"
        r"(\d{4,8})(?!\w|[.,:/-]\d)[^\n\d]{1,12}\b(?:type|enter|punch|key|put)\b",
        _DIGITS,
    ),
    "opening-word": PlaceRule(
        "opens|unlocks|decrypts|öffnet|entsperrt|entschlüsselt|ouvre|déverrouille|abre|apre|sblocca|opent|ontgrendelt",
        rf"\b{_OPENS}(?:\s(?:it|es|itself|sich|man))?\s(?:with|mit|avec|con|com|met)\s{_QUOTE}{_CHOSEN}"
        rf"(?=[\"'»”`]|\s{{0,2}}(?:$|\n)|(?<=[.,;!?)])\s)|(?<!\S){_QUOTE}{_CHOSEN}{_AFTER_QUOTE}[.,;]?\s"
        rf"(?:that|which|das|dies|this|it|ça|eso|isso|dat)\s(?:one\s)?{_OPENS}\b",
        6,
    ),
    "recovery-key": PlaceRule(
        "secours|récupération|recupera|recupero|respaldo|herstel|notfall|wiederherstellung|recovery|backup|filevault",
        r"\b(?:(?:recovery|backup|back-up|rescue|emergency|wiederherstellungs?|notfall|ersatz|herstel|"
        r"filevault)[ -]?(?:codes?|keys?|schlüssel|sleutels?)|(?:codes?|clés?|claves?|códigos?|codigos?|chaves?|"
        r"codici|codice|chiavi|chiave)\s(?:de |di |d')?(?:secours|récupération|recuperación|recuperacion|"
        r"respaldo|recuperação|backup|recupero|emergencia|emergência|urgence|"
        r"emergenza))\b[^\n:.]{0,60}?(?:\s{0,2}[:=]\s{0,3}|\s(?:is|are|ist|sind|est|sont|es|son|é|são|è|"
        r"sono)\s)[\"'`*«]{0,2}([A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,12}(?:[\s,;/•]{1,4}[A-Za-z0-9]{4,8}(?:-[A-Za-"
        r"z0-9]{4,8}){1,12}){0,40}|\d{4,8}(?:[\s,;/•]{1,4}\d{4,8}){1,40}|[A-Za-z0-9]{16,64})(?![\w-])|"
        rf"\b(?:recovery|rescue|wiederherstellung|récupération|recuperación)\b[^\n:.]{{0,60}}?{_IS}"
        r"((?-i:[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,12}))(?![\w-])|\bfilevault\b[^\n]{0,60}?\s"
        r"((?-i:[A-Z0-9]{4}(?:-[A-Z0-9]{4}){5}))(?![\w-])",
        _DIGITS,
    ),
    "recovery-list": PlaceRule(
        _RECOVERY,
        rf"(?:{_RECOVERY})\w{{0,4}}(?:[^\n:=：\d]{{0,40}}?(?:\s{{0,2}}[:=：→]\s{{0,3}}|[はが은는이]\s?|"
        r"\s[—–-]\s)|\s{1,3})[\"'`*«「『]{0,2}((?:[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,6}[\s,、，;/•]{0,4}){1,40})",
    ),
    "licence-key": PlaceRule(
        "key|licen|serial|lizenz|schlüssel|clé|clave|chave|chiave",
        r"(?<![\w-])((?-i:(?=[A-Z-]{0,28}\d)[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}))(?![\w-])",
        "-",
    ),
    "seed-words": PlaceRule(
        "phrase|seed|frase|mnemonic|words|palabras|palavras|wörter|parole|mots",
        r"\b(?:(?:twelve|doce|doze|zwölf|douze|dodici|12|24) (?:words|palabras|palavras|wörter|parole|mots)|seed|"
        r"recovery|mnemonic|secret|phrases?|frases?|semilla|récupération|recuperación|recuperação|recupero|"
        r"seed[ -]?phrase|wallet|wiederherstellungs|herstel)[ -]?(?:phrases?|words?|phrase|frase|secreta|"
        r"semilla)?\b[^\n:=]{0,40}?\s{0,2}[:=]\s{0,3}[\"'`*«“„ ]{0,3}((?:(?:\d{1,2}[.)]\s?)?[^\W\d_]{3,12}[\s,]{1,3})"
        r"{11,23}(?:\d{1,2}[.)]\s?)?[^\W\d_]{3,12})(?!\w)",
        ":|=",
    ),
    "login-pair": PlaceRule(
        "login|zugang|anmelde|accès|acces|access |access:|acesso|identifiant|credential|credenc|credenz|creds|"
        "inlog|account|konto|compte|cuenta|usuario|benutzer|user |user:|username|log in|sign in|wifi|wlan|root|"
        "admin| / |signin",
        rf"{_LOGIN_LABEL}\b[^\n:=]{{0,60}}?(?:\s{{0,2}}(?:[:=→]|-{{1,2}}>)\s{{0,3}}{_LOGIN_NAME}(?:\s{{1,2}}{_AND}\s{{1,2}}|"
        rf"\s?[,/|:]\s{{0,2}})|\s(?:is|ist|est|es|é|è|still|noch|with|mit|avec|con|com|met|as|als|nog|"
        rf"toujours)\s{{1,2}}{_USUAL_NAME}(?:\s{{1,2}}{_AND}\s{{1,2}}|\s?[,/|:]\s{{0,2}})|"
        rf"\s{{1,2}}{_LOGIN_NAME}\s{{1,2}}[/|]\s{{1,2}}){_QUOTE}{_CHOSEN}|(?<![\w/.@-])(?:admin|root|"
        rf"administrator|administrador)\s{{0,2}}[/:]\s{{0,2}}{_CHOSEN}|"
        rf"(?<![\w.+-])[\w.+-]{{1,40}}@[\w.-]{{3,40}}\s{{1,2}}[/|]\s{{1,2}}{_CHOSEN}",
        6,
    ),
    "app-password": PlaceRule(
        "smtp|imap|app pass|app-pass|gmail",
        r"(?:[\w.-]@[\w.-]{3,40}[\"']?\s{0,2}[/|,:→-]|\bpass(?:word|wort)?\b[^\n:=.]{0,40}?"
        rf"(?:{_IS}|\s))\s{{0,2}}[\"'`]?((?-i:[a-z]{{4}}(?:[ -][a-z]{{4}}){{3}}))(?![\w-]| [a-z])",
    ),
    "spelled-password": PlaceRule(
        "capital|case|one word|no space|attach|attacc|majuscule|minusc|minúsc|mayúsc|maiusc|maiúsc|junto|"
        "zusammen|geschrieben|hoofdletter|aan elkaar",
        r"(?:\b(?:try|use|is|was|it's|mit|ist|nimm|c'?est|c’est|c|essaie|prueba|usa|es|é|è|prova|probeer|met)\s|"
        r"[:=]\s{0,2})"
        rf"[\"'«“„`]{{0,2}}{_CHOSEN}[\"'»”“`]{{0,2}}(?=[\s,.;(–—-]{{1,3}}[^\n]{{0,70}}?"
        r"(?:\b(?:capital|upper ?case|lower ?case|all one word|one word|no spaces?|tt attach|tout attach|"
        r"majuscule|minuscule|zusammengeschrieben|zusammen ?geschrieben|kleingeschrieben|großgeschrieben|"
        r"alles klein|alles groß|todo junto|minúscula|mayúscula|tudo junto|maiúscula|tutto attaccato|minuscol|"
        r"maiuscol|aan elkaar|hoofdletter|kleine letters)))|"
        r"\b(?:capital|upper ?case|lower ?case|one word|no spaces?|majuscule|minuscule|groß|klein|mayúscula|minúscula|"
        rf"maiúscula|maiuscola|hoofdletter)\b[^\n:]{{0,50}}:\s{{1,3}}{_QUOTE}{_CHOSEN}",
        6,
    ),
    "said-pair": PlaceRule(
        "use |user |log in|sign in|login|zugang|anmeld|accès|acceso|accesso|acesso|inlog|account|creds|nimm |usa |"
        "utilise|gebruik",
        rf"\b(?:use|nimm|utilise[rz]?|usa|gebruik)\s{{1,2}}{_QUOTE}[\w.+-]{{1,40}}@[\w.-]{{3,40}}{_AFTER_QUOTE}\s"
        rf"(?:with|and|mit|und|avec|et|con|y|com|e|met|en)\s{_QUOTE}{_CHOSEN}|\buser(?:name)?\s{{1,2}}[\w.@+-]{{2,60}}"
        rf"\s{{1,2}}(?:passw(?:or)?d|passwort|pass|pw|pwd)\s{{1,2}}{_CHOSEN}|{_LOGIN_LABEL}\b[^\n:=]{{0,60}}?"
        rf"\s(?:is|ist|est|es|é|è|was|with|mit|avec|con|com|met)\s{{1,2}}{_QUOTE}[a-z][\w.+-]{{1,40}}:"
        rf"(?!//|\d{{2,5}}(?:\D|$)){_CHOSEN}",
        6,
    ),
    "wifi-key": PlaceRule(
        "wifi|wi-fi|wlan|ssid|hotspot",
        r"\b(?:wi-?fi|wlan|ssid|hotspot)\b[^\n]{0,80}?\b(?:key|code|clé|clave|chiave|chave|schlüssel|sleutel|nøkkel|nyckel|"
        rf"klucz|ключ){_IS}{_QUOTE}{_CHOSEN}",
        6,
    ),
    "security-answer": PlaceRule(
        "security question|sicherheitsfrage|geheimfrage|question secrète|question de sécurité|pregunta de seguridad|"
        "pregunta secreta|domanda di sicurezza|pergunta de segurança|pergunta secreta|veiligheidsvraag|"
        "beveiligingsvraag|säkerhetsfråg|sikkerhetsspørsmål|контрольный вопрос|секретный вопрос",
        r"(?:security question|sicherheitsfrage|geheimfrage|question (?:secrète|de sécurité)|pregunta (?:de seguridad|"
        r"secreta)|domanda di sicurezza|pergunta (?:de segurança|secreta)|(?:veiligheids|beveiligings)vraag|"
        r"säkerhetsfråga|sikkerhetsspørsmål|(?:контрольный|секретный) вопрос)[^\n]{0,120}?(?:\b(?:"
        r"answer(?:ed)?|antworte?|réponds|réponse|respondo|respuesta|resposta|rispondo|risposta|antwoord|svar|ответ)\w{0,2}"
        rf"(?:\s(?:is|always|immer|ist|toujours|est|siempre|es|sempre|è|é|altijd|with|mit)){{0,2}}\s{{0,2}}[:=→-]{{0,2}}\s{{0,2}}|→\s{{0,2}})"
        rf"{_QUOTE}{_CHOSEN}",
        6,
    ),
    "eastern-code": PlaceRule(
        "код|пін|пин|kod |kód ",
        r"\b(?:код|пін-?код|пин-?код|пін|пин|kod|kód|pin)\w{0,2}\s(?:[^\n\d:;.?!]{0,30}?\s)?(?:сейф|двер|замк|домофон|"
        r"ворот|гараж|под[ъʼ'’]?[еї]зд|сигнал|калит|drzwi|sejf|bram|domofon|furtk|garaż|dveř|trezor|vrat|garáž|kasa|kapı|"
        r"alarm)\w{0,10}[^\n\d;.?!]{0,20}?(?<![\d.,:/-])(?!(?:19|20)\d\d\b)(\d{4,8}[#*]?|\d{1,2}(?:[- ]\d{1,2}){2,3})"
        r"(?![\w%€$£°]|[.,:/-]\d)",
        _DIGITS,
    ),
    "session-value": PlaceRule(
        "sessid=|sessionid|connect.sid=|_session=|aspsession",
        r"(?<![\w?&-])(?:PHPSESSID|JSESSIONID|ASPSESSIONID\w{0,10}|ASP\.NET_SessionId|connect\.sid|\w{2,20}_session|"
        r"sessionid)=([A-Za-z0-9%._+/-]{20,400})",
    ),
    "link-token": PlaceRule(
        "reset|magic|invit|activat|verif|confirm|recover|passwort-|signin|sign-in|login|auth",
        r"://[^\s\"'<>?]{1,150}/(?:[\w-]{0,20}(?:reset|magic|invit|activat|verif|confirm|recover|passwort|signin|sign-in|"
        r"login|auth)[\w-]{0,20})/([A-Za-z0-9_-]{20,200})(?![\w/-])",
        "://",
    ),
    "secure-string": PlaceRule(
        "securestring", r"\bConvertTo-SecureString\s{1,3}(?:-String\s{1,3})?[\"']([^\s\"'$]{4,200})[\"']"
    ),
    "kept": PlaceRule("akc|aws|cloudant|softlayer|secret", ""),
}
