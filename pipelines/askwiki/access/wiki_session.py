"""A connection to the API of the live wiki."""

from __future__ import annotations

import requests

from askwiki.masking import remember_login
from askwiki.settings import ConfluenceSettings


def wiki_session(settings: ConfluenceSettings) -> requests.Session:
    """With a user name: basic authentication, as Cloud wants it; else a bearer token."""
    session = requests.Session()
    remember_login(settings.user, settings.token)
    if settings.user and settings.token:
        session.auth = (settings.user, settings.token)
    elif settings.token:
        session.headers["Authorization"] = f"Bearer {settings.token}"
    return session
