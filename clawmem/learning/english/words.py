"""Word lists for the rules: relations, occupations, possessions, function words."""

from __future__ import annotations

import re

RELATIONS = {
    "spouse": "wife husband spouse",
    "partner": "girlfriend boyfriend partner fiance fiancé fiancee fiancée",
    "child": "son daughter kid kids child children sons daughters stepson stepdaughter baby toddler twins",
    "parent": "mother father mom mum dad mama papa stepmother stepfather stepmom stepdad parents",
    "sibling": "brother sister brothers sisters sibling siblings stepbrother stepsister",
    "relative": "aunt uncle cousin niece nephew grandmother grandfather grandma grandpa granny grandson "
    "granddaughter nieces nephews cousins grandparents grandkids family",
    "friend": "friend friends buddy",
    "colleague": "coworker coworkers colleague colleagues teammate teammates boss manager mentor supervisor "
    "cofounder "
    "assistant client clients",
    "pet": "dog dogs cat cats puppy pup pups puppies kitten kittens kitty pet pets parrot rabbit hamster "
    "bunny turtle "
    "turtles horse horses snake lizard goldfish",
}  # fmt: skip
# How the relation of a fact begins that tells who somebody is to the speaker: "has a son".
HAS_A = "has a "
RELATION_OF = {noun: predicate for predicate, nouns in RELATIONS.items() for noun in nouns.split()}
SEVERAL = frozenset(
    "kids children sons daughters twins parents brothers sisters siblings nieces nephews cousins grandparents "
    "grandkids friends coworkers colleagues teammates clients dogs cats pups puppies kittens pets turtles horses "
    "in-laws".split()
)
CLOSE = frozenset(("spouse", "partner", "child", "parent", "sibling", "relative", "friend", "colleague", "pet"))

WORK_THINGS = frozenset(
    "app application project product site website portfolio blog store shop startup company business team api server "
    "database service codebase repo repository pipeline channel podcast store studio bakery cafe restaurant brand "
    "dashboard tracker bot plugin library book novel thesis band album game campaign agency firm".split()
)
FACT_THINGS = frozenset(
    "deadline budget limit quota target goal release launch repo repository branch stack endpoint server database "
    "sprint version port domain requirement contract milestone timeout threshold api app application project site "
    "website service client pipeline deployment backend frontend team meeting standup uptime latency coverage schema "
    "product codebase build framework migration license hosting maximum minimum cap size visa lease passport "
    "insurance subscription membership retro demo kickoff rehearsal".split()
)

