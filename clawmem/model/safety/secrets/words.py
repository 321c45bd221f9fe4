"""Find passwords in sentences of several languages, and tell them from statements about passwords."""

from __future__ import annotations

import re

from clawmem.model.safety.secrets.looks import (
    PLACEHOLDERS,
    compiled,
    could_be_chosen,
    could_be_password,
    is_row_of_words,
    is_stand_in,
)

# `password`, `the password for the NAS`, then how it is said, then the value and whether it ends the sentence.
_SAID = (
    # The endings of languages that put the article, or a particle, behind the noun.
    r"(?:et|en|n|nya|si|m|miz|는|은)?(?:\s{1,2}(?:for|of|to|at|on|in|from|für|fürs|vom|von|zum|zur|im|meiner|meines|de|del|du|des|la|le|los|las|"
    r"till|til|på|i|voor|van|op|"
    r"bei|beim|am|chez|sur|dans|presso|nel|nella|sul|sulla|bij|em|no|"
    r"от|для|к|ко|на|від|до|за|од|do|z|ke|k|pro|od|dla|"
    r"pour|do|da|"
    r"della|dello|per)\b[^\n.:;=!?\"]{1,40}?)?"
    r"(?:[*_]{0,2}\s{0,2}:[*_]{0,2}\s{0,3}|\s{1,2}(?:is|was|ist|war|lautet|heißt|es|era|est|était|c'est|c’est|è|"
    r"é|är|er|on|je|jest|to|це|это|είναι|היא|هي|है|adalah|là|este)\s{0,2}:?\s{1,3}|['’]s\s{1,3}|%3[dD])"
    r"([\"'`*“„«]{0,3})((?:[^\s\"'`*”“»]|\*(?=[^\s*])){3,200})([\"'`*”“»]{0,3})([ \t]{0,3}[^\s]?)"
)
# Languages that write no spaces: what is typed is in Latin letters and ends the sentence, or has a digit or a symbol.
_SAID_CLOSE = r"\s?(?:は|是|：|为|為)\s?[\"'「『“]?([!-~]{4,64})(\s{0,2}です|[」』”。，！、\n]|$)?"
_WORD = re.compile("[A-Z]?[a-z]{1,63}|[A-Z]{1,64}")
_NAME = re.compile("[A-Z]{1,64}|[A-Z]?[a-z]{1,63}(?:[A-Z][a-z]{1,63}){0,9}[A-Z]{0,9}")
# `password correct-horse-battery`, `login jane password hunter22`.
_BESIDE = r"(?:는|은|nya|si|m|miz)?\s{1,3}([^\s\"'`,;:=]{6,200})"
# A password beside its name in a list: `user jane, password V`.
_LISTED = r"[,;/(]\s{0,2}[^\W\d_]{2,20}(?:-[^\W\d_]{2,10})?$"
# What gives a password some words after its name: `Kennwort fürs Archiv hab ich auf V gesetzt`, `mdp « V »`.
_GIVES = re.compile(
    r"(?:(?P<label>[^\W\d_]{0,20})\s?(?:[:=-]{0,2}>|[:=：→])\s{0,3}|(?<=\s)(?:[–—-])\s|(?<!\w)(?:is|was|now|are|"
    r"to|into|as|just|still|ist|"
    r"war|auf|jetzt|nun|lautet übrigens|ab sofort|lautet|heißt|wäre|noch|zu|in|c'est|c’est|c'était|est|était|"
    r"sera|maintenant|toujours|à|"
    r"mets|mis|es|era|"
    r"fue|será|ahora|sigue|puse|a|é|era|agora|para|coloquei|è|sarà|adesso|ora|messo|su|wordt|nu|op|naar|werd|на|je|jest|теперь|сейчас|тепер|зараз|сега|teraz|nyní|teď|nå|nyt|most|şimdi|artık|acum|sada|"
    r"gewijzigd|"
    r"là|是|は|to:|stays|became|bleibt|reste|queda|quedó|fica|ficou|rimane|resta|blijft|blir|blev)\s{1,2}|\s(?=[«“„\"'`])|是|は)[«“„\"'`*]{0,2}\s?(?P<value>[^\s«»“”„\"`]{6,64})",
    re.IGNORECASE,
)
# `What was the admin password again?`, and the answer behind it, perhaps after the name of who answers.
_ANSWERED = r"[^\n?.!]{0,60}\?[\"'”»]?\s{1,3}(?:[-–>*]\s)?(?:[\w .-]{1,20}:\s{1,3})?[\"'`*«“„]{0,2}([^\s\"'`»”]{6,64})"
_REACH = 110
_SENTENCE_ENDS = re.compile(r"[.!?]\s|[\n;]")
_WORD_AFTER = re.compile(r"\s?[(,:«“„\"]|\s{1,3}(?P<word>[\w'’-]{0,30})|[：是は]")
# Labels of what is not a password: `the password for user: jane42`.
_LABELS = frozenset(
    """
user username login id email mail account konto benutzer benutzername usuario usuário utilisateur identifiant utente
gebruiker ticket version error note hinweis siehe see example format regex algorithm hash policy code fehler beispiel
ejemplo exemple esempio voorbeeld url link http https issue pr date datum fecha
""".split()
)
_RULES_ABOUT = re.compile(
    r"\b(?:must|should|at least|characters?|chars|minimum|mindestens|zeichen|caract[eè]res|caracteres|caratteri|"
    r"tekens|minstens|"
    r"au moins|al menos|pelo menos|almeno|e\.g|z\.b|for example|zum beispiel|par exemple|por ejemplo|encrypted|"
    r"hashed|hashing|"
    r"stored|bcrypt|argon2\w{0,2}|pbkdf2|version|every|alle|tous les|cada|days|tage)\b",
    re.IGNORECASE,
)
_ENDS = frozenset(".!?,;)\n(|")
_WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# Words about passwords that are not passwords, in lower case.
_TOLD = frozenset(
    """
a an the my your his her our their not no now here there below above so too very also still always never only just
wrong right correct incorrect strong weak safe secure unsafe insecure secret private public long short old new easy hard
simple complex complicated same different unique valid invalid required missing empty blank gone lost known unknown
temporary permanent good bad great fine okay important mandatory optional case-sensitive sensitive ready due late out
up down back on off in set stored saved kept hidden hashed visible available useless pointless obvious random terrible
awful silly stupid funny crazy impossible awesome cool common default broken dead stale fresh recent outdated obsolete
none nothing something anything everything mine yours theirs ours whatever somewhere nowhere elsewhere everywhere
enough ok yes true false null nil pending confidential sacred personal shared weird odd strange annoying tricky
string bool const str text bytes varchar number boolean any object char field value int integer type enum uuid varbinary
password passwort kennwort passwords contraseña senha passwd secret token see ask tba tbd todo unchanged changed reset
sicher unsicher geheim falsch richtig korrekt stark schwach lang kurz alt neu einfach schwer kompliziert gesperrt
abgelaufen vergessen geändert bekannt unbekannt weg leer gültig ungültig erforderlich nötig notwendig pflicht hier dort
unten oben nicht kein keine mein dein sein ihr unser der die das ein eine wichtig gut schlecht gleich anders verloren
ziemlich sehr zu noch schon immer nie niemals dasselbe identisch privat öffentlich zurückgesetzt fällig knapp
segura seguro débil fuerte larga corta nueva vieja fácil difícil incorrecta correcta errónea secreta igual distinta
diferente válida inválida obligatoria necesaria requerida aquí allí muy demasiado no la el una un mi tu su perdida
olvidada caducada compleja simple única pública privada importante buena mala otra
sûr sûre faible fort forte long longue court courte nouveau nouvelle vieux facile difficile incorrect correct erroné
expiré oublié perdu perdue secret identique différent valide invalide obligatoire nécessaire requis ici là très trop
pas le la un une mon ton son complexe unique public privé bon mauvais périmé toujours bien
sicura sicuro debole lunga corto nuova vecchia sbagliata sbagliato corretta segreta uguale scaduta scaduto dimenticata
persa valida obbligatoria necessaria qui molto troppo non lo il una un mia tua sua semplice complessa pubblica
forte fraca longa curta nova velha errada secreta igual diferente inválida obrigatória aqui muito não o uma um
minha sua perdida esquecida expirada simples importante
""".split()
)  # fmt: skip
# Names in languages for which `_TOLD` has no words: there a plain word is a password only between quotation marks.
_WITHOUT_REMARKS = frozenset(
    (
        "wachtwoord", "wachtzin", "toegangscode", "lösenord", "hasło", "adgangskode", "passord", "salasana", "heslo",
        "jelszó", "şifre", "пароль", "парола", "lozinka", "parola este", "비밀번호", "패스워드", "كلمة المرور",
        "كلمة السر", "κωδικός πρόσβασης", "κωδικός είναι", "סיסמה", "סיסמא", "पासवर्ड", "kata sandi", "mật khẩu",
        "รหัสผ่าน",
    )
)  # fmt: skip
# Names after which a sentence is read in another way than after `password`.
_TELLING = ("mot de passe", "passphrase", "clave", "parola d'ordine", "parola chiave")
_TOLD_ENDINGS = ("ed", "ing", "able", "ible", "ful", "less", "ous", "ically", "ly", "iert", "bar")
_ABOUT = frozenset(
    """
reset manager policy less protected based change field prompt hash hashed protection recovery rotation strength only
generator database store safe login rule rules required requirement requirements free authentication expired expiry
entropy history length complexity check checker validation dialog box form input parameter option variable env file
vault hashing encryption algorithm reuse sharing spraying attack guess cracking list dump leak breach expires managers
prompts
""".split()
)
_FUNCTION_WORDS = frozenset(
    "a an and the is are was to of in on at for from by with not no it that this as be or but if very too so".split()
)


