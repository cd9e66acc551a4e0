"""Changes that change nothing anybody can see, each with its reason: no test can find them, so they do not count."""

from __future__ import annotations

ACCESS = "pipelines/askwiki/access/"
SEALING = "pipelines/askwiki/openwebui/sealing.py"
READER, RECORDS = "pipelines/askwiki/store/reader.py", "pipelines/askwiki/store/records.py"
XML = "indexer/confluence/sources/xml/"

ONLY_WORK = "the same members are worked out once more"
ONLY_SIZE = "how much is kept ready, not what is said"
BOTH_SIDES = "who writes it and who reads it take the same"

EQUIVALENT: dict[str, str] = {
    **{
        f"{ACCESS}rights.py _members: {change}": ONLY_WORK
        for change in (
            "known[0] is not clauses and known[0] != clauses -> known[0] is not clauses or known[0] != clauses",
            "known[0] -> known[1]",
            "known[0] -> known[-1]",
            "len(_known) >= MOST_KNOWN -> len(_known) > MOST_KNOWN",
            "len(_known) >= MOST_KNOWN -> len(_known) < MOST_KNOWN",
        )
    },
    **{
        f"{ACCESS}{place}": ONLY_SIZE
        for place in (
            "rights.py : MOST_KNOWN = 100000 -> MOST_KNOWN = 200000",
            "rights.py : MOST_KNOWN = 100000 -> MOST_KNOWN = 50000",
            "identity.py : REMEMBERED = 20000 -> REMEMBERED = 40000",
            "identity.py : REMEMBERED = 20000 -> REMEMBERED = 10000",
            "wiki_groups.py : REMEMBERED = 20000 -> REMEMBERED = 40000",
            "wiki_groups.py : REMEMBERED = 20000 -> REMEMBERED = 10000",
            "wiki_groups.py : MOST_CALLS = 50 -> MOST_CALLS = 100",
            "wiki_groups.py : MOST_CALLS = 50 -> MOST_CALLS = 25",
        )
    },
    f"{ACCESS}wiki_groups.py WikiGroups._guarded: error.response.status_code if error.response is not None else 0 "
    "-> error.response.status_code if error.response is not None else 1": "an error of a status has its response",
    f"{ACCESS}wiki_groups.py WikiGroups._guarded: error.response.status_code if error.response is not None else 0 "
    "-> error.response.status_code if error.response is not None else -1": "an error of a status has its response",
    f"{SEALING} : BODY_KEY = 'askwiki' -> BODY_KEY = 'askwiki~'": BOTH_SIDES,
    f"{SEALING} : VERSION = 1 -> VERSION = 2": BOTH_SIDES,
    f"{SEALING} : VERSION = 1 -> VERSION = 0": BOTH_SIDES,
    f"{SEALING} Signer.__init__: b'askwiki: filter to pipe\\x00' + secret.encode() "
    "-> b'askwiki: filter to pipe\\x00~' + secret.encode()": BOTH_SIDES,
    f"{READER} RecordReader.search: strict=True -> strict=False": "an engine answers each leg, or raises",
    f"{RECORDS} _state: chunks[0].acl if chunks else '' -> chunks[0].acl if chunks else '~'": (
        "each page has a chunk, if only of its title"
    ),
    f"{XML}permissions.py : EVERYBODY: Subject = ('', '') -> EVERYBODY: Subject = ('~', '')": BOTH_SIDES,
    f"{XML}permissions.py : EVERYBODY: Subject = ('', '') -> EVERYBODY: Subject = ('', '~')": BOTH_SIDES,
    f"{XML}permissions.py : NOT_UNDERSTOOD: Subject = ('\\x00', '\\x00') "
    "-> NOT_UNDERSTOOD: Subject = ('\\x00~', '\\x00')": BOTH_SIDES,
    f"{XML}permissions.py : NOT_UNDERSTOOD: Subject = ('\\x00', '\\x00') "
    "-> NOT_UNDERSTOOD: Subject = ('\\x00', '\\x00~')": BOTH_SIDES,
    f"{XML}rights.py ExportRights._user: self._space.users.get(key, ('', '', '')) "
    "-> self._space.users.get(key, ('', '', '~'))": "the full name is not looked at here",
    f"{XML}rights.py ExportRights._user: self._space.people.get(login.lower(), ('', '')) "
    "-> self._space.people.get(login.lower(), ('', '~'))": "the full name is not looked at here",
}