OCCUPATION = re.compile(
    r"\b(?:\w{3,}(?:ologist|grapher|smith|keeper)|engineer|developer|programmer|teacher|nurse|doctor|lawyer|attorney|"
    r"manager|designer|writer|author|chef|cook|baker|driver|student|professor|lecturer|accountant|consultant|"
    r"architect|"
    r"director|artist|musician|pianist|guitarist|violinist|drummer|singer|actor|actress|dancer|painter|sculptor|"
    r"therapist|counselor|counsellor|dentist|pharmacist|scientist|chemist|physicist|biologist|economist|journalist|"
    r"editor|librarian|electrician|technician|mechanic|plumber|carpenter|farmer|gardener|firefighter|paramedic|"
    r"policeman|officer|soldier|veteran|pilot|analyst|administrator|researcher|translator|interpreter|barista|waiter|"
    r"waitress|bartender|cashier|entrepreneur|founder|ceo|cto|coach|trainer|instructor|tutor|veterinarian|vet|"
    r"surgeon|"
    r"physician|midwife|realtor|broker|banker|freelancer|contractor|intern|trainee|apprentice|marketer|recruiter|"
    r"secretary|assistant|supervisor|technologist|strategist|stylist|hairdresser|model|athlete|player|guard|streamer|"
    r"blogger|youtuber|podcaster|producer|filmmaker|photographer|animator|illustrator|tester|admin|operator|welder|"
    r"builder|roofer|sailor|captain|politician|activist|volunteer|judge|clerk|major|graduate|lead|head|specialist)\b",
    re.IGNORECASE,
)
IDENTITY = re.compile(
    r"\b(?:mother|father|mom|mum|dad|parent|grandmother|grandfather|grandparent|vegetarian|vegan|christian|muslim|"
    r"buddhist|hindu|jew|catholic|atheist|twin|only child|member|survivor|immigrant|refugee|introvert|extrovert|"
    r"night owl|early bird|morning person|native|widow|widower|bachelor|citizen|resident|speaker of|stay-at-home|"
    r"dog person|cat person|vet|guardian|godmother|godfather|believer|minimalist|beginner|gamer|runner|foodie|"
    r"bookworm|"
    r"collector|homeowner|trans woman|trans man|woman|man|virgo|libra|leo|aries|taurus|gemini|scorpio|pisces)\b",
    re.IGNORECASE,
)
LASTING = re.compile(
    r"^(?:a )?(?:(?P<diet>vegetarian|vegan|pescatarian|gluten[- ]free|lactose[- ]intolerant|celiac|coeliac|"
    r"halal|kosher)|"
    r"(?P<marital>single|married|divorced|engaged|widowed|separated)|"
    r"(?P<health>diabetic|asthmatic|colou?r[- ]?blind|deaf|blind|dyslexic|autistic|epileptic|anemic|pregnant|"
    r"hard of hearing|bipolar)|"
    r"(?P<identity>gay|lesbian|bisexual|transgender|trans|non-?binary|queer|asexual|left-handed|right-handed|"
    r"bilingual|"
    r"trilingual|retired|unemployed|self-employed|jewish|muslim|christian|buddhist|hindu|catholic|atheist|agnostic|"
    r"american|canadian|british|english|irish|scottish|french|german|spanish|italian|portuguese|dutch|swedish|"
    r"norwegian|"
    r"danish|finnish|polish|russian|ukrainian|greek|turkish|indian|pakistani|chinese|japanese|korean|vietnamese|thai|"
    r"filipino|indonesian|australian|mexican|brazilian|argentinian|colombian|chilean|nigerian|kenyan|egyptian|"
    r"south african|moroccan|ethiopian|iranian|israeli|lebanese))\b",
    re.IGNORECASE,
)

_ILLNESS = (
    r"asthma|diabetes|adhd|anxiety|arthritis|migraines?|epilepsy|(?:parkinson|alzheimer|crohn|hashimoto)'?s|dementia|"
    r"eczema|psoriasis|hay fever|ibs|endometriosis|(?:high|low) blood pressure|hypertension|dyslexia|tinnitus|sciatica|"
    r"lupus|gout|panic attacks|condition|disorder|disability"
)
ILLNESS = re.compile(rf"\b(?:{_ILLNESS})(?!\w)", re.IGNORECASE)
POSSESSION = re.compile(
    r"\b(?:degree|master's|bachelor's|phd|certificate|certification|license|licence|diploma|allerg(?:y|ies)|"
    rf"{_ILLNESS}|phobia|scar|tattoos?|house|"
    r"apartment|condo|"
    r"cabin|garden|farm|car|truck|motorcycle|bike|bicycle|boat|van|rv|piano|guitar|violin|drums?|keyboard|collection|"
    r"business|company|startup|shop|store|studio|website|blog|channel|podcast|garage|workshop|library|"
    r"greenhouse|camera|"
    r"telescope|aquarium|scholarship|internship|job|background in|experience (?:in|with)|passion for|fear of|"
    r"soft spot for|love for|fascination with|sweet tooth|girlfriend|boyfriend|partner|habit of|tradition of|"
    r"subscription|membership)\b",
    re.IGNORECASE,
)
APPOINTMENT = re.compile(
    r"\b(?:interview|surgery|meeting|appointment|exam|test|game|match|show|recital|concert|gig|flight|trip|"
    r"wedding|party|"
    r"presentation|conference|deadline|race|tournament|competition|audition|reunion|ceremony|checkup|check-up|"
    r"date|picnic|"
    r"barbecue|bbq|accident|baby|miscarriage|operation|exhibition|exhibit|workshop|class|lesson|seminar|funeral|"
    r"graduation|performance|event|fundraiser|retreat|vacation|holiday|premiere|screening|campout|road trip|"
    r"launch|demo|"
    r"review|call|visit|scare|injury|breakup)\b",
    re.IGNORECASE,
)
FREQUENCY = re.compile(
    r"\b(?:every (?!time|bit|minute|moment|step|second|single)\w+|each (?:day|week|morning|month|year|night|"
    r"evening|weekend|summer)|"
    r"daily|weekly|monthly|yearly|"
    r"(?:once|twice|(?:a )?(?:\w+|couple of) times) (?:a|per|each|every) \w+|on (?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)days?|on weekends|"
    r"on weekdays|in the (?:mornings?|evenings?)|per (?:day|week|month)|(?:a|each) (?:day|week|month)|"
    r"since (?:\d{4}|I was|childhood|college|high school|we were)|for (?:\w+ ){1,3}(?:years|decades|months)|"
    r"before (?:bed|work)|after work)\b",
    re.IGNORECASE,
)
HABITUAL = re.compile(
    r"\b(?:always|usually|often|never|rarely|regularly|frequently|typically|mostly|generally|normally)\b"
)
RECENT = re.compile(r"\b(?:recently|the other day|lately|earlier this \w+)\b", re.IGNORECASE)

