"""The style of the overview, on top of that of all cards."""

from __future__ import annotations

from ....render.html import Html
from ....render.style import CSS, one_line
from ..card import BUTTONS, ENDED
from ..style import INPUTS

_SOURCE = """
.mcp-overview { container: mcp / inline-size }
.mcp-overview, .mcp-overview .widget-box { margin: 0; overflow: visible }
.mcp-overview .widget-html, .mcp-overview .widget-html-content {
  font: inherit;
  height: auto;
  line-height: inherit;
  margin: 0;
}
.mcp-overview > .mcp-keys { display: none }
.mcp-overview .mcp-head { align-items: center; flex-wrap: wrap; gap: 4px 12px; padding: 5px 10px }
.mcp-overview .mcp-head > .widget-html { flex: 1 1 auto }
.mcp-overview .mcp-tools { align-items: center; flex: 0 1 auto; gap: 6px }
.mcp-overview .mcp-tools > .widget-inline-hbox { height: auto; line-height: 1.45; margin: 0 }
.mcp-overview .mcp-tools .widget-label { clip-path: inset(50%); height: 1px; position: absolute; width: 1px }
.mcp-overview .mcp-search.widget-text { flex: 0 1 250px; width: 250px }
.mcp-overview .mcp-kind.widget-dropdown { flex: none; width: auto }
.mcp-overview .mcp-tools input::placeholder { color: var(--mcp-dim) }
.mcp-overview .mcp-tools select { appearance: auto; background-image: none; padding: 2px }
.mcp-overview .mcp-tools :is(input, select):focus { border-color: var(--jp-brand-color1, Highlight); outline: none }
.mcp-overview .mcp-tools > .mcp-link { background: none; border: 0; color: var(--mcp-dim); padding: 2px 0 }
.mcp-overview .mcp-part { border-top: 1px solid var(--mcp-line); padding: 6px 10px }
.mcp-overview .mcp-part:empty { display: none }
.mcp-overview .mcp-part:has(> .mcp-servers) { padding-top: 2px }
.mcp-overview .mcp-grid { column-gap: 16px; display: grid }
.mcp-overview .mcp-tr {
  align-items: baseline;
  display: grid;
  grid-column: 1 / -1;
  grid-template-columns: subgrid;
}
.mcp-overview * + .mcp-tr { border-top: 1px solid var(--mcp-line) }
.mcp-overview .mcp-flat, .mcp-overview .mcp-flat > .widget-html-content, .mcp-overview .mcp-cells { display: contents }
.mcp-overview .mcp-line { display: flex; flex-wrap: wrap; gap: 0 8px }
.mcp-overview .mcp-cell { min-width: 0; padding: 3px 0 }
.mcp-overview .mcp-servers { grid-template-columns: auto fit-content(25%) minmax(min-content, 1fr) repeat(5, auto) }
.mcp-overview .mcp-servers .mcp-cell { overflow-wrap: break-word }
.mcp-overview .mcp-servers .mcp-cell:not(:nth-child(-n + 3)) { white-space: nowrap }
.mcp-overview .mcp-servers .mcp-wide { grid-column: 3 / -2 }
.mcp-overview .mcp-servers .mcp-tr > .widget-button { grid-column: -2 / -1 }
.mcp-overview .mcp-hits {
  align-items: baseline;
  grid-template-columns: fit-content(45%) auto minmax(0, 1fr) auto;
}
.mcp-overview .mcp-hits > .widget-button { margin: 1px 0; padding: 0 8px }
.mcp-overview .mcp-tr > .widget-button { margin: 2px 0 }
.mcp-overview .widget-button:hover { box-shadow: none }
.mcp-overview .mcp-hits .mcp-about { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.mcp-overview .mcp-hits .mcp-trial { grid-column: 1 / -1; padding: 2px 0 6px }
.mcp-overview .mcp-under > .mcp-asking > .mcp-card > :first-child { display: none }
.mcp-overview .mcp-under > .mcp-asking > .mcp-card > .mcp-body { border-top: 0 }
.mcp-overview .mcp-calls { grid-template-columns: minmax(0, 1fr) auto }
.mcp-overview .mcp-calls .mcp-line { column-gap: 12px }
.mcp-overview .mcp-calls .mcp-told { flex: 1 1 140px; overflow-wrap: break-word }
.mcp-overview .mcp-calls .mcp-tr > .widget-html, .mcp-overview .mcp-calls .widget-html-content { min-width: 0 }
.mcp-overview .mcp-calls .mcp-tr > .widget-html > .widget-html-content { width: 100% }
.mcp-overview .mcp-calls .mcp-ahead { max-width: 45%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.mcp-overview .mcp-calls .mcp-ahead:empty { display: none }
.mcp-overview .mcp-calls .mcp-bar progress { flex: none; min-width: 0; width: 80px }
.mcp-overview .mcp-calls .mcp-bar span { overflow: hidden; text-overflow: ellipsis }
.mcp-overview .mcp-buttons { gap: 6px; justify-content: flex-end; padding: 2px 0 }
.mcp-overview .mcp-held { grid-column: 1 / -1; padding: 2px 0 6px }
.mcp-overview .mcp-held .mcp-question > .mcp-card > :first-child { display: none }
.mcp-overview .mcp-held .mcp-question .mcp-body { border-top: 0 }
.mcp-overview .mcp-held:empty { display: none }
@container mcp (max-width: 700px) {
.mcp-overview .mcp-tools { flex-wrap: wrap }
.mcp-overview .mcp-servers { grid-template-columns: auto fit-content(25%) minmax(min-content, 1fr) repeat(4, auto) }
.mcp-overview .mcp-servers .mcp-cell:nth-child(6) { display: none }
}
@container mcp (max-width: 550px) {
.mcp-overview .mcp-calls .mcp-ahead { flex: none; max-width: 80% }
.mcp-overview .mcp-servers { grid-template-columns: auto fit-content(40%) repeat(3, auto) }
.mcp-overview .mcp-servers .mcp-cell:is(:nth-child(3):not(.mcp-wide), :nth-child(8)) { display: none }
}
"""

_INPUTS = INPUTS.format(where=".mcp-overview .mcp-tools input[type=text], .mcp-overview .mcp-tools select")
_BUTTONS = BUTTONS.format(where=".mcp-overview :is(.mcp-grid, .mcp-tools)")
STYLE = Html(f"<style>{CSS}{one_line(_INPUTS + _SOURCE)}{one_line(_BUTTONS)}{one_line(ENDED)}</style>")
"""The rules, as an element."""
