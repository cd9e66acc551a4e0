"""``python -m askwiki feedback pull``: ratings out of Open WebUI."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from askwiki.configuration import load_configuration
from askwiki.errors import AskWikiError, SettingsError
from askwiki.evaluate.reports import tables
from askwiki.masking import echoed
from askwiki.openwebui.feedback import EXPORT, to_mend, to_write, trend_rows, write_feedback
from askwiki.openwebui.provision import WebUi, sign_in
from askwiki.openwebui.ratings import Rating, read_ratings

FINE, FAULTS = 0, 1
DEFAULT_FOLDER = Path(".askwiki/feedback")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Fetches ratings with the question, answer and sources they belong to. The admin's account is read from "
        "WEBUI_API_KEY, or from WEBUI_ADMIN_EMAIL and WEBUI_ADMIN_PASSWORD."
    )
    parser.add_argument("action", choices=("pull",), help="fetch all ratings and write the files anew")
    parser.add_argument("--url", default=os.environ.get("WEBUI_URL", "http://localhost:8080"), help="Open WebUI")
    parser.add_argument("--model", default="", help="only answers of this model (id of the pipe)")
    parser.add_argument("--since", type=_day, help="only ratings from this day on (YYYY-MM-DD, UTC)")
    parser.add_argument("--out", type=Path, default=DEFAULT_FOLDER, metavar="DIR")
    parser.add_argument("--people", action="store_true", help="keep user ids, e-mail addresses and telephone numbers")


def run(options: argparse.Namespace) -> int:
    language = load_configuration(os.environ).settings.language
    export = _export(_admin(options.url), options.model)
    ratings, faults = read_ratings(export, people=options.people)
    ratings = [rating for rating in ratings if _wanted(rating, options)]
    write_feedback(options.out, ratings, language)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(ratings)} ratings, {sum(rating.good for rating in ratings)} of them good.")
    if ratings:
        print(tables.plain(trend_rows(ratings)))
    print(
        f"{len(to_write(ratings))} topics to write about, {len(to_mend(ratings))} pages to mend: {options.out}/pages.md"
    )
    return FAULTS if faults else FINE


def _admin(url: str) -> WebUi:
    if key := os.environ.get("WEBUI_API_KEY"):
        return WebUi(url.rstrip("/"), key)
    email, password = os.environ.get("WEBUI_ADMIN_EMAIL"), os.environ.get("WEBUI_ADMIN_PASSWORD")
    if not email or not password:
        raise SettingsError("Set WEBUI_API_KEY, or WEBUI_ADMIN_EMAIL and WEBUI_ADMIN_PASSWORD, to an admin's.")
    return sign_in(url, email, password, wait=0)


def _export(webui: WebUi, model: str) -> list[object]:
    answer = webui.call("GET", EXPORT + (f"?model_id={quote(model)}" if model else ""))
    if answer.status_code in (401, 403):
        raise AskWikiError(f"Open WebUI at {webui.url} does not let this account export ratings: it is no admin's.")
    if answer.status_code != 200:
        raise AskWikiError(
            f"Open WebUI at {webui.url} gave no ratings: {answer.status_code} {echoed(answer.text, 200)}"
        )
    try:
        export = answer.json()
    except ValueError as error:
        raise AskWikiError(f"What answers at {webui.url} is no Open WebUI: its ratings are no JSON.") from error
    if not isinstance(export, list):
        raise AskWikiError(f"What answers at {webui.url} is no Open WebUI: its ratings are no list.")
    return export


def _wanted(rating: Rating, options: argparse.Namespace) -> bool:
    of_model = not options.model or rating.model == options.model
    return of_model and (options.since is None or datetime.fromisoformat(rating.time) >= options.since)


def _day(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