VAGUE = re.compile(
    r"(?:it|that|this|them|these|those|him|her|something|anything|everything|nothing|some|things?|stuff|you|"
    r"your|there|here|"
    r"so|one(?! of)|ones|(?:lots?|a lot|tons|a ton)(?! of \w{4})|what|how|all|much|more|better|like|"
    r"about (?:it|that|this|you)|why|where|when|if|"
    r"to (?:it|that|this|them|you|there|here)|with (?:it|that|this|them|you)|on (?:it|that|this)|of (?:it|that|this)|"
    r"for (?:it|that|this|you)|at (?:it|that|this)|from (?:it|that|this)|in (?:it|that|this)|into (?:it|that|this)|"
    r"up (?:with|on|for) (?:it|that|this|you)|such|both|another one|a blast|a bit|a little|a couple things|"
    r"(?:the (?:whole|entire|full|complete) \w+|(?:an? )?(?:\w+ )?thing)(?=$| and\b)|"
    r"(?:into |about )?(?:different|various|all) (?:types|kinds|sorts) of|to an? (?:\w+ )?place\b|"
    r"(?:an? )?(?:\w+ )?(?:distance|bit|while|ways)(?=$)|to spend (?:some |more |a lot of |quality |my )*time|"
    r"(?:off|away|on|up|out|down|over|again|too|now|then|by|along|around|back|together)(?=\W*$)|my best|"
    r"our best|the best|sure|sense|fun|well|good|great|"
    r"some (?:things?|stuff|great|awesome|amazing|cool|really|new things|time|thought|of|fun|progress|more|"
    r"changes|steps))"
    r"(?=[\s.,!?;:]|$)",
    re.IGNORECASE,
)
_PRAISE = (
    "(?:really |super |very )?(?:amazing|awesome|cool|great|intense|inspiring|new|nice|huge|crazy|incredible|"
    "beautiful|big|"
    "funny|interesting|local|little|old|wonderful|fantastic|lovely|gorgeous|delicious|yummy|charity) (?!one\\b)[a-z]+"
)
PRAISED = re.compile(r"(?<=\s)this (?=" + _PRAISE + ")")
POINTING = re.compile(
    r"\b(?:this|these|those)\b(?!\s+(?:app|project|site|website|application|api|codebase|portfolio|dashboard|"
    r"repo|program|week|weekend|month|year|"
    r"morning|afternoon|evening|summer|spring|fall|winter|autumn|past|coming|semester|season|(?:mon|tues|"
    r"wednes|thurs|fri|satur|sun)day|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|" + _PRAISE + r")\b)|"
    r"\bthat (?:one|game|book|day|time|place|way|kind|sort|group|city|song|movie|show|feeling|moment|thing|"
    r"dream|goal|trip|"
    r"event|experience|painting|picture|photo|spot|project|stuff|world)\b|\bthat \w+$|\b(?:the following|"
    r"as follows|the above|below:?$|"
    r"like so|like (?:that|this|those|these)|one of (?:my|our) own|like (?:my|our|the) (?:last|first|other)|"
    r"(?:last|other|previous) one|similar(?! to)|"
    r"(?:at|for|from|to|with|in|on|by) the (?:event|cause|occasion|group|thing|guys?|ones?|latter|rest)"
    r"(?! (?:of|for|in|called|named|where|that|at)\b)|somewhere|someplace|someone|somebody|here's|here is|"
    r"such a|same|other)\b|:$",
    re.IGNORECASE,
)
# Bare, these are what is on the table in a talk, and nobody knows later which one was meant.
ON_THE_TABLE = re.compile(
    r"the (?:image|images|palette|results?|output|outputs|items?|list|table|text|code|function|data|values?|rows?|"
    r"columns?|lines?|errors?|bug|issue|problem|message|variable|snippet|example|loop|array|string|method)"
    r"(?=$| (?:to|from|in|into|with|as|by|so)\b)"
)
SECOND_PERSON = re.compile(
    r"\b(?:you|your|yours|you're|you've|you'll|you'd|yourself|ya|u|ur|y'all|let's|lets)\b", re.IGNORECASE
)
UNREAL = re.compile(
    r"\b(?:if I|if we|if only|would|wouldn't|could|couldn't|might|maybe|perhaps|probably|wish|as if|imagine|"
    r"hypothetically|"
    r"supposedly|pretend|kidding|joking|sarcas\w+|yeah right|lol|lmao|haha\w*|can't wait|cannot wait|not sure|"
    r"I think|i guess|"
    r"I'd|we'd|should(?:n't)?|hopefully)\b",
    re.IGNORECASE,
)
PRONOUN = re.compile(
    r"(?:\S+\s+){0,5}?(?:it|its|him|her|his|hers|them|they|their|he|she|they're|it's)\b|.*\b(?:it|them|him|"
    r"her|there|here)$",
    re.IGNORECASE,
)
BORING = re.compile(
    r"(?:(?:to|on|at|in|for|with|up|back|out|together|around|by) )*(?:(?:an?|the|some|my|our|any|few|new|huge|"
    r"major|similar|whole|cool|crazy|tough|rough|wild|hard|long|short|local|special|intense|rad|career|"
    r"great|amazing|awesome|nice|more|really|good|fun|"
    r"interesting|couple|own|little|big|bit|of) )*(?:event|events|thing|things|place|places|party|game|games|"
    r"trip|show|store|"
    r"movie|movies|book|books|stuff|pics?|pictures?|photos?|look|people|friends?|guys|folks|time|times|day|"
    r"days|life|work|home|future|"
    r"break|chance|way|goals?|progress|changes?|ideas?|plans?|advice|moments?|memories|experiences?|calls?|"
    r"decisions?|positive|projects?|tasks?|talks?|"
    r"chats?|conversations?|"
    r"steps?|effort|difference|amount|distance|bit|lot|parts?|one|phase|ride|something|news|options|"
    r"opportunities|happy|scratch|team|group|fun|milestone|hobby|organi[sz]ations?|exam|spot|wall|somewhere|"
    r"trophy|distance)?"
    r"(?: (?:together|again|recently|lately|now|soon|already|ago|today))*$",
    re.IGNORECASE,
)
FEELING = re.compile(
    r"\b(?:trouble|struggling|stuck|confused|swamped|exhausted|tired|sleepy|bored|hungry|thrilled|stoked|"
    r"excited|pumped|"
    r"nervous|overwhelmed|grateful|thankful|blessed|means a lot|means so much|meant a lot|proud of|"
    r"amazing time|great time|"
    r"a blast|wonderful time|awesome time|good time|so much fun|lots of fun|good luck|make a difference|"
    r"making a difference|give back|giving back|positively affect|"
    r"positive (?:impact|influence|change)|change the world|sore spot|rock bottom|bump in the road|looking forward)\b",
    re.IGNORECASE,
)
# Words that the meaning of a statement does not hang on.
SMALL = frozenset(
    "a also an and are as at be been by did do does for from had has have he her him his in is it its just my now of "
    "on or our own really she so some than that the their them then they this to up very was we were who with".split()
)
