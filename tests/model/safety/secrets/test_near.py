"""What a sentence gives, wherever in it: chosen words beside a noun, codes of what is locked, and cells of tables."""

from __future__ import annotations

import json

import pytest

from clawmem.model.safety.secrets.find import find_secrets, redact

GIVEN = [
    ("For the record: the router wants Kiwi!7742x before it lets anybody in, that's her wifi pw", "Kiwi!7742x"),
    ("we set Zr8!kobalt as the passwd on the printer", "Zr8!kobalt"),
    ("ik heb Molen2231! ingesteld als wachtwoord bij DigiD", "Molen2231"),
    ("wifi密码改成了 panda8872x", "panda8872x"),
    ("Passwort? Hab ich dir doch gesagt: Wolke#555", "Wolke#555"),
    ("jo: whats the pw\nmax: Tapir!9930", "Tapir!9930"),
    ("Unser WLAN zuhause: Netz heißt Fuchsbau, Schlüssel 51840276619302847561", "51840276619302847561"),
    ("Client secret dX9kQ2mPz7Lw for the sandbox app", "dX9kQ2mPz7Lw"),
    ("la alarma de casa se quita con 4471", "4471"),
    ("код домофона 38К4471", "38К4471"),
    ("현관 비밀번호 바꿨어 7712*", "7712*"),
    ("The vault opens if you turn 12 right, 44 left, 7 right", "12 right, 44 left, 7 right"),
    ("Tor-Code beim Ferienhaus? 7719#", "7719#"),
    ("Kod do bramy zmienili na 7741", "7741"),
    ("| service | login | password |\n|---|---|---|\n| grafana | ops | vT7!qkz92 |", "vT7!qkz92"),
    ("name;user;pass\nnas;tina;oB4$kklm7", "oB4$kklm7"),
    ('key = "aK93mdZq" + "Lw02xPvT" + "88sQmmZ1" + "pQ4tWz7n"', "aK93mdZq"),
    ("echo cGFzc3dvcmQ6IFRhbm5lODgheHo= | base64 -d", "cGFzc3dvcmQ6IFRhbm5lODgheHo="),
    ("letter by letter: g H 4 k P w 7 z", "g H 4 k P w 7 z"),
]
HARMLESS = [
    "Our password manager is Bitwarden_2024x",
    "The password must have at least 12 characters, like Abc12!def",
    "The wifi network is called Fuchsbau24",
    "Das Passwort steht in 1Password unter Eintrag Router_2024",
    "password hashing uses argon2id with m=65536 t=3",
    "keycloak 26.0.7 broke the password policy for user jane42",
    "The API token expires on 2026-03-01, the phone is an iPhone15Pro",
    "The alarm goes off at 0630 every weekday, and the door opens at 0845",
    "The safe weighs 4100 kg and costs 2400 euros",
    "Error code 4471 means that the door sensor is low",
    "The zip code of the garage is 80331",
    "The door opens to room 4312",
    "Garage door opener LM60EVO, built in 2019, code of conduct inside",
    "a,b,c\nd,e,f1g2h3",
    '{"fact": "The login page is slow.", "session": "kiwi77x42", "source": "session:ab12cd"}',
]


@pytest.mark.parametrize(("text", "secret"), GIVEN)
def test_what_a_sentence_gives_is_found_and_masked(text: str, secret: str) -> None:
    assert secret not in redact(text)
    assert find_secrets(json.dumps({"fact": text}, ensure_ascii=False))


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_stands_beside_a_noun_passes(text: str) -> None:
    assert find_secrets(text) == ()
