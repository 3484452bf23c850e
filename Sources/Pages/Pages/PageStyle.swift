import Core

extension PageStyle {
  /// The style of every page. What other files of this module may use of it:
  ///
  /// * Custom properties for colors, each with a value for light, dark, more contrast and print:
  ///   `--ink` (text and lines), `--soft` (text of less weight, 4.5:1 as well), `--line` (grid lines,
  ///   borders), `--paper`, `--panel` (ground of cards), `--link`; the states `--done`, `--warning`,
  ///   `--failed`, `--waiting`, `--quarantined`, which are for shapes, never for text; and `--series-1` …
  ///   `--series-3` for curves (x, y, z), which also differ by dashes (`.series-1` …).
  /// * `[data-state=STATE]` around `.state`: the shape of the state in front of its word.
  /// * In drawings: classes `done`, `warning`, `failed`, `waiting`, `quarantined` fill; `axis`, `grid` and
  ///   `mark` are lines; `gap` is a shaded part; `series-1` … `series-3` are curves; `soft` is small text.
  ///   Text in a drawing is not scaled when the drawing has no `viewBox` and places things in percent.
  /// * `table.data` becomes cards below 40rem: each `td` then needs `data-label`, the words of its column.
  ///   `table.narrow` (two or three short columns) stays a table. `td.n` and `th.n` are numbers.
  /// * `section`, `.card`, `.cards` (a grid of cards), `.grid` (columns of equal width), `figure.plot`,
  ///   `dl.facts`, `pre.log`, `pre.command` (selected as a whole), `.small`, `.notice`,
  ///   `.only-for-readers` (not seen, read aloud).
  static let common = PageStyle(text: colors + basics + tables + drawings + parts + night + paper)

  /// Okabe–Ito hues. Blue and purple are lighter on dark paper.
  private static let colors = """
    :root{color-scheme:light dark;--paper:#fff;--ink:#15191e;--soft:#4a525b;--line:#c3c9d0;\
    --panel:#f3f5f7;--link:#00508f;--done:#0072b2;--warning:#e69f00;--failed:#d55e00;\
    --waiting:#868d95;--quarantined:#cc79a7;--series-1:#d55e00;--series-2:#009e73;--series-3:#0072b2;\
    --good-ground:#e5f1f8;--bad-ground:#fdeee4}
    @media (prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#eceff2;--soft:#b4bcc5;--line:#454d56;\
    --panel:#1f242a;--link:#8cc8f0;--done:#3d9fdb;--warning:#e69f00;--failed:#e8702a;--waiting:#8d959e;\
    --quarantined:#d68bb4;--series-1:#e8702a;--series-2:#1fb58a;--series-3:#56b4e9;\
    --good-ground:#14293a;--bad-ground:#3a2213}}
    @media (prefers-contrast:more){:root{--ink:#000;--soft:#000;--line:#000;--panel:#fff;--link:#00008b}}
    @media (prefers-contrast:more) and (prefers-color-scheme:dark){:root{--paper:#000;--ink:#fff;\
    --soft:#fff;--line:#fff;--panel:#000;--link:#bfe3ff}}

    """

  private static let basics = """
    *,::before,::after{box-sizing:border-box}
    html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
    body{margin:0 auto;max-width:75rem;padding:1rem;background:var(--paper);color:var(--ink);\
    font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-size:1rem;\
    line-height:1.5;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
    h1,h2,h3,h4{line-height:1.25;margin:0 0 .5rem;font-weight:650}
    h1{font-size:1.5rem}h2{font-size:1.25rem}h3{font-size:1.0625rem}h4{font-size:1rem}
    p,ul,ol,dl,figure,table,pre{margin:0 0 .75rem}
    ul,ol{padding-left:1.25rem}
    section{margin:2rem 0 0}
    a{color:var(--link);display:inline-block;min-width:1.5rem;min-height:1.5rem;max-width:100%}
    img{max-width:100%;height:auto;display:block}
    code,pre,kbd{font-family:ui-monospace,"Cascadia Mono",Menlo,Consolas,monospace;font-size:.875rem}
    pre{white-space:pre-wrap;background:var(--panel);border:1px solid var(--line);border-radius:.375rem;\
    padding:.5rem .75rem}
    pre.command{user-select:all;-webkit-user-select:all}
    .option{white-space:nowrap}
    summary{cursor:pointer;padding:.25rem 0;min-height:2rem}
    details{margin:0 0 .75rem}
    button,input,select{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);\
    border-radius:.375rem;min-height:2.25rem;min-width:2.25rem;padding:.25rem .75rem;max-width:100%}
    button{cursor:pointer}
    button[aria-pressed=true]{background:var(--ink);color:var(--paper);border-color:var(--ink)}
    :focus-visible{outline:3px solid var(--link);outline-offset:2px}
    [hidden]{display:none!important}
    .only-for-readers{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;\
    clip-path:inset(50%);white-space:nowrap}
    .small{font-size:.875rem;color:var(--soft)}
    .cut{font-size:0}.cut::before{content:"…";font-size:1rem}

    """

