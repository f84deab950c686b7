"""The style and the script of a search's page; nothing in them comes from a user."""

from __future__ import annotations

_K = "".join(
    f".trace .k{n}{{--k:var(--c{n})}}.trace .share .k{n}{{background:var(--c{n})}}" for n in range(8)
)

# The colours where nobody has set them: in a notebook, of whatever theme.
NOTEBOOK_COLOURS = (
    ".hybridrank .trace{--ink:currentColor;--soft:#808890;--page:transparent;--card:rgba(128,128,128,.08);"
    "--rule:rgba(128,128,128,.3);--link:currentColor;--good:rgba(60,160,90,.25);--bad:rgba(200,80,70,.25);"
    "--c0:#3f8fd4;--c1:#d9702a;--c2:#3f9f67;--c3:#a05cc4;--c4:#b98f1a;--c5:#2499a8;--c6:#d0557d;--c7:#7a8492}"
)

TRACE_STYLE = (
    """
.trace .box{max-height:460px;overflow:auto;position:relative;border:1px solid var(--rule);border-radius:6px}
.trace table{width:100%;border-collapse:separate;border-spacing:0;font-size:13px}
.trace th,.trace td{padding:4px 8px;border:0;border-bottom:1px solid var(--rule);min-width:0;max-width:none;
 text-align:left;vertical-align:top}
.trace thead th{position:sticky;top:0;background:var(--card);z-index:1;white-space:nowrap;font-size:12px}
.trace tbody tr:last-child td{border-bottom:0}
.trace th.n,.trace td.n{text-align:right;width:1%;white-space:nowrap;font-variant-numeric:tabular-nums}
.trace td.what{overflow-wrap:anywhere;min-width:11em}.trace thead th.what{white-space:normal}
.trace small{color:var(--soft);font-size:11px}
.trace .mono{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px}
.trace .none{color:var(--soft);opacity:.6}
.trace .score .bar{display:block;width:64px;height:4px;background:var(--rule);margin:3px 0 2px auto}
.trace .bar i{display:block;height:4px;background:var(--c0)}
.trace .chips{display:flex;flex-wrap:wrap;gap:3px 5px;margin-top:3px;align-items:baseline}
.trace .chips.box{padding:8px;max-height:180px;margin:4px 0}
.trace .chip{background:var(--card);border:1px solid var(--rule);border-radius:4px;padding:0 5px;
 font-size:11.5px;
 font-family:ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere;max-width:100%}
.trace .chip.none{border-style:dashed}
.trace .chip.quote{background:var(--mark);border-color:transparent;color:var(--ink)}
.trace mark{background:var(--mark);color:inherit;border-radius:2px;padding:1px 0}
.trace{--mark:rgba(250,196,40,.42)}
.trace .why{font-size:12px;color:var(--soft);margin-top:2px;overflow-wrap:anywhere}
.trace .rise{color:var(--c2);font-weight:600}.trace .fall{color:var(--c1)}
.trace .move{color:var(--soft)}
.trace .tag{display:inline-block;border-radius:4px;padding:0 7px;font-size:12px;font-weight:600;
 white-space:nowrap}
.trace .tag.hit{background:var(--good)}.trace .tag.rejected{background:var(--bad)}
 .trace .tag.left{background:var(--card)}
.trace .share{display:flex;height:10px;border-radius:5px;overflow:hidden;margin:6px 0 10px}
.trace .share i{display:block}
.trace pre{margin:0;padding:8px 10px;font:12px/1.5 ui-monospace,Menlo,Consolas,monospace;
 background:var(--card);
 color:inherit;white-space:pre-wrap;overflow-wrap:anywhere;tab-size:4}
.trace pre i{color:var(--soft);opacity:.7;font-style:normal;user-select:none}
.trace pre.box{max-height:340px}
.trace .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr));gap:8px 16px;
 margin:8px 0}
.trace figure{margin:0;min-width:0;max-width:none}
.trace figcaption{font-size:12px;color:var(--soft);font-weight:400;margin:0 0 3px}
.trace .verdict{border:1px solid var(--rule);border-radius:6px;padding:8px 12px;margin:8px 0}
.trace .verdict .reason{display:block;font-size:13px;margin-top:2px}
.trace .lines{border:1px solid var(--rule);border-radius:6px;margin:0;overflow-x:auto}
.trace svg{display:block;max-width:none}
.trace svg text{fill:var(--ink);font-size:12px}
.trace svg text.soft{fill:var(--soft);font-size:11px}
.trace .head text:first-of-type{font-weight:600}
.trace .head line{stroke:var(--rule)}
.trace .way path{fill:none;stroke:var(--k,var(--soft));stroke-width:1;opacity:.28}
.trace .way.rejected path{stroke:var(--c6);opacity:.5}
.trace .way.hit path{stroke-width:2.2;opacity:1}
.trace .way path.gap{stroke-dasharray:3 4}
.trace .way path.reach{stroke-width:9;opacity:0;pointer-events:stroke}
.trace .way circle{fill:var(--k,var(--soft));opacity:.5}.trace .way.hit circle{opacity:1}
.trace .way.rejected circle{fill:var(--c6);opacity:.8}
.trace .way .place{display:none;font-weight:700}
.trace .way .name{font-size:12px}
"""
    + _K
)

