"""`clawmem completions` and `clawmem aliases`: scripts for the shells."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

from clawmem.errors import PERSON_RUNS, InvalidInput, NotPermitted
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.setup.texts import SHELLS, shell_functions

BASH = r"""# Completion of clawmem for bash, made by `clawmem completions bash`.
# Load it in ~/.bashrc:  source <(clawmem completions bash)

_clawmem() {
    local line=${COMP_LINE:0:COMP_POINT} word help earlier
    # bash takes @, = and : for the end of a word: what it counts as earlier must not be repeated.
    earlier=${line##*[[:space:]]}
    earlier=${earlier%"$2"}
    COMPREPLY=()
    while IFS=$'\t' read -r word help; do
        if [[ $word == ":files" ]]; then
            compopt -o default
        else
            COMPREPLY+=("${word#"$earlier"}")
        fi
    done < <(_CLAWMEM_COMPLETE=line "$1" "$line" 2>/dev/null)
}

complete -o nosort -F _clawmem clawmem 2>/dev/null || complete -F _clawmem clawmem
"""

ZSH = r"""#compdef clawmem
# Completion of clawmem for zsh, made by `clawmem completions zsh`.
# Put it into a folder of $fpath as _clawmem, or in ~/.zshrc after compinit:  source <(clawmem completions zsh)

_clawmem() {
    local answer word help
    local -a offers
    local line="${(j: :)words[1,CURRENT-1]} $PREFIX"
    for answer in "${(@f)$(_CLAWMEM_COMPLETE=line ${~words[1]} "$line" 2>/dev/null)}"; do
        word=${answer%%$'\t'*}
        help=${answer#*$'\t'}
        [[ -z $word ]] && continue
        if [[ $word == ":files" ]]; then
            _files
            return
        fi
        offers+=("${word//:/\\:}${help:+:$help}")
    done
    (( $#offers )) && _describe -V clawmem offers
}

if [[ $funcstack[1] == _clawmem ]]; then
    _clawmem "$@"
else
    compdef _clawmem clawmem
fi
"""

FISH = r"""# Completion of clawmem for fish, made by `clawmem completions fish`.
# Load it in config.fish:  clawmem completions fish | source

function __clawmem_offers
    set -l line (commandline -cp | string collect)
    for answer in (_CLAWMEM_COMPLETE=line clawmem "$line" 2>/dev/null)
        if string match -q ':files*' -- $answer
            __fish_complete_path (commandline -ct)
        else
            echo $answer
        end
    end
end

complete --command clawmem --no-files --keep-order --arguments '(__clawmem_offers)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
FILES = {"bash": "clawmem.bash", "zsh": "_clawmem", "fish": "clawmem.fish"}


_COMPINIT = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }; "
_RC = {"bash": (".bashrc", ""), "zsh": (".zshrc", _COMPINIT)}
_MARK = "# completion of clawmem"


def completions(
    call: Call,
    shell: Annotated[str, Parameter("{choices}.", metavar="SHELL", choices=tuple(SCRIPTS))],
    install: Annotated[bool, Parameter("Install it for this user, for shells that start from now on.", ("--install",))],
) -> Answer:
    """The first lines of the script explain how to load it. It completes verbs, options, entities, fact ids and
    settings. With --install, bash and zsh get one line in `~/.bashrc` or `~/.zshrc`."""
    script = SCRIPTS.get(shell)
    if script is None:
        raise InvalidInput(f"There is no completion script for '{shell}'.", f"Choose one of {', '.join(SCRIPTS)}.")
    lines = _installed(call, shell, script) if install else [script.rstrip("\n")]
    return Answer({"shell": shell, "file": FILES[shell], "script": script}, lines)


def _installed(call: Call, shell: str, script: str) -> list[str]:
    """Write the script to its place, and the line that loads it where the shell does not look there by itself."""
    runtime = call.runtime
    if runtime.agent() is not None:
        raise NotPermitted("Only a person changes the shells of this user.", PERSON_RUNS)
    home = runtime.home()
    fish = Path(runtime.environment.get("XDG_CONFIG_HOME") or home / ".config") / "fish" / "completions"
    target = (fish if shell == "fish" else home / ".local" / "share" / "clawmem") / FILES[shell]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(script)
    lines = [f"wrote {target}"]
    if shell in _RC:
        name, before = _RC[shell]
        rc = home / name
        text = rc.read_bytes() if rc.exists() else b""
        if _MARK.encode() not in text:
            gap, script_path = "" if text.endswith(b"\n") or not text else "\n", quote(str(target))
            with rc.open("a") as file:
                file.write(f"{gap}[ -f {script_path} ] && {{ {before}source {script_path}; }}  {_MARK}\n")
            lines.append(f"added a line to {rc}")
    return [*lines, f"new shells of {shell} complete clawmem"]


def aliases(call: Call, shell: Annotated[str, Parameter("{choices}.", metavar="SHELL", choices=SHELLS)]) -> Answer:
    """The functions are remember, recall, note, memory and why. They use the vault in CLAWMEM_VAULT and the agent in
    CLAWMEM_AGENT, and also work in a shell that a program starts. A command of such a name stays what it is."""
    if shell not in SHELLS:
        raise InvalidInput(f"'{shell}' is not a known shell.", f"Choose one of {', '.join(SHELLS)}.")
    script = shell_functions(shell)
    return Answer({"shell": shell, "script": script}, [script.rstrip("\n")])


VERBS = {
    "completions": Command(
        completions,
        {"shell": set(SCRIPTS), "file": str, "script": str},
        ("clawmem completions zsh --install", "clawmem completions bash > clawmem.bash"),
    ),
    "aliases": Command(
        aliases,
        {"shell": set(SHELLS), "script": str},
        ("clawmem aliases bash",),
    ),
}
