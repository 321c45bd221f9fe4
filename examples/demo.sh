#!/bin/sh
# The main job of clawmem on a conversation of some weeks: keep it, learn from it, ask, correct, look back.
# Needs Python with clawmem installed and git; no key, no network. Leaves its work in ./demo-vault.
set -eu
cd "$(dirname "$0")/.."
unset CLAWMEM_AGENT CLAWMEM_SESSION CLAWMEM_NOW CLAWMEM_SEED
CLAWMEM_VAULT=demo-vault
export CLAWMEM_VAULT
trap 'code=$?; [ $code -eq 0 ] || echo "demo.sh: the last command failed with exit code $code" >&2' EXIT

heading() {
    printf '\n%s\n' "--- $* ---"
}

# Print a command as one would type it, then run it.
run() {
    printf '\n$'
    for word in "$@"; do
        case $word in
            *[!A-Za-z0-9_./=-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$@"
}

# The id of the first fact that recall gives.
first_fact() {
    clawmem recall "$1" --limit 1 --json |
        "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["data"]["facts"][0]["id"])'
}
PYTHON=$(command -v python3 || command -v python)

heading "A new memory: a folder of plain text in a git repository of its own"
rm -rf demo-vault
run clawmem init demo-vault --inside-repository

heading "A conversation goes in, word for word"
run clawmem ingest examples/conversation.jsonl

heading "The agent that calls is the model: clawmem writes a task, the agent answers it (here with a recorded answer)"
printf '\n$ clawmem learn pending\n'
clawmem learn pending --quiet >demo-vault/.git/task.txt
sed -n '/^<events>$/,$p' demo-vault/.git/task.txt | head -n 5
printf '... %s lines: how to read, what is known, what was said, the form of the answer\n' "$(wc -l <demo-vault/.git/task.txt | tr -d ' ')"
for part in first second; do
    printf '\n$ clawmem learn pending | python3 examples/agent.py | clawmem learn apply -    (%s part)\n' "$part"
    clawmem learn pending --quiet | "$PYTHON" examples/agent.py >demo-vault/.git/answer.json
    clawmem learn apply demo-vault/.git/answer.json --quiet
done

heading "The heartbeat does the rest: daily notes, summaries, MEMORY.md. Without a reader it stores orders and corrections only, and asks a person about the rest"
run clawmem heartbeat
run clawmem entity list

heading "Ask"
run clawmem recall 'where does Lena live' --limit 1
run clawmem recall 'when do the movers come' --limit 1

heading "What an agent gets before it answers, within a budget of tokens"
run clawmem context 'plan a dinner for the first evening' --budget 800

heading "The movers called: a correction replaces the fact, and nothing is lost"
movers=$(first_fact 'when do the movers come')
run clawmem supersede "$movers" 'The movers come on 2 November 2026.' --reason 'the company moved the date'
run clawmem recall 'when do the movers come' --limit 1

heading "Why do we believe that? The evidence, the event, the commits, the whole chain"
run clawmem why "$movers"

heading "All of it is git: every change is one commit"
run git -C demo-vault --no-pager log --format='%h %<(9,trunc)%an %s'

printf '\nThe memory is in ./demo-vault. Look around: %s status --vault demo-vault\n' "$(command -v clawmem)"
