// Run in the page by check_pages.py: sorts and filters table#captures; returns {problems, sortMs}.
const table = document.getElementById("captures");
if (!table || !table.tHead) return { problems: [], sortMs: null };
const problems = [];
const rows = () => Array.from(table.tBodies[0].rows);
const ids = rows().map((row) => row.dataset.id);
const key = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
};
const live = document.querySelector("[aria-live]");
let slowest = 0;
for (const head of Array.from(table.tHead.rows[0].cells)) {
  const button = head.querySelector("button");
  if (!button) continue;
  for (const way of ["ascending", "descending"]) {
    const start = performance.now();
    button.click();
    document.body.offsetHeight;
    slowest = Math.max(slowest, performance.now() - start);
    if (head.getAttribute("aria-sort") !== way) problems.push(`aria-sort is not ${way}`);
    if (table.querySelectorAll("[aria-sort]").length !== 1) problems.push("not one aria-sort");
    if (!live.textContent.includes(way)) problems.push("order is not announced");
    const keys = rows().map((row) => key(row, head.cellIndex)).filter((text) => text !== "");
    const isNumeric = keys.every((text) => Number.isFinite(Number(text)));
    const order = isNumeric
      ? (a, b) => Number(a) - Number(b)
      : new Intl.Collator("en", { numeric: true }).compare;
    for (let index = 1; index < keys.length; index += 1) {
      const step = order(keys[index - 1], keys[index]);
      if (way === "ascending" ? step > 0 : step < 0) {
        problems.push(`${head.textContent}: ${keys[index - 1]} before ${keys[index]}, ${way}`);
        break;
      }
    }
  }
}
if (rows().length !== ids.length || new Set(rows().map((row) => row.dataset.id)).size !== new Set(ids).size) {
  problems.push("rows were lost");
}
const left = () => rows().filter((row) => !row.hidden);
const choices = Array.from(document.querySelectorAll("[data-filter-state]"));
for (const choice of choices.slice().reverse()) {
  choice.click();
  const states = choice.dataset.filterState.split(" ").filter(Boolean);
  const wanted = rows().filter((row) => !states.length || states.includes(row.dataset.state) || states.includes(row.dataset.also)).length;
  if (left().length !== wanted) problems.push(`${choice.textContent}: ${left().length} shown, not ${wanted}`);
  if (Number(choice.querySelector(".count").textContent) !== wanted) problems.push(`count of ${choice.textContent}`);
  if (choice.getAttribute("aria-pressed") !== "true") problems.push("aria-pressed");
}
const field = document.querySelector("[data-filter=text]");
if (field && ids.length) {
  field.value = ids[0];
  field.dispatchEvent(new Event("input"));
  if (!left().some((row) => row.dataset.id === ids[0])) problems.push("the text of an id does not find it");
  if (!document.getElementById("shown").textContent.startsWith(`${left().length} of ${ids.length}`)) {
    problems.push("the number shown is wrong");
  }
  field.value = "\u0001 no such text";
  field.dispatchEvent(new Event("input"));
  if (left().length) problems.push("a text that is nowhere leaves rows");
  field.value = "";
  field.dispatchEvent(new Event("input"));
  if (left().length !== ids.length) problems.push("rows stay away");
}
return { problems: Array.from(new Set(problems)), sortMs: slowest };
