"""Credentials in commands, code, headers and addresses are found, and the same places without one pass.

What has a vendor's shape is put together at run time, so that scanners of repositories stay quiet.
"""

from __future__ import annotations

import base64
import random
import re
import string

import pytest

from clawmem.model.safety.secrets.find import find_secret, redact
from clawmem.model.safety.secrets.looks import compiled
from clawmem.model.safety.secrets.place_rules import PLACES
from clawmem.model.safety.secrets.places import around_words

MIXED = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
DICE = random.Random(20261122)


def some(count: int, letters: str = MIXED) -> str:
    return "".join(DICE.choice(letters) for _ in range(count))


def uid() -> str:
    return "-".join(some(n, HEX) for n in (8, 4, 4, 4, 12))


UID, KEY32, KEY40, KEY64 = uid(), "7c" + some(30, HEX), "4e" + some(38, HEX), "9b" + some(62, HEX)
TOKEN = "q7Rk2" + some(27)
LOGIN = base64.b64encode(b"lagerhaus:Kirschkern").decode()
GIVEN = [
    ("echo 'www:Kirschkern.40' | sudo chpasswd", "Kirschkern.40"),
    ("echo Kirschkern.40 | sudo -S systemctl restart nginx", "Kirschkern.40"),
    ("echo -n 'Kirschkern.40' | cryptsetup open /dev/sda2 data", "Kirschkern.40"),
    ("chpasswd <<< 'jane:Kirschkern.40'", "Kirschkern.40"),
    ("echo Kirschkern.40 | kinit svc@ACME.TEST", "Kirschkern.40"),
    ("ldapmodify -D cn=admin,dc=acme -w Kirschkern.40 -f add.ldif", "Kirschkern.40"),
    ("ldapwhoami -x -D 'cn=a b,dc=acme' -w 'Kirschkern.40'", "Kirschkern.40"),
    ("mongosh --host db1 -u root -p Kirschkern.40 admin", "Kirschkern.40"),
    ("cqlsh -u cassandra -p Kirschkern.40 10.0.0.4", "Kirschkern.40"),
    ("twine upload -u jane -p Kirschkern.40 dist/*", "Kirschkern.40"),
    ("evil-winrm -i 10.0.0.9 -u adm -p Kirschkern.40", "Kirschkern.40"),
    ("security unlock-keychain -p Kirschkern.40 login.keychain", "Kirschkern.40"),
    ("sqlcmd -S db1 -U sa -P Kirschkern.40 -Q 'select 1'", "Kirschkern.40"),
    ("ipmitool -H bmc1 -U root -P Kirschkern.40 power on", "Kirschkern.40"),
    ("zip -r -P Kirschkern.40 out.zip papers", "Kirschkern.40"),
    ("mosquitto_pub -u hub -P Kirschkern.40 -t home/x -m 1", "Kirschkern.40"),
    ("7z a -pKirschkern.40 out.7z papers", "Kirschkern.40"),
    ("plink -ssh -pw Kirschkern.40 root@10.0.0.3", "Kirschkern.40"),
    ("keytool -list -keystore a.jks -storepass Kirschkern.40", "Kirschkern.40"),
    ("xfreerdp /u:jane /p:Kirschkern.40 /v:ts1", "Kirschkern.40"),
    ("cmdkey /add:fs1 /user:jane /pass:Kirschkern.40", "Kirschkern.40"),
    ("net user jane Kirschkern.40 /add", "Kirschkern.40"),
    ("net use Z: \\\\fs1\\share Kirschkern.40 /user:acme\\jane", "Kirschkern.40"),
    ("openssl rsa -in a.pem -passin pass:Kirschkern.40 -out b.pem", "Kirschkern.40"),
    ("htpasswd -cb .htpasswd jane Kirschkern.40", "Kirschkern.40"),
    ("wpa_passphrase 'Haus am See' Kirschkern.40", "Kirschkern.40"),
    ("rabbitmqctl change_password svc Kirschkern.40", "Kirschkern.40"),
    ("poetry config http-basic.corp jane Kirschkern.40", "Kirschkern.40"),
    ("sqlplus scott/Kirschkern.40@orcl", "Kirschkern.40"),
    ("lftp -u jane,Kirschkern.40 ftp.acme.test", "Kirschkern.40"),
    ("http -a jane:Kirschkern.40 GET acme.test/api", "Kirschkern.40"),
    ("snmpwalk -v3 -u mon -A Kirschkern.40 10.0.0.1", "Kirschkern.40"),
    ("CREATE USER app IDENTIFIED BY 'Kirschkern.40';", "Kirschkern.40"),
    ("ALTER ROLE app WITH LOGIN PASSWORD 'Kirschkern.40';", "Kirschkern.40"),
    ("Login for the staging box is deploy:Kirschkern.40", "Kirschkern.40"),
    ("Shop: use jane@acme.test with Kirschkern.40 to sign in", "Kirschkern.40"),
    ("smtp.acme.test:587 user noreply pass Kirschkern.40", "Kirschkern.40"),
    ("Guest wifi: network Hut, key is kirschkern2291", "kirschkern2291"),
    ("WLAN im Keller, der Schlüssel lautet kirschkern2291", "kirschkern2291"),
    ("Security question: first pet, I always answer Kirschkern4", "Kirschkern4"),
    ("Pregunta de seguridad del banco: ¿colegio? Respuesta: Kirschkern4", "Kirschkern4"),
    ("Код від сейфа 7-19-52", "7-19-52"),
    ("kod do bramy to 4711#", "4711#"),
    ("the key box next to the back door opens on 0638", "0638"),
    ("PHPSESSID=" + TOKEN.lower(), TOKEN.lower()),
    ("https://acme.test/reset-password/" + TOKEN, TOKEN),
    ("https://acme.test/verify/" + TOKEN, TOKEN),
    ("rpcclient -U 'lagerhaus%Kirschkern.40' 10.0.0.5", "Kirschkern.40"),
    ("The card ends in 4417, its cvc is 387.", "387"),
    ('$p = ConvertTo-SecureString "Kirschkern.40" -AsPlainText -Force', "Kirschkern.40"),
    ("cargo login " + TOKEN, TOKEN),
    ("wandb login --relogin " + KEY40, KEY40),
    ("snyk auth " + UID, UID),
    ("ngrok config add-authtoken " + TOKEN, TOKEN),
    ("vault login -no-print " + TOKEN, TOKEN),
    ("poetry config pypi-token.corp " + TOKEN, TOKEN),
    ("WIFI:S:Haus am See;T:WPA;P:Kirschkern40;H:false;;", "Kirschkern40"),
    ("WIFI:T:WPA;P:98127734650127;S:Werkstatt;;", "98127734650127"),
    ("BitLocker: 471829-330156-092817-556120-718293-004417-629183-551027", "471829-330156"),
    ("signer = new Wallet('0x" + KEY64 + "')", KEY64),
    ("account = Account.from_key('" + KEY64 + "')", KEY64),
    ("accounts: ['0x" + KEY64 + "'] // goerli", KEY64),
    ("solana keypair: [" + ",".join(str(n * 37 % 251) for n in range(64)) + "]", "37,74,111"),
    (
        "my seed phrase: "
        + " ".join("rio gato luna mesa nube pera vino agua sol mar pan flor".replace("sol", "sola").split()),
        "gato luna",
    ),
    ("Client('AC" + KEY32 + "', '" + KEY40[:32] + "')", KEY40[:32]),
    ("algoliasearch('B1G2GM9NG0', '" + KEY32 + "')", KEY32),
    ("StorageSharedKeyCredential('acme', '" + TOKEN + "')", TOKEN),
    ("requests.get(url, auth=('jane', 'Kirschkern.40'))", "Kirschkern.40"),
    ("s.auth = HTTPBasicAuth('jane', 'Kirschkern.40')", "Kirschkern.40"),
    ("smtp.login('jane@acme.test', 'Kirschkern.40')", "Kirschkern.40"),
    ("driver(uri, auth=('neo4j', 'Kirschkern.40'))", "Kirschkern.40"),
    ("new mysqli('localhost', 'root', 'Kirschkern.40', 'shop')", "Kirschkern.40"),
    ("new PDO($dsn, 'shop', 'Kirschkern.40')", "Kirschkern.40"),
    ('DriverManager.getConnection(url, "app", "Kirschkern.40")', "Kirschkern.40"),
    ("X-Acme-Server-Token: " + UID, UID),
    ("X-Auth-Token: " + UID, UID),
    ("api_key: " + UID, UID),
    ("https://open.larksuite.com/open-apis/bot/v2/hook/" + UID, UID),
    ("https://oapi.dingtalk.com/robot/send?access_token=" + KEY64, KEY64),
    ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=" + UID, UID),
    ("https://chat.acme.test/hooks/k7" + some(24, string.ascii_lowercase), "/hooks/k7"),
    ("https://hook.eu2.make.com/" + TOKEN.lower(), TOKEN.lower()),
    ("https://maker.ifttt.com/trigger/door/with/key/" + TOKEN, TOKEN),
    ("https://hc-ping.com/" + UID, UID),
    ("token = '" + "aZbYcXdWeVfUgThSiRjQkPlO" + "'", "cXdWeVfUgThS"),
    # Base64 without a digit.
    (f"Authorization: Basic {LOGIN}", LOGIN),
    ("jdbc:oracle:thin:jane/Kirschkern40@//db1:1521/XE", "Kirschkern40"),
    ("requirepass Kirschkern.40   # of the cache", "Kirschkern.40"),
    ("  masterpass TrvQkW4LopXe", "TrvQkW4LopXe"),
    ("Login NAS -> jane // Kirschkern.40", "Kirschkern.40"),
    ("Login for the scanner: admin / TRV4vQKWL", "TRV4vQKWL"),
    ("the safe in the cellar opens with 31 left, 7 right, 44 left", "31 left, 7 right, 44 left"),
]
HARMLESS = [
    "Login for staging is via host:8443/path1",
    "Use ada@acme.test with the subject line 'report 42' please",
    "The museum door opens on 2024-05-01, the gate opens on 2025",
    "код двери в реестре 2024",
    "https://acme.test/auth/getting-started-with-oauth-2-0",
    "What is a security question? The answer: a weak second password",
    "The wifi key is on the fridge in room 12b",
    "unzip -p archive.zip notes.txt | less",
    "ldapsearch -x -W -D cn=admin,dc=acme -b dc=acme",
    "mongosh --port 27017 -u root -p",
    "sqlcmd -S db1 -U sa -P $SA_PASSWORD",
    "7z x papers.7z -o/tmp/out",
    "net user jane /delete",
    "net use Z: /delete",
    "echo $PASS | sudo -S true",
    "echo done | tee --append log",
    "htpasswd -c .htpasswd jane",
    "docker login registry-1.docker.io",
    "bypass v2.11.0",
    "they had to trespass 3 gardens",
    "jdbc:oracle:thin:@//db1:1521/XE",
    "Login for the scanner: admin / KeePass2Android",
    "npm login --registry=https://npm.acme.test",
    "gh auth login --with-token < token.txt",
    "wandb login --relogin",
    "az login --tenant acme.onmicrosoft.com",
    'keytool -list -storepass "$STOREPASS"',
    "openssl rsa -passin env:KEY_PASS",
    "WIFI:T:nopass;S:Cafe am Markt;;",
    "wallet address 0x742d35Cc6634C0532925a3b844Bc454e4438f44e",
    "account 4711, transaction 0x" + KEY64,
    "client('users', 'list-of-all-members-v2')",
    "auth=('user', 'pass')",
    "auth=(USER, PASSWORD)",
    "form.login('jane', password)",
    "new PDO($dsn, $user, $pass)",
    "mysqli_connect('localhost', 'root', '', 'shop')",
    "X-Request-Id: " + UID,
    "Idempotency-Key: " + UID,
    "X-Correlation-Token: " + UID,
    "id: " + UID,
    "https://docs.acme.test/hooks/usage",
    "https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot",
    "alter user jane with nologin",
    "the user jane has no password",
    "[1, 2, 3, 4, 5, 6, 7, 8]",
    "http -a is short for --auth",
    "wpa_passphrase makes a key of a passphrase",
    "snmpwalk -v2c -c public 10.0.0.1",
    "order 471829-330156",
    "the login module is in src/auth/login2.py",
    # The members of a public key.
    '{"kty":"RSA","e":"AQAB","use":"sig","n":"' + some(86) + '"}',
    '{"kty":"EC","crv":"P-256","x":"' + some(43) + '","y":"' + some(43) + '"}',
]


