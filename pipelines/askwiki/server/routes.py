"""Which requests reach the stock app: those whose route, as its own router finds it, is on a list.

A pattern over the path is a second opinion on what the router will do, and differs from it somewhere: the
router's ``$`` also matches before a line end, it redirects to slashes, it cuts ``root_path`` off. So its own
routes are asked, with the very scope that is handed on, and whatever they do not name letter for letter is 404.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from starlette.routing import BaseRoute, Match, Route

from askwiki.server.asgi import Refusal, Scope

CHAT = "/chat/completions"
VERSION = "/v1"  # the stock server has most of its routes a second time below it
PIPELINE = "pipeline_id"  # the only parameter of its paths

# (method, route as the stock server declares it); a route that a later version of it adds stays closed.
ASKED = frozenset(
    {
        ("GET", "/"),
        ("GET", "/models"),
        ("GET", "/pipelines"),
        ("GET", "/{pipeline_id}/valves"),
        ("GET", "/{pipeline_id}/valves/spec"),
        ("POST", "/{pipeline_id}/valves/update"),
        ("POST", "/{pipeline_id}/filter/inlet"),
        ("POST", "/{pipeline_id}/filter/outlet"),
        ("POST", CHAT),
        ("GET", "/docs"),  # the description of the routes: for an admin, tells nothing of the wiki
        ("GET", "/openapi.json"),
    }
)
LOADING = frozenset(
    {
        ("POST", "/pipelines/add"),
        ("POST", "/pipelines/upload"),
        ("DELETE", "/pipelines/delete"),
        ("POST", "/pipelines/reload"),
    }
)


@dataclass(frozen=True, slots=True)
class Routes:
    """``routes`` = those of the app that will serve, in its order; ``pipelines`` = the ids it has loaded."""

    routes: Iterable[BaseRoute]
    pipelines: Callable[[], Collection[str]]
    loading: bool = False  # setting server.pipelines_api

    def admitted(self, scope: Scope) -> tuple[str, Scope]:
        """(route without ``/v1``, the scope to hand on); Refusal 404 for what is not served, 403 for loading."""
        path = scope["path"]
        judged = {**scope, "root_path": "", "raw_path": urllib.parse.quote(path, errors="replace").encode()}
        for route in self.routes:
            match, found = route.matches(judged)
            if match is Match.FULL:
                break
        else:
            raise _nothing()
        values = found.get("path_params", {})
        if not isinstance(route, Route) or _filled(route.path_format, values) != path:
            raise _nothing()
        template = route.path_format.removeprefix(VERSION) or "/"
        if (scope["method"], template) in LOADING:
            if not self.loading:
                raise Refusal(403, "Loading plugins from the net is switched off (setting server.pipelines_api).")
        elif (scope["method"], template) not in ASKED or not set(values.values()) <= set(self.pipelines()):
            raise _nothing()
        return template, judged


def _filled(template: str, values: dict[str, str]) -> str:
    return template.replace(f"{{{PIPELINE}}}", values.get(PIPELINE, ""))


def _nothing() -> Refusal:
    return Refusal(404, "This server has nothing at this address for this method.")
