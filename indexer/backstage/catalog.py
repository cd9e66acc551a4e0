"""Source kind ``backstage``: each entity of a catalog is a page that tells its relations, from both ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from askwiki.configuration import Configuration
from askwiki.data import Loss, Page
from askwiki.errors import PageError, SourceError
from indexer.backstage.entities import RELATIONS, Entity, backward, read_entities, targets
from indexer.confluence.parse.links import link
from indexer.confluence.parse.text import clean, escape, escape_line_start
from indexer.sources import PageFailure, PageRef, files_below

ENDINGS = (".yaml", ".yml")
FACTS = (  # of spec and metadata: English, Russian
    ("type", "Type", "Тип"),
    ("lifecycle", "Lifecycle", "Стадия"),
    ("tags", "Tags", "Метки"),
    ("email", "E-mail", "Почта"),
)


class BackstageCatalog:
    """Every ``.yaml`` of a folder (or one file) that holds entities. Who may read them, the catalog does not say."""

    kind = "backstage"

    def __init__(self, path: str, configuration: Configuration) -> None:
        self.name = f"backstage:{path}"
        place = Path(path)
        if not place.exists():
            raise SourceError(f"{path} does not exist; give a catalog-info.yaml, or a folder that holds some.")
        self._russian = configuration.settings.language == "ru"
        self._entities: dict[str, Entity] = {}
        self._failures: list[PageFailure] = []
        root = place if place.is_dir() else place.parent
        files = files_below(place) if place.is_dir() else [place]
        whole = root.resolve()
        for file in files:
            if file.suffix.lower() in ENDINGS and file.resolve().is_relative_to(whole):
                self._read(file, file.relative_to(root).as_posix())
        if not self._entities and not self._failures:
            raise SourceError(f"{path} holds no entity of a Backstage catalog (apiVersion: backstage.io/…).")
        self._backward = backward(self._entities.values())

    def expected(self) -> list[PageRef]:
        return [
            *(PageRef(entity.id, entity.title) for entity in self._entities.values()),
            *(failure.ref for failure in self._failures),
        ]

    def pages(self) -> Iterator[Page | PageFailure]:
        yield from map(self._page, self._entities.values())
        yield from self._failures

    def _read(self, file: Path, name: str) -> None:
        try:
            for entity in read_entities(file.read_text(encoding="utf-8-sig")):
                if entity.id in self._entities:
                    fault = f"the catalog has {entity.id} twice"
                    self._failures.append(PageFailure(PageRef(f"{name} {entity.id}", entity.title), fault))
                else:
                    self._entities[entity.id] = entity
        except (PageError, OSError, UnicodeDecodeError) as error:
            self._failures.append(PageFailure(PageRef(name, name), str(error)))

    def _page(self, entity: Entity) -> Page:
        losses: list[Loss] = []
        told = list(self._sentences(entity, losses))
        heading = "Связи" if self._russian else "Relations"
        parts = [
            *(escape_line_start(escape(clean(line))) for line in entity.description.split("\n") if line.strip()),
            "\n".join(self._facts(entity)),
            f"## {heading}\n\n" + "\n".join(f"- {sentence}" for sentence in told) if told else "",
        ]
        owner = next((self._title(one) for one in targets(entity, RELATIONS[0])), "")
        above = [self._title(one) for relation in RELATIONS[1:3] for one in targets(entity, relation)]
        return Page(
            id=entity.id,
            space=str(entity.metadata.get("namespace") or "default"),
            title=f"{entity.title} ({entity.kind})",
            path=tuple(reversed(above)),
            url=entity.url,
            markdown="\n\n".join(part for part in parts if part),
            labels=tuple(str(tag) for tag in entity.metadata.get("tags") or () if isinstance(tag, str)),
            losses=tuple(losses),
            content="entity",
            owner=owner,
            state="outdated" if str(entity.spec.get("lifecycle")).lower() == "deprecated" else "",
        )

    def _facts(self, entity: Entity) -> Iterator[str]:
        profile = entity.spec.get("profile")
        held = {**entity.metadata, **entity.spec, **(profile if isinstance(profile, dict) else {})}
        if entity.name != entity.title:
            yield f"- **{'Имя' if self._russian else 'Name'}:** {escape(entity.name)}"
        for name, english, russian in FACTS:
            value = held.get(name)
            said = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
            if said:
                yield f"- **{russian if self._russian else english}:** {escape(clean(said))}"
        for one in entity.metadata.get("links") or ():
            if isinstance(one, dict) and str(one.get("url", "")).startswith(("https://", "http://")):
                yield f"- {link(escape(clean(str(one.get('title') or ''))), str(one['url']))}"

    def _sentences(self, entity: Entity, losses: list[Loss]) -> Iterator[str]:
        """What it names, then what names it; one and the same said twice is said once."""
        seen: set[str] = set()
        for relation in RELATIONS:
            for words, others in (
                (relation.forward, targets(entity, relation)),
                (relation.backward, self._backward.get(entity.id, {}).get(relation, [])),
            ):
                for other in others:
                    if other not in self._entities:
                        losses.append(Loss("link", other, detail="named by the catalog, which does not hold it"))
                sentence = words[self._russian].format(
                    it=escape(entity.title), others=", ".join(map(self._named, dict.fromkeys(others)))
                )
                if others and sentence not in seen:
                    seen.add(sentence)
                    yield sentence

    def _title(self, identity: str) -> str:
        known = self._entities.get(identity)
        return known.title if known else identity.rpartition("/")[2]

    def _named(self, identity: str) -> str:
        known = self._entities.get(identity)
        return link(escape(self._title(identity)), known.url if known else "")
