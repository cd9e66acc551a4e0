"""A self-contained HTML page for grading answers by hand: one question a screen, keys 0, 1, 2.

It loads nothing from the net. The judge's grade stays hidden until the person has given one, so that
the agreement measured afterwards is not an echo.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from string import Template
from typing import Any

from askwiki.evaluate.outcome import Outcome
from askwiki.texts import Texts

# The sentences of config/texts that the page shows, named ``review_…`` there.
WORDS = (
    *("title", "done", "asked", "reference", "answer", "grade", "judge", "grade_0", "grade_1", "grade_2"),
    *("comment", "no_reference", "not_judged", "hidden", "next_open", "save", "keys"),
)


def review_page(outcomes: Sequence[Outcome], *, name: str, texts: Texts, language: str) -> str:
    """The page as text. ``name`` keeps apart what the browser remembers of different runs."""
    words = {word: texts.say(f"review_{word}", language) for word in WORDS}
    data = {"name": name, "words": words, "answers": [_answer(each) for each in outcomes]}
    return Template(_PAGE).substitute(
        language=language,
        title=words["title"],
        # "<" cannot begin a tag inside the data, whatever an answer holds
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
        style=_STYLE,
        script=_SCRIPT,
    )


def _answer(outcome: Outcome) -> dict[str, Any]:
    first = outcome.grades[0] if outcome.grades else None
    return {
        "id": outcome.id,
        "kind": outcome.kind,
        "question": outcome.question,
        "dialogue": outcome.dialogue,
        "asked": outcome.asked if outcome.asked != outcome.question else "",
        "reference": outcome.reference,
        "answerable": outcome.answerable,
        "answer": outcome.answer or outcome.fault,
        "links": [{"title": link.title, "url": link.url} for link in outcome.links],
        "judge": first.grade if first else None,
        "reason": first.reason if first else "",
    }


_PAGE = """<!doctype html>
<html lang="$language"><head><meta charset="utf-8"><title>$title</title>
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>$style</style></head><body>
<header><span id="place"></span><progress id="progress"></progress><span id="done"></span>
<button id="next-open"></button><button id="save"></button></header>
<main>
<p id="meta"></p><p id="dialogue" class="text"></p><h1 id="question"></h1><p id="asked"></p>
<div class="pair"><section><h2 id="reference-title"></h2><div id="reference" class="text"></div></section>
<section><h2 id="answer-title"></h2><div id="answer" class="text"></div><ol id="links"></ol></section></div>
<div class="pair"><section id="grading"><h2 id="grade-title"></h2><div id="grades"></div>
<textarea id="comment" rows="3"></textarea></section>
<section><h2 id="judge-title"></h2><p id="judge"></p></section></div>
<p id="keys"></p></main>
<script type="application/json" id="data">$data</script><script>$script</script></body></html>
"""

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8881; --good: #2e7d32; --middle: #b26a00; --bad: #c62828; }
* { box-sizing: border-box; } body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
header { position: sticky; top: 0; display: flex; gap: 1rem; align-items: center; padding: .6rem 1.2rem;
  background: Canvas; border-bottom: 1px solid var(--line); }
progress { flex: 1; height: .6rem; } main { max-width: 76rem; margin: 0 auto; padding: .5rem 1.2rem 3rem; }
h1 { font-size: 1.35rem; margin: .2rem 0 .4rem; }
h2 { font-size: .85rem; margin: 0 0 .5rem; opacity: .7; text-transform: uppercase; }
#dialogue:empty { display: none; }
#meta, #dialogue, #asked, #keys, #done { opacity: .7; font-size: .9rem; margin: .3rem 0; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; margin-top: 1rem; align-items: start; }
@media (max-width: 50rem) { .pair { grid-template-columns: 1fr; } }
section { border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; min-width: 0; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; } #links:empty { display: none; }
button { font: inherit; padding: .35rem .9rem; border: 1px solid var(--line); border-radius: .4rem;
  background: var(--soft); color: inherit; cursor: pointer; }
#grades { display: flex; gap: .6rem; flex-wrap: wrap; }
#grades button[aria-pressed=true] { color: #fff; border-color: transparent; }
#grades button[data-grade="0"][aria-pressed=true] { background: var(--bad); }
#grades button[data-grade="1"][aria-pressed=true] { background: var(--middle); }
#grades button[data-grade="2"][aria-pressed=true] { background: var(--good); }
textarea { width: 100%; margin-top: .8rem; font: inherit; padding: .5rem; border: 1px solid var(--line);
  border-radius: .4rem; background: transparent; color: inherit; }
"""

