"""``python -m indexer``: from a wiki export to the index."""

from __future__ import annotations

import sys

from askwiki.commands.command_line import start

COMMANDS = {
    "sync": "bring the index to what the source holds",
    "check": "count what the source holds and what conversion would lose, without indexing",
    "show": "print a page as it would be indexed",
    "convert": "turn one file into Markdown",
    "llms-txt": "write the map of the wiki: a link and one line for each page that is open to everybody",
    "rebuild": "build a new index beside the old one and switch to it",
    "backup": "copy the whole index into one file",
    "restore": "let the index of a backup take over",
    "calibrate": "measure anew how sure the index may be of what it finds",
    "schedule": "sync again and again, by interval or cron expression",
}

if __name__ == "__main__":
    sys.exit(start("indexer", "indexer.commands", COMMANDS, sys.argv[1:]))
