// Written by `clawmem setup openclaw`: gives the agent what clawmem knows, and hands each turn to clawmem.
import { spawn, spawnSync } from "node:child_process";
import { homedir } from "node:os";

const START = {start};
const PROMPT = {prompt};
const INGEST = {ingest};
const END = {end};
const LIMIT = 5000;
// After a minute without a turn, or when the program ends, a model may read what was said.
const QUIET = 60000;
let quiet;
let ended = "";
const SPOKEN = { user: "user.message", assistant: "assistant.message", toolResult: "tool.result" };

function run(command, input) {
  return new Promise((resolve) => {
    const options = { cwd: homedir(), stdio: ["pipe", "pipe", "ignore"], timeout: LIMIT };
    const program = spawn(command[0], command.slice(1), options);
    let text = "";
    program.stdout.on("data", (part) => (text += part));
    program.on("error", () => resolve(""));
    program.on("close", () => resolve(text.trim()));
    program.stdin.on("error", () => undefined);
    program.stdin.end(input);
  });
}

function end() {
  if (ended) spawnSync(END[0], END.slice(1), { input: ended, cwd: homedir(), timeout: LIMIT });
  ended = "";
}

async function give(event, context) {
  const prompt = event.currentUserMessage ?? event.prompt;
  const call = JSON.stringify({ session_id: context.sessionId, cwd: homedir(), prompt });
  const before = (event.messages ?? []).length ? "" : await run(START, call);
  const found = await run(PROMPT, call);
  const text = [before, found].filter(Boolean).join("\n\n");
  return text ? { prependContext: text } : undefined;
}

async function take(event, context) {
  const all = event.messages ?? [];
  const turn = all.slice(all.map((one) => one.role).lastIndexOf("user"));
  const lines = turn
    .filter((message) => SPOKEN[message.role])
    .map((message) => JSON.stringify({
      traceSchema: "openclaw-trajectory",
      type: SPOKEN[message.role],
      sessionId: context.sessionId,
      data: { message },
    }));
  if (lines.length) await run(INGEST, lines.join("\n") + "\n");
  ended = JSON.stringify({ session_id: context.sessionId, cwd: homedir() });
  clearTimeout(quiet);
  quiet = setTimeout(end, QUIET);
  quiet.unref();
}

export default {
  id: "clawmem",
  name: "clawmem",
  description: "{about}",
  register(api) {
    api.on("before_prompt_build", give);
    api.on("agent_end", take);
    process.once("exit", end);
  },
};
