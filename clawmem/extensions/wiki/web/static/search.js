/* Search in the words of a site. The words are in files by their first two characters, and only those of the query are
   loaded. MiniSearch finds a word in its file: as it is, by its beginning, or nearly. Text becomes text nodes only, and
   links come from our own paths. */
"use strict";

(function () {
  const MOST = 50;
  const LONGEST = 300;
  const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  const GAPS = /[\n\r\p{Z}\p{P}]+/u;
  const PLAIN = /^[a-z0-9]$/;
  const OPTIONS = {
    fields: ["text"],
    processTerm: (term) => term,
    tokenize: (text) => [text],
    searchOptions: { prefix: (term) => term.length > 1, fuzzy: (term) => (term.length > 4 ? 0.2 : false) },
  };
  const query = document.getElementById("query");
  const status = document.getElementById("status");
  const results = document.getElementById("results");
  const { entries, files } = window.clawmemSearch;
  const known = new Set(files);
  const indexes = new Map();
  let asked = 0;

  function element(name, text, className) {
    const made = document.createElement(name);
    made.textContent = text;
    made.dir = "auto";
    if (className) made.className = className;
    return made;
  }

  function wordsOf(text) {
    const folded = (word) => word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    return [...new Set(text.split(GAPS).map(folded))].filter(Boolean);
  }

  function fileOf(word) {
    if (!PLAIN.test(word[0])) return "u" + (word.codePointAt(0) >> 6).toString(16) + "_";
    return word[0] + (PLAIN.test(word[1] || "") ? word[1] : "_");
  }

  /* The index of one file: the words with their entries, each an entry's page and id. All statements count as equally
     long. */
  function indexOf(words) {
    const numbers = new Map();
    const ids = [];
    const numbered = (id) => {
      if (!numbers.has(id)) { numbers.set(id, ids.length); ids.push(id); }
      return numbers.get(id);
    };
    const index = words.map(([word, pages]) => [
      word,
      { 0: Object.fromEntries(Object.entries(pages).flatMap(([page, found]) => found.map((id) => [numbered(page + " " + id), 1]))) },
    ]);
    return MiniSearch.loadJS({
      documentCount: entries, nextId: ids.length, documentIds: { ...ids }, fieldIds: { text: 0 },
      fieldLength: Object.fromEntries(ids.map((_, number) => [number, [1]])), averageFieldLength: [1], storedFields: {},
      dirtCount: 0, index: index, serializationVersion: 2,
    }, OPTIONS);
  }

  /* What contains a word: scores of entries, and of pages whose title has it. An entry is the id of a fact, after a tilde
     if the fact is no current claim; nothing for the title of a page; or a star for its other names and its notes. */
  async function found(word) {
    const file = fileOf(word);
    const of = { entries: new Map(), pages: new Map() };
    if (!known.has(file)) return of;
    if (!indexes.has(file)) indexes.set(file, indexOf(await clawmemData.words(file) || []));
    for (const { id, score } of indexes.get(file).search(word)) {
      of.entries.set(id, score);
      if (id.endsWith(" ")) of.pages.set(id.slice(0, -1), score);
    }
    return of;
  }

  /* Entries that have every word, themselves or in the title of their page. A page is listed once. What is in conflict,
     in doubt or replaced comes after the rest. */
  async function ranked(words) {
    const all = await Promise.all(words.map(found));
    const scores = new Map();
    for (const id of new Set(all.flatMap((one) => [...one.entries.keys()]))) {
      const page = id.slice(0, id.indexOf(" "));
      const parts = all.map((one) => one.entries.get(id) || (one.pages.get(page) || 0) / 2);
      if (parts.every(Boolean)) scores.set(id, parts.reduce((sum, one) => sum + one, 0) * (id.endsWith(" ") ? 2 : 1));
    }
    for (const id of scores.keys()) if (id.endsWith(" *") && scores.has(id.slice(0, -1))) scores.delete(id);
    const late = (id) => Number(id.includes(" ~"));
    return [...scores].sort((one, other) => late(one[0]) - late(other[0]) || other[1] - one[1] || (one[0] < other[0] ? -1 : 1)).map(([id]) => id);
  }

  async function item(id) {
    const at = id.indexOf(" ");
    const [page, entry] = [await clawmemData.page(id.slice(0, at)), id.slice(at + 1)];
    if (page === null) return null;
    if (page.topics) return line(entry, (page.topics.find(([path]) => path === entry) || [entry, entry])[1], "topic");
    if (entry === "" || entry === "*") return line(page.path, page.title, page.kind);
    const fact = entry.startsWith("~") ? entry.slice(1) : entry;
    const [, , text, , trust, , , category, day, state, why] = page.facts.find((one) => one[0] === fact);
    if (category === "message") return line(page.path + "#" + fact, text, [trust, "message", plain(day)].join(", "));
    const from = trust === "user" ? "" : trust === "external" ? "from outside, unverified" : "from " + trust;
    return line(page.path + "#" + fact, text, [page.title, category, plain(day), from, state, why && "because: " + why].filter(Boolean).join(", "));
  }

  /* A day (ISO 8601) for people, as the pages write it. */
  function plain(day) {
    return String(Number(day.slice(8))) + " " + MONTHS[Number(day.slice(5, 7)) - 1] + " " + day.slice(0, 4);
  }

  /* A text with its words that begin as one of the query marked. */
  function marked(made, text) {
    const words = wordsOf(query.value);
    for (const part of text.split(/([\p{L}\p{N}]+)/u)) {
      const word = wordsOf(part)[0];
      made.append(word && words.some((one) => word.startsWith(one)) ? element("mark", part) : part);
    }
    return made;
  }

  function line(path, text, about) {
    const made = document.createElement("li");
    const link = marked(element("a", ""), text.length > LONGEST ? text.slice(0, LONGEST) + "\u2026" : text);
    link.setAttribute("href", path);
    made.append(link, " ", marked(element("span", "", "meta"), about));
    return made;
  }

  async function show() {
    asked += 1;
    const turn = asked;
    const words = wordsOf(query.value);
    const ids = words.length ? await ranked(words) : [];
    if (turn !== asked) return;
    const items = await Promise.all(ids.slice(0, MOST).map(item));
    if (turn !== asked) return;
    const named = (one) => one.firstChild.textContent.toLowerCase() === query.value.trim().toLowerCase();
    const shown = items.filter(Boolean);
    results.replaceChildren(...shown.filter(named), ...shown.filter((one) => !named(one)));
    results.hidden = !shown.length;
    const count = ids.length > MOST ? ids.length + " results, the best " + MOST + " shown" : ids.length + (ids.length === 1 ? " result" : " results");
    status.hidden = !words.length;
    status.textContent = ids.length || !words.length ? count + "." : "Nothing on this site has all of these words.";
  }

  document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
  query.addEventListener("input", show);
  query.value = new URLSearchParams(location.search).get("q") || "";
  if (location.pathname.endsWith("/search.html")) query.focus();
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== query) { event.preventDefault(); query.focus(); }
  });
  show();
})();
