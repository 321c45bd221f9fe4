"""The question at the end of an agent's turn, where no model reads later: what was worth keeping, and is not stored.

How much a sentence looks like something to keep is a weighted sum of signs in its words. The weights are those of a
logistic regression; docs/decisions/agents.md has the figures. Each list has English, German, Spanish and French words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from clawmem.llm.choice import reads_sessions_of
from clawmem.model.records.caller import Caller
from clawmem.model.safety.recalled_text import wrap_context
from clawmem.vault.vault import Vault

QUESTION = wrap_context(
    "Did the last message of the user, or what you found out for it, hold something that will still matter in a month:"
    " a preference, rule, correction, decision with its reason, change or ending, a fact about a person, a project or a"
    " system? Store what is not stored yet: at most five calls of clawmem's tool `remember`, one plain sentence each,"
    " with names and dates in full. What was supposed, joked, quoted, or matters for this task only is not worth it."
    " Then go on; say nothing of this, and if nothing else is asked, end your turn."
)
# The commits of an agent that store nothing by its own decision.
_BY_ITSELF = frozenset(("", "ingest", "access", "rights", "session-start", "session-end"))


def turn_question(vault: Vault, caller: Caller, asked: str, since: str) -> str:
    """Return the question to an agent that has answered the prompt `asked`, or an empty text.

    It is asked where no model reads the sessions of the harness, the setting `session.ask` allows it, the prompt looks
    as if it holds something to keep, and the agent has stored nothing `since` the time of the prompt."""
    if not since or reads_sessions_of(vault.settings, caller.agent) or not vault.settings.flag("session.ask"):
        return ""
    return QUESTION if looks_worth_keeping(asked) and not _has_stored(vault, caller, since) else ""


def _has_stored(vault: Vault, caller: Caller, since: str) -> bool:
    form = "--format=%(trailers:key=Clawmem-Op,valueonly,separator=%x0A)"
    found = vault.git.try_run("log", "-20", f"--since={since}", f"--author=^{caller.agent} <", form) or b""
    return not _BY_ITSELF.issuperset(line.strip() for line in found.decode().splitlines())


_FOREIGN = re.compile(r"```.*?(?:```|\Z)|^\s*>.*$|[\"“„«][^\"”“»\n]{12,}[\"”“»]", re.DOTALL | re.MULTILINE)
_OUTPUT = re.compile(
    r"\s*(?:[\[(]?\d{1,4}[-:/.]\d\d|[\w.\[\]]*(?:[Ee]rror|Exception|fatal|hint|[Ww]arning|WARN|FAILED|ERR!?)\b"
    r"|[\w/.-]+: (?:[Ee]rror|command not|warning)|Traceback|File \"|at [\w$.<>]+[.(:]|#\d+ |-+>|\d+ \||[|$%{}]"
    r"|(?:From|To|Subject|TOP \d|[A-Z]):)"
)
_SEEKS = (
    r"(?:i(?:['’]m| am) (?:trying|having|struggling|getting|stuck|confused|not sure|wondering)|(?:can|could|would) you|"
    r"help me|any (?:idea|tips|advice))\b"
)
# Who asks for help often says first, or after it, who they are and what they prefer.
_ENDS = re.compile(
    rf"(?<=[.!?;])\s+|\n+|(?:,| -|,? (?:and|but|so)),? (?={_SEEKS}|(?:i|we) (?:prefer|like|love|hate|always|never|"
    r"don['’]t|use)\b)",
    re.IGNORECASE,
)
_SEEKING = re.compile(_SEEKS)
_LEAST = -0.2  # a logarithm, as a score


def looks_worth_keeping(prompt: str) -> bool:
    """Return whether a prompt looks as if it holds something to keep, by its words alone."""
    return sum(math.exp(keeping_score(sentence)) for sentence in _own_sentences(prompt)) >= math.exp(_LEAST)


def _own_sentences(text: str) -> Iterator[str]:
    """The sentences of a prompt without code, quotations, and lines that a program wrote."""
    for line in _FOREIGN.sub(" … ", text).split("\n"):
        if not _OUTPUT.match(line):
            yield from (sentence for sentence in _ENDS.split(line) if sentence.strip(" …-*\t"))


# What may stand before the word that tells what a sentence does.
_LEADS = frozenset(
    "ok okay k kk yes yep no nope nah fine and but so now then also just hey hm hmm oh ah wait please pls plz first"
    " next well anyway great cool und aber dann jetzt bitte mal gut na ja nein y e oye entonces ahora por favor"
    " porfa bueno dale sí et alors bon oui non maintenant puis stp".split()
)
_ASKING = frozenset(
    "what whats what's why how who where when which whose can could would will should shall is are was were do does"
    " did has have isn't aren't doesn't didn't any wie warum wieso wer wo wann welche welcher welches kannst"
    " könntest kann würde soll sollte ist sind hast habt gibt qué cómo quién dónde cuándo cuánto cuál puedes podrías"
    " hay est-ce quoi quel quelle quels quelles comment pourquoi qui où quand combien".split()
)
_TASKS = tuple(
    "lets let's answer add argue build bump cancel cd center change check clean commit compar compil compos comput"
    " continu convert copy count creat crop cut debug delet deploy describ divid do draft draw drop explain export"
    " extract fill find fix flash format generat get giv go grab grep help implement import improv insert install"
    " invent keep leav list look mak merg mock mov open past play plot print proofread pull push put read rebas"
    " refactor remov renam replac reply rerun restart restor revert review rewrit roast run search send set shorten"
    " show solv sort split squash start stop suggest summari switch tak tell test translat trim try turn undo updat"
    " upgrad us write i'd mach zeig schreib prüf schau füg lösch benenn änder erklär erzähl gib fass such lass lauf"
    " nimm nenn setz bau bring übersetz ergänz korrigier verschieb räum rechne versuch warte pon haz cambia corre"
    " ejecuta borra añade agrega crea escribe revisa busca explica explíca muestra dame dime divide genera quita"
    " arregla traduce resume prueba recuérdame sube mueve necesito mets fais ajoute attends écris corrige rédige"
    " renomme supprime montre explique invente trouve lance relance prends crée vérifie regarde donne dis traduis"
    " résume essaie enlève".split()
)
_LONGEST_ENDING = 3
# The first words of who tells of himself, of who points at what was said before, and of a mere reply.
_OWN = frozenset(
    "i i'm i've i'd i'll my our we we're we've mine ich mein meine meinen meiner wir unser unsere yo mi mis soy tengo"
    " vivo trabajo nuestro nuestra nosotros je j'ai j'habite j'aime mon ma mes notre nous nos".split()
)
_POINTS = re.compile(
    r"(?:it|it's|its|that's|they|they're|you|you're|your|he|she|there|there's|here|here's|both|neither|none|das|es|"
    r"eso|esto|aquello|ese|esa|ça|cela|ce|c'est) (?!(?:\w+ )*\d)|(?:this|that|these|those|dies|dieser|diese) "
    r"(?:is|are|was|were|looks?|seems?|sounds?|feels?|works?|makes?|does|did|has|have|can|could|will|would|should|"
    r"means?|ist|sind|war|sieht|klingt) "
)
_REPLY = frozenset(
    "great nice perfect sure thanks thank good awesome sounds haha ha aw wow lovely exactly right agreed same cool"
    " sorry congrats congratulations happy glad true fair absolutely definitely of indeed amazing excellent brilliant"
    " yeah hello hi morning evening bye genau super danke prima toll schön stimmt klar gracias perfecto vale genial"
    " claro exacto merci parfait d'accord génial exact".split()
)
_SUPPOSED = (
    "if we ever|if i ever|if we had|if you had|if we did|if we were|if i were|if we decided|if we moved|"
    "what if|suppose|imagine|hypothetical|hypothetically|might|maybe|someday|some day|one day|joke|"
    "joking|kidding|haha|lol|riddle|thinking out loud|who knows|wonder|supongamos|si algún|algún día|"
    "jajaja|angenommen|würde|wäre|hätte|vielleicht|si un jour|plaisantais|peut-être"
).split("|")
_PASSING = (
    "brb|right now|just now|at the moment|for now|for today|one sec|a minute|meanwhile|in the meantime|"
    "this one|this function|this screen|this diff|this morning|this afternoon|here|tired|coffee|lunch|"
    "cooking|tea|train|wifi|laptop|meeting until|see you|thanks|thank you|thx|sorry|weather|headache|"
    "bored|one-off|today|heute|grad|gerade|eben|kurz|puh|moin|danke|im zug|hoy|espera|aeropuerto|"
    "metro|calor|gracias|ahora mismo|ce soir|tram|merci|désolé|aujourd'hui|à demain"
).split("|")
# What is seen in the work at hand: of how it is now, and of one of several.
_SEEN = (
    "still|again|look|looks|sounds|feels|reads|too|a bit|kind of|kinda|better|wrong|broken|forgot|"
    "you wrote|you deleted|you made|you pasted|first one|second one|third one|last one|other one|"
    "next one|the first|the second|the third|option a|option b|jumps|overlaps|cut off|blank|empty|"
    "crash|crashes|stuck|slow|typo|diff|scroll|hover|button|tooltip|screenshot|the console|i like|"
    "i think|i guess|i don't get|i can't see|i saw|i tried|i pulled|i touched|error|fails|fail|failed|"
    "ugly|noisy|immer noch|nochmal|zu|etwas|besser|falsch|kaputt|vergessen|sieht|klingt|find ich|"
    "glaub|leer|langsam|springt|zweite|erste|todavía|otra vez|muy|demasiado|mejor|falta|vacía|vacío|"
    "sale|parece|suena|opino|segunda|segundo|tapa|toujours pas|encore|trop|mieux|vide|déborde|"
    "un peu|moche|deuxième|l'autre|cache"
).split("|")
_LASTING = (
    "always|never|ever|every|every time|everyone|everything|from now on|from here on|anymore|any more|"
    "no longer|by default|instead|because|remember|forget|rule|rules|policy|since|until|for good|"
    "don't|no new|only|nobody|gets|ask me|we|our|my|i'm|is called|named|owns|left|moved|switched|"
    "changed|gone|dead|decided|prefer|prefers|like|likes|hate|hates|allergic|immer|nie|niemals|"
    "ab jetzt|ab sofort|künftig|statt|nicht mehr|kein|keine|keinen|seit|weil|nur|wir|unser|unsere|"
    "mein|meine|bis|gehört|macht jetzt|lieber|siempre|nunca|ya no|a partir|desde|hasta|porque|"
    "nada de|nos|nuestro|nuestra|mi|no me|solo|ahora la|ahora el|ahora es|toujours|jamais|désormais|"
    "dorénavant|plus|jusqu'à|parce|on|nous|notre|mon|ma|pas de|c'est"
).split("|")
# A rule of work is told as a task is: what to use, and instead of what or where. Its weight was set by hand. Those of
# the last four signs are of a later regression, with the others as they were.
_RULE = re.compile(
    r"(?:use|prefer|avoid|keep|stick to|write|name|format|indent|put|commit|pin|log|nimm|nutze?|benutze?|verwende|"
    r"schreibe?|bevorzuge|vermeide|usa|utiliza|prefiere|evita|escribe|utilise|préfère|évite|écris) "
    r"(?:(?!(?:it|this|that|these|those|the|a|an|das|die|den|el|la|los|las|le|les) ).*? )?"
    r"(?:instead of|rather than|not|over|without|under|below|at most|max|in this|in our|everywhere|for \w+ names?|"
    r"for (?:all|every|each|new|any)|before (?:each|every)|statt|anstatt|anstelle|nicht|keine?n?|in diesem|überall|"
    r"en lugar de|en vez de|en este|au lieu|plutôt que|dans ce) (?!time\b|case\b|test\b|function\b|file\b|line\b)"
    # How a kind of work is done, and how it is not, or when.
    r"|(?:run|execute|test|format|lint|build|compile|deploy|release|start|serve|install|manage|sort|generate|migrate|"
    r"publish|ejecuta|corre|formatea|instala|despliega|lance|exécute|formate|installe|déploie) "
    r"(?!(?:it|this|that|these|those|them|again) )(?=.* (?:never|not|only|instead|nunca|no|solo|jamais|pas) )"
    r"(?:.* )?(?:with|via|using|through|con|avec) "
    r"|(?:(?!(?:it|this|that|these|those|them) )[^ ]+ ){2,12}(?:before|after|on|vor|nach|bei|antes de|avant|après) "
    r"(?:each|every|jede[mnrs]?|cada|chaque) (?:commit|push|release|merge|deploy|pr|pull|build|change|session)"
)
# A choice after a proposal, and a number that sets another one right.
_DECIDED = re.compile(
    r"(?:(?:agreed|right|sure|fine|deal|great|good|perfect|exactly) )?(?:(?:let's|lets|we'll|we will|i'll|we) "
    r"(?:(?:go|stick|stay) with|settle on|take|pick|choose) (?!(?:it|that|this|these|those|them|both|one|an?|option|"
    r"number|your|my|what\w*|(?:the )?(?:[^ ]+ ){0,2}(?:one|first|second|third|last|other|same|look)) )"
    r"|(?:(?!(?:i|what|how|as|where|who|which|that|because|if|here|there|so|like) )[^ ]+ ){1,3}it is (?:then |not |\Z)"
    r"|(?:that's |that is |this is )?(?:wrong|incorrect|not (?:right|correct|true)) "
    r"(?=.* not )(?=.*\d)(?!.* (?:lines?|rows?|columns?|index|loop|px|pixels?) ))"
)
_WORD = re.compile(r"\w+(?:['-]\w+)*")
_NAME = re.compile(r"(?<=[\w,;)] )[A-ZÀ-Þ][\w-]*[a-z]")
_WEIGHTS = {
    "always": -2.84, "says": 2.05, "lasting": 0.39, "name": 0.79, "digit": 0.85, "comma": 0.82, "colon": 0.38,
    "over 8 words": 0.26, "under 3 words": -0.87, "question": -0.99, "asks": -0.96, "task": -0.13, "supposed": -0.58,
    "passing": -2.14, "seen": -0.94, "task, lasting": 0.26, "task, comma": 0.23, "says, lasting": 0.81,
    "says, seen": -1.24, "says, name": 0.52, "rule": 3.2, "own": 1.1, "pointing": -2.8, "reply": -2.2, "seeking": -3.0,
}  # fmt: skip


def keeping_score(sentence: str) -> float:
    """Return how much a sentence looks like something to keep: with 0 it is as likely as not in a turn of an agent."""
    return _WEIGHTS["always"] + sum(_WEIGHTS[name] * number for name, number in features(sentence).items())


def features(sentence: str) -> dict[str, int]:
    """Return what a sentence has of each kind of sign, by the names in the table of weights."""
    words = _WORD.findall(sentence.lower().replace("’", "'"))
    plain = f" {' '.join(words)} "
    first = next((word for word in words if word not in _LEADS), "")
    question = sentence.rstrip(' )"…').endswith("?") or "¿" in sentence
    asks = question or first in _ASKING or first.startswith("qu'")
    task = any(first.startswith(stem) and len(first) - len(stem) <= _LONGEST_ENDING for stem in _TASKS)
    has = {
        name: sum(f" {cue} " in plain for cue in table)
        for name, table in (("supposed", _SUPPOSED), ("passing", _PASSING), ("seen", _SEEN), ("lasting", _LASTING))
    }
    seen, lasting, name = has["seen"] > 0, has["lasting"] > 0, _NAME.search(sentence) is not None
    says, comma = not (asks or task or has["supposed"]), ", " in sentence
    order = " ".join(words[words.index(first) :]) if first else ""
    rule = not asks and not has["supposed"] and any(form.match(f"{order} ") for form in (_RULE, _DECIDED))
    here = rule and has["passing"] == 1 and " here " in plain  # the place of a rule
    return {
        "rule": rule,
        "question": question, "asks": asks, "task": task, "supposed": has["supposed"] > 0,
        "passing": has["passing"] > 0 and not here, "seen": seen, "lasting": min(2, has["lasting"]), "name": name,
        "digit": re.search(r"\d", sentence) is not None,
        "under 3 words": len(words) < 3, "over 8 words": len(words) > 8, "comma": comma,
        "colon": re.search(r"[:=]\s", sentence) is not None, "says": says, "task, lasting": task and lasting,
        "task, comma": task and comma, "says, lasting": says and lasting, "says, seen": says and seen,
        "says, name": says and name, "own": not asks and first in _OWN,
        "pointing": not (asks or lasting) and _POINTS.match(f"{order} ") is not None,
        "reply": not (rule or lasting or _REPLY.isdisjoint((first, *words[:1]))),
        "seeking": _SEEKING.search(plain) is not None,
    }  # fmt: skip