PAGE_STYLE = """
body{padding:0}
main.trace{max-width:1240px}
.flow{display:flex;flex-wrap:wrap;gap:6px 4px;align-items:stretch;margin:14px 0 6px;padding:0;list-style:none}
.flow li{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:4px 10px;
 font-size:13px;
 line-height:1.35;overflow-wrap:anywhere}
.flow b{display:block;font-weight:600}.flow li.warn{border-color:var(--c1)}
.flow li+li{margin-left:16px;position:relative}
.flow li+li::before{content:"→";position:absolute;left:-18px;top:50%;transform:translateY(-50%);
 color:var(--soft)}
.tools{position:sticky;top:0;z-index:3;background:var(--page);padding:8px 0;margin:10px 0 0;display:none;
 border-bottom:1px solid var(--rule)}
.js .tools{display:flex;flex-wrap:wrap;gap:6px 12px;align-items:center}
.tools input{width:26em;flex:0 1 auto}
.grid2{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:0 28px}
.grid2>section{min-width:0}
section{scroll-margin-top:64px}
h2{margin:30px 0 8px}h2 .no{color:var(--soft);font-weight:400;margin-right:.5em}
.js [data-c]{cursor:pointer}.js .card{cursor:auto}
.js tr[data-c]:hover td{background:var(--card)}
.js .way:hover path:not(.reach){stroke-width:3;opacity:1}
[data-c][hidden]{display:none}
.off{display:none}
tr.on td{background:var(--mark)!important}
.way.on path:not(.reach){stroke:var(--ink)!important;stroke-width:3.5!important;opacity:1!important}
.way.on circle{fill:var(--ink)!important;opacity:1!important;r:4px}
.trace .way.on .place{display:block}
.way.on .name{font-weight:700}
.verdict.on{outline:2px solid var(--ink)}
.card .body{padding:6px 0 10px;display:grid;gap:10px}
.card:target{outline:2px solid var(--c0);outline-offset:4px}
#followed{position:fixed;left:0;right:0;bottom:0;z-index:5;max-height:46vh;overflow:auto;
 background:var(--page);
 border-top:2px solid var(--ink);box-shadow:0 -6px 24px rgba(0,0,0,.25);padding:0 24px 16px}
#followed[hidden]{display:none}
#followed>div{max-width:1192px;margin:0 auto}
#followed .bar2{position:sticky;top:0;background:var(--page);padding:8px 0;display:flex;gap:14px;
 align-items:baseline;
 justify-content:space-between}
#followed .title{overflow-wrap:anywhere;min-width:0}
#followed .body{display:grid;grid-template-columns:minmax(0,1.15fr) minmax(0,1fr);gap:10px 24px;
 align-items:start}
#followed pre.box{max-height:30vh}
#followed .verdict-of{grid-column:1/-1}
button{font:inherit;font-size:13px;color:var(--ink);background:var(--card);border:1px solid var(--rule);
 border-radius:5px;
 padding:3px 12px;cursor:pointer}
.following main{padding-bottom:52vh}
@media (max-width:720px){
 main.trace{padding:16px 12px 48px}
 .tools input{width:100%}.tools .hint{display:none}
 section{scroll-margin-top:100px}.tools select{flex:1 1 auto}
 #followed{padding:0 12px 12px;max-height:52vh}#followed .body{grid-template-columns:minmax(0,1fr)}
 .trace td.what{min-width:9em}
 .trace th,.trace td{padding:4px 5px}
}
@media print{.tools,#followed{display:none!important}.trace .box{max-height:none}}
"""

