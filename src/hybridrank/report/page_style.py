"""The style and the script of a report page; nothing in them comes from a user."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

_LIGHT = ("#1f6fb4", "#c8550b", "#2b8350", "#8a44ad", "#a37a00", "#0e8290", "#bd3a62", "#5d6673")
_DARK = ("#6db3f2", "#f09a5b", "#6fcf97", "#c792ea", "#e3c04b", "#56d0dc", "#f285a8", "#aab2bd")


def _colours(colours: tuple[str, ...]) -> str:
    return "".join(f"--c{number}:{colour};" for number, colour in enumerate(colours))


_LIGHT_STYLE = (
    "--ink:#1c2128;--soft:#5c6670;--page:#fff;--card:#f6f8fa;--rule:#d8dee4;--good:#e1f3e6;--bad:#fbe5e3;"
    f"--link:#1f6fb4;{_colours(_LIGHT)}"
)
_DARK_STYLE = (
    "--ink:#e3e8ee;--soft:#9aa4af;--page:#14181d;--card:#1c2229;--rule:#343c46;--good:#173a26;--bad:#4a2220;"
    f"--link:#6db3f2;{_colours(_DARK)}"
)

STYLE = (
    f"""
:root{{color-scheme:light dark;{_LIGHT_STYLE}}}
@media (prefers-color-scheme:dark){{:root{{{_DARK_STYLE}}}}}
"""
    + """
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,"Segoe UI",Roboto,sans-serif}
main{max-width:1160px;margin:0 auto;padding:28px 24px 64px}
h1{font-size:24px;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:18px;margin:40px 0 10px;padding-bottom:5px;border-bottom:1px solid var(--rule)}
h3{font-size:15px;margin:22px 0 6px}
p{margin:6px 0;overflow-wrap:anywhere}
.soft{color:var(--soft)}
.note{background:var(--card);border-left:4px solid var(--c4);padding:8px 14px;margin:10px 0}
.found{background:var(--card);border-left:4px solid var(--c2);padding:8px 14px;margin:10px 0}
.wide{overflow-x:auto;margin:8px 0}
table{border-collapse:collapse;font-size:14px}
th,td{text-align:left;vertical-align:top;padding:5px 16px 5px 0;border-bottom:1px solid var(--rule)}
th{font-weight:600;color:var(--soft);max-width:16em;overflow-wrap:break-word}
td{max-width:34em;overflow-wrap:break-word;min-width:3em}
td:first-child{min-width:6em;max-width:24em}
.n{text-align:right;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}
.up{background:var(--good)}.down{background:var(--bad)}
.n.up,.n.down{padding-left:8px}
.mono{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:20px 32px}
figure{margin:10px 0;min-width:0;max-width:620px}
figcaption{font-weight:600;margin-bottom:4px}
figure>svg{width:100%;height:auto;display:block}
svg text{fill:var(--soft);font-size:12px}
svg .name,svg .title{fill:var(--ink)}
.grid{stroke:var(--rule)}.tick{stroke:var(--soft)}.zero{stroke:var(--soft);stroke-dasharray:4 3}
.line{fill:none;stroke-width:2;stroke-linejoin:round}
.d1{stroke-dasharray:7 4}.d2{stroke-dasharray:2 3}
.dot{stroke:var(--page);stroke-width:1}
.bar{stroke-width:3}.bar.unclear{stroke:var(--soft);opacity:.6}.bar.clear{stroke:var(--c0)}
.mean.unclear{fill:var(--soft)}.mean.clear{fill:var(--c0)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 18px;margin:4px 0 0;padding:0;font-size:13px}
.legend li{overflow-wrap:anywhere}
.legend svg{width:22px;height:10px;margin-right:6px;vertical-align:1px}
.filters{display:flex;flex-wrap:wrap;gap:8px 14px;align-items:end;margin:10px 0}
.filters label{display:flex;flex-direction:column;font-size:12px;color:var(--soft);gap:2px}
input,select{font:inherit;font-size:14px;color:var(--ink);background:var(--page);border:1px solid var(--rule);
 border-radius:5px;padding:5px 8px;max-width:100%}
input{width:22em}
.filters label{min-width:0;max-width:100%}
select{max-width:min(100%,22em);text-overflow:ellipsis}
tr[hidden]{display:none}
details{border-bottom:1px solid var(--rule);padding:6px 0}
summary{cursor:pointer;overflow-wrap:anywhere}
summary b{font-weight:600}
nav{display:flex;flex-wrap:wrap;gap:2px 16px;margin:14px 0 0;font-size:14px}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
@media (max-width:640px){main{padding:18px 14px 48px}h1{font-size:20px}input{width:100%}
 .filters label{flex:1 1 45%}.filters label:first-child{flex-basis:100%}}
@media print{.filters,nav{display:none}}
"""
    + "".join(
        f".line.c{n}{{stroke:var(--c{n})}}.dot.c{n},.fill.c{n}{{fill:var(--c{n})}}"
        for n in range(len(_LIGHT))
    )
)

SCRIPT = """
(function () {
  var text = document.getElementById("filter-text");
  if (!text) { return; }
  var category = document.getElementById("filter-category");
  var state = document.getElementById("filter-state");
  var count = document.getElementById("filter-count");
  var rows = Array.prototype.slice.call(document.querySelectorAll("#queries tbody tr"));
  function show() {
    var words = text.value.toLowerCase().split(/\\s+/).filter(Boolean);
    var shown = 0;
    rows.forEach(function (row) {
      var content = row.textContent.toLowerCase();
      var fits = words.every(function (word) { return content.indexOf(word) >= 0; })
        && (!category.value || row.dataset.category === category.value.slice(1))
        && (!state.value || (" " + row.dataset.state + " ").indexOf(" " + state.value + " ") >= 0);
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    count.textContent = shown + " of " + rows.length + " shown";
  }
  [text, category, state].forEach(function (control) { control.addEventListener("input", show); });
  show();
})();
"""


def policy(script: str) -> str:
    """The page loads nothing, and runs no script but this one."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


POLICY = policy(SCRIPT)
