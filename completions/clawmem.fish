# Completion of clawmem for fish, made by `clawmem completions fish`.
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
