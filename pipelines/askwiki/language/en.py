"""The English words that rules go by, under the names of their Russian twins in ``ru.py``."""

from __future__ import annotations

# --- what every text has ---

_SAY_NOTHING = """
    a about all also an and any are as at be been but by can could did do does for from had has have how i if in into is
    it its may me might my no not of on or our please shall should so than that the their them then there these they
    this those to was we were what when where which who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_SAY_NOTHING.split())


CASE_ENDINGS = ("s", "es")  # "Smiths"


# --- what leans on the dialogue ---

POINTING = (
    *(
        "it",
        "its",
        "he",
        "she",
        "they",
        "them",
        "their",
        "his",
        "her",
        "him",
        "this",
        "that",
        "these",
        "those",
        "there",
    ),
    *("then", "one", "ones", "same", "too"),
)
CARRYING_ON = ("and", "but", "or", "no", "not", "what about", "how about", "also", "why", "else")  # "and for loans?"

# --- what a sentence says ---

CONDITIONS = ("if", "unless", "so that")
OF_SOURCES = ("passage", "source", "document", "wiki\\b", "provided", "context", "mention", "the text")
UNITS = (
    *("second", "minute", "hour", "day", "night", "week", "month", "quarter", "year", "time", "percent", "dollar"),
    *("cent", "euro", "pound", "thousand", "million", "billion", "byte", "kb", "mb", "gb", "tb", "meter", "metre"),
    *("kilometer", "mile", "inch", "foot", "feet", "gram", "kilogram", "degree", "point", "piece", "character"),
    "attempt",
)

# --- what a question is about ---

SCREEN = ("button", "field", "screen", "menu", "tab", "click", "press", "checkbox", "dialog")
CONCEPT = ("what is", "what does", "why", "meaning of")
TAKING_BACK = ("not", "instead of")
ASKING = ("who", "whom", "what", "where", "when", "why", "which", "how", "can i", "do i", "must i", "is it")
AND = ("and", "but")
MISSING = ("missing", "the missing part", "missing part")
ALL = (
    rf"how many (?!{'|'.join(UNITS)})\w+",  # how many roles, not how many days
    r"(?:full |complete )?list(?: of)?",  # a full list
    r"all (?:the |of the )?\w+",  # all the roles
    r"(?:what|which) (?:\w+ ){1,3}(?:are there|exist|are available|are supported)",  # which roles exist
    r"(?:what|which) \w+s do(?:es)? (?:\w+ ){1,4}have",  # what statuses does a request have
)
PLACES = ("space", "section", "label", "tag")
PLACE_LINKS = ("about", "for", "named", "called")  # between the place and its name: "the section about leave"
PLACES_BEHIND = ("space", "section")  # behind their name: "the HR space"
BEFORE_THEM = ("the", "in", "from")

# --- what needs no search ---

_FRIENDLY = """
    hi hello hey good morning afternoon evening day night bye goodbye thanks thank you very much so a lot ok okay
    great cool nice perfect got it understood there how are doing see later welcome everyone all
"""
FRIENDLY = frozenset(_FRIENDLY.split())
_FRIENDLY_SIGNS = """
    hi hello hey good morning bye goodbye thanks thank ok okay great cool nice perfect got understood welcome how
