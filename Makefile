# Two commands on a fresh machine: `make run` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Without it every process compiles what it imports, and pytest rewrites each test file in each worker.
unexport PYTHONDONTWRITEBYTECODE
STAMP := $(VENV)/.ready
LINT_STAMP := $(VENV)/.dev-ready
LOCK := requirements-dev.txt
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python

.PHONY: help setup run run-agent run-governance run-hub run-wiki check test lint lock dist bench soak harness docs libraries screenshots clean

help: ## Say what can be made.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' Makefile

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	@touch $@

# uv installs the rest in a tenth of the time that pip takes. pip reads its lines of the lock, and checks their hashes.
$(BIN)/uv: $(LOCK) | $(BIN)/python
	@awk '/^uv==/,!/\\$$/' $(LOCK) >$(VENV)/uv.txt
	$(PIP) --require-hashes --only-binary :all: --requirement $(VENV)/uv.txt
	@touch $@

# Exactly what the lock names, wheels only, and then the project itself with the build backend of the lock.
# uv knows no settings of pip: where these name a mirror, pip does it.
$(LINT_STAMP): pyproject.toml $(LOCK) $(BIN)/uv
	$(UV) --require-hashes --only-binary :all: --requirement $(LOCK) || \
		$(PIP) --require-hashes --only-binary :all: --requirement $(LOCK)
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $(STAMP) $@

setup: $(LINT_STAMP) ## Install what the tests and `make lint` need.

run: $(STAMP) ## Set up and do the main job on a conversation of the project's own.
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

run-agent: $(STAMP) ## Play two sessions of an agent with hooks and tools, on recorded input.
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/agent.sh

run-governance: $(STAMP) ## Play a week of two agents: tasks, evaluations, guardrails, approvals and retractions.
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/week.sh

run-wiki: $(STAMP) ## Write the demo vault's site, and take pictures of it where a browser is.
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/wiki.sh

run-hub: $(LINT_STAMP) ## Play two vaults and a hub on a PostgreSQL of its own: promote, review, query, pull, revoke, redact.
	@PATH="$(CURDIR)/$(BIN):$$PATH" PYTHON="$(CURDIR)/$(BIN)/python" sh examples/hub.sh

check: $(LINT_STAMP) ## Style, import contracts, and the tests near what changed since main: for a person at work.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@near=$$($(BIN)/python scripts/near_tests.py) && if [ -n "$$near" ]; then \
		echo $$near && $(BIN)/python -m pytest -n 2 --dist worksteal $$near; \
	else echo "no test is near what changed"; fi

# A worker waits for the commands that it runs: three keep two cores at work.
test: $(LINT_STAMP) ## Set up and pass the tests.
	$(BIN)/python -m pytest -n 3 --dist worksteal

lint: $(LINT_STAMP) ## Style, types, the house rule of who imports whom, the principles, the lines of each package, and the words of docs/.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 clawmem
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/line_budgets.py
	$(BIN)/clawmem principle check --file docs/principles.yaml .

lock: $(BIN)/uv ## Write requirements-dev.txt anew for the ranges of pyproject.toml; UPGRADE=1 takes the newest versions.
	$(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
		--extra dev --extra llm --extra semantic --custom-compile-command 'make lock' \
		$(if $(UPGRADE),--upgrade) --output-file $(LOCK) pyproject.toml

dist: $(LINT_STAMP) ## Build the wheel and the source archive of a release with the build backend of the lock.
	$(BIN)/hatchling build

bench: $(LINT_STAMP) ## Measure, each figure as a ratio within one run; CONVERSATIONS=FILE measures retrieval on it, too.
	$(BIN)/python -m benchmarks $(if $(CONVERSATIONS),--conversations $(CONVERSATIONS))

soak: $(LINT_STAMP) ## The long fault and property runs.
	$(BIN)/python -m pytest -n 2 -m soak tests

harness: $(LINT_STAMP) ## The real programs of agents, from npm (2.2 GB).
	@test -d .harness/node_modules/@openai/codex || npm install --prefix .harness --no-audit --no-fund --silent \
		@anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33
	@test -d .harness/node_modules/node || npm install --prefix .harness --no-audit --no-fund --silent node@24
	@test -d .harness/node_modules/openclaw || PATH="$(CURDIR)/.harness/node_modules/node/bin:$$PATH" \
		npm install --prefix .harness --no-audit --no-fund --silent openclaw@2026.9.6
	$(BIN)/python -m pytest -n0 -m 'harness or not harness' tests/harness

docs: $(STAMP) ## Write the generated parts of docs/ anew.
	@$(BIN)/python -m tests.manual

libraries: $(STAMP) ## Fetch the JavaScript libraries of sites from the npm registry, as their pins say.
	@$(BIN)/python scripts/fetch_libraries.py

screenshots: $(LINT_STAMP) ## Take pictures of every view of the site, light and dark, wide and narrow; one is in the README.
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python scripts/screenshots.py

clean: ## Remove what these commands made.
	rm -rf $(VENV) demo-vault demo-site demo-site-*.png build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