TRACE_SCRIPT = """
(function () {
  var root = document.documentElement;
  root.classList.add("js");
  function list(selector, inside) {
    return Array.prototype.slice.call((inside || document).querySelectorAll(selector));
  }
  var panel = document.getElementById("followed");
  var text = document.getElementById("filter-text");
  var state = document.getElementById("filter-state");
  var count = document.getElementById("filter-count");
  var marks = {};
  list("main [data-c]").forEach(function (mark) {
    (marks[mark.dataset.c] = marks[mark.dataset.c] || []).push(mark);
  });
  var cards = list(".card").map(function (card) {
    return {card: card, content: card.textContent.toLowerCase()};
  });
  function fits(one) {
    var words = text.value.toLowerCase().split(/\\s+/).filter(Boolean);
    var data = one.card.dataset;
    var wanted = state.value;
    return words.every(function (word) { return one.content.indexOf(word) >= 0; })
      && (!wanted || data.state === wanted
        || wanted.slice(0, 3) === "by:" && (" " + data.legs + " ").indexOf(" " + wanted.slice(3) + " ") >= 0
        || wanted.slice(0, 5) === "only:" && data.legs === wanted.slice(5));
  }
  function filter() {
    var shown = 0;
    cards.forEach(function (one) {
      var fit = fits(one);
      shown += fit ? 1 : 0;
      marks[one.card.dataset.c].forEach(function (mark) { mark.classList.toggle("off", !fit); });
    });
    count.textContent = shown + " of " + cards.length + " candidates";
  }
  var followed = null;
  function unmark() {
    (marks[followed] || []).forEach(function (mark) { mark.classList.remove("on"); });
  }
  function follow(number) {
    unmark();
    followed = number;
    if (number === null) {
      panel.hidden = true;
      root.classList.remove("following");
      return;
    }
    marks[number].forEach(function (mark) {
      mark.classList.add("on");
      if (mark.classList.contains("way")) { mark.parentNode.appendChild(mark); }
      var box = mark.tagName === "TR" && mark.closest(".box");
      if (box) {
        var there = mark.getBoundingClientRect(), around = box.getBoundingClientRect();
        box.scrollTop += there.top - around.top - (box.clientHeight - there.height) / 2;
      }
    });
    var card = document.getElementById("c" + number);
    var title = panel.querySelector(".title");
    title.replaceChildren();
    list("summary > *", card).forEach(function (part) { title.append(part.cloneNode(true), " "); });
    panel.querySelector(".content").replaceChildren(card.querySelector(".body").cloneNode(true));
    panel.hidden = false;
    panel.scrollTop = 0;
    root.classList.add("following");
  }
  document.addEventListener("click", function (event) {
    var mark = event.target.closest("[data-c]");
    if (!mark || mark.closest("#followed") || String(window.getSelection())) { return; }
    if (mark.classList.contains("card") && !event.target.closest("summary")) { return; }
    if (event.target.closest("a")) { event.preventDefault(); }
    if (mark.tagName !== "DETAILS") {
      follow(followed === mark.dataset.c ? null : mark.dataset.c);
    } else {
      follow(mark.dataset.c);
    }
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape" && followed !== null) { follow(null); }
  });
  panel.querySelector("button").addEventListener("click", function () { follow(null); });
  [text, state].forEach(function (control) { control.addEventListener("input", filter); });
  filter();
  var asked = /^#c(\\d+)$/.exec(location.hash);
  if (asked && marks[asked[1]]) { follow(asked[1]); }
})();
"""