  /// Below 40rem a table is a list of cards, each value with the words of its column in front.
  private static let tables = """
    table{border-collapse:collapse;width:100%}
    caption{text-align:left;font-weight:600;padding:0 0 .5rem}
    th,td{padding:.375rem .75rem .375rem 0;text-align:left;vertical-align:top;\
    border-bottom:1px solid var(--line)}
    @media (min-width:40rem){th,th button{overflow-wrap:normal}td,tbody th{overflow-wrap:break-word}\
    td bdi,td a,td code,tbody th bdi,tbody th a,tbody th code{overflow-wrap:anywhere}}
    th.n,td.n{text-align:right}
    thead th,td.n{overflow-wrap:normal}
    tbody th{min-width:7rem}
    thead th{position:sticky;top:0;background:var(--paper);z-index:1}
    th button{border-color:transparent;padding:.25rem 0;font-weight:600;text-align:left}
    th[aria-sort] button{text-decoration:underline;text-underline-offset:.25em}
    th[aria-sort=ascending] button::after{content:" \\2191"}
    th[aria-sort=descending] button::after{content:" \\2193"}
    @media (max-width:39.99rem){
    table.data,table.data caption,table.data tbody,table.data tr,table.data td{display:block}
    table.data thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
    table.data tbody tr{border:1px solid var(--line);border-radius:.5rem;padding:.5rem .75rem;\
    margin:0 0 .75rem}
    table.data td,table.data tbody th{display:flex;flex-wrap:wrap;gap:0 .75rem;border:0;padding:.125rem 0;text-align:left}
    table.data td:empty{display:none}
    table.data td[data-label]::before{content:attr(data-label);flex:0 0 7rem;color:var(--soft)}
    }

    """

  private static let drawings = """
    figure.plot svg{display:block;width:100%;overflow:visible;color:var(--ink)}
    figcaption{margin:0 0 .25rem}
    svg text{fill:currentColor;font-size:.8125rem}
    svg text.soft{fill:var(--soft)}
    svg .done{fill:var(--done)}svg .warning{fill:var(--warning)}svg .failed{fill:var(--failed)}
    svg .waiting{fill:var(--waiting)}svg .quarantined{fill:var(--quarantined)}
    svg .axis{stroke:currentColor;stroke-width:1;fill:none}
    svg .grid{stroke:var(--line);stroke-width:1;fill:none}
    svg .mark{stroke:var(--soft);stroke-width:1;fill:none}
    svg .gap{fill:var(--waiting);fill-opacity:.25}
    svg .hatch{stroke:currentColor;stroke-width:1.5;fill:none}
    svg .series-1,svg .series-2,svg .series-3{fill:none;stroke-width:1.5;\
    vector-effect:non-scaling-stroke;stroke:var(--series-1)}
    svg .series-2{stroke:var(--series-2);stroke-dasharray:6 2}
    svg .series-3{stroke:var(--series-3);stroke-dasharray:2 2}
    [data-state]{--color:var(--waiting);--shape:circle(50%)}
    [data-state=done]{--color:var(--done)}
    [data-state=warning],[data-state=done][data-also~=needs-you]{--color:var(--warning);\
    --shape:polygon(50% 6%,100% 94%,0 94%)}
    [data-state=failed]{--color:var(--failed);--shape:polygon(20% 0,50% 30%,80% 0,100% 20%,70% 50%,\
    100% 80%,80% 100%,50% 70%,20% 100%,0 80%,30% 50%,0 20%)}
    [data-state=quarantined]{--color:var(--quarantined);--shape:inset(4%)}
    [data-state=incomplete],[data-state=stalled-upload]{--color:var(--warning);--shape:polygon(0 0,100% 0,100% 50%,50% 50%,50% 100%,0 100%)}
    [data-state=unrecognized],[data-state=trouble]{--color:var(--failed);\
    --shape:polygon(50% 0,100% 50%,50% 100%,0 50%)}
    [data-state=arriving],[data-state=queued],[data-state=running],[data-state=skipped],\
    [data-state=interrupted]{--shape:polygon(0 0,100% 50%,0 100%)}
    [data-state=queued]{--shape:polygon(0 10%,40% 10%,40% 90%,60% 90%,60% 10%,100% 10%,100% 90%,0 90%)}
    .state::before{content:"";display:inline-block;width:.75em;height:.75em;margin-right:.375em;\
    background:var(--color);clip-path:var(--shape);print-color-adjust:exact;\
    -webkit-print-color-adjust:exact;forced-color-adjust:none}

    """