def find_spoken_password(text: str, end: int) -> tuple[int, int] | None:
    """Return where the password is that a sentence gives after its name, which ends at `end`."""
    before = text[max(0, end - 20) : end].lower()
    typed = compiled(_SAID_CLOSE).match(text, end)
    if typed:
        value = typed[1].rstrip(".!?,;)")
        word_alone = value.isalpha() and typed[2] is not None and not _WORD.fullmatch(value)
        if _is_number(value) or (
            len(value) >= 6 and not is_stand_in(value) and (could_be_password(value) or word_alone)
        ):
            return typed.start(1), typed.start(1) + len(value)
    word = next((name for name in (*_TELLING, *_WITHOUT_REMARKS) if before.endswith(name)), "")
    found = compiled(_SAID).match(text, end)
    plain = _plain(text, found, word) if found else None
    if plain:
        return plain
    pair = _given_later(text, end)
    if pair or found:
        return pair
    beside = compiled(_BESIDE).match(text, end)
    value = beside[1].rstrip(".!?)") if beside else ""
    if not beside or is_stand_in(value):
        return None
    listed = compiled(_LISTED).search(text, max(0, end - 30), end) and not text[beside.end(1) :][:1].strip(",;")
    if _joined(value) or _mixed(value) or _has_symbol(value) or (listed and _is_typed(value)):
        return beside.start(1), beside.start(1) + len(value)
    return None