@pytest.mark.parametrize(("text", "secret"), GIVEN, ids=[text[:40] for text, _ in GIVEN])
def test_a_credential_at_its_place_is_found(text: str, secret: str) -> None:
    assert secret in text
    assert find_secret(text) is not None
    assert secret not in redact(text)


@pytest.mark.parametrize("text", HARMLESS, ids=[text[:40] for text in HARMLESS])
def test_a_place_without_a_credential_passes(text: str) -> None:
    assert find_secret(text) is None


def test_a_search_around_the_words_finds_what_a_search_of_all_finds() -> None:
    """The words of a place are looked for first, so that a long text takes little longer than they do."""
    filler = " Nobody said anything more that day, and it rained." * 12
    texts = [filler.join(text for text, _ in GIVEN[n : n + 6]) for n in range(0, len(GIVEN), 3)]
    found = 0
    for rule, place in PLACES.items():
        if rule in ("kept", "private-key-end", "kubernetes-secret"):  # these are searched in ways of their own
            continue
        pattern = compiled(place.pattern, re.IGNORECASE)
        for text in texts:
            whole = [match.span() for match in pattern.finditer(text)]
            parts = around_words(text.lower(), place.words.split("|"))
            assert [match.span() for part in parts for match in pattern.finditer(text, *part)] == whole, rule
            found += len(whole)
    assert found > len(GIVEN) / 2
