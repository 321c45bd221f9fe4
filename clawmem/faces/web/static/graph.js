/* The graph in the data that graph-data.js assigned: a drawing, its filters, and the same as a table.
   Text becomes text nodes and canvas text only, and links come from our own paths. */
"use strict";

(function () {
  const [ID, KIND, LABEL, LINK, TRUST, SINCE, UNTIL, X, Y] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const ROWS = 100;
  const FEW = 80;
  const MANY = 5000;
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
  const { nodes, edges } = window.clawmemGraphData;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const at = (id) => document.getElementById(id);
  const byId = new Map(nodes.map((node, number) => [node[ID], number]));
  const around = nodes.map(() => []);
  edges.forEach(([source, target], number) => {
    around[source].push(number);
    around[target].push(number);
  });
  const days = [...new Set(nodes.flatMap((node) => [node[SINCE], node[UNTIL]]).filter(Boolean))].sort();
  const graph = new graphology.MultiGraph();
  let renderer = null;
  let rowsShown = ROWS;
  let picked = startNode();

  function startNode() {
    const asked = byId.get(decodeURIComponent(location.hash.slice(1)));
    if (asked !== undefined) return asked;
    let best = 0;
    nodes.forEach((node, number) => {
      if (node[KIND] === "entity" && (nodes[best][KIND] !== "entity" || around[number].length > around[best].length)) best = number;
    });
    return best;
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
    made.append(element("i", ""), WORDS[kind]);
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
    const entities = nodes.filter((node) => node[KIND] === "entity");
    at("entities").append(...entities.map((node) => option(node[LABEL], "")));
    const trusts = [...new Set(nodes.map((node) => node[TRUST]).filter(Boolean))].sort();
    at("trust").append(...trusts.map((one) => option(one, one)));
    at("time").max = String(Math.max(0, days.length - 1));
    at("time").value = at("time").max;
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
      const found = nodes.findIndex((node) => node[KIND] === "entity" && node[LABEL] === name);
      if (found < 0) return;
      picked = found;
    }
    show(event.target.id === "centre" || event.target.id === "reach");
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
    const kept = within(fitting, usable);
    return { kept: kept, lines: edges.filter((edge) => kept.has(edge[0]) && kept.has(edge[1]) && usable(edge)) };
  }

  function within(fitting, usable) {
    const reach = at("reach").value;
    if (reach === "all") return new Set([...nodes.keys()].filter((number) => fitting[number]));
    const kept = new Set(nodes.length ? [picked] : []);
    let edge = [...kept];
    for (let step = 0; step < Number(reach); step += 1) {
      const next = [];
      for (const number of edge) {
        for (const line of around[number]) {
          if (!usable(edges[line])) continue;
          const other = edges[line][0] === number ? edges[line][1] : edges[line][0];
          if (!kept.has(other)) { kept.add(other); next.push(other); }
        }
      }
      edge = next;
    }
    return kept;
  }

  function show(moved) {
    const { kept, lines } = chosen();
    const degrees = new Map();
    for (const [source, target] of lines) {
      degrees.set(source, (degrees.get(source) || 0) + 1);
      degrees.set(target, (degrees.get(target) || 0) + 1);
    }
    at("status").textContent = kept.size + " of " + nodes.length + " nodes, " + lines.length + " edges.";
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
      renderer = new Sigma(graph, at("drawing"), { labelColor: { color: colours.text }, labelDensity: 0.6, allowInvalidContainer: true });
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
