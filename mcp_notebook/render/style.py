"""The one style sheet. It comes with every output, since a saved notebook loads nothing; so it is small.

JupyterLab's variables come first. Without them (plain pages, other front ends) the page's own text colour and
background are kept, with lines and state colours that can be read on light and on dark.
"""

from __future__ import annotations

ROOT = "mcp-nb"
"""The class that everything is scoped by."""

_SOURCE = """
.mcp-nb {
  --mcp-line: var(--jp-border-color2, rgba(128,128,128,.3));
  --mcp-fill: var(--jp-layout-color2, rgba(128,128,128,.12));
  --mcp-dim: var(--jp-ui-font-color2, color-mix(in srgb, currentColor 65%, transparent));
  --mcp-mono: 12px/1.45 var(--jp-code-font-family, ui-monospace, Menlo, Consolas, monospace);
  color: var(--jp-ui-font-color1, inherit);
  font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif);
  overflow-wrap: anywhere;
  overflow-x: auto;
}
.mcp-nb:is(.jp-RenderedHTMLCommon.jp-OutputArea-output > *) { margin-right: -20px }
.mcp-nb > * + *, .mcp-nb .mcp-body > * + * { margin-top: 4px }
.mcp-nb span { unicode-bidi: isolate }
.mcp-nb b { font-weight: 600 }
.mcp-nb .mcp-work { --mcp-c: var(--jp-brand-color1, #2a7cd0) }
.mcp-nb .mcp-done { --mcp-c: var(--jp-success-color1, #2b8a3e) }
.mcp-nb .mcp-drop { --mcp-c: var(--jp-warn-color0, #a8710a) }
.mcp-nb .mcp-fail { --mcp-c: var(--jp-error-color1, #d73a49) }
.mcp-nb .mcp-ask { --mcp-c: #8f63e0 }
.mcp-nb .mcp-card {
  border: 1px solid var(--mcp-line);
  border-left: 3px solid var(--mcp-c, var(--mcp-line));
  border-radius: 4px;
  margin: 2px 0;
}
.mcp-nb .mcp-row { display: flex; flex-wrap: wrap; gap: 0 8px; padding: 6px 10px }
.mcp-nb .mcp-body { border-top: 1px solid var(--mcp-line); padding: 8px 10px }
.mcp-nb .mcp-body .mcp-card { border: 0; margin: 0 }
.mcp-nb .mcp-body .mcp-card > .mcp-row { padding: 0 }
.mcp-nb .mcp-state { color: var(--mcp-c) }
.mcp-nb .mcp-mute { color: var(--mcp-dim) }
.mcp-nb .mcp-aside { margin-left: auto }
.mcp-nb .mcp-bar { align-items: center; display: flex; gap: 8px }
.mcp-nb .mcp-bar progress { accent-color: var(--mcp-c); flex: 1; height: 8px; min-width: 80px }
.mcp-nb * + .mcp-label { margin-top: 8px }
.mcp-nb .mcp-prose { white-space: pre-wrap }
.mcp-nb pre.mcp-text {
  background: none;
  color: inherit;
  font: var(--mcp-mono);
  margin: 0;
  max-height: 36em;
  overflow: auto;
  white-space: pre-wrap;
}
.mcp-nb pre.mcp-code { background: var(--mcp-fill); border-radius: 4px; margin: 6px 0; padding: 4px 8px }
.mcp-nb .mcp-table { border-collapse: collapse; font: inherit; margin: 0; table-layout: auto }
.mcp-nb .mcp-table tbody tr, .mcp-nb .mcp-table tbody tr:hover { background: none }
.mcp-nb .mcp-table td, .mcp-nb .mcp-table th {
  border-bottom: 1px solid var(--mcp-line);
  font: inherit;
  padding: 3px 16px 3px 0;
  text-align: left;
  vertical-align: top;
  white-space: pre-wrap;
}
.mcp-nb .mcp-table td { min-width: 4em }
.mcp-nb .mcp-table th { color: var(--mcp-dim); font-weight: 500; overflow-wrap: normal }
.mcp-nb .mcp-names td:first-child { font-weight: 600; overflow-wrap: normal }
.mcp-nb summary { color: var(--mcp-dim); cursor: pointer }
.mcp-nb .mcp-tree { font: var(--mcp-mono) }
.mcp-nb .mcp-tree summary { color: inherit }
.mcp-nb ul.mcp-branch {
  border-left: 1px solid var(--mcp-line);
  list-style: none;
  margin: 0 0 0 4px;
  padding: 0 0 0 10px;
}
.mcp-nb img { display: block; height: auto; max-width: 100% }
.mcp-nb audio { display: block; max-width: 100% }
"""


def one_line(rules: str) -> str:
    """Rules without their line breaks."""
    return "".join(line.strip() for line in rules.splitlines())


CSS = one_line(_SOURCE)
"""The rules, on one line."""
