"""What both command lines share: a table of commands, each imported only when it is called."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
from collections.abc import Mapping, Sequence

from askwiki.errors import AskWikiError
from askwiki.logs import TextFormatter
from askwiki.system.memory import one_heap

OTHERS = 0o077  # what commands write holds pages of the wiki, also restricted ones: for this account only
CANNOT = 2  # exit code: nothing could be done


def start(program: str, package: str, commands: Mapping[str, str], words: Sequence[str]) -> int:
    """``main`` as a process of its own, whose new files are this account's and whose threads share one heap."""
    os.umask(OTHERS)
    one_heap()
    return main(program, package, commands, words)


def main(program: str, package: str, commands: Mapping[str, str], words: Sequence[str]) -> int:
    """Run the command that ``words`` name; an error of ours becomes one sentence and exit code 2."""
    parser = argparse.ArgumentParser(prog=program)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, sentence in commands.items():
        subparser = subparsers.add_parser(name, help=sentence, description=sentence)
        if words and words[0] == name:
            module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
            module.arguments(subparser)
            subparser.set_defaults(run=module.run)
    options = _parse(parser, words)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    try:
        return int(options.run(options))
    except AskWikiError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return CANNOT
    except KeyboardInterrupt:
        return 130


def _parse(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Options may stand between the words of a command that takes any number of ``words``."""
    options, rest = parser.parse_known_args(words)
    if rest and (not hasattr(options, "words") or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        options.words = [*options.words, *rest]
    return options
