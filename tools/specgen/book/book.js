"use strict";

const root = document.currentScript.dataset.root;

// The scheme that the reader chose, before anything is painted; without a choice, that of the system.
const remembered = {
  get scheme() { try { return localStorage.getItem("assay-scheme"); } catch { return null; } },
  set scheme(name) { try { localStorage.setItem("assay-scheme", name); } catch { /* for this page alone */ } },
};
const show = scheme => { if (scheme) document.documentElement.dataset.theme = scheme; };
show(remembered.scheme);

function isDark() {
  return (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
}

// How well an entry of the index answers the words; 0 where one of them is missing.
function rank(entry, words, whole) {
  const name = entry.title.toLowerCase(), bare = name.replace(/^.*::/, ""), text = entry.text.toLowerCase();
  if (!words.every(word => name.includes(word) || text.includes(word) || entry.in.includes(word))) return 0;
  if (bare === whole || bare.split(/[ .]/)[0] === whole) return 5;
  if (bare.startsWith(whole)) return 4;
  if (name.includes(whole)) return 3;
  return words.every(word => name.includes(word)) ? 2 : 1;
}

function found(query) {
  const whole = query.trim().toLowerCase(), words = whole.split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  return searched.map(entry => ({ entry, rank: rank(entry, words, whole) })).filter(hit => hit.rank)
    .sort((a, b) => b.rank - a.rank || a.entry.title.length - b.entry.title.length || a.entry.title.localeCompare(b.entry.title));
}

function element(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

function startSearch(field, list) {
  const most = 40;
  let index;  // read when it is first asked
  const loaded = () => index ??= new Promise(done => document.head.append(Object.assign(document.createElement("script"), { src: `${root}search.js`, onload: done })));
  const links = () => [...list.querySelectorAll("a")];

  async function answer() {
    await loaded();
    const hits = found(field.value);
    list.replaceChildren(...hits.slice(0, most).map(({ entry }) => {
      const link = element("a", "", { href: root + entry.page });
      link.append(element("span", entry.title), element("small", entry.in.replaceAll("_", " ")));
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    if (!hits.length) list.append(element("li", "Nothing has all of these words.", { className: "empty" }));
    if (hits.length > most) list.append(element("li", `and ${hits.length - most} more`, { className: "empty" }));
    list.hidden = !field.value.trim();
  }

  function move(step) {
    const all = links(), at = all.indexOf(document.activeElement) + step;
    (at < 0 ? field : all[Math.min(at, all.length - 1)])?.focus();
  }

  field.addEventListener("focus", loaded);
  field.addEventListener("input", answer);
  field.form.addEventListener("submit", async event => { event.preventDefault(); await answer(); links()[0]?.click(); });
  field.form.addEventListener("keydown", event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); move(step); }
    if (event.key === "Escape") { list.hidden = true; field.blur(); }
  });
  document.addEventListener("click", event => { if (!field.form.contains(event.target)) list.hidden = true; });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) { event.preventDefault(); field.focus(); }
  });
}

document.addEventListener("DOMContentLoaded", () => {
  startSearch(document.getElementById("search"), document.getElementById("found"));
  document.getElementById("scheme").addEventListener("click", () => show(remembered.scheme = isDark() ? "light" : "dark"));
  if (matchMedia("(max-width: 64rem)").matches) document.querySelector(".menu").open = false;
  document.querySelector(".menu [aria-current]")?.scrollIntoView({ block: "nearest" });
});
