"""A catalog of services as pages: who owns what, what depends on what, told from both ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from askwiki.configuration import Configuration
from askwiki.data import Loss, Page
from askwiki.errors import SourceError
from askwiki.settings import Settings
from indexer.backstage.catalog import BackstageCatalog
from indexer.commands.llms_txt import llms_txt
from indexer.opening import open_source
from indexer.sources import PageFailure, PageRef

HEAD = "apiVersion: backstage.io/v1alpha1\n"
PAYMENTS = f"""{HEAD}kind: Component
metadata:
  name: payments
  title: Платежи
  description: |
    Принимает оплату.
    # не заголовок
  tags: [java]
  annotations: {{backstage.io/view-url: 'https://b.example/payments'}}
  links: [{{url: 'https://g.example', title: Графики}}]
spec:
  type: service
  lifecycle: production
  owner: team-pay
  system: billing
  dependsOn: [resource:pay-db, component:default/audit]
  providesApis: [pay-api]
"""
OTHERS = f"""{HEAD}kind: Component
metadata: {{name: audit}}
spec: {{owner: group:team-pay, lifecycle: deprecated}}
---
{HEAD}kind: Resource
metadata: {{name: pay-db}}
---
{HEAD}kind: Group
metadata: {{name: team-pay}}
spec: {{profile: {{displayName: Команда платежей, email: pay@x.example}}, members: [anna]}}
---
{HEAD}kind: System
metadata: {{name: billing}}
---
kind: ConfigMap
metadata: {{name: nothing of the kind}}
"""


def catalog(tmp_path: Path, **files: str) -> BackstageCatalog:
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    source = open_source(f"backstage:{tmp_path}", Configuration(Settings(), Path(), {}))
    assert isinstance(source, BackstageCatalog)
    return source


def read(source: BackstageCatalog) -> dict[str, Page]:
    return {one.id: one for one in source.pages() if isinstance(one, Page)}


def test_an_entity_is_a_page_with_its_relations(tmp_path: Path) -> None:
    found = read(catalog(tmp_path, a=PAYMENTS, b=OTHERS))
    assert list(found) == [
        "component:default/payments", "component:default/audit", "resource:default/pay-db", "group:default/team-pay",
        "system:default/billing",
    ]  # fmt: skip
    page = found["component:default/payments"]
    assert (page.title, page.path, page.owner) == ("Платежи (Component)", ("billing",), "Команда платежей")
    assert (page.url, page.labels, page.content, page.readers) == (
        "https://b.example/payments",
        ("java",),
        "entity",
        None,
    )
    assert page.markdown == (
        "Принимает оплату.\n\n\\# не заголовок\n\n"
        "- **Имя:** payments\n- **Тип:** service\n- **Стадия:** production\n- **Метки:** java\n"
        "- [Графики](https://g.example)\n\n"
        "## Связи\n\n"
        "- Владелец Платежи: Команда платежей.\n- Платежи входит в систему billing.\n"
        "- Платежи зависит от: pay-db, audit.\n- Платежи предоставляет API: pay-api."
    )
    assert page.losses == (Loss("link", "api:default/pay-api", detail="named by the catalog, which does not hold it"),)


def test_the_other_end_of_a_relation_tells_it_too(tmp_path: Path) -> None:
    found = read(catalog(tmp_path, a=PAYMENTS, b=OTHERS))
    assert "- От audit зависят: [Платежи](https://b.example/payments)." in found["component:default/audit"].markdown
    team = found["group:default/team-pay"].markdown
    assert "- Команда платежей владеет: [Платежи](https://b.example/payments), audit." in team
    assert "- В Команда платежей состоят: anna." in team
    assert (
        "- В систему billing входят: [Платежи](https://b.example/payments)." in found["system:default/billing"].markdown
    )


def test_what_is_given_up_is_outdated(tmp_path: Path) -> None:
    assert read(catalog(tmp_path, b=OTHERS))["component:default/audit"].state == "outdated"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [", "It is no valid YAML"),
        (f"{HEAD}kind: Component\nmetadata: {{}}\n", "An entity has no kind, or no metadata.name."),
        (f"{HEAD}kind: Component\nmetadata: {{name: payments}}\n", "the catalog has component:default/payments twice"),
    ],
)
def test_a_file_with_a_fault_is_named_and_the_rest_goes_on(tmp_path: Path, text: str, reason: str) -> None:
    found = list(catalog(tmp_path, a=PAYMENTS, z=text).pages())
    assert [one.id for one in found if isinstance(one, Page)] == ["component:default/payments"]
    [failure] = [one for one in found if isinstance(one, PageFailure)]
    assert reason in failure.reason and failure.ref.id.startswith("z.yaml")


def test_a_folder_without_a_catalog_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no entity"):
        catalog(tmp_path, a="kind: ConfigMap")
    with pytest.raises(SourceError, match="does not exist"):
        open_source("backstage:/nowhere", Configuration(Settings(), Path(), {}))


def test_the_map_names_only_what_is_open_to_everybody(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "---\nreaders: []\nurl: https://w/a\n---\n# Весы\n\nПоверяют раз в год.", encoding="utf-8"
    )
    (tmp_path / "b.md").write_text("---\nreaders: [{groups: [hr]}]\n---\n# Оклады\n\nТайна.", encoding="utf-8")
    configuration = Configuration(Settings(), Path(), {})
    written = llms_txt([open_source(f"markdown:{tmp_path}", configuration)], configuration, everything=False)
    assert written == (
        "# Карта вики\n\n> Страниц: 1. Не вошли, потому что открыты не всем: 1.\n\n## markdown\n\n"
        "- [Весы](https://w/a): Поверяют раз в год.\n"
    )
    whole = llms_txt([open_source(f"markdown:{tmp_path}", configuration)], configuration, everything=True)
    assert "- Оклады: Тайна." in whole
    assert PageRef("a.md", "Весы") in open_source(f"markdown:{tmp_path}", configuration).expected()