  private static let parts = """
    .card{background:var(--panel);border:1px solid var(--line);border-left:.375rem solid var(--color,var(--line));\
    border-radius:.5rem;padding:.75rem 1rem;margin:0 0 1rem}
    .card>:last-child{margin-bottom:0}
    .notice{border-left:.375rem solid var(--warning);padding:.25rem .75rem}
    .grid,.cards{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))}
    dl.facts{columns:9rem;column-gap:1rem}
    dl.facts dt{font-size:.875rem;color:var(--soft);break-after:avoid}
    dl.facts dd{margin:0;break-before:avoid;break-inside:avoid}
    dl.facts>div{break-inside:avoid;margin-bottom:.5rem}
    dl.facts dd+dt{margin-top:.5rem}
    dl.facts dd[data-total]:has(+dd.said){position:absolute;width:1px;height:1px;overflow:hidden;\
    clip-path:inset(50%);white-space:nowrap}

    """

  /// What only the page of the night has. In `.many` rows of the table that are not on the screen are not laid out: five
  /// thousand of them are sorted in a tenth of the time. A row of a table cannot be left out so, a grid can.
  private static let night = """
    svg.bar{display:block;border-radius:.25rem;margin:0 0 .5rem}
    svg.patterns{position:absolute}
    figure.plot svg.swatch{display:inline-block;width:1em;height:1em;overflow:hidden;margin-right:.375em;vertical-align:-.125em}
    svg .before{fill:var(--soft);fill-opacity:.55}
    ul.legend,ul.captures{list-style:none;padding:0}
    ul.legend{display:flex;flex-wrap:wrap;gap:0 1.25rem}
    ul.captures li{display:flex;gap:.75rem;margin:0 0 .5rem}
    ul.captures li p{margin:0}
    ul.captures img{width:4rem;height:auto;align-self:start;border-radius:.25rem}
    .choices{display:flex;flex-wrap:wrap;gap:.5rem;margin:0 0 .75rem}
    #attention{margin-top:1rem}
    #captures img{display:inline-block;max-width:4rem;margin:0 .5rem 0 0;vertical-align:middle}
    #captures td:first-child::before{content:"";display:inline-block;width:.75em;height:.75em;\
    margin-right:.375em;background:var(--color);clip-path:var(--shape);print-color-adjust:exact;\
    -webkit-print-color-adjust:exact;forced-color-adjust:none}
    #captures td:nth-child(n+5),#captures th:nth-child(n+5){text-align:right}
    #captures tr[data-state=failed] td:first-child,#captures tr[data-state=quarantined] td:first-child,\
    #captures tr[data-state=incomplete] td:first-child,#captures tr[data-state=stalled-upload] td:first-child{font-weight:600}
    @media screen{.many tbody tr{content-visibility:auto;contain-intrinsic-size:auto 2.25rem}}
    @media screen and (min-width:40rem){
    #devices td:last-child{min-width:14rem}
    #captures,#captures caption,#captures thead,#captures tbody{display:block}
    #captures thead{position:sticky;top:0;z-index:1;background:var(--paper)}
    #captures thead th{position:static}
    #captures tr{display:grid;grid-template-columns:9.5rem minmax(0,2fr) minmax(0,1.2fr) minmax(0,1fr) \
    5.5rem 7.5rem 6.5rem;border-bottom:1px solid var(--line)}
    #captures th,#captures td{border:0}
    }
    @media (max-width:39.99rem){
    .many tbody tr{contain-intrinsic-size:auto 12rem}
    #captures thead{position:static;display:block;width:auto;height:auto;clip-path:none;overflow:visible}
    #captures thead tr{display:flex;flex-wrap:wrap;gap:.25rem .5rem;padding:0 0 .75rem}
    #captures thead th{position:static;border:0;padding:0}
    #captures th button{border-color:var(--soft);padding:.25rem .625rem}
    #captures td,#captures td:nth-child(n+5){text-align:left}
    #captures td:nth-child(n+3)::before{flex:0 0 6rem;color:var(--soft)}
    #captures td:first-child{align-items:baseline;gap:0;flex-wrap:nowrap}
    #captures td:first-child::before{flex:none}
    #captures td:nth-child(3)::before{content:"Scene"}
    #captures td:nth-child(4)::before{content:"Device"}
    #captures td:nth-child(5)::before{content:"Frames"}
    #captures td:nth-child(6)::before{content:"Warnings"}
    #captures td:nth-child(7)::before{content:"Duration"}
    }

    """

