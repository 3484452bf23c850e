import Core

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
            const values = [row.dataset.state, row.dataset.also].filter(Boolean);
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