"""
FRIENDLY_SIGNS = frozenset(_FRIENDLY_SIGNS.split())
FAREWELLS = ("bye", "goodbye", "see you")
GREETING_WORDS = ("hi", "hello", "hey", "how", "good")
GREETINGS = ("hi", "hello", "hey", r"good\s+(?:morning|day|afternoon|evening)")  # "Good morning, all! How …"
GREETED = ("there", "all", "everyone")
THANKS = ("thanks",)
WISH_BEGINNINGS = (r"please\s+", r"now\s+", r"can\s+you\s+", r"could\s+you\s+")  # "could you shorten that"
WISHES = (
    # "summarize your last answer in a table"
    r"(?:translate|rephrase|rewrite|shorten|summari[sz]e|repeat)\b[^.?!]*"
    r"\b(?:that|this|it|your|last|previous|above|answer)\b.{0,60}",
    r"translate\s+(?:in)?to\s+\w+",  # "translate into Russian"
    r"make\s+(?:it|this|that)\s+(?:shorter|simpler)",  # "make it shorter"
    r"(?:shorter|simpler|in\s+(?:russian|english))",  # "in English"
)

# --- what no wiki of a company answers, by which its confidence is measured ---

FOREIGN = (
    *("How do I bake bread?", "Who painted the Mona Lisa?", "How tall is Mount Everest?", "Why is the sea salty?"),
    *("What is the capital of Canada?", "How do vaccines work?", "When did the Roman Empire fall?"),
    *("Which team won the last World Cup?", "How do I train for a marathon?", "How many legs does a spider have?"),
)

# --- which of two texts is the newer, and whether they say the same ---

EDITIONS = (r"rev\.?", "edition")  # "rev. 3"
EDITIONS_NUMBERED = ("v", "ver", "version", "rev", "edition")  # "v2.1"
EDITION_REMARKS = ("old", "archive[d]?", "draft", "new", "copy")  # "Rules (archived 2019)"
EDITION_WORDS = ("old", "archived", "copy")
STALE = ("old", "archived?", "deprecated", "draft")  # "archive"
NEGATIONS = ("not", "no", "never", "without", "except")

# --- what models and chats say ---

YES, NO = ("yes", "true"), ("no", "false")
REFUSALS = (
    "can(?:not|['’]t) (?:help|answer|assist)",  # I can't help with that
    r"as an ai\b",  # as an AI
    "unable to (?:help|answer|assist)",  # I am unable to answer
)
NO_ANSWER = (
    r"\b(?:can(?:not|['’]t)|unable to|could ?n[o'’]t) (?:answer|help|assist|find)",  # I could not find
    r"\bno (?:answer|information|data)\b",  # there is no information
    r"\b(?:do(?:es)?) ?n[o'’]t (?:contain|mention|say|provide)\b",  # the sources don't mention it
)
BUTTONS = frozenset({"add details", "more concise", "continue response"})
SOURCE_TITLES = ("Sources", "The nearest pages")

# Remarks about the last answer that are no questions of their own, each the whole message; words of politeness aside.
REMARK_POLITE = (
    *("and", "so", "can", "could", "you", "please", "me", "i", "have", "get", "a", "an", "the", "some", "is", "are"),
    *("it", "this", "that", "about"),
)
REMARK_SOURCES = (
    "(?:(?:give|send|show) )?(?:links?|sources?)",  # give me the link
    "where (?:written|said|does say)(?: so)?",  # where is that written
)
REMARK_DOUBT = ("(?:really )?sure", "really", "seriously", "right", "true", "correct")
REMARK_MORE = (
    "continue|go on|keep going|carry on",
    "(?:tell )?(?:more|in more detail|more details?)",  # tell me more
    *("elaborate", "what else", "all"),
)
REMARK_OTHER = ("(?:give|show)?(?: ?another)? ?examples?", "why", "how", "don't understand")
# About the assistant itself, each the whole message.
ABOUT_US = (
    r"what\s+(?:can|do)\s+you\s+(?:do|know|answer)",  # what can you do
    r"who\s+(?:are|r)\s+you|what\s+are\s+you|what\s+is\s+your\s+name",
    r"how\s+(?:can|do)\s+(?:you\s+help(?:\s+me)?|i\s+use\s+(?:you|this))",  # how do I use this
    r"what\s+can\s+i\s+ask(?:\s+(?:you|here))?",  # what can I ask you
    "help",
    r"where\s+(?:do|does|is)\s+(?:you|your|the)\s*(?:get\s+(?:your\s+)?)?(?:data|answers|information)(?:\s+(?:come\s+)?from)?",
    r"(?:when|how\s+long\s+ago)\s+was\s+the\s+(?:wiki|index|data)\s+(?:last\s+)?updated",
    r"how\s+(?:fresh|old|current|up\s+to\s+date)\s+(?:is|are)\s+(?:the|your)\s+(?:data|wiki|information|index)",
    r"(?:what|which)\s+(?:spaces|sections)\s+(?:are\s+there|do\s+you\s+have)",  # which spaces are there
)

OWN_LISTS = (
    r"(?:list of )?sources?(?: used)?",  # Sources used
    r"references?",  # References
    r"citations?",  # Citations
)

# --- what a page is about ---

COLUMN_ENDS = (" name",)  # "Field name"
FIELD_COLUMNS = ("field", "button", "control", "ui element", "element", "menu item", "tab", "column", "icon")
SCREEN_HEADINGS = ("screen", "form", "dialog", "window", "fields", "buttons", "menu", "toolbar", "user interface", "ui")
# A blank in front where the letters alone would catch others ("tab" in "table").
CONTROLS = {
    " tab": (" tab ", " tabs"),
    **{
        word: (word,)
        for word in ("click", "button", " field", "menu", "checkbox", "dropdown", "dialog", "toggle", " icon")
    },
}

# --- what a picture is, by its name ---

DIAGRAM_NAMES = (
    *("diagram", r"\bscheme", r"\bschema", "flow", "sequence", r"\buml", "bpmn", "architect", "drawio", r"draw\.io"),
    *("gliffy", "plantuml", "mermaid", "visio", r"\berd?\b", r"\bdfd\b", "state.?machine", "workflow", "topolog"),
)  # ER, ERD, state machine
OTHER_NAMES = (
    *("screen.?shot", r"\bscreen\b", r"\bphoto", r"\bimg_\d", r"\blogo", r"\bicon", "avatar", "banner"),  # IMG_0001
)

# --- what a question wants to be told, and by what an answer shows that it tells it ---

ASKS = {
    "price": (
        "how much (?:is|are|do(?:es)?)",  # how much does
        r"price\w*",  # prices
        r"costs?",  # cost
    ),
    "doer": (r"who\s+(?:\w+ed|did|made|wrote|broke|sent)",),  # who deleted
    "person": (r"who\s+\w+", "whom"),  # who is
    "time": ("when", "what time"),
    "number": ("how many", "how much", "how long", "how often"),
}
TELLS = {
    "price": (r"[$€£]\s?\d|\d\s?(?:[$€£]|usd|eur|dollars|euros)", "free(?: of charge)?"),  # $5
    "doer": (r"(?-i:[A-Z][a-z]+\s+[A-Z](?:[a-z]+|\.))", r"[\w.]{1,64}@\w|@\w"),  # John Smith, @john
    "person": (
        r"(?-i:[A-Z][a-z]+\s+[A-Z](?:[a-z]+|\.))",  # John Smith
        r"[\w.]{1,64}@\w|@\w",  # @john
        r"\w+(?:ers?|ors?|ees?|ists?)",  # owner, employee
        "teams?|groups?|roles?|support|department",  # teams
    ),
    "time": ("after|before|until|when|if|within|every|daily|monthly|immediately|once|during|as soon as",),
    "number": ("one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|unlimited|no limit",),
}
PRICED = ("price", "cost", "fee", "[$€£]", "usd", "eur")  # in the head of a column whose cells are numbers only
COMPARED = (
    # the difference between A and B
    r"\bdifferences?\s++between\s++(?P<{0}one>[^\s?.!][^?.!\n]{{0,59}}?)\s{{1,3}}and\s{{1,3}}(?P<{0}other>[^?.!\n]{{1,60}})",
    r"(?P<{0}one>\w[^?.!\n]{{0,60}}?)\s{{1,3}}(?:vs\.?|versus)\s{{1,3}}(?P<{0}other>[^?.!\n]{{1,60}})",  # A vs B
)
INTERJECTIONS = ("hm+", "um+", "uh+", "er+", "oh", "mm+")  # hmm

# --- sentences ---

EXCEPTS = ("except", "excluding", "however", "but", "unless", "yet")
LIMITS = (*EXCEPTS, "if", "provided", "only", "this does not", "this is not")
DENIALS = ("not", "no", "never", "cannot", r"\w+n['’]t", "only", "unless", "if", "except", "however", "but")

ABBREVIATIONS = (r"e\.\s?g", r"i\.\s?e", "etc", "approx", "fig", "no", "vs")  # e. g.

# How the wiki begins to say that a macro or its content did not come along; folded.
UNEXPORTED = (
    "we don't have a way to export this macro",
    "we don’t have a way to export this macro",
    "this macro can't be exported",
    "this macro cannot be exported",
    "this content can't be displayed",
    "unable to render",
    "error rendering macro",
    "getting issue details",
    "loading",
)

# The same in English: "the sources do not give the price", "there is no date", "missing: the owner".
NOT_THERE = (
    r"(?:the\s+)?(?:sources?|pages?|passages?|documents?|wiki)\s+"
    r"(?:(?:do|does)\s+not\s+(?:give|say|state|mention|name|contain|hold|include|have)|lacks?)"
    r"|there\s+(?:is|are)\s+no|missing"
)

# Wishes about pages themselves: "list all pages about …", "who wrote the page on …", "what's new?".
_PAGES = "(?:pages|instructions|guides|documents|articles|manuals)"
_PAGE = "(?:page|instruction|guide|document|article|manual)"
_WROTE = "(?:the author of|wrote|created|edited|changed|updated|owns|responsible for|the owner of)"
_CHANGED = "(?:last )?(?:updated|changed|edited|written|created)"
PAGE_LISTS = (
    r"\A(?:please )?(?:list|show|find|give|name)(?: me)?(?: a list of)?(?: all)?(?: the)?"
    rf" {_PAGES} (?:about|on|for|of) ",
    rf"\A(?:what|which) {_PAGES} (?:are there |do we have |exist |do you have )?(?:about|on|for) ",
)
PAGE_FACTS = (
    rf"\bwho (?:is |last )?{_WROTE} (?:the |this |that )?{_PAGE}\b",
    rf"\bwhen (?:was|were|did) (?:the |this |that )?{_PAGE}\b[^?.!]{{0,60}} {_CHANGED}\b",
    r"\A(?:and )?who (?:wrote|edited|updated|owns) (?:it|this)\Z",
    rf"\A(?:and )?when was (?:it|this) {_CHANGED}\Z",
)
PAGE_NEWS = (
    r"\A(?:what's|what is|whats) new(?: in the wiki)?\Z",
    r"\A(?:what|which pages) (?:has |have |was |were )?(?:recently )?(?:changed|updated)"
    r"(?: recently)?(?: in the wiki)?\Z",
)
PAGE_WORDS = (
    *(
        "page",
        "pages",
        "instruction",
        "instructions",
        "guide",
        "guides",
        "document",
        "documents",
        "article",
        "articles",
    ),
    *("manual", "manuals", "author", "wrote", "written", "created", "edited", "changed", "updated", "owner", "owns"),
    *("responsible", "last", "list", "show", "find", "give", "name", "please", "who", "when"),
)
