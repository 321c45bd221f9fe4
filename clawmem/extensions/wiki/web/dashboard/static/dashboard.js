/* The login by the address, the way back in, and the events of sessions. Text becomes text nodes only. */
"use strict";

(function () {
  const SHOWN = 30;
  const AGAIN = 5000;
  const AREA = "clawmem-area";
  const AN_AREA = /^\/[A-Za-z0-9_-]{16,}\/$/;
  const at = (id) => document.getElementById(id);
  const root = new URL(document.currentScript.src).pathname.replace(/static\/dashboard\.js$/, "");

  /* The pages behind the login have an address that only this browser knows. It is kept for this origin, which has the
     port, so that the login page can lead the browser back. A cookie would go to every port of this host. */
  function comeBack() {
    let kept = null;
    try {
      if (root !== "/") return localStorage.setItem(AREA, root);
      kept = localStorage.getItem(AREA);
      if (location.pathname.startsWith(kept)) localStorage.removeItem(AREA);
    } catch {
      return undefined;  // the browser keeps nothing for this page
    }
    return AN_AREA.test(kept) && !location.pathname.startsWith(kept) ? location.replace(kept) : undefined;
  }

  function logIn() {
    const given = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!at("login") || !given) return comeBack();
    history.replaceState(null, "", location.pathname);
    at("token").value = given;
    at("login").submit();
  }

  function element(name, text, className) {
    const made = document.createElement(name);
    made.textContent = text;
    made.dir = "auto";
    if (className) made.className = className;
    return made;
  }

  function row(one) {
    const made = element("li", "", "row");
    const first = document.createElement("p");
    first.append(element("strong", one.agent), " ", element("span", one.state, "tag " + one.state), " ", element("span", one.about));
    made.append(first, ...one.lines.map((line) => element("p", line)), element("p", one.details, "meta"));
    return made;
  }

  function happened(one) {
    const about = one.event === "commit" ? one.agent : [one.agent, one.session].filter(Boolean).join(", ");
    const said = one.text || one.summary || one.task || one.what || "";
    return element("li", one.at.slice(0, 10) + " " + one.at.slice(11, 16) + " " + one.event + ", " + about + (said ? ": " + said : ""));
  }

  function changed(message) {
    const news = JSON.parse(message.data);
    at("rows").replaceChildren(...news.sessions.map(row));
    at("rows").hidden = news.sessions.length === 0;
    at("no-sessions").hidden = news.sessions.length > 0;
    at("events").prepend(...news.events.map(happened).reverse());
    while (at("events").children.length > SHOWN) at("events").lastChild.remove();
    at("happenings").hidden = at("events").children.length === 0;
    at("live").textContent = "Live.";
  }

  function follow() {
    const live = at("live");
    if (!live) return;
    let source = null;

    function listen() {
      if (document.hidden || source) return;
      source = new EventSource(live.dataset.events);
      source.addEventListener("change", changed);
      source.addEventListener("end", () => { rest(); live.textContent = "The dashboard has ended."; });
      source.addEventListener("error", () => {
        live.textContent = "Not live: the dashboard does not answer.";
        if (source && source.readyState === EventSource.CLOSED) { rest(); setTimeout(listen, AGAIN); }
      });
    }

    function rest() {
      if (source) source.close();
      source = null;
    }

    /* A browser opens only six connections to one server: a page that nobody sees needs none. */
    document.addEventListener("visibilitychange", () => { if (document.hidden) rest(); else listen(); });
    window.addEventListener("pagehide", rest);
    listen();
  }

  logIn();
  window.addEventListener("hashchange", logIn);
  follow();
})();