def _plain(text: str, found: re.Match[str], word: str) -> tuple[int, int] | None:
    value = found[2].rstrip(".!?,;)")
    start = found.start(2)
    named = _WORDS.findall(text[found.start() : start])
    if named and named[-1].lower() in _LABELS:
        return None
    if not value or value.lower() in PLACEHOLDERS:
        return None
    if could_be_password(value) and len(value) >= 6 and not is_stand_in(value):
        return start, start + len(value)
    if word != "clave" and _is_number(value):
        return start, start + len(value)
    if word in ("passphrase", "mot de passe") and not found[1]:
        words = _phrase(text, start)
        if words:
            return start, words
    if not _WORDS.fullmatch(value) or len(value) < 4 or is_stand_in(value):
        return None
    if word in _WITHOUT_REMARKS and not found[1]:
        return None
    lower = value.lower()
    if lower in _TOLD or (lower == value and lower.endswith(_TOLD_ENDINGS)):
        return None
    # A quoted word is the password itself; any other word must end its sentence, unlike a remark about a password.
    after = text[start + len(value) : start + len(value) + 4].lstrip(" \t\"'`*”»")
    if word in ("clave", "parola d'ordine", "parola chiave") and not found[1] and not _owned(text, found.start()):
        return None
    return (start, start + len(value)) if found[1] or not after or after[0] in _ENDS else None


