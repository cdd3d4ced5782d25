# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the one-host cluster scripts: processes by pid, bounded waits, free ports.
# Everything of a cluster lives in one scratch folder, $B: etc/ run/ log/ state/ db/ fakedev/.

die() { echo "$(basename "$0"): $*" >&2; exit 1; }

# "PID START" of a process: the start time tells a process from a later one with the same number.
process_start() { sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

# True while the process runs. kill -0 would not do: it is true for a zombie that nobody reaps.
process_runs() {
    local pid=$1 start=$2 state
    state=$(sed 's/^.*) //' "/proc/$pid/stat" 2>/dev/null | cut -c1) || return 1
    [ -n "$state" ] && [ "$state" != Z ] && [ "$state" != X ] && [ "$(process_start "$pid")" = "$start" ]
}

# start_daemon NAME COMMAND...: in the background, its own session, output in log/NAME.out, pid and start time in run/NAME.
start_daemon() {
    local name=$1
    shift
    setsid "$@" >>"$B/log/$name.out" 2>&1 </dev/null &
    local pid=$!
    echo "$pid $(process_start "$pid")" >"$B/run/$name"
}

daemon_runs() { local pid start; read -r pid start 2>/dev/null <"$B/run/$1" && process_runs "$pid" "$start"; }
daemon_pid() { cut -d' ' -f1 "$B/run/$1"; }

# stop_process PID START: TERM, then KILL after 5 s.
stop_process() {
    local pid=$1 start=$2 n
    for signal in TERM KILL; do
        process_runs "$pid" "$start" || return 0
        kill "-$signal" "$pid" 2>/dev/null
        for ((n = 0; n < 50; n++)); do
            process_runs "$pid" "$start" || return 0
            sleep 0.1
        done
    done
    return 1
}

stop_daemon() {
    local pid start
    read -r pid start 2>/dev/null <"$B/run/$1" || return 0
    stop_process "$pid" "$start" || echo "$(basename "$0"): $1 (pid $pid) does not end" >&2
    rm -f "$B/run/$1"
}

# wait_until SECONDS COMMAND...: polls until the command succeeds; false when the time is over.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}

# The first of COUNT consecutive TCP ports nobody uses, away from the range the kernel gives to clients.
free_ports() {
    local count=$1 base port used
    used=$(awk 'FNR > 1 {sub(/.*:/, "", $2); print $2}' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
    for ((base = 12000 + RANDOM % 8000; base < 32000; base += count)); do
        for ((port = base; port < base + count; port++)); do
            grep -qix "$(printf %04X "$port")" <<<"$used" && continue 2
        done
        echo "$base"
        return 0
    done
    return 1
}
