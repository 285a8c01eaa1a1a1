"""The keys of a card: Escape leaves it, Enter sends where a widget does not tell of it, and the notebook has its own.

ipywidgets tells of neither. So a card holds an output of a few lines of JavaScript, the only ones there are: they
click on the card's own buttons. Where a front end does not run them, there are still the buttons.
"""

from __future__ import annotations

import json
import secrets
from typing import Any

from ipywidgets import Output

CANCEL, SEND = "mcp-key-cancel", "mcp-key-send"
"""The classes of the buttons that the keys click on."""

_SCRIPT = """
const listen = card => {
  // Letters and arrows are for the list or box that has the focus, and not for the notebook's own keys.
  const keep = field => {
    if (field.matches('select, button, input[type=checkbox]')) field.dataset.lmSuppressShortcuts = 'true';
  };
  card.addEventListener('focusin', event => keep(event.target));
  if (card.contains(document.activeElement)) keep(document.activeElement);
  const notebook = card.closest('.jp-Notebook');
  const giveBack = left => {  // the focus, once the card that had it has gone
    if (card.isConnected) return left && setTimeout(giveBack, 100, left - 1);
    if (document.activeElement === document.body) notebook?.focus();
  };
  card.addEventListener('click', () => giveBack(100), true);
  card.addEventListener('keydown', event => {
    if (event.key === 'Enter') giveBack(100);
    const field = event.target;
    const own = element => element.closest('.mcp-asking') === card;  // a card in this card has keys of its own
    if (!own(field)) return;
    const searching = field.matches('[list]') && field.value;
    const picking = field.matches('input') && !field.matches('[type=text]');
    const button = event.isComposing ? null
      : event.key === 'Escape' && !searching ? '.CANCEL'
      : event.key === 'Enter' && picking ? '.SEND' : null;
    const found = button && [...card.querySelectorAll(button)].find(own);
    if (!found && event.key === 'Escape' && !searching) notebook?.focus();  // what was typed stays
    if (!found) return;
    event.preventDefault();
    event.stopPropagation();
    found.click();
  }, true);
};
(function begin(left) {
  const card = element.closest('.mcp-asking');
  if (!card) {  // it is put into the page a little later
    if (left) setTimeout(begin, 50, left - 1);
    return;
  }
  if (card.dataset.keys !== 'on') listen(card);  // it may be put into the page more than once
  for (const row of card.querySelectorAll('[role=row]')) row.closest('.mcp-grid')?.setAttribute('role', 'table');
  card.dataset.keys = 'on';
  const around = card.parentElement.closest('.mcp-asking');
  if (!around || !TOKEN || around.dataset.focused === TOKEN) return;
  around.dataset.focused = TOKEN;
  const writing = document.activeElement;
  if (!around.contains(writing) && writing?.matches('input, textarea, select, [contenteditable=true]')) return;
  card.querySelector('input, select, textarea, .mcp-row button')?.focus();
})(200);
""".replace("CANCEL", CANCEL).replace("SEND", SEND)


def keys() -> Output:
    """What makes the keys work for the card that it stands in. It shows nothing."""
    made = Output(outputs=_output(""))
    made.add_class("mcp-keys")
    return made


def take_focus(output: Output) -> None:
    """Have a card that comes to stand in another one take the cursor, once."""
    output.outputs = _output(secrets.token_hex(4))


def _output(token: str) -> tuple[dict[str, Any]]:
    data = {"application/javascript": _SCRIPT.replace("TOKEN", json.dumps(token))}
    return ({"output_type": "display_data", "data": data, "metadata": {}},)