_SCRIPT = """
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const { answers, words } = data, at = id => document.getElementById(id);
const shelf = 'askwiki review ' + data.name;
let given = {}, place = 0, shown = false;
try { given = JSON.parse(localStorage.getItem(shelf) || '{}'); } catch (error) { given = {}; }

function remember() {
  try { localStorage.setItem(shelf, JSON.stringify(given)); } catch (error) { /* a private window forgets */ }
}
function of(answer) { return given[answer.id] || {}; }
function graded() { return answers.filter(answer => of(answer).human !== undefined).length; }

function show() {
  const answer = answers[place], mine = of(answer);
  at('place').textContent = (place + 1) + ' / ' + answers.length;
  at('progress').max = answers.length; at('progress').value = graded();
  at('done').textContent = words.done + ' ' + graded();
  at('meta').textContent = answer.id + ' · ' + answer.kind;
  at('dialogue').textContent = answer.dialogue;
  at('question').textContent = answer.question;
  at('asked').textContent = answer.asked ? words.asked + ' ' + answer.asked : '';
  at('reference').textContent = answer.answerable ? answer.reference : words.no_reference;
  at('answer').textContent = answer.answer;
  at('links').replaceChildren(...answer.links.map(link => {
    const item = document.createElement('li'), anchor = document.createElement('a');
    anchor.textContent = link.title;
    if (/^https?:/.test(link.url)) { anchor.href = link.url; anchor.target = '_blank'; anchor.rel = 'noreferrer'; }
    item.append(anchor); return item;
  }));
  for (const button of at('grades').children)
    button.setAttribute('aria-pressed', String(mine.human === Number(button.dataset.grade)));
  at('comment').value = mine.comment || '';
  const open = shown || mine.human !== undefined;
  at('judge').textContent = answer.judge === null ? words.not_judged
    : open ? answer.judge + ' — ' + answer.reason : words.hidden;
}
function turn(there) { place = there; shown = false; show(); scrollTo(0, 0); }
function go(step) { turn(Math.min(answers.length - 1, Math.max(0, place + step))); }
function grade(number) { given[answers[place].id] = { ...of(answers[place]), human: number }; remember(); show(); }
function nextOpen() {
  for (let step = 1; step <= answers.length; step++) {
    const there = (place + step) % answers.length;
    if (of(answers[there]).human === undefined) return turn(there);
  }
}
function save() {
  const grades = answers.filter(answer => of(answer).human !== undefined)
    .map(answer => ({ id: answer.id, human: of(answer).human, comment: of(answer).comment || '' }));
  const file = new Blob([JSON.stringify({ name: data.name, grades }, null, 1)], { type: 'application/json' });
  const anchor = document.createElement('a');
  anchor.href = URL.createObjectURL(file); anchor.download = 'review.json'; anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60000);
}
for (const [id, word] of [['next-open', 'next_open'], ['save', 'save'], ['reference-title', 'reference'],
  ['answer-title', 'answer'], ['grade-title', 'grade'], ['judge-title', 'judge'], ['keys', 'keys']])
  at(id).textContent = words[word];
at('comment').placeholder = words.comment;
at('grades').replaceChildren(...[0, 1, 2].map(number => {
  const button = document.createElement('button');
  button.dataset.grade = number; button.textContent = number + ' — ' + words['grade_' + number];
  button.onclick = () => grade(number); return button;
}));
at('comment').oninput = () => {
  given[answers[place].id] = { ...of(answers[place]), comment: at('comment').value }; remember();
};
at('next-open').onclick = nextOpen; at('save').onclick = save;
document.onkeydown = event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === at('comment')) { if (event.key === 'Escape') at('comment').blur(); return; }
  if ('012'.includes(event.key) && event.key.length === 1) grade(Number(event.key));
  else if (event.key === 'ArrowRight' || event.key === 'Enter') { event.preventDefault(); go(1); }
  else if (event.key === 'ArrowLeft') go(-1);
  else if (event.code === 'KeyN') nextOpen();
  else if (event.code === 'KeyJ') { shown = !shown; show(); }
  else if (event.code === 'KeyC') { event.preventDefault(); at('comment').focus(); }
  else if (event.code === 'KeyS') save();
};
if (answers.length) show();
"""
