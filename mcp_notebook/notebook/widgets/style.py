"""The style of forms, on top of that of all outputs."""

from __future__ import annotations

from ...render.html import Html
from ...render.style import CSS, ROOT, one_line

INPUTS = """
{where} {{
  background-color: var(--jp-layout-color1, Field);
  border: 1px solid var(--mcp-line);
  border-radius: 4px;
  box-sizing: border-box;
  color: inherit;
  font: inherit;
  height: auto;
  line-height: 1.45;
  min-height: 0;
  padding: 2px 6px;
  width: 100%;
}}
"""
"""The rule for fields in a place; it stands before the rules that change it."""
_INPUTS = INPUTS.format(
    where=".mcp-form input[type=text], .mcp-form input[type=date], .mcp-form select, .mcp-form textarea"
)
_SOURCE = """
.mcp-form, .mcp-form .widget-box { margin: 0; overflow: visible }
.mcp-form .mcp-all > *, .mcp-form .mcp-inside > * { margin-top: 6px }
.mcp-form .widget-html, .mcp-form .widget-html-content { font: inherit; height: auto; line-height: inherit; margin: 0 }
.mcp-form .mcp-input, .mcp-form .mcp-split {
  align-items: start;
  display: grid;
  gap: 2px 10px;
  grid-template-columns: 150px minmax(0, 280px) 1fr;
  height: auto;
  margin: 0;
  width: auto;
}
.mcp-form .mcp-input > .widget-label, .mcp-form .mcp-label {
  grid-column: 1;
  height: auto;
  line-height: 1.45;
  margin: 0;
  padding: 3px 0;
  text-align: left;
  white-space: normal;
  width: auto;
}
.mcp-form .mcp-input > :not(.widget-label) { grid-column: 2 }
.mcp-form select { appearance: auto; background-image: none }
.mcp-form .mcp-needed > .widget-label::after, .mcp-form .mcp-label.mcp-needed .widget-html-content > div::after {
  color: var(--jp-error-color1, #d73a49);
  content: " *";
}
.mcp-form textarea { field-sizing: content; max-height: 20em; min-height: 3em }
.mcp-form .mcp-mono textarea, .mcp-form .mcp-json textarea { font: var(--mcp-mono) }
.mcp-form .mcp-mono, .mcp-form .mcp-wide { grid-template-columns: 150px minmax(0, 560px) }
.mcp-form :is(input, select, textarea):focus { border-color: var(--jp-brand-color1, Highlight); outline: none }
.mcp-form .mcp-note, .mcp-form .mcp-about { font-size: 11px; margin-left: 160px }
.mcp-form .mcp-note:has(> .widget-html-content:empty) { display: none }
.mcp-form .mcp-about { color: var(--mcp-dim) }
.mcp-form .mcp-bad { color: var(--jp-error-color1, #d73a49) }
.mcp-form .mcp-field:has(> .mcp-note .mcp-bad) > .mcp-input :is(input, select, textarea) {
  border-color: var(--jp-error-color1, #d73a49);
}
.mcp-form .mcp-inside { border-left: 1px solid var(--mcp-line); margin-left: 4px; padding-left: 10px }
.mcp-form .mcp-inside .mcp-input, .mcp-form .mcp-inside .mcp-split { grid-template-columns: 135px minmax(0, 280px) 1fr }
.mcp-form .mcp-inside .mcp-note, .mcp-form .mcp-inside .mcp-about { margin-left: 145px }
.mcp-form .mcp-boxes { display: flex; flex-wrap: wrap; gap: 0 14px; grid-column: 2 / -1 }
.mcp-form .mcp-box, .mcp-form .mcp-box > label { height: auto; line-height: 1.45; margin: 0; width: auto }
.mcp-form .mcp-box { padding: 3px 0 }
.mcp-form .mcp-item { align-items: flex-start; gap: 10px }
.mcp-form .mcp-item > :first-child { flex: 1 }
.mcp-form .mcp-picks { flex-wrap: wrap; gap: 4px; margin-left: 160px }
.mcp-form .widget-button { height: auto; line-height: inherit; margin: 0; padding: 1px 8px; width: auto }
.mcp-form .mcp-link, .mcp-link.widget-button {
  background: none;
  border: 0;
  box-shadow: none;
  color: var(--mcp-dim);
  padding: 0;
}
.mcp-form .mcp-long > .mcp-link, .mcp-form .mcp-wide > .mcp-link { align-self: flex-start }
.mcp-form .mcp-split > .widget-html:not(.mcp-label) { padding: 3px 0 }
.mcp-asking .mcp-keys { display: none }
.mcp-asking .mcp-aside { align-items: center; gap: 12px }
.mcp-asking .mcp-code-sheet { padding: 0 10px }
.mcp-form .mcp-small { justify-self: start }
.mcp-form .mcp-json { height: auto; margin: 6px 0 0; width: 100% }
"""

# A form stands in cards with rules of their own for what is in them; this one wins, whichever comes later on the page.
FORM = Html(f"<style>{CSS}{one_line(_INPUTS + _SOURCE).replace('.mcp-form', f'.{ROOT}.mcp-form')}</style>")
"""The rules, as an element."""
