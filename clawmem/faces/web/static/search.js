/* Search in the data that search-data.js assigned. Text becomes text nodes only, and links come from our own paths. */
"use strict";

(function () {
  const MOST = 50;
  const CHUNK = 500;
  const query = document.getElementById("query");
  const status = document.getElementById("status");
  const results = document.getElementById("results");
  const rows = window.clawmemSearchData;
  const index = new MiniSearch({
    fields: ["title", "text"],
    processTerm: (term) => term.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase(),
    searchOptions: { boost: { title: 2 }, prefix: true, fuzzy: (term) => (term.length > 4 ? 0.2 : false), combineWith: "AND" },
  });
  let ready = 0;

  function element(name, text, className) {
    const made = document.createElement(name);
    made.textContent = text;
    made.dir = "auto";
    if (className) made.className = className;
    return made;
  }

  function item(row) {
    const [path, title, text, kind, day, trust] = row;
    const made = document.createElement("li");
    const link = element("a", kind !== null && day !== null ? text : title);
    link.setAttribute("href", path);
    const about = day === null ? kind : [title, kind, day, "from " + trust].join(", ");
    made.append(link, " ", element("span", about, "meta"));
    return made;
  }

  function show() {
    const words = query.value.trim();
    const found = words ? index.search(words) : [];
    results.replaceChildren(...found.slice(0, MOST).map((one) => item(rows[one.id])));
    const count = found.length > MOST ? found.length + " results, the best " + MOST + " shown" : found.length + " results";
    const part = ready < rows.length ? " So far, " + ready + " of " + rows.length + " entries are indexed." : "";
    status.textContent = (words ? count + "." : rows.length + " entries.") + part;
  }

  function grow() {
    const next = Math.min(ready + CHUNK, rows.length);
    for (let id = ready; id < next; id += 1) index.add({ id: id, title: rows[id][1], text: rows[id][2] });
    ready = next;
    if (ready < rows.length) setTimeout(grow, 0);
    if (ready === rows.length || ready % (CHUNK * 10) === 0) show();
  }

  document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
  query.addEventListener("input", show);
  query.value = new URLSearchParams(location.search).get("q") || "";
  query.focus();
  grow();
})();
