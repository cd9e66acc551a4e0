"""The modules that decide who reads what and what is said, and the tests nearest to each."""

from __future__ import annotations

ACCESS = ("tests/server/test_access.py", "tests/server/test_security.py")
SUPPORT = ("tests/question/test_support.py", "tests/question/test_support_examples.py")
XML = ("tests/page/test_xml_rights.py", "tests/page/test_xml_export.py", "tests/page/test_whole.py")
STORE = ("tests/server/test_store.py", "tests/server/test_rights_age.py", "tests/page/test_rights.py")
REST = ("tests/page/test_rest_rights.py", "tests/page/test_rest.py", "tests/page/test_rest_faults.py")

# Module -> test files, the quickest first. Without the tests of the embedded store's engine: they take long and
# the one in memory goes through the same reading and writing.
NEAREST: dict[str, tuple[str, ...]] = {
    "pipelines/askwiki/access/rights.py": ACCESS,
    "pipelines/askwiki/access/rights_age.py": ("tests/server/test_rights_age.py",),
    "pipelines/askwiki/access/directory.py": ACCESS,
    "pipelines/askwiki/access/identity.py": ("tests/server/test_wiki_groups.py", *ACCESS),
    "pipelines/askwiki/access/wiki_groups.py": ("tests/server/test_wiki_groups.py",),
    "pipelines/askwiki/openwebui/asker.py": ("tests/server/test_asker.py",),
    "pipelines/askwiki/openwebui/sealing.py": ("tests/server/test_sealing.py",),
    "pipelines/askwiki/stages/history.py": ("tests/question/test_history.py", "tests/server/test_security.py"),
    **{
        f"pipelines/askwiki/stages/{name}.py": SUPPORT
        for name in (
            *("citations/support", "citations/markers"),
            *("evidence/counted", "evidence/denial", "evidence/facts", "evidence/names", "evidence/places"),
            *("evidence/polarity", "evidence/statements"),
        )
    },
    "pipelines/askwiki/store/reader.py": STORE,
    "pipelines/askwiki/store/records.py": STORE,
    "indexer/confluence/sources/xml/rights.py": XML,
    "indexer/confluence/sources/xml/permissions.py": XML,
    "indexer/confluence/sources/xml/whole.py": XML,
    "indexer/confluence/sources/rest/rights.py": REST,
    "indexer/confluence/sources/rest/tree.py": REST,
}
NOT_NEAR = "embedded"  # in the names of tests left out, see above
