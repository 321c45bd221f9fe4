#!/bin/sh
# Two sessions of a coding agent in one project and one in another, with what a harness sends to hooks and MCP servers.
# The input has the form that Claude Code 2.1 sends; `make harness` plays the same with the real programs.
set -eu

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export HOME="$place/home" CLAWMEM_VAULT="$place/vault"
unset CLAWMEM_AGENT CLAWMEM_SESSION CLAWMEM_PROJECT CLAWMEM_WORKFLOW 2>/dev/null || true
mkdir -p "$HOME" "$place/boat" "$place/plane"
git config --global user.name Ada
git config --global user.email ada@example.org
for project in boat plane; do
    git -C "$place/$project" init -q
    git -C "$place/$project" remote add origin "https://git.example.org/ada/$project.git"
done
failed=0

say() { printf '\n== %s\n' "$*"; }

# hook EVENT SESSION PROJECT MORE: what the hook prints is what the agent reads.
hook() {
    printf '{"hook_event_name": "%s", "session_id": "%s", "cwd": "%s", "transcript_path": "%s"%s}' \
        "$1" "$2" "$place/$3" "$place/$2.jsonl" "${4:-}" | clawmem hook "$1" --harness claude-code --json |
        sed -n 's/.*"text": "\(.*\)"}, "notices".*/\1/p' | sed 's/\\n/\n/g'
}

# line SESSION ROLE NUMBER TEXT: a line of the transcript.
line() {
    printf '{"type": "%s", "uuid": "%s-%s", "sessionId": "%s", "timestamp": "2026-11-20T10:0%s:00Z", "cwd": "%s", "gitBranch": "main", "message": {"role": "%s", "content": "%s"}}\n' \
        "$2" "$1" "$3" "$1" "$3" "$place/boat" "$2" "$4" >>"$place/$1.jsonl"
}

# tool NAME ARGUMENTS PROJECT: a call of an MCP tool.
tool() {
    (cd "$place/$3" && printf '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "%s", "arguments": %s}}\n' "$1" "$2" |
        clawmem mcp --agent claude-code | sed 's/.*"text": "\(.*\)"}\], "isError.*/\1/; s/\\n/\n/g')
}

# knows WHAT TEXT WORDS / lacks WHAT TEXT WORDS
knows() { case "$2" in *"$3"*) echo "  knows: $1" ;; *) echo "  MISSING: $1"; failed=1 ;; esac; }
lacks() { case "$2" in *"$3"*) echo "  LEAKED: $1"; failed=1 ;; *) echo "  does not know: $1" ;; esac; }

# wait_for NAME: work that a hook handed over is done.
wait_for() {
    for _ in $(seq 100); do
        [ -e "$CLAWMEM_VAULT/.git/clawmem/hooks/claude-code-$1.json" ] && break
        sleep 0.1
    done
    rm -f "$CLAWMEM_VAULT/.git/clawmem/hooks/claude-code-$1.json"
}

say "A vault, and the agent's program wired to it"
clawmem init >/dev/null
clawmem config set lock.wait_seconds 60 >/dev/null # a hook hands work to a process beside the next command
clawmem setup claude-code 2>/dev/null | sed "s|$place|~|"

say "The first session: it starts, works, is compacted, and ends"
hook SessionStart first boat ', "source": "startup"'
wait_for session
line first user 1 "We decided to build the boat with clang, because gcc breaks the linker."
line first assistant 2 "Understood, the build uses clang."
line first user 3 "No, the tests run with make check, not with ctest."
hook UserPromptSubmit first boat ', "prompt": "No, the tests run with make check, not with ctest."'
hook PreCompact first boat ', "trigger": "auto"'
wait_for transcript
line first user 4 "Never push on Fridays."
tool session_end '{"session": "first", "summary": "Moved the boat build to clang.", "reflection": {"learned": ["The linker needs lld."], "watch_for": []}, "lessons": ["Run make clean after a change of the compiler."], "decisions": [{"decided": "Link the boat with lld.", "why": "The old linker fails with clang."}]}' boat
hook SessionEnd first boat ', "reason": "exit"'
wait_for transcript
clawmem heartbeat --quiet

say "The next session in the project begins with this"
text=$(hook SessionStart second boat ', "source": "startup"')
wait_for session
echo "$text"
say "What it knows"
knows "the last session" "$text" "Moved the boat build to clang"
knows "the decision that was said" "$text" "with clang"
knows "the decision that was handed in" "$text" "lld"
knows "the lesson" "$text" "make clean"
knows "the rule" "$text" "never push on Fridays"
text=$(hook UserPromptSubmit second boat ', "prompt": "How do the tests run?"')
knows "the correction" "$text" "make check"
text=$(hook UserPromptSubmit second boat ', "prompt": "go on"')
[ -z "$text" ] && echo "  says nothing where nothing is asked"

say "A session in another project"
text=$(hook SessionStart third plane ', "source": "startup"')
wait_for session
text="$text$(hook UserPromptSubmit third plane ', "prompt": "How do the tests run, and with which compiler do we build?"')"
text="$text$(tool recall '{"question": "which compiler and linker does the build use?"}' plane)"
lacks "the compiler of the first" "$text" "clang"
lacks "its tests" "$text" "make check"
lacks "its lesson" "$text" "make clean"

say "The hooks, and everything out again"
clawmem status | grep '^hook'
clawmem setup claude-code --remove | sed "s|$place|~|" | tail -3
exit $failed
