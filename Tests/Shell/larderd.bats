load helper

# How the daemon begins and ends, apart from what it serves.

setup() { enter_scratch; }

# starts larderd with these options and waits until it says that it serves.
serve() {
    mkfifo said
    larderd "$@" 2>said 3>&- &
    daemon=$!
    exec {said}<said
    read -r -t 20 line <&"$said"
    holds "$line" "serving store"
}

@test "--help begins with examples, and --version is a number" {
    expect 0 larderd --help
    holds "${lines[1]}" EXAMPLES
    expect 0 larderd --version
    [[ $output =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "options that do not fit together are usage errors" {
    for options in '' '--in-memory' "--store a --in-memory --schema $schema" \
        "--in-memory --schema $schema --read-only" "--in-memory --schema $schema --mode 888" \
        "--in-memory --schema $schema --mode 0060" "--in-memory --schema $schema --idle-exit 0" \
        "--in-memory --schema $schema --log-level loud" '--no-such-option'; do
        # shellcheck disable=SC2086
        expect 64 larderd $options
        holds "$stderr" "error[USAGE]"
        holds "$stderr" "hint: "
    done
}

@test "a schema that is missing or wrong ends it with 65 and names the file" {
    expect 65 larderd --in-memory --schema nowhere.json --socket s
    holds "$stderr" "nowhere.json"
    echo '{"version": "1.0.0", "entities": [], "more": 1}' >wrong.json
    expect 65 larderd --in-memory --schema wrong.json --socket s
    holds "$stderr" "error[MALFORMED_SCHEMA]"
    holds "$stderr" "more"
    [ ! -e s ]
}

@test "a file that is no store ends it with 74" {
    head -c 5000 /dev/urandom >noise
    expect 74 larderd --store noise --schema "$schema" --socket s
    holds "$stderr" "error[NOT_A_STORE]"
}

@test "it says on standard error where it serves and which store" {
    serve --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    holds "$line" "$LARDER_SOCKET"
    holds "$line" "schema version"
    [[ $line =~ [0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12} ]]
    larder ping
    same 600 "$(stat -c %a "$LARDER_SOCKET")"
}

@test "the socket has the mode asked for, whatever the mask" {
    umask 077
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET" --mode 0660
    same 660 "$(stat -c %a "$LARDER_SOCKET")"
}

@test "without --socket it listens in the runtime directory under the store's name" {
    unset RUNTIME_DIRECTORY
    XDG_RUNTIME_DIR=$scratch serve --store test.store --schema "$schema"
    same 700 "$(stat -c %a larder)"
    larder ping --socket larder/test.sock
}

@test "SIGTERM and SIGINT end it in order, and the socket is gone" {
    for signal in TERM INT; do
        rm -f said
        serve --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
        kill "-$signal" "$daemon"
        wait "$daemon"
        daemon=
        [ ! -e "$LARDER_SOCKET" ]
    done
}

@test "a second SIGINT does not wait for a client that takes its time" {
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET"
    text=$(printf 'x%.0s' {1..1000})
    seq 1 5000 | sed "s/.*/{\"int64\": &, \"string\": \"$text\"}/" >in
    larder import Sample in
    mkfifo slow
    larder export Sample >slow 3>&- &
    client=$!
    exec {slow}<slow
    # The first bytes say that the stream has begun; the rest is not taken.
    read -r -n 10 -t 20 _ <&"$slow"
    kill -INT "$daemon"
    # The second signal counts once the first has been taken.
    read -r -t 20 line <&"$said"
    holds "$line" stopping
    kill -INT "$daemon"
    local status=0
    wait "$daemon" || status=$?
    daemon=
    kill -KILL "$client"
    wait "$client" || true
    same 130 "$status"
}

@test "a stale socket is replaced, one in use and a file are not" {
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET"
    expect 69 larderd --in-memory --schema "$schema" --socket "$LARDER_SOCKET"
    holds "$stderr" "$LARDER_SOCKET is in use"
    kill -KILL "$daemon"
    wait "$daemon" || true
    [ -S "$LARDER_SOCKET" ]
    rm said
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET"
    larder ping
    echo text >file
    expect 69 larderd --in-memory --schema "$schema" --socket file
    same text "$(cat file)"
}

@test "a socket's path that is too long is refused with both lengths" {
    expect 65 larderd --in-memory --schema "$schema" --socket "/tmp/$(printf 'x%.0s' {1..103})"
    holds "$stderr" "108 bytes"
    holds "$stderr" "107"
}

@test "an idle server is resident with less than 18 MiB" {
    [ -n "${LARDER_BIN_DIR:-}" ] || skip "only programs as they are released"
    start_daemon
    # What scripts/order-functions is for: if this fails after larger changes, run it again.
    local resident
    resident=$(awk '/^VmRSS/ { print $2 }' "/proc/$daemon/status")
    echo "# resident: $resident kB" >&3
    ((resident < 18 * 1024))
}

@test "it ends by itself when nobody has been connected for a while" {
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET" --idle-exit 1
    wait "$daemon"
    daemon=
}

@test "under activation it refuses --socket, and ends by itself with the socket left in place" {
    systemd-socket-activate -l "$LARDER_SOCKET" "$(command -v larderd)" --in-memory \
        --schema "$schema" --idle-exit 1 2>log 3>&- &
    daemon=$!
    until [ -S "$LARDER_SOCKET" ]; do kill -0 "$daemon"; done
    larder ping --timeout 20s
    wait "$daemon"
    [ -S "$LARDER_SOCKET" ]
    rm "$LARDER_SOCKET"
    systemd-socket-activate -l "$LARDER_SOCKET" "$(command -v larderd)" --in-memory \
        --schema "$schema" --socket other 2>log 3>&- &
    daemon=$!
    until [ -S "$LARDER_SOCKET" ]; do kill -0 "$daemon"; done
    larder ping --timeout 1s >/dev/null 2>&1 || true
    local status=0
    wait "$daemon" || status=$?
    daemon=
    same 64 "$status"
}

@test "an inherited descriptor that is no listening socket is refused" {
    export schema
    # shellcheck disable=SC2016
    expect 69 sh -c \
        'LISTEN_PID=$$ LISTEN_FDS=1 exec larderd --in-memory --schema "$schema" 3</dev/null'
    holds "$stderr" "descriptor 3"
}

@test "when descriptors run out it neither dies nor spins, and accepts again afterwards" {
    (
        ulimit -n 30
        exec larderd --in-memory --schema "$schema" --socket "$LARDER_SOCKET" 2>log 3>&-
    ) &
    daemon=$!
    larder ping --wait --timeout 20s
    python3 - "$LARDER_SOCKET" "$daemon" <<'END'
import resource, select, socket, sys, time
path, process = sys.argv[1], sys.argv[2]

def processor_time():
    fields = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])

peers = []
for _ in range(60):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)
    peers.append(peer)
before, began = processor_time(), time.monotonic()
# Until the first of those that were accepted is ended for not shaking hands.
select.select(peers, [], [], 20)
share = (processor_time() - before) / 100 / max(1, time.monotonic() - began)
assert share < 0.5, f"it used {share} of a processor while it could not accept"
for peer in peers:
    peer.close()
END
    larder ping --wait --timeout 20s
    kill -0 "$daemon"
    holds "$(cat log)" "cannot accept connections now"
}
