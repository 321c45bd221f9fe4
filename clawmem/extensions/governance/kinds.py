"""The kinds of file of this extension."""

from clawmem.model.kinds import EVENTS, EVERYONE, LOG, NEVER, PARSE, RECORDS, json_kind, yaml_kind
from clawmem.model.records.strict_json import LEDGER_BYTES

KINDS = (
    yaml_kind("eval suite", "governance/evals/*.yaml", "clawmem.extensions.governance.suites.suite:parse_suite", PARSE),
    json_kind(
        "eval runs", "governance/eval-runs.jsonl", "clawmem.extensions.governance.suites.store:parse_eval_runs",
        "clawmem.model.forms:render_lines", EVENTS, (RECORDS,),
    )._replace(owner=LOG, undo=NEVER, limit=LEDGER_BYTES),
    yaml_kind("principles", "governance/principles.yaml",
               "clawmem.extensions.governance.principle:parse_principles", PARSE),
    json_kind(
        "evaluations", "governance/evaluations.jsonl", "clawmem.extensions.governance.criterion:parse_evaluations",
        "clawmem.model.forms:render_lines", EVENTS, (EVERYONE,),
    )._replace(owner=LOG, limit=LEDGER_BYTES),
    json_kind(
        "alignment", "governance/alignment.jsonl", "clawmem.extensions.governance.alignment:parse_alignment",
        "clawmem.model.forms:render_lines", EVENTS, (EVERYONE,),
    )._replace(owner=LOG, limit=LEDGER_BYTES),
)  # fmt: skip