def _given_later(text: str, end: int) -> tuple[int, int] | None:
    """Return where the sentence gives a password that looks chosen, with some words between its name and it."""
    first = _WORD_AFTER.match(text, end)
    # `pass` alone is more often a verb.
    if (first and (first["word"] or "").lower() in _ABOUT) or text[end - 4 : end].lower() == "pass":
        return None
    answered = compiled(_ANSWERED).match(text, end)
    if answered and could_be_chosen(answered[1]):
        return answered.start(1), answered.start(1) + len(answered[1].rstrip(".,;:)"))
    if first is None:
        return None
    rest = text[end : end + _REACH]
    stop = _SENTENCE_ENDS.search(rest)
    rest = text[end : end + stop.start()] if stop else text[end : end + _REACH + 64]
    for found in _GIVES.finditer(rest):
        value = found["value"].rstrip(".,;:)'’*")
        if (found["label"] or "").lower() in _LABELS:
            continue
        if could_be_chosen(value) or (_joined(value) and not is_stand_in(value)):
            if _RULES_ABOUT.search(rest[: found.start("value")]):
                return None
            start = end + found.start("value")
            return start, start + len(value)
    return None


def _owned(text: str, place: int) -> bool:
    """Return whether the Spanish word for "key" or "password" follows a possessive, so that it means a password."""
    return text[max(0, place - 12) : place].lower().split()[-2:-1] in (["mi"], ["tu"], ["su"], ["nuestra"])


def _phrase(text: str, start: int) -> int | None:
    """Return the end of a passphrase of at least four words without function words, or None."""
    line = re.split(r"[.\n!?;,]", text[start : start + 200], maxsplit=1)[0].rstrip("\"'”» ")
    words = line.split()
    fit = len(words) >= 4 and is_row_of_words(line) and all(_WORDS.fullmatch(word) for word in words)
    return start + len(line) if fit and not _FUNCTION_WORDS.intersection(map(str.lower, words)) else None


def _is_number(value: str) -> bool:
    """Return whether a value could be a code or a key of digits."""
    return value.isdigit() and 4 <= len(value) <= 24 and len(set(value)) > 1


def _joined(value: str) -> bool:
    """Return whether a value is at least three words joined by dashes, none of them about passwords."""
    pieces = value.lower().split("-")
    if len(pieces) >= 3 and pieces[-1].isdigit():
        pieces = [*pieces[:-1], "and"] if len(pieces) > 3 or len(pieces[-1]) < 4 else pieces
    return (
        len(pieces) >= 3 and all(len(piece) > 2 and piece.isalpha() for piece in pieces) and _ABOUT.isdisjoint(pieces)
    )


def _has_symbol(value: str) -> bool:
    """Return whether a value looks chosen and has a symbol that words about passwords do not have."""
    return any(map(str.isdigit, value)) and any(text in value for text in "!@#$%^&?+") and could_be_chosen(value)


def _is_typed(value: str) -> bool:
    """Return whether a value looks chosen or has letters of both cases in another order than words."""
    letters = value.isalpha() and value.isascii() and len(value) >= 8
    return could_be_chosen(value) or (letters and not _NAME.fullmatch(value))


