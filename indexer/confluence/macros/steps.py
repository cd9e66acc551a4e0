"""Steps of a procedure: the wiki numbers them."""

from __future__ import annotations

from indexer.confluence.macros.bodies import body, titled
from indexer.confluence.render.lists import indent
from indexer.confluence.render.macro import Macro, attribute, read_macro
from indexer.confluence.render.markdown import Renderer


def steps(renderer: Renderer, macro: Macro, tags: frozenset[str]) -> str:
    """A numbered list; what stands between two steps stays there."""
    if macro.rich is None or not any(attribute(child, "name") == "ui-step" for child in macro.rich):
        return body(renderer, macro, tags)
    inside = renderer.within(tags, "li")
    pieces: list[str] = []
    number = 0
    for child in macro.rich:
        if not isinstance(child.tag, str):
            continue
        renderer.start_line()
        if attribute(child, "name") != "ui-step":
            pieces.append(renderer.process_tag(child, tags).strip("\n"))
            continue
        number += 1
        mark = f"{number}. "
        renderer.account("macros", child, "")
        text = titled(renderer, read_macro(child), inside).strip("\n ")
        pieces.append(mark + indent(text, " " * len(mark))[len(mark) :])
    return "\n\n" + "\n\n".join(piece for piece in pieces if piece) + "\n\n"
