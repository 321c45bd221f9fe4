# Completion of clawmem for bash, made by `clawmem completions bash`.
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
