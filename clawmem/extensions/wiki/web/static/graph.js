/* The graph of a site: a drawing, its filters, and the same as a table. The entities are in graph.js of the data; the
   facts of an entity are loaded when they are needed.
   Text becomes text nodes and canvas text only, and links come from our own paths. */
"use strict";

(function () {
  const [ID, KIND, LABEL, LINK, TRUST, SINCE, UNTIL, X, Y] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const ROWS = 100;
  const FEW = 80;
  const MANY = 200;
  const WORDS = {
    entity: "entities", fact: "facts", decision: "decisions",
    about: "is about", mentions: "mentions", rests_on: "rests on", contradicts: "contradicts", replaces: "replaces",
  };
  const KINDS = ["entity", "fact", "decision"];
  const RELATIONS = ["mentions", "rests_on", "contradicts", "replaces"];
  const LIGHT = {
    entity: "#0b57a4", fact: "#7a828b", decision: "#8a4b08",
    about: "#d4d8dd", mentions: "#9fb4cc", rests_on: "#2c7a3f", contradicts: "#b3261e", replaces: "#8a4b08", text: "#1c1f23",
  };
  const DARK = {
    entity: "#8ab8f5", fact: "#8b939c", decision: "#e0a458",
    about: "#3a4047", mentions: "#52647a", rests_on: "#6cc081", contradicts: "#f2857d", replaces: "#e0a458", text: "#e8eaed",
  };
  const PAGES = 60;
  const DRAWN = 10000;
  const ANGLE = Math.PI * (3 - Math.sqrt(5));
  const [PATH, TITLE, KEY, SIZE, LEFT, TOP] = [0, 1, 2, 3, 4, 5];
  const { entities, links } = window.clawmemGraph;
  const total = entities.reduce((sum, entity) => sum + entity[SIZE], 0);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const at = (id) => document.getElementById(id);
  const byId = new Map(entities.map((entity, number) => [entity[PATH], number]));
  const nodes = entities.map((entity) => [entity[PATH], "entity", entity[TITLE], entity[PATH], null, null, null, entity[LEFT], entity[TOP]]);
  const around = nodes.map(() => []);
  const edges = [];
  const edgeKeys = new Set();
  const loaded = new Map();
  const graph = new graphology.MultiGraph();
  let days = [];
  let renderer = null;
  let rowsShown = ROWS;
  let turn = 0;
  let picked = startNode();

  /* The entity in the address, else the one with most nodes. */
  function startNode() {
    const asked = byId.get(decodeURIComponent(location.hash.slice(1)));
    if (asked !== undefined) return asked;
    let best = 0;
    entities.forEach((entity, number) => { if (entity[SIZE] > entities[best][SIZE]) best = number; });
    return best;
  }

  /* The facts of an entity, those that lead to it, and their edges. Places are those of a sunflower's seeds. */
  function take(data) {
    const middle = byId.get(data.path);
    const [, , , , left, top] = entities[middle];
    let seed = 0;
    const numbers = data.facts.map(([id, kind, label, home, trust, since, until]) => {
      const own = home === null;
      if (own) seed += 1;
      const [step, angle] = [Math.sqrt(seed), seed * ANGLE];
      const path = own ? data.path : home;
      const node = [id, kind, label, path ? path + "#" + id : null, trust, since, until, left + step * Math.cos(angle), top + step * Math.sin(angle)];
      const known = byId.get(id);
      if (known === undefined) {
        byId.set(id, nodes.length);
        nodes.push(node);
        around.push([]);
      } else if (own) nodes[known] = node;
      const number = byId.get(id);
      if (path && byId.has(path)) join("about", number, byId.get(path));
      return number;
    });
    const end = (one) => (typeof one === "number" ? numbers[one] : byId.get(one));
    for (const [kind, source, target] of data.edges) {
      if (end(source) !== undefined && end(target) !== undefined) join(kind, end(source), end(target));
    }
  }

  function join(kind, source, target) {
    const key = kind + " " + source + " " + target;
    if (edgeKeys.has(key)) return;
    edgeKeys.add(key);
    around[source].push(edges.length);
    around[target].push(edges.length);
    edges.push([source, target, kind]);
  }

  /* Load the data of some entities and of the pages that mention them. Returns how many were left out. */
  async function load(numbers, most) {
    const wanted = new Set();
    let left = 0;
    const want = (number) => {
      if (loaded.has(number) || wanted.has(number)) return;
      if (loaded.size + wanted.size < most) wanted.add(number);
      else left += 1;
    };
    const fetched = async () => {
      const found = await Promise.all([...wanted].map((number) => clawmemData.page(entities[number][KEY])));
      [...wanted].forEach((number, at) => {
        loaded.set(number, found[at] ? found[at].beside.map((path) => byId.get(path)) : []);
        if (found[at]) take(found[at]);
      });
      wanted.clear();
    };
    numbers.forEach(want);
    await fetched();
    numbers.flatMap((number) => loaded.get(number) || []).forEach((number) => { if (number !== undefined) want(number); });
    await fetched();
    return left;
  }

  /* Load what lies within so many steps of the picked node. */
  async function loadAround(reach) {
    if (!entities.length) return 0;
    if (reach === "entities") {
      links.forEach(([source, target]) => join("mentions", source, target));
      return 0;
    }
    if (reach === "all") return load([...entities.keys()], Infinity);
    let left = await load([home(picked)], PAGES);
    for (let step = 2; step < Number(reach); step += 1) {
      const near = within(nodes.map(() => true), () => true, step);
      left = await load([...new Set([...near].map(home))].filter((number) => number !== undefined), PAGES);
    }
    return left;
  }

  function home(number) {
    return number < entities.length ? number : byId.get((nodes[number][LINK] || "").split("#")[0]);
  }

  function element(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    made.dir = "auto";
    return made;
  }

  function box(value) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "checkbox";
    input.value = value;
    input.checked = true;
    label.append(input, " " + WORDS[value]);
    return label;
  }

  function sample(kind) {
    const made = document.createElement("li");
    const colour = element("i", "");
    if (RELATIONS.includes(kind)) colour.className = "line";
    made.append(colour, WORDS[kind]);
    return made;
  }

  function option(value, text) {
    const made = element("option", text);
    made.value = value;
    return made;
  }

  function short(text) {
    return text.length > 60 ? text.slice(0, 59) + "\u2026" : text;
  }

  function setUp() {
    at("kinds").append(...[...KINDS, ...RELATIONS].map(box));
    at("entities").append(...entities.map((entity) => option(entity[TITLE], "")));
    if (total > DRAWN) at("reach").querySelector("[value=all]").remove();
    at("legend").append(...[...KINDS, ...RELATIONS].map(sample));
    at("centre").value = nodes.length ? nodes[picked][LABEL] : "";
    at("controls").addEventListener("submit", (event) => event.preventDefault());
    at("controls").addEventListener("input", changed);
    at("more").addEventListener("click", () => { rowsShown += ROWS; show(false); });
    window.addEventListener("hashchange", () => {
      picked = startNode();
      at("centre").value = nodes[picked][LABEL];
      show(true);
    });
    dark.addEventListener("change", () => show(false));
  }

  function changed(event) {
    rowsShown = ROWS;
    if (event.target.id === "centre") {
      const name = at("centre").value;
      const found = entities.findIndex((entity) => entity[TITLE] === name);
      if (found < 0) return;
      picked = found;
    }
    show(event.target.id === "centre" || event.target.id === "reach");
  }

  /* The days and trusts that the filters offer: those of all nodes that are loaded. */
  function offer() {
    const last = Number(at("time").value) === Number(at("time").max);
    const day = days[Number(at("time").value)];
    days = [...new Set(nodes.flatMap((node) => [node[SINCE], node[UNTIL]]).filter(Boolean))].sort();
    at("time").max = String(Math.max(0, days.length - 1));
    at("time").value = last || !days.includes(day) ? at("time").max : String(days.indexOf(day));
    const offered = new Set([...at("trust").options].map((one) => one.value));
    const trusts = [...new Set(nodes.map((node) => node[TRUST]).filter(Boolean))].sort();
    at("trust").append(...trusts.filter((one) => !offered.has(one)).map((one) => option(one, one)));
  }

  /* The nodes and edges that the filters leave. */
  function chosen() {
    const wanted = new Set([...at("kinds").querySelectorAll("input:checked")].map((one) => one.value));
    const trust = at("trust").value;
    const day = days.length ? days[Number(at("time").value)] : "";
    const last = Number(at("time").value) === days.length - 1;
    at("day").textContent = day || "any day";
    const fits = (node) =>
      wanted.has(node[KIND]) &&
      (!trust || !node[TRUST] || node[TRUST] === trust) &&
      (!node[SINCE] || node[SINCE] <= day || last) &&
      (!node[UNTIL] || node[UNTIL] > day || last);
    const fitting = nodes.map(fits);
    const usable = ([source, target, kind]) => fitting[source] && fitting[target] && (kind === "about" || wanted.has(kind));
    const reach = at("reach").value;
    if (reach === "entities") {
      const kept = new Set([...entities.keys()].filter((number) => fitting[number]));
      return { kept: kept, lines: edges.filter((edge) => kept.has(edge[0]) && kept.has(edge[1]) && usable(edge)) };
    }
    const kept = reach === "all" ? new Set([...nodes.keys()].filter((number) => fitting[number])) : within(fitting, usable, Number(reach));
    return { kept: kept, lines: edges.filter((edge) => kept.has(edge[0]) && kept.has(edge[1]) && usable(edge)) };
  }

  /* The nodes within some steps of the picked one, at most as many as can be drawn. */
  function within(fitting, usable, reach) {
    const kept = new Set(nodes.length ? [picked] : []);
    let edge = [...kept];
    for (let step = 0; step < reach; step += 1) {
      const next = [];
      for (const number of edge) {
        for (const line of around[number]) {
          if (!usable(edges[line])) continue;
          const other = edges[line][0] === number ? edges[line][1] : edges[line][0];
          if (!kept.has(other) && kept.size < DRAWN) { kept.add(other); next.push(other); }
        }
      }
      edge = next;
    }
    return kept;
  }

  async function show(moved) {
    turn += 1;
    const own = turn;
    const left = await loadAround(at("reach").value);
    if (own !== turn) return;
    offer();
    const { kept, lines } = chosen();
    const degrees = new Map();
    for (const [source, target] of lines) {
      degrees.set(source, (degrees.get(source) || 0) + 1);
      degrees.set(target, (degrees.get(target) || 0) + 1);
    }
    const more = left ? " The facts of " + left + " further pages are not loaded." : "";
    at("status").textContent = kept.size + " of " + total + " nodes, " + lines.length + " edges." + more;
    table(kept, degrees);
    draw(kept, lines, moved);
  }

  function table(kept, degrees) {
    const order = [...kept].sort((one, other) => (degrees.get(other) || 0) - (degrees.get(one) || 0) || one - other);
    at("rows").replaceChildren(...order.slice(0, rowsShown).map((number) => row(nodes[number], degrees.get(number) || 0)));
    at("more").hidden = order.length <= rowsShown;
  }

  function row(node, degree) {
    const made = document.createElement("tr");
    const name = document.createElement("td");
    const label = element(node[LINK] ? "a" : "span", node[LABEL]);
    if (node[LINK]) label.setAttribute("href", node[LINK]);
    name.append(label);
    made.append(name, ...[node[KIND], node[SINCE] || "", node[UNTIL] || "", node[TRUST] || "", String(degree)].map((text) => element("td", text)));
    return made;
  }

  function draw(kept, lines, moved) {
    const colours = dark.matches ? DARK : LIGHT;
    const legend = [...at("legend").children];
    [...KINDS, ...RELATIONS].forEach((kind, number) => { legend[number].firstChild.style.backgroundColor = colours[kind]; });
    graph.clear();
    for (const number of kept) {
      const node = nodes[number];
      const size = number === picked ? 10 : node[KIND] === "entity" ? Math.min(8, 3 + Math.log2(1 + around[number].length)) : 3;
      graph.addNode(number, {
        x: node[X], y: node[Y], label: short(node[LABEL]), size: size, color: colours[node[KIND]], forceLabel: number === picked,
      });
    }
    for (const [source, target, kind] of lines) {
      graph.addEdge(source, target, { color: colours[kind], size: kind === "contradicts" ? 2.5 : 1, type: kind === "about" ? "line" : "arrow" });
    }
    if (renderer === null) start(colours);
    if (renderer === null) return;
    renderer.setSetting("labelColor", { color: colours.text });
    renderer.setSetting("labelRenderedSizeThreshold", kept.size <= FEW ? 0 : 6);
    renderer.setSetting("hideEdgesOnMove", lines.length > MANY);
    renderer.refresh();
    if (moved) renderer.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
  }

  function start(colours) {
    try {
      renderer = new Sigma(graph, at("drawing"), { nodeProgramClasses: { circle: Sigma.rendering.NodePointProgram }, labelColor: { color: colours.text }, labelDensity: 0.6, allowInvalidContainer: true });
    } catch (error) {
      at("drawing").hidden = true;
      at("status").textContent += " This browser cannot draw it; the table says the same.";
      return;
    }
    renderer.on("clickNode", ({ node }) => {
      picked = Number(node);
      at("centre").value = nodes[picked][LABEL];
      show(true);
    });
    renderer.on("doubleClickNode", ({ node, event }) => {
      event.preventSigmaDefault();
      if (nodes[Number(node)][LINK]) location.href = nodes[Number(node)][LINK];
    });
  }

  setUp();
  show(true);
})();
