"""Random storage format made of all constructs, which knows each word a reader sees and each he does not."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[int]], int]
DEEPEST = 4  # constructs inside constructs


class Fragment:
    """Grows a body; every word is new, so that a lost, doubled or invented one is found by its name."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._count = 0
        self.visible: list[str] = []  # exactly once in the Markdown
        self.repeated: list[str] = []  # at least once (merged cells, names of files)
        self.hidden: list[str] = []  # never

    def choose(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    def word(self, kind: str = "visible") -> str:
        self._count += 1
        word = f"сл{self._count}ово"
        getattr(self, kind).append(word)
        return word

    def blocks(self, depth: int = 0) -> str:
        return "".join(self.block(depth) for _ in range(self.choose(0 if depth else 1, 3)))

    def block(self, depth: int) -> str:
        makers = [self.paragraph, self.heading, self.code, self.plantuml, self.picture, self.listing_macro, self.rule]
        if depth < DEEPEST:
            makers += [
                self.items,
                self.table,
                self.panel,
                self.expand,
                self.tasks,
                self.columns,
                self.unknown,
                self.quote,
            ]
            makers += [self.properties, self.tabs]
        return makers[self.choose(0, len(makers) - 1)](depth)

    def inline(self, depth: int = 0) -> str:
        return " ".join(self.piece(depth) for _ in range(self.choose(1, 4)))

    def piece(self, depth: int) -> str:
        kind = self.choose(0, 13)
        tag = ("strong", "em", "u", "s", "code", "sub", "span")[self.choose(0, 6)]
        if kind <= 3:
            return self.word()
        if kind == 4 and depth < 2:
            return f"<{tag}>{self.inline(depth + 1)}</{tag}>"
        if kind == 5:
            return self.macro("status", {"colour": self.word("hidden"), "title": self.word()})
        if kind == 6:
            page = f'<ri:page ri:space-key="KB" ri:content-title="{self.word("repeated")}" />'
            return (
                f"<ac:link>{page}<ac:plain-text-link-body><![CDATA[{self.word()}]]></ac:plain-text-link-body></ac:link>"
            )
        if kind == 7:
            return f'<ac:link><ri:attachment ri:filename="{self.word("repeated")}.doc" /></ac:link>'
        if kind == 8:
            return f'<a href="https://x.example/{self.word("repeated")}">{self.word()}</a>'
        if kind == 9:
            return f"<ac:placeholder>{self.word('hidden')}</ac:placeholder>" + self.word()
        if kind == 10:
            return self.macro("jira", {"serverId": self.word("hidden"), "key": self.word()})
        if kind == 11:
            return f"{self.word()}<br/>{self.word()}"
        if kind == 12:
            return f'<ac:link><ri:user ri:userkey="{self.word("hidden")}" /></ac:link>' + self.word()
        marks = (
            "* {} |",
            "_{}_",
            "&lt;{}&gt;",
            "&amp;amp; \\{}",
            "[{}]",
            "`{}`",
            "**{}**",
            "![{}](x)",
            "{}#",
            "~~{}~~",
        )
        return " ".join(mark.format(self.word()) for mark in marks)

    def paragraph(self, depth: int) -> str:
        start = ("", "# ", "- ", "1. ", "&gt; ", "| ", "```")[self.choose(0, 6)]
        return f"<p>{start}{self.inline()}</p>"

    def heading(self, depth: int) -> str:
        level = self.choose(1, 6)
        anchor = self.macro("anchor", {"": self.word("hidden")})
        return f"<h{level}>{anchor}{self.inline()}</h{level}>"

    def code(self, depth: int) -> str:
        lines = "\n".join(f"  {self.word()} <{self.word()}> | ``` # {self.word()}" for _ in range(self.choose(1, 3)))
        return self.macro("code", {"theme": self.word("hidden"), "title": self.word()}, plain=lines)

    def plantuml(self, depth: int) -> str:
        return self.macro(
            "plantuml", {"format": self.word("hidden")}, plain=f"@start\n{self.word()} -> {self.word()}\n@end"
        )

    def picture(self, depth: int) -> str:
        caption = f"<ac:caption><p>{self.inline()}</p></ac:caption>" if self.choose(0, 1) else ""
        file = f'<ri:attachment ri:filename="{self.word("repeated")}.png" />'
        return f'<ac:image ac:align="{self.word("hidden")}">{file}{caption}</ac:image>'

    def listing_macro(self, depth: int) -> str:
        return self.macro(("toc", "children", "contentbylabel")[self.choose(0, 2)], {"max": self.word("hidden")})

    def rule(self, depth: int) -> str:
        return "<hr/>"

    def items(self, depth: int) -> str:
        tag = ("ul", "ol")[self.choose(0, 1)]
        items = "".join(f"<li>{self.inline()}{self.blocks(depth + 1)}</li>" for _ in range(self.choose(1, 3)))
        if self.choose(0, 3) == 0:  # a list right inside the list, as many pages have it
            inner = ("ul", "ol")[self.choose(0, 1)]
            items += f"<{inner}><li>{self.inline()}</li></{inner}><li>{self.inline()}</li>"
        start = ("", ' start="9"')[self.choose(0, 1)] if tag == "ol" else ""
        return f"<{tag}{start}>{items}</{tag}>"

    def table(self, depth: int) -> str:
        """Words of cells may be repeated where merged cells cover several places."""
        width, height = self.choose(1, 3), self.choose(1, 3)
        before = len(self.visible)
        rows = []
        for row in range(height):
            cells = ""
            for _ in range(width):
                tag = "th" if row == 0 and self.choose(0, 2) else "td"
                span = ("", "", ' rowspan="2"', ' colspan="2"', ' colspan="0"', ' rowspan="x"')[self.choose(0, 5)]
                inside = self.blocks(depth + 1) if self.choose(0, 4) == 0 else self.inline()
                cells += f"<{tag}{span}>{inside}</{tag}>"
            rows.append(f"<tr>{cells}</tr>")
        self.repeated += self.visible[before:]
        del self.visible[before:]
        return f"<table><tbody>{''.join(rows)}</tbody></table>"

    def panel(self, depth: int) -> str:
        name = ("info", "note", "tip", "warning", "panel")[self.choose(0, 4)]
        body = f"<p>{self.inline()}</p>{self.blocks(depth + 1)}"
        return self.macro(name, {"bgColor": self.word("hidden"), "title": self.word()}, body=body)

    def expand(self, depth: int) -> str:
        return self.macro("expand", {"title": self.word()}, body=self.blocks(depth + 1))

    def tabs(self, depth: int) -> str:
        return self.macro("ui-tab", {"icon": self.word("hidden"), "title": self.word()}, body=self.blocks(depth + 1))

    def tasks(self, depth: int) -> str:
        task = "<ac:task-id>{}</ac:task-id><ac:task-status>complete</ac:task-status><ac:task-body>{}{}</ac:task-body>"
        tasks = "".join(
            f"<ac:task>{task.format(self.word('hidden'), self.inline(), self.blocks(depth + 1))}</ac:task>"
            for _ in range(self.choose(1, 2))
        )
        return f"<ac:task-list>{tasks}</ac:task-list>"

    def columns(self, depth: int) -> str:
        cells = "".join(f"<ac:layout-cell>{self.blocks(depth + 1)}</ac:layout-cell>" for _ in range(self.choose(1, 2)))
        return f'<ac:layout><ac:layout-section ac:type="{self.word("hidden")}">{cells}</ac:layout-section></ac:layout>'

    def unknown(self, depth: int) -> str:
        body = f"<p>{self.word()}</p>{self.blocks(depth + 1)}"
        return self.macro("vendor-box", {"mode": self.word("hidden")}, body=body)

    def quote(self, depth: int) -> str:
        return f"<blockquote><p>{self.inline()}</p>{self.blocks(depth + 1)}</blockquote>"

    def properties(self, depth: int) -> str:
        rows = "".join(f"<tr><th>{self.word()}</th><td>{self.inline()}</td></tr>" for _ in range(self.choose(1, 3)))
        return self.macro("details", {"label": self.word("hidden")}, body=f"<table><tbody>{rows}</tbody></table>")

    def macro(self, name: str, parameters: dict[str, str], *, body: str = "", plain: str | None = None) -> str:
        pieces = [f'<ac:parameter ac:name="{key}">{value}</ac:parameter>' for key, value in parameters.items()]
        if self.choose(0, 1):
            pieces.reverse()
        if body:
            pieces.append(f"<ac:rich-text-body>{body}</ac:rich-text-body>")
        if plain is not None:
            pieces.append(f"<ac:plain-text-body><![CDATA[{plain}]]></ac:plain-text-body>")
        return f'<ac:structured-macro ac:name="{name}">{"".join(pieces)}</ac:structured-macro>'


@st.composite
def fragments(draw: Draw) -> tuple[str, Fragment]:
    fragment = Fragment(draw)
    return fragment.blocks(), fragment