def _mixed(value: str) -> bool:
    """Return whether a value has letters and digits and is long and varied enough to be a password."""
    digits = sum(letter.isdigit() for letter in value)
    return (
        len(value) >= 8
        and 1 <= digits <= len(value) - 3
        and could_be_password(value)
        and value.isprintable()
        and ("-" not in value and "/" not in value and "(" not in value)
    )


# The words of recovery phrases (BIP 39), from mnemonic 0.21: see NOTICE. Written by benchmarks/kept_rules.py.

PHRASE_WORDS = frozenset(
    """
abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid
acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult advance advice
aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm album alcohol alert alien all
alley allow almost alone alpha already also alter always amateur amazing among amount amused analyst anchor ancient
anger angle angry animal ankle announce annual another answer antenna antique anxiety any apart apology appear apple
approve april arch arctic area arena argue arm armed armor army around arrange arrest arrive arrow art artefact
artist artwork ask aspect assault asset assist assume asthma athlete atom attack attend attitude attract auction
audit august aunt author auto autumn average avocado avoid awake aware away awesome awful awkward axis baby bachelor
bacon badge bag balance balcony ball bamboo banana banner bar barely bargain barrel base basic basket battle beach
bean beauty because become beef before begin behave behind believe below belt bench benefit best betray better
between beyond bicycle bid bike bind biology bird birth bitter black blade blame blanket blast bleak bless blind
blood blossom blouse blue blur blush board boat body boil bomb bone bonus book boost border boring borrow boss bottom
bounce box boy bracket brain brand brass brave bread breeze brick bridge brief bright bring brisk broccoli broken
bronze broom brother brown brush bubble buddy budget buffalo build bulb bulk bullet bundle bunker burden burger burst
bus business busy butter buyer buzz cabbage cabin cable cactus cage cake call calm camera camp can canal cancel candy
cannon canoe canvas canyon capable capital captain car carbon card cargo carpet carry cart case cash casino castle
casual cat catalog catch category cattle caught cause caution cave ceiling celery cement census century cereal
certain chair chalk champion change chaos chapter charge chase chat cheap check cheese chef cherry chest chicken
chief child chimney choice choose chronic chuckle chunk churn cigar cinnamon circle citizen city civil claim clap
clarify claw clay clean clerk clever click client cliff climb clinic clip clock clog close cloth cloud clown club
clump cluster clutch coach coast coconut code coffee coil coin collect color column combine come comfort comic common
company concert conduct confirm congress connect consider control convince cook cool copper copy coral core corn
correct cost cotton couch country couple course cousin cover coyote crack cradle craft cram crane crash crater crawl
crazy cream credit creek crew cricket crime crisp critic crop cross crouch crowd crucial cruel cruise crumble crunch
crush cry crystal cube culture cup cupboard curious current curtain curve cushion custom cute cycle dad damage damp
dance danger daring dash daughter dawn day deal debate debris decade december decide decline decorate decrease deer
defense define defy degree delay deliver demand demise denial dentist deny depart depend deposit depth deputy derive
describe desert design desk despair destroy detail detect develop device devote diagram dial diamond diary dice
diesel diet differ digital dignity dilemma dinner dinosaur direct dirt disagree discover disease dish dismiss
disorder display distance divert divide divorce dizzy doctor document dog doll dolphin domain donate donkey donor
door dose double dove draft dragon drama drastic draw dream dress drift drill drink drip drive drop drum dry duck
dumb dune during dust dutch duty dwarf dynamic eager eagle early earn earth easily east easy echo ecology economy
edge edit educate effort egg eight either elbow elder electric elegant element elephant elevator elite else embark
embody embrace emerge emotion employ empower empty enable enact end endless endorse enemy energy enforce engage
engine enhance enjoy enlist enough enrich enroll ensure enter entire entry envelope episode equal equip era erase
erode erosion error erupt escape essay essence estate eternal ethics evidence evil evoke evolve exact example excess
exchange excite exclude excuse execute exercise exhaust exhibit exile exist exit exotic expand expect expire explain
expose express extend extra eye eyebrow fabric face faculty fade faint faith fall false fame family famous fan fancy
fantasy farm fashion fat fatal father fatigue fault favorite feature february federal fee feed feel female fence
festival fetch fever few fiber fiction field figure file film filter final find fine finger finish fire firm first
fiscal fish fit fitness fix flag flame flash flat flavor flee flight flip float flock floor flower fluid flush fly
foam focus fog foil fold follow food foot force forest forget fork fortune forum forward fossil foster found fox
fragile frame frequent fresh friend fringe frog front frost frown frozen fruit fuel fun funny furnace fury future
gadget gain galaxy gallery game gap garage garbage garden garlic garment gas gasp gate gather gauge gaze general
genius genre gentle genuine gesture ghost giant gift giggle ginger giraffe girl give glad glance glare glass glide
glimpse globe gloom glory glove glow glue goat goddess gold good goose gorilla gospel gossip govern gown grab grace
grain grant grape grass gravity great green grid grief grit grocery group grow grunt guard guess guide guilt guitar
gun gym habit hair half hammer hamster hand happy harbor hard harsh harvest hat have hawk hazard head health heart
heavy hedgehog height hello helmet help hen hero hidden high hill hint hip hire history hobby hockey hold hole
holiday hollow home honey hood hope horn horror horse hospital host hotel hour hover hub huge human humble humor
hundred hungry hunt hurdle hurry hurt husband hybrid ice icon idea identify idle ignore ill illegal illness image
imitate immense immune impact impose improve impulse inch include income increase index indicate indoor industry
infant inflict inform inhale inherit initial inject injury inmate inner innocent input inquiry insane insect inside
inspire install intact interest into invest invite involve iron island isolate issue item ivory jacket jaguar jar
jazz jealous jeans jelly jewel job join joke journey joy judge juice jump jungle junior junk just kangaroo keen keep
ketchup key kick kid kidney kind kingdom kiss kit kitchen kite kitten kiwi knee knife knock know lab label labor
ladder lady lake lamp language laptop large later latin laugh laundry lava law lawn lawsuit layer lazy leader leaf
learn leave lecture left leg legal legend leisure lemon lend length lens leopard lesson letter level liar liberty
library license life lift light like limb limit link lion liquid list little live lizard load loan lobster local lock
logic lonely long loop lottery loud lounge love loyal lucky luggage lumber lunar lunch luxury lyrics machine mad
magic magnet maid mail main major make mammal man manage mandate mango mansion manual maple marble march margin
marine market marriage mask mass master match material math matrix matter maximum maze meadow mean measure meat
mechanic medal media melody melt member memory mention menu mercy merge merit merry mesh message metal method middle
midnight milk million mimic mind minimum minor minute miracle mirror misery miss mistake mix mixed mixture mobile
model modify mom moment monitor monkey monster month moon moral more morning mosquito mother motion motor mountain
mouse move movie much muffin mule multiply muscle museum mushroom music must mutual myself mystery myth naive name
napkin narrow nasty nation nature near neck need negative neglect neither nephew nerve nest net network neutral never
news next nice night noble noise nominee noodle normal north nose notable note nothing notice novel now nuclear
number nurse nut oak obey object oblige obscure observe obtain obvious occur ocean october odor off offer office
often oil okay old olive olympic omit once one onion online only open opera opinion oppose option orange orbit
orchard order ordinary organ orient original orphan ostrich other outdoor outer output outside oval oven over own
owner oxygen oyster ozone pact paddle page pair palace palm panda panel panic panther paper parade parent park parrot
party pass patch path patient patrol pattern pause pave payment peace peanut pear peasant pelican pen penalty pencil
people pepper perfect permit person pet phone photo phrase physical piano picnic picture piece pig pigeon pill pilot
pink pioneer pipe pistol pitch pizza place planet plastic plate play please pledge pluck plug plunge poem poet point
polar pole police pond pony pool popular portion position possible post potato pottery poverty powder power practice
praise predict prefer prepare present pretty prevent price pride primary print priority prison private prize problem
process produce profit program project promote proof property prosper protect proud provide public pudding pull pulp
pulse pumpkin punch pupil puppy purchase purity purpose purse push put puzzle pyramid quality quantum quarter
question quick quit quiz quote rabbit raccoon race rack radar radio rail rain raise rally ramp ranch random range
rapid rare rate rather raven raw razor ready real reason rebel rebuild recall receive recipe record recycle reduce
reflect reform refuse region regret regular reject relax release relief rely remain remember remind remove render
renew rent reopen repair repeat replace report require rescue resemble resist resource response result retire retreat
return reunion reveal review reward rhythm rib ribbon rice rich ride ridge rifle right rigid ring riot ripple risk
ritual rival river road roast robot robust rocket romance roof rookie room rose rotate rough round route royal rubber
rude rug rule run runway rural sad saddle sadness safe sail salad salmon salon salt salute same sample sand satisfy
satoshi sauce sausage save say scale scan scare scatter scene scheme school science scissors scorpion scout scrap
screen script scrub sea search season seat second secret section security seed seek segment select sell seminar
senior sense sentence series service session settle setup seven shadow shaft shallow share shed shell sheriff shield
shift shine ship shiver shock shoe shoot shop short shoulder shove shrimp shrug shuffle shy sibling sick side siege
sight sign silent silk silly silver similar simple since sing siren sister situate six size skate sketch ski skill
skin skirt skull slab slam sleep slender slice slide slight slim slogan slot slow slush small smart smile smoke
smooth snack snake snap sniff snow soap soccer social sock soda soft solar soldier solid solution solve someone song
soon sorry sort soul sound soup source south space spare spatial spawn speak special speed spell spend sphere spice
spider spike spin spirit split spoil sponsor spoon sport spot spray spread spring spy square squeeze squirrel stable
stadium staff stage stairs stamp stand start state stay steak steel stem step stereo stick still sting stock stomach
stone stool story stove strategy street strike strong struggle student stuff stumble style subject submit subway
success such sudden suffer sugar suggest suit summer sun sunny sunset super supply supreme sure surface surge
surprise surround survey suspect sustain swallow swamp swap swarm swear sweet swift swim swing switch sword symbol
symptom syrup system table tackle tag tail talent talk tank tape target task taste tattoo taxi teach team tell ten
tenant tennis tent term test text thank that theme then theory there they thing this thought three thrive throw thumb
thunder ticket tide tiger tilt timber time tiny tip tired tissue title toast tobacco today toddler toe together
toilet token tomato tomorrow tone tongue tonight tool tooth top topic topple torch tornado tortoise toss total
tourist toward tower town toy track trade traffic tragic train transfer trap trash travel tray treat tree trend trial
tribe trick trigger trim trip trophy trouble truck true truly trumpet trust truth try tube tuition tumble tuna tunnel
turkey turn turtle twelve twenty twice twin twist two type typical ugly umbrella unable unaware uncle uncover under
undo unfair unfold unhappy uniform unique unit universe unknown unlock until unusual unveil update upgrade uphold
upon upper upset urban urge usage use used useful useless usual utility vacant vacuum vague valid valley valve van
vanish vapor various vast vault vehicle velvet vendor venture venue verb verify version very vessel veteran viable
vibrant vicious victory video view village vintage violin virtual virus visa visit visual vital vivid vocal voice
void volcano volume vote voyage wage wagon wait walk wall walnut want warfare warm warrior wash wasp waste water wave
way wealth weapon wear weasel weather web wedding weekend weird welcome west wet whale what wheat wheel when where
whip whisper wide width wife wild will win window wine wing wink winner winter wire wisdom wise wish witness wolf
woman wonder wood wool word work world worry worth wrap wreck wrestle wrist write wrong yard year yellow you young
youth zebra zero zone zoo
""".split()
)