  /// On paper everything is open and black on white, and links say where they lead.
  private static let paper = """
    @page{margin:15mm}
    @media print{
    :root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#000;--line:#777;--panel:#fff;--link:#000;\
    --done:#0072b2;--failed:#d55e00;--waiting:#868d95;--quarantined:#cc79a7;--series-1:#d55e00;\
    --series-2:#009e73;--series-3:#0072b2;--good-ground:#fff;--bad-ground:#fff}
    body{max-width:none;padding:0;font-size:10pt}
    thead{display:table-header-group}thead th{position:static}
    tr,li,figure,img,svg,.card,pre{break-inside:avoid}
    h1,h2,h3,h4,caption,summary{break-after:avoid}
    th[aria-sort] button{text-decoration:none}
    th button,.card{border-color:#777}th button{border:0;padding:0;min-height:0}
    .controls{display:none!important}
    a[href]::after{content:" (" attr(href) ")";font-size:.8em}
    a[href^="#"]::after{content:""}
    svg,.state::before{print-color-adjust:exact;-webkit-print-color-adjust:exact}
    }

    """
}

extension PageStyle {
  /// The common style for a night of which captures were judged: their table has a column more. Pages of other
  /// nights stay as they are.
  static let judgedNight = PageStyle(
    text: common.text + """
      @media screen and (min-width:40rem){
      #captures.judged tr{grid-template-columns:9.5rem minmax(0,2fr) minmax(0,1.2fr) minmax(0,1fr) \
      5.5rem 7.5rem 6.5rem 5rem}
      }
      @media (max-width:39.99rem){
      #captures td:nth-child(8)::before{content:"Quality"}
      }
      #captures td[data-quality=poor]{font-weight:600}
      #devices td p{margin:0}

      """)
}

