"""Build the sample wiki of the invented company «ПереводЪ» in the two forms Confluence exports.

Source: `manifest.yaml` (tree, dates, authors, labels, restrictions, attachments, what is hidden) and
`source/PAGEID.xml` (bodies in storage format). Output, committed and equal on every machine:

* `html/`  the built-in HTML space export (rights, labels and diagram sources are lost in it, as in reality);
* `xml/`   the XML space export: `entities.xml`, descriptor, attachments. It also holds what a reader must not
  take for a page: two old versions, a draft, a deleted page, a comment.

Run `python tests/wiki/build.py`, or with another folder as the only argument.
"""

import shutil
import sys
from pathlib import Path

from wiki_html import html_export
from wiki_source import HERE, load
from wiki_xml import xml_export


def build(target: Path) -> None:
    """Write both exports below `target`, replacing what is there."""
    wiki = load()
    for name, files in (("html", html_export(wiki)), ("xml", xml_export(wiki))):
        shutil.rmtree(target / name, ignore_errors=True)
        for path, data in files.items():
            file = target / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
