# Runs the scripts of a folder one after the other; sourced by those that judge us by programs of
# others.

# Prints each one's line and at the end their sum; fails if one of them does. All of them are run
# unless some are named.
run_each() { # WORD FOLDER SECONDS [NAMES...] -- [ARGUMENTS...]
    local word=$1 folder=$2 limit=$3 names=() name script summary result status=0
    shift 3
    while [ "$1" != -- ]; do names+=("$1"); shift; done
    shift
    if [ ${#names[@]} = 0 ]; then
        for script in "$folder"/*.sh; do
            name=$(basename "$script" .sh)
            [ "$name" = common ] || names+=("$name")
        done
    fi
    summary=$(mktemp)
    for name in "${names[@]}"; do
        timeout --kill-after=10 "$limit" "$folder/$name.sh" "$@" | tee -a "$summary"
        result=${PIPESTATUS[0]}
        [ "$result" = 0 ] || { status=1; echo "$name: ended with status $result"; }
        [ "$result" != 124 ] || echo "$name: took too long: 0 passed, 1 failed, 0 skipped" | tee -a "$summary"
    done
    awk -v word="$word" '
        { for (i = 2; i <= NF; i++) { figure = $i; sub(/[;,]$/, "", figure); figures[figure] += $(i - 1) } }
        END { printf "%s: %d passed, %d failed, %d skipped\n", word, figures["passed"], figures["failed"], figures["skipped"] }' "$summary"
    rm -f "$summary"
    return "$status"
}
