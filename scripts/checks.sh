# Counting checks, servers in the background and ports: sourced by scripts that judge us by programs
# of others.
#
# They set `program` (a name), `work` (a folder) and `log` (a file) first.

passed=0
failed=0
skipped=0
begun=$SECONDS
servers=()

stop_servers() { # [SIGNAL]
    local pid
    for pid in "${servers[@]}"; do kill "-${1:-TERM}" "$pid" || true; done
    for pid in "${servers[@]}"; do wait "$pid" || true; done
    servers=()
} 2>/dev/null
trap stop_servers EXIT

# Starts a server in the background: a function that runs it by `${by:-}`, and its arguments.
# `stop_servers` ends it.
serve() {
    by=exec "$@" >> "$log" 2>&1 &
    servers+=($!)
}

# Counts one test: the command succeeds.
check() { # WHAT COMMAND...
    local what=$1
    shift
    echo "-- $((SECONDS - begun)) s: $what" >> "$log"
    if "$@" >>"$log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$program: FAILED: $what" >&2
    fi
}

# Counts one test: a command's output is this text.
says() { # WHAT EXPECTED COMMAND...
    local what=$1 expected=$2 output
    shift 2
    echo "-- $((SECONDS - begun)) s: $what" >> "$log"
    output=$("$@" 2>>"$log") || true
    printf '%s\n' "$output" >>"$log"
    if [ "$output" = "$expected" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: FAILED: %s\n  expected: %s\n  answered: %s\n' "$program" "$what" "${expected:0:300}" "${output:0:300}" >&2
    fi
}

# Runs a program that prints "ok WHAT" or "FAILED WHAT" for each of its checks, and "done" at its
# end.
counted() { # COMMAND...
    local output=$work/output
    "$@" > "$output" 2>> "$log" || true
    cat "$output" >> "$log"
    passed=$((passed + $(grep -c '^ok ' "$output" || true)))
    failed=$((failed + $(grep -c '^FAILED' "$output" || true)))
    sed -n "s/^FAILED/$program: FAILED:/p" "$output" >&2
    if ! grep -q '^done$' "$output"; then
        failed=$((failed + 1))
        echo "$program: FAILED: it ended early: $(tail -n 3 "$log" | tr '\n' ' ')" >&2
    fi
}

# Ends without a failure where a language or a package is not installed.
need() { # WHAT COMMAND...
    local what=$1
    shift
    if ! "$@" >> "$log" 2>&1; then
        printf '%-10s %-34s %4d passed, 0 failed, 1 skipped; %s is missing\n' "$program" "" 0 "$what"
        exit 0
    fi
}

free_port() {
    local port
    while port=$((20000 + RANDOM % 12000)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
    done
}

wait_for_port() { # PORT
    local _
    for _ in $(seq 200); do
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
        sleep 0.05
    done
    echo "$program: nothing answers at port $1" >&2
    return 1
}
