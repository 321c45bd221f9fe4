/* The graph of a site: a drawing of projects, people and decisions, its filters, and the same as a table. The entities
   are in graph.js of the data; the facts of an entity are loaded when they are needed.
   Text becomes text nodes and canvas text only, and links come from our own paths. */
"use strict";

(function () {
  const [ID, KIND, LABEL, LINK, TRUST, SINCE, UNTIL, X, Y] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const ROWS = 100;
  const SENTENCES = 8;
  const WORDS = {
    project: "projects", person: "people", entity: "other pages", decision: "decisions", fact: "sentences",
    about: "is about", mentions: "mentions", rests_on: "rests on", contradicts: "contradicts", replaces: "replaces",
  };
  const KINDS = ["entity", "decision", "fact"];
  const RELATIONS = ["mentions", "rests_on", "contradicts", "replaces"];
  const COLOURS = {
    project: "--accent", person: "--text", entity: "--quiet", decision: "--tone", fact: "--ended",
    about: "--ended", mentions: "--ended", rests_on: "--accent", contradicts: "--ask", replaces: "--changed",
  };
  const PAGES = 60;
  const DRAWN = 10000;
  // So many of the largest entities are on a map, each on so many square pixels of the drawing; and of the decisions of
  // each, of the picked one, and of each where there are many entities.
  const MAPPED = 40;
  const ROOM = 9000;
  const [DECISIONS, OF_PICKED, OF_MANY, MANY] = [4, 12, 1, 12];
  // So many nodes arrange themselves: each step looks at every pair of them.
  const ALIVE = 250;
  const STEPS = 240;
  // How many milliseconds that takes, however slow the browser draws.
  const MOVES = 1500;
  // A node with more ties than that is pulled no more by all of them. Pixels between two nodes, and around all; pages are
  // wider than high by that, for their names.
  const TIES = 3;
  const [GAP, PADDING, NAME] = [24, 56, 1.3];
  const LINE = 24;
  // With more lines than that, the plain ones are faint.
  const DENSE = 300;
  // And with more nodes than that, all are smaller.
  const CROWD = 60;
  // The part of a circle's square that no name may lie over.
  const ROUND = 0.8;
  const TODAY = new Date().toISOString().slice(0, 10);
  const ANGLE = Math.PI * (3 - Math.sqrt(5));
  const [PATH, TITLE, KEY, SIZE, LEFT, TOP] = [0, 1, 2, 3, 4, 5];
  const { entities, links } = window.clawmemGraph;
  const total = entities.reduce((sum, entity) => sum + entity[SIZE], 0);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
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
  let moving = 0;
  let focus = null;
  let mapped = new Set();
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
    if (reach === "map" || reach === "entities") links.forEach(([source, target]) => join("mentions", source, target));
    if (reach === "entities") return 0;
    if (reach === "map") {
      const largest = [...entities.keys()].sort((one, other) => entities[other][SIZE] - entities[one][SIZE] || one - other);
      const room = Math.round(at("drawing").clientWidth * at("drawing").clientHeight / ROOM);
      mapped = new Set([picked, ...largest].slice(0, Math.max(MANY, Math.min(room, entities.length > PAGES ? MAPPED : PAGES))));
      await load([...mapped], PAGES);
      return entities.length - Math.min(entities.length, mapped.size);
    }
    if (reach === "all") return load([...entities.keys()], Infinity);
    let left = await load([home(picked)], PAGES);
    for (let step = 2; step < Number(reach); step += 1) {
      const near = within(nodes.map(() => true), () => true, step);
      left = await load([...new Set([...near].map(home))].filter((number) => number !== undefined), PAGES);
    }
    return left;
  }

  function looks(node) {
    if (node[KIND] !== "entity") return node[KIND];
    return node[ID].includes("/people/") ? "person" : node[ID].startsWith("projects/") ? "project" : "entity";
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(COLOURS[name] || name).trim();
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
    input.checked = value !== "fact";
    label.append(input, " " + (value === "entity" ? "pages" : WORDS[value]));
    return label;
  }

  function sample(kind) {
    const made = document.createElement("li");
    const mark = element("i", "");
    if (RELATIONS.includes(kind)) mark.className = "line";
    mark.dataset.kind = kind;
    made.append(mark, WORDS[kind]);
    return made;
  }

  function option(value, text) {
    const made = element("option", text);
    made.value = value;
    return made;
  }

  function setUp() {
    at("kinds").append(...[...KINDS, ...RELATIONS].map(box));
    at("entities").append(...entities.map((entity) => option(entity[TITLE], "")));
    if (total > DRAWN) at("reach").querySelector("[value=all]").remove();
    at("legend").append(...["project", "person", "entity", "decision", ...RELATIONS].map(sample));
    at("centre").value = nodes.length ? nodes[picked][LABEL] : "";
    at("controls").addEventListener("submit", (event) => event.preventDefault());
    at("controls").addEventListener("input", changed);
    at("time").addEventListener("input", () => show(false));
    at("more").addEventListener("click", () => { rowsShown += ROWS; show(false); });
    window.addEventListener("hashchange", () => {
      picked = startNode();
      at("centre").value = nodes[picked][LABEL];
      tell();
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
      if (at("reach").value === "map") at("reach").value = "2";
      tell();
    }
    show(event.target.id === "centre" || event.target.id === "reach");
  }

  /* The days and trusts that the filters offer: those of all nodes that are loaded, and today. */
  function offer() {
    const day = days[Number(at("time").value)] || TODAY;
    days = [...new Set([TODAY, ...nodes.flatMap((node) => [node[SINCE], node[UNTIL]]).filter((one) => one && one < TODAY)])].sort();
    at("time").max = String(days.length - 1);
    at("time").value = String(days.indexOf(days.includes(day) ? day : TODAY));
    const offered = new Set([...at("trust").options].map((one) => one.value));
    const trusts = [...new Set(nodes.map((node) => node[TRUST]).filter(Boolean))].sort();
    at("trust").append(...trusts.filter((one) => !offered.has(one)).map((one) => option(one, one)));
  }

  /* The nodes and edges that the filters leave. */
  function chosen() {
    const wanted = new Set([...at("kinds").querySelectorAll("input:checked")].map((one) => one.value));
    const trust = at("trust").value;
    const day = days[Number(at("time").value)];
    at("day").textContent = day === TODAY ? "today" : day;
    const fits = (node) =>
      wanted.has(node[KIND]) &&
      (!trust || !node[TRUST] || node[TRUST] === trust) &&
      (!node[SINCE] || node[SINCE] <= day) && (!node[UNTIL] || node[UNTIL] > day);
    const fitting = nodes.map(fits);
    const usable = ([source, target, kind]) => fitting[source] && fitting[target] && (kind === "about" || wanted.has(kind));
    const reach = at("reach").value;
    const all = { all: nodes.length, entities: entities.length }[reach];
    const kept = reach === "map" ? onMap(fitting)
      : all === undefined ? within(fitting, usable, Number(reach)) : new Set([...Array(all).keys()].filter((number) => fitting[number]));
    return { kept: kept, lines: edges.filter((edge) => kept.has(edge[0]) && kept.has(edge[1]) && usable(edge)) };
  }

  /* The largest entities with their newest decisions, and what else is asked for of the picked one. */
  function onMap(fitting) {
    const counts = new Map();
    const few = (number) => {
      const own = home(number);
      counts.set(own, (counts.get(own) || 0) + 1);
      return mapped.has(own) && counts.get(own) <= (own === picked ? OF_PICKED : mapped.size > MANY ? OF_MANY : DECISIONS);
    };
    const facts = [...nodes.keys()].slice(entities.length).filter((number) => fitting[number]);
    facts.sort((one, other) => (nodes[other][SINCE] || "").localeCompare(nodes[one][SINCE] || ""));
    return new Set([...[...mapped].filter((number) => fitting[number]), ...facts.filter(few)]);
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
    const pages = [...kept].filter((number) => number < entities.length).length;
    const words = (number, one) => number + " " + one + (number === 1 ? "" : "s");
    const all = pages < entities.length ? " of " + entities.length + " pages, the largest first" : pages === 1 ? " page" : " pages";
    at("status").textContent = pages + all + "; " + words(kept.size - pages, "statement") + "; " + words(lines.length, "link") + "." + (left ? " Any other can be drawn by its name." : "");
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
    const drawn = new Set([...[...kept].map((number) => looks(nodes[number])), ...lines.map((line) => line[2])]);
    at("legend").querySelectorAll("i").forEach((mark) => {
      mark.style.backgroundColor = colour(mark.dataset.kind);
      mark.parentElement.hidden = !drawn.has(mark.dataset.kind);
    });
    const before = new Map(graph.mapNodes((node, { x, y }) => [node, { x: x, y: y }]));
    graph.clear();
    const scale = kept.size > ALIVE ? 0.5 : Math.min(kept.size > CROWD ? 0.85 : 1, 0.6 + at("drawing").clientWidth / 2000);
    for (const number of kept) {
      const node = nodes[number];
      const large = node[KIND] === "entity" ? Math.min(22, 11 + 1.5 * Math.log2(1 + around[number].length)) : node[KIND] === "decision" ? 6 : 4;
      const place = before.get(String(number)) || { x: node[X], y: node[Y] };
      graph.addNode(number, { ...place, label: node[LABEL], size: large * scale, color: colour(looks(node)), kind: node[KIND] });
    }
    for (const [source, target, kind] of lines) {
      graph.addEdge(source, target, { color: colour(kind === "mentions" && lines.length > DENSE ? "--line" : kind), size: kind === "contradicts" ? 2.5 : 1.2, type: kind === "about" || kind === "mentions" ? "line" : "arrow" });
    }
    if (renderer === null) start();
    if (renderer === null) return;
    renderer.refresh();
    if (moved) renderer.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
    arrange(kept.size);
  }

  /* Nodes push each other away, edges pull, and the middle holds all of it; the steps become smaller. The drawing is as
     wide as its frame. This is the method of Fruchterman and Reingold (1991). Where each leads to many, an edge pulls
     less, or all would be one heap; and in the end nodes that lie over each other are moved apart. */
  function arrange(count) {
    cancelAnimationFrame(moving);
    if (count < 2 || count > ALIVE) return;
    const ids = graph.nodes();
    const [wide, high] = [at("drawing").clientWidth, at("drawing").clientHeight];
    const spread = Math.sqrt(wide / high);
    const points = new Map(ids.map((id) => {
      const { x, y, size, kind } = graph.getNodeAttributes(id);
      return [id, { x: x, y: y, dx: 0, dy: 0, size: size, weight: kind === "entity" ? 1 : 0.4, ties: graph.degree(id) }];
    }));
    const list = [...points.values()];
    const pairs = graph.mapEdges((_, __, source, target) => [points.get(source), points.get(target)]);
    const [far, begun] = [10, performance.now()];
    let step = 0;

    function once() {
      step += 1;
      if (step === Math.round(0.6 * STEPS)) fill();
      if (step > 0.6 * STEPS) return separate();
      const most = 6 * (1 - step / STEPS) + 0.02;
      list.forEach((one, number) => {
        one.dx -= one.x / spread * 0.4;
        one.dy -= one.y * spread * 0.4;
        for (const other of list.slice(number + 1)) {
          const [x, y] = [one.x - other.x || 0.01, one.y - other.y || 0.01];
          const push = (far * far) / (x * x + y * y + 1) * one.weight * other.weight;
          one.dx += x * push; one.dy += y * push;
          other.dx -= x * push; other.dy -= y * push;
        }
      });
      for (const [one, other] of pairs) {
        const [x, y] = [one.x - other.x, one.y - other.y];
        const pull = Math.hypot(x, y) / far / 2 * Math.min(1, TIES / Math.min(one.ties, other.ties));
        one.dx -= x * pull; one.dy -= y * pull;
        other.dx += x * pull; other.dy += y * pull;
      }
      for (const one of list) {
        const length = Math.hypot(one.dx, one.dy) || 1;
        one.x += one.dx / length * Math.min(length, most);
        one.y += one.dy / length * Math.min(length, most);
        one.dx = one.dy = 0;
      }
    }

    /* Makes the drawing as wide and as high as its frame allows, which says its scale. */
    const frame = { x: 1, y: 1, scale: 1 };
    function fill() {
      const most = (key) => Math.max(...list.map((one) => Math.abs(one[key]))) || 1;
      const wider = (wide - 2 * PADDING) / most("x") / ((high - 2 * PADDING) / most("y"));
      list.forEach((one) => { one.x *= Math.max(1, wider); one.y *= Math.max(1, 1 / wider); });
      Object.assign(frame, { x: most("x"), y: most("y"), scale: (wide - 2 * PADDING) / 2 / most("x") });
    }

    /* Moves apart what lies over each other in the drawing. */
    function separate() {
      list.forEach((one, number) => {
        for (const other of list.slice(number + 1)) {
          const pages = one.weight + other.weight === 2;
          const [x, y] = [one.x - other.x || 0.01, one.y - other.y || 0.01];
          const apart = Math.hypot(pages && wide > high ? x / NAME : x, y);
          const lacks = (one.size + other.size + (pages ? GAP : 4)) / frame.scale - apart;
          if (lacks <= 0) continue;
          const [right, down] = [x / apart * lacks / 4, y / apart * lacks / 4];
          one.dx += right; one.dy += down;
          other.dx -= right; other.dy -= down;
        }
      });
      for (const one of list) {
        one.x = Math.max(-frame.x, Math.min(frame.x, one.x + one.dx));
        one.y = Math.max(-frame.y, Math.min(frame.y, one.y + one.dy));
        one.dx = one.dy = 0;
      }
    }

    function put() {
      points.forEach(({ x, y }, id) => graph.mergeNodeAttributes(id, { x: x, y: y }));
    }

    function move() {
      const due = Math.min(STEPS, Math.ceil((performance.now() - begun) / MOVES * STEPS));
      while (step < due) once();
      put();
      if (step < STEPS) moving = requestAnimationFrame(move);
    }

    if (!still.matches) return move();
    while (step < STEPS) once();
    return put();
  }

  /* Labels, the important ones first: none lies over another or over a page, and none leaves the frame. */
  function labels() {
    const { width, height } = renderer.getDimensions();
    const context = renderer.getCanvases().labels.getContext("2d");
    const near = focus === null ? null : new Set([focus, ...graph.neighbors(focus)]);
    const drawn = graph.mapNodes((id, node) => ({ id, node, size: renderer.scaleSize(node.size), ...renderer.framedGraphToViewport(renderer.getNodeDisplayData(id)) }));
    const covered = (entity) => drawn.filter(({ node }) => (node.kind === "entity") === entity)
      .map(({ x, y, size }) => [x - size * ROUND, y - size * ROUND, x + size * ROUND, y + size * ROUND]);
    const [boxes, dots] = [covered(true), covered(false)];
    const rank = ({ id, node }) => (id === focus ? 99 : 0) + (node.kind === "entity" ? 50 : 0) + node.size;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const { id, node, x, y, size } of drawn.sort((one, other) => rank(other) - rank(one))) {
      if (near && !near.has(id)) continue;
      if (node.kind === "entity" && size > 8) {
        context.font = "650 " + Math.round(size * 0.8) + "px system-ui, sans-serif";
        context.fillStyle = colour("--ground");
        const words = node.label.split(/\s+/).filter(Boolean);
        context.fillText((words.length > 1 ? words[0][0] + words[words.length - 1][0] : node.label.slice(0, 1)).toUpperCase(), x, y + 1);
      }
      if (node.kind === "fact" && id !== focus && String(picked) !== id) continue;
      context.font = (node.kind === "entity" ? "600 13px" : "12px") + " system-ui, sans-serif";
      const lines = wrapped(node.label);
      const [wide, high] = [Math.max(...lines.map((line) => context.measureText(line).width)) + 6, lines.length * 15 + 2];
      const places = [[x - wide / 2, y + size + 2], [x - wide / 2, y - size - 2 - high], [x + size + 3, y - high / 2], [x - size - 3 - wide, y - high / 2]];
      const clear = ([left, top], others) => others.every((box) => left >= box[2] || left + wide <= box[0] || top >= box[3] || top + high <= box[1]);
      const fits = (place) => place[0] >= 2 && place[1] >= 2 && place[0] + wide <= width - 2 && place[1] + high <= height - 2 && clear(place, boxes);
      // The name of a page rather lies over the dot of a decision than is missing.
      const place = places.find((one) => fits(one) && clear(one, dots)) || (node.kind === "entity" && places.find(fits));
      if (!place) continue;
      boxes.push([place[0], place[1], place[0] + wide, place[1] + high]);
      context.fillStyle = colour(node.kind === "entity" ? "--text" : "--quiet");
      context.strokeStyle = colour("--panel");
      context.lineWidth = 3;
      lines.forEach((line, number) => {
        const at = [line, place[0] + wide / 2, place[1] + 9 + 15 * number];
        context.strokeText(...at);
        context.fillText(...at);
      });
    }
  }

  function wrapped(text) {
    const lines = [""];
    for (const word of text.split(/\s+/)) {
      if (lines[lines.length - 1] && (lines[lines.length - 1] + " " + word).length > LINE) lines.push("");
      lines[lines.length - 1] = (lines[lines.length - 1] + " " + word).trim().slice(0, 2 * LINE);
    }
    return lines.length > 3 ? [...lines.slice(0, 2), lines[2] + "\u2026"] : lines;
  }

  /* What is picked, in sentences. */
  async function tell() {
    const node = nodes[picked];
    const page = node && picked < entities.length ? await clawmemData.page(entities[picked][KEY]) : null;
    if (node !== nodes[picked]) return;
    const title = document.createElement("h3");
    const link = element("a", node[LABEL]);
    if (node[LINK]) link.setAttribute("href", node[LINK]);
    title.append(link);
    const list = document.createElement("ul");
    const held = page ? page.facts.filter((one) => one[LINK] === null && one[9] === null && one[7] !== null) : [];
    list.append(...held.slice(0, SENTENCES).map((one) => element("li", one[LABEL])));
    const more = held.length > SENTENCES ? [element("p", held.length - SENTENCES + " more on its page.")] : [];
    at("picked").replaceChildren(title, list, ...more);
    at("picked").hidden = false;
  }

  function start() {
    const faint = (data) => ({ ...data, color: colour("--line") });
    try {
      renderer = new Sigma(graph, at("drawing"), {
        nodeProgramClasses: { circle: Sigma.rendering.NodePointProgram }, renderLabels: false, allowInvalidContainer: true,
        stagePadding: PADDING, defaultDrawNodeHover: () => undefined, hideEdgesOnMove: false,
        nodeReducer: (id, data) => (focus === null || id === focus || graph.areNeighbors(id, focus) ? data : faint(data)),
        edgeReducer: (id, data) => (focus === null || graph.hasExtremity(id, focus) ? data : faint(data)),
      });
    } catch (error) {
      at("drawing").hidden = true;
      at("status").textContent += " This browser cannot draw it; the table says the same.";
      at("drawing").closest("div.graph").nextElementSibling.hidden = false;
      return;
    }
    let held = null;
    renderer.on("afterRender", labels);
    const look = (id) => { focus = id; at("drawing").style.cursor = id ? "pointer" : ""; renderer.refresh({ skipIndexation: true }); };
    renderer.on("enterNode", ({ node }) => { if (held === null) look(node); });
    renderer.on("leaveNode", () => { if (held === null) look(null); });
    renderer.on("downNode", ({ node, preventSigmaDefault }) => { held = node; cancelAnimationFrame(moving); preventSigmaDefault(); });
    renderer.on("moveBody", ({ event, preventSigmaDefault }) => {
      if (held === null) return;
      if (!renderer.getCustomBBox()) renderer.setCustomBBox(renderer.getBBox());
      graph.mergeNodeAttributes(held, renderer.viewportToGraph(event));
      preventSigmaDefault();
    });
    const drop = () => { held = null; };
    renderer.on("upNode", drop);
    renderer.on("upStage", drop);
    renderer.on("clickNode", ({ node }) => {
      picked = Number(node);
      at("centre").value = nodes[picked][LABEL];
      tell();
      if (Number(at("reach").value)) show(true);
    });
    renderer.on("doubleClickNode", ({ node, event }) => {
      event.preventSigmaDefault();
      if (nodes[Number(node)][LINK]) location.href = nodes[Number(node)][LINK];
    });
  }

  if (entities.length) {
    setUp();
    show(true);
    if (byId.has(decodeURIComponent(location.hash.slice(1)))) tell();
  } else {
    document.querySelector(".graph").hidden = true;
    at("picked").append(element("p", "Nothing to draw yet. Each project and person is a point here, and each decision."), element("code", "clawmem remember 'Jane prefers tea.' --entity areas/people/jane"));
    at("picked").hidden = false;
  }
})();
