// Written by `clawmem setup opencode`: gives the agent what clawmem knows, and hands each turn to clawmem.
import { spawn, spawnSync } from "node:child_process";

const START = {start};
const PROMPT = {prompt};
const INGEST = {ingest};
const END = {end};
const LIMIT = 5000;

const run = ([program, ...words], input) =>
  (spawnSync(program, words, { input, timeout: LIMIT, encoding: "utf8" }).stdout ?? "").trim();
const words = (parts) => parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text);

export const Clawmem = async ({ client, directory }) => {
  const given = new Map();
  const left = new Map();
  const call = (id, prompt) => JSON.stringify({ session_id: id, cwd: directory, prompt });
  process.on("exit", () => {
    left.forEach((turns) => run(INGEST, turns));
    given.forEach((_, id) => run(END, call(id)));
  });
  return {
    "chat.message": async ({ sessionID: id }, { parts }) => {
      const before = given.get(id)?.[0] ?? run(START, call(id));
      given.set(id, [before, run(PROMPT, call(id, words(parts).join("\n")))]);
    },
    "experimental.chat.system.transform": async ({ sessionID: id }, output) => {
      output.system.push(...(given.get(id) ?? []).filter(Boolean));
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID;
      if (event.type !== "session.idle" || !given.has(id)) return;
      const path = { id };
      const [info, messages] = await Promise.all([client.session.get({ path }), client.session.messages({ path })]);
      const turns = JSON.stringify({ info: info.data, messages: messages.data });
      left.set(id, turns);
      const program = spawn(INGEST[0], INGEST.slice(1), { stdio: ["pipe", "ignore", "ignore"], timeout: LIMIT });
      program.on("close", () => left.get(id) === turns && left.delete(id));
      program.on("error", () => undefined);
      program.stdin.on("error", () => undefined);
      program.stdin.end(turns);
    },
  };
};
