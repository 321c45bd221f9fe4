/* Loads the data files of a site when they are needed. From file:// only scripts can be loaded, so each file assigns its
   value to a key of a global object. */
"use strict";

window.clawmemData = (function () {
  const NAME = /^data\/(pages|words)\/[0-9a-z_]+\.js$/;
  const waiting = new Map();
  const policy = window.trustedTypes
    ? window.trustedTypes.createPolicy("clawmem", { createScriptURL: checked })
    : { createScriptURL: checked };

  function checked(path) {
    if (!NAME.test(path)) throw new TypeError("not a data file: " + path);
    return path;
  }

  function load(path) {
    if (!waiting.has(path)) {
      waiting.set(path, new Promise((done) => {
        const script = document.createElement("script");
        script.src = policy.createScriptURL(path);
        script.addEventListener("load", done);
        script.addEventListener("error", done);
        document.head.append(script);
      }));
    }
    return waiting.get(path);
  }

  async function value(store, folder, key) {
    await load("data/" + folder + "/" + key + ".js");
    return window[store] && Object.hasOwn(window[store], key) ? window[store][key] : null;
  }

  return {
    page: (key) => value("clawmemPages", "pages", key),
    words: (key) => value("clawmemWords", "words", key),
  };
})();
