// Run in the page by check_pages.py; returns a list of what is wrong, in words.
const options = arguments[0];
const problems = [];
const say = (text) => problems.push(text);
const name = (element) => {
  const text = (element.textContent || "").trim().slice(0, 40);
  return element.tagName.toLowerCase() + (element.id ? "#" + element.id : "")
    + (element.getAttribute("class") ? "." + element.getAttribute("class") : "") + " '" + text + "'";
};
const isSeen = (element) => {
  if (!element.checkVisibility({ visibilityProperty: true })) return false;
  for (let part = element; part; part = part.parentElement) {
    if (part.classList.contains("only-for-readers")) return false;
  }
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
};

// Width: nothing sticks out.
const width = document.scrollingElement.scrollWidth;
if (width > innerWidth) {
  const wide = Array.from(document.querySelectorAll("body *")).find(
    (element) => isSeen(element) && element.getBoundingClientRect().right > innerWidth + 1);
  say(`overflow: ${width} > ${innerWidth} by ${wide ? name(wide) : "?"}`);
}

// Structure.
if (document.querySelectorAll("h1").length !== 1) say("not one h1");
let level = 0;
for (const heading of document.querySelectorAll("h1,h2,h3,h4,h5,h6")) {
  const own = Number(heading.tagName[1]);
  if (own > level + 1) say(`heading level ${own} after ${level}: ${name(heading)}`);
  level = own;
}
if (!document.documentElement.lang) say("no lang");
if (!document.title) say("no title");
if (!document.querySelector("meta[name=viewport]")) say("no viewport");
const ids = new Map();
for (const element of document.querySelectorAll("[id]")) {
  if (ids.has(element.id)) say(`id ${element.id} twice`);
  ids.set(element.id, element);
}
for (const attribute of ["for", "aria-labelledby", "aria-describedby", "aria-controls"]) {
  for (const element of document.querySelectorAll(`[${attribute}]`)) {
    for (const id of element.getAttribute(attribute).split(" ")) {
      if (!ids.has(id)) say(`${attribute} names ${id}, which is not there`);
    }
  }
}
for (const table of document.querySelectorAll("table")) {
  if (!table.caption || !table.caption.textContent.trim()) say("table without caption");
  for (const head of table.querySelectorAll("th")) {
    if (!head.scope) say(`th without scope: ${name(head)}`);
  }
}

// Pictures and names.
for (const picture of document.images) {
  if (!(picture.naturalWidth > 0)) say(`picture does not load: ${name(picture)}`);
  if (!(picture.alt || "").trim()) say("picture without a name");
}
for (const drawing of document.querySelectorAll("svg")) {
  if (drawing.closest("[aria-hidden=true]")) continue;
  if (drawing.parentElement.closest("svg")) continue;
  const label = drawing.getAttribute("aria-label")
    || (drawing.getAttribute("aria-labelledby") && "named") || drawing.querySelector("title")?.textContent;
  if (drawing.getAttribute("role") !== "img" || !label) say("drawing without a name");
}
const controlsOfPage = Array.from(document.querySelectorAll("a,button,summary,input,select"));
for (const control of controlsOfPage.slice(0, options.most || 4000)) {
  const label = control.getAttribute("aria-label") || control.textContent.trim()
    || control.querySelector("img")?.alt
    || (control.id && document.querySelector(`label[for="${CSS.escape(control.id)}"]`)?.textContent);
  if (!label) say(`control without a name: ${name(control)}`);
  if (!isSeen(control)) continue;
  const box = control.getBoundingClientRect();
  if (box.width < 24 || box.height < 24) {
    say(`target of ${box.width.toFixed(1)}x${box.height.toFixed(1)}: ${name(control)}`);
  }
}

// Nothing made from names.
for (const element of options.whole ? document.querySelectorAll("*") : []) {
  for (const attribute of element.attributes) {
    const key = attribute.name.toLowerCase();
    if (key.startsWith("on") || key === "style" || key === "srcdoc") say(`attribute ${key}`);
    if (key === "src" && !attribute.value.startsWith("data:image/")) say(`src ${attribute.value}`);
    if (key.endsWith("href")) {
      const isIcon = element.tagName === "LINK" && attribute.value.startsWith("data:image/");
      if (!isIcon && !attribute.value.startsWith("./") && !attribute.value.startsWith("#")) {
        say(`href ${attribute.value}`);
      }
    }
  }
}
if (document.querySelectorAll("script").length > 1) say("more than one script");
for (const tag of ["iframe", "object", "embed", "form", "base"]) {
  if (document.querySelector(tag)) say(`element ${tag}`);
}
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

// Contrast of all text that is seen.
const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const parse = (color) => {
  const parts = (color.match(/[\d.]+/g) || []).map(Number);
  return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : color === "transparent" ? 0 : 1 };
};
const luminance = ([r, g, b]) =>
  0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
const ground = (element) => {
  for (let part = element; part; part = part.parentElement) {
    const color = parse(getComputedStyle(part).backgroundColor);
    if (color.alpha > 0.99) return color.rgb;
  }
  return [255, 255, 255];
};
const seen = new Set();
let left = options.most || 4000;
while (walker.nextNode()) {
  const node = walker.currentNode;
  if (controls.test(node.data)) say(`control character in ${name(node.parentElement)}`);
  const element = node.parentElement;
  if (!node.data.trim() || seen.has(element) || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
  seen.add(element);
  if (left-- <= 0) break;
  if (!isSeen(element)) continue;
  const style = getComputedStyle(element);
  const color = parse(element.closest("svg") ? style.fill : style.color);
  const [a, b] = [luminance(color.rgb), luminance(ground(element))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < 4.5) say(`contrast ${contrast.toFixed(2)}: ${name(element)}`);
  if (parseFloat(style.fontSize) < 12) say(`text of ${style.fontSize}: ${name(element)}`);
}
return Array.from(new Set(problems)).slice(0, 40);