extension PageScript {
  /// The script of every page. Without it nothing is lost: tables stand in the order of the JSON, folded
  /// parts open by themselves.
  ///
  /// * `table#captures`: a `button` in a `th` sorts by its column (`data-value` of a cell, else its text;
  ///   numbers as numbers; empty cells last), a second press turns the order round. `aria-sort` says how.
  /// * `.controls[hidden]` appear: `input[data-filter=text]` and `button[data-filter-state]` (values are
  ///   states separated by blanks, empty: all) leave rows out; `.count` in a button is how many of the rows
  ///   that match the text are in its states, `#shown` says how many are left.
  /// * `#announcement` (`aria-live`) says what was done.
  /// * `#age` (`data-made`, ISO 8601; `data-interval`, seconds): `#page-age` says how long ago the page was made.
  ///   After twice the interval the `h1` says that it is out of date, and `#said` what it was.
  /// * Folded parts are opened for printing and closed again after it.
  static let common = PageScript(
    text: """
      "use strict";
      (() => {
        const closed = [];
        addEventListener("beforeprint", () => {
          for (const part of document.querySelectorAll("details:not([open])")) {
            part.open = true;
            closed.push(part);
          }
        });
        addEventListener("afterprint", () => {
          for (const part of closed.splice(0)) part.open = false;
        });

        const age = document.getElementById("age");
        const made = age ? Date.parse(age.dataset.made) : NaN;
        if (Number.isFinite(made)) {
          const interval = Number(age.dataset.interval) || 0;
          const count = (number, word) => number + " " + word + (number === 1 ? "" : "s");
          const words = (seconds) => {
            const minutes = Math.floor(seconds / 60);
            if (minutes < 1) return "just now";
            if (minutes < 90) return count(minutes, "minute") + " ago";
            if (minutes < 2880) return count(Math.floor(minutes / 60), "hour") + " ago";
            return count(Math.floor(minutes / 1440), "day") + " ago";
          };
          let isOld = false;
          const tick = () => {
            const seconds = (Date.now() - made) / 1000;
            const place = document.getElementById("page-age");
            if (place) place.textContent = ", " + words(seconds);
            if (isOld || interval <= 0 || seconds <= 2 * interval) return;
            isOld = true;
            const headline = document.querySelector("h1");
            const said = document.getElementById("said");
            if (said && headline) {
              said.textContent = "It said then: " + headline.textContent;
              said.hidden = false;
            }
            const text = "Not updated since " + age.dataset.madeText + ": is the watcher running?";
            if (headline) headline.textContent = text;
            document.title = "Not updated · " + document.title;
          };
          tick();
          setInterval(tick, 15000);
          document.addEventListener("visibilitychange", tick);
        }

        const table = document.getElementById("captures");
        const body = table && table.tBodies[0];
        if (!body) return;
        const rows = Array.from(body.rows);
        const live = document.getElementById("announcement");
        const say = (text) => { if (live) live.textContent = text; };

        const key = (row, column) => {
          const cell = row.cells[column];
          return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
        };
        const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });
        const sort = (head) => {
          const column = head.cellIndex;
          const down = head.getAttribute("aria-sort") === "ascending";
          const entries = rows.map((row, index) => ({ row, index, key: key(row, column) }));
          const full = entries.filter((entry) => entry.key !== "");
          const empty = entries.filter((entry) => entry.key === "");
          const isNumeric = full.every((entry) => Number.isFinite(Number(entry.key)));
          if (isNumeric) for (const entry of full) entry.key = Number(entry.key);
          const order = isNumeric ? (a, b) => a.key - b.key : (a, b) => collator.compare(a.key, b.key);
          const sign = down ? -1 : 1;
          full.sort((a, b) => sign * order(a, b) || a.index - b.index);
          const sorted = document.createDocumentFragment();
          for (const entry of full.concat(empty)) sorted.append(entry.row);
          body.append(sorted);
          for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
          head.setAttribute("aria-sort", down ? "descending" : "ascending");
          say("Sorted by " + head.textContent.trim() + ", " + (down ? "descending" : "ascending"));
        };
        for (const button of table.querySelectorAll("thead button")) {
          button.addEventListener("click", () => sort(button.closest("th")));
        }

        for (const part of document.querySelectorAll(".controls")) part.hidden = false;
        const field = document.querySelector("[data-filter=text]");
        const states = Array.from(document.querySelectorAll("[data-filter-state]"));
        const shown = document.getElementById("shown");
        const texts = rows.map((row) => (row.dataset.id + " " + row.textContent).toLowerCase());
        const filter = () => {
          const words = field ? field.value.toLowerCase().split(/\\s+/).filter(Boolean) : [];
          const chosen = states.find((button) => button.getAttribute("aria-pressed") === "true");
          const wanted = chosen ? chosen.dataset.filterState.split(" ").filter(Boolean) : [];
          const counts = new Map();
          let matching = 0;
          let left = 0;
          rows.forEach((row, index) => {
            const hasWords = words.every((word) => texts[index].includes(word));
            const values = [row.dataset.state].concat((row.dataset.also || "").split(" "));
            if (hasWords) {
              matching += 1;
              for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
            }
            row.hidden = !hasWords || (wanted.length > 0 && !values.some((value) => wanted.includes(value)));
            if (!row.hidden) left += 1;
          });
          for (const button of states) {
            const own = button.dataset.filterState.split(" ").filter(Boolean);
            const count = own.reduce((sum, state) => sum + (counts.get(state) || 0), 0);
            button.querySelector(".count").textContent = own.length > 0 ? count : matching;
          }
          const text = left + " of " + rows.length + (rows.length === 1 ? " capture" : " captures") + " shown";
          if (shown) shown.textContent = text;
          say(text);
        };
        if (field) field.addEventListener("input", filter);
        for (const button of states) {
          button.addEventListener("click", () => {
            for (const other of states) other.setAttribute("aria-pressed", String(other === button));
            filter();
          });
        }
      })();

      """)
}
