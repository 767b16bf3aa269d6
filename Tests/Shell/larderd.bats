load helper

# Start, shutdown, options and resource limits of the daemon.

setup() { enter_scratch; }

# serve OPTION…: starts larderd and waits for the log line that reports that it serves.
serve() {
    mkfifo log_lines
    larderd "$@" 2>log_lines 3>&- &
    daemon=$!
    exec {log_lines}<log_lines
    read -r -t 20 line <&"$log_lines"
    assert_contains "$line" "serving store"
}

# event_loops: prints how many event loops the server has.
event_loops() { larder stats | sed -n 's/^eventLoops\t//p'; }

@test "--help begins with examples, and --version prints the versions of all interfaces" {
    assert_status 0 larderd --help
    assert_contains "${lines[1]}" EXAMPLES
    for program in larderd larder; do
        assert_status 0 "$program" --version
        [[ ${lines[0]} =~ ^"$program "[0-9]+\.[0-9]+\.[0-9]+$ ]]
        assert_equal 'protocol 1' "${lines[1]}"
        [[ ${lines[2]} =~ ^store\ format\ [0-9]+$ ]]
        [[ ${lines[3]} =~ ^SQLite\ 3\.[0-9.]+$ ]]
    done
    # A new store has this format.
    larder count Article --store test.store --schema "$schema"
    assert_equal "store format $(sqlite3 test.store 'PRAGMA user_version')" "${lines[2]}"
}

@test "the log as JSON is one object per line, also for an error that prevents the start" {
    larderd --in-memory --schema "$schema" --socket "$LARDER_SOCKET" --log-format json \
        --max-connections-per-user 1 --log-level debug 2>log 3>&- &
    daemon=$!
    larder ping --wait >/dev/null
    larder history --follow >/dev/null 2>&1 3>&- &
    follower=$!
    until [ "$(grep -c '"client":"larder"' log)" = 2 ]; do kill -0 "$follower"; done
    assert_status 5 larder ping
    kill "$follower"
    stop_daemon
    jq -se 'all(.[]; (.time | test("^2.*Z$")) and .level and .message and (map_values(type)
        | all(. == "string")))' log >/dev/null
    assert_equal '["warning","RESOURCE_EXHAUSTED","'"$(id -u)"'"]' \
        "$(jq -c 'select(.message | startswith("connection refused")) | [.level, .code, .uid]' log)"
    assert_status 64 larderd --in-memory --schema "$schema" --socket "$LARDER_SOCKET" \
        --log-format json --group no-such-group
    assert_equal critical "$(jq -r .level <<<"$stderr")"
    assert_contains "$(jq -r .message <<<"$stderr")" "error[USAGE]: --group"
}

@test "a slow query is a line of the log with its plan" {
    larderd --in-memory --schema "$schema" --socket "$LARDER_SOCKET" --log-slow 1 \
        --log-format json 2>log 3>&- &
    daemon=$!
    larder ping --wait >/dev/null
    seq 1 30000 | sed 's/.*/{"string": "text &"}/' | larder import Sample - >/dev/null
    larder fetch Sample --where 'string ENDSWITH "77"' >/dev/null
    stop_daemon
    assert_equal '["notice","slow query: fetch where string ENDSWITH \"77\"","Sample","300"]' \
        "$(jq -c 'select(.message | startswith("slow query")) | [.level, .message, .entity, .rows]' log)"
    assert_equal true \
        "$(jq 'select(.plan) | (.milliseconds | tonumber) > 0 and (.plan | contains("SCAN"))' log)"
}

@test "conflicting options are usage errors" {
    for options in '' '--in-memory' "--store a --in-memory --schema $schema" \
        "--in-memory --schema $schema --read-only" "--in-memory --schema $schema --mode 888" \
        "--in-memory --schema $schema --mode 0060" "--in-memory --schema $schema --idle-exit 0" \
        "--in-memory --schema $schema --log-level loud" "--in-memory --schema $schema --log-slow 0" '--no-such-option'; do
        # shellcheck disable=SC2086
        assert_status 64 larderd $options
        assert_contains "$stderr" "error[USAGE]"
        assert_contains "$stderr" "hint: "
    done
}

@test "larderd has an event loop for each processor that it may use, or as many as --event-loops says" {
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET" --event-loops 3
    assert_equal 3 "$(event_loops)"
    stop_daemon
    rm log_lines
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET"
    # A quota may allow fewer than the process is bound to.
    [ "$(event_loops)" -ge 1 ]
    [ "$(event_loops)" -le "$(nproc)" ]
    stop_daemon
    processor=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
    taskset -c "$processor" larderd --in-memory --schema "$schema" --socket "$LARDER_SOCKET" 2>>log 3>&- &
    daemon=$!
    larder ping --wait >/dev/null
    assert_equal 1 "$(event_loops)"
    stop_daemon
    for number in 0 257 -1 two; do
        assert_status 64 larderd --in-memory --schema "$schema" --event-loops=$number
        assert_contains "$stderr" "--event-loops"
    done
}

@test "a missing or invalid schema exits with 65 and the error names the file" {
    assert_status 65 larderd --in-memory --schema nowhere.json --socket s
    assert_contains "$stderr" "nowhere.json"
    echo '{"version": "1.0.0", "entities": [], "more": 1}' >wrong.json
    assert_status 65 larderd --in-memory --schema wrong.json --socket s
    assert_contains "$stderr" "error[MALFORMED_SCHEMA]"
    assert_contains "$stderr" "more"
    echo '{"version": "1.0.0", "entities": []}' >wrong.json
    assert_status 65 larderd --in-memory --schema wrong.json --socket s
    assert_contains "$stderr" "entities: must not be empty"
    [ ! -e s ]
}

@test "a file that is not a store exits with 74" {
    head -c 5000 /dev/urandom >noise
    assert_status 74 larderd --store noise --schema "$schema" --socket s
    assert_contains "$stderr" "error[NOT_A_STORE]"
}

@test "larderd logs its socket and its store to standard error" {
    serve --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    assert_contains "$line" "$LARDER_SOCKET"
    assert_contains "$line" "schema version"
    [[ $line =~ [0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12} ]]
    larder ping
    assert_equal 600 "$(stat -c %a "$LARDER_SOCKET")"
}

@test "the socket has the mode of --mode, regardless of the umask" {
    umask 077
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET" --mode 0660
    assert_equal 660 "$(stat -c %a "$LARDER_SOCKET")"
}

@test "the socket has the group of --group, whose members may connect" {
    gid=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | sed -n 1p)
    [ "$(id -u)" != 0 ] || gid=50
    [ -n "$gid" ] || skip "the user has one group only"
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET" --group "$gid"
    assert_equal "660 $gid" "$(stat -c '%a %g' "$LARDER_SOCKET")"
    larder ping
    stop_daemon
    rm log_lines
    # A group by its name, with other permissions.
    name=$(getent group "$gid" | sed 's/:.*//')
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET" --group "$name" --mode 0666
    assert_equal "666 $gid" "$(stat -c '%a %g' "$LARDER_SOCKET")"
}

@test "a group that does not exist, may not be set or could not connect is an error" {
    assert_status 64 larderd --in-memory --schema "$schema" --socket s --group no-such-group
    assert_contains "$stderr" "--group: there is no group no-such-group"
    assert_status 64 larderd --in-memory --schema "$schema" --socket s --group 0 --mode 0600
    assert_contains "$stderr" "--group requires a --mode that lets the group read and write"
    assert_status 64 larderd --in-memory --schema "$schema" --socket s --group 4294967295
    [ ! -e s ]
    [ "$(id -u)" = 0 ] || skip "the rest needs a user without rights"
    chmod 755 . "$BUILT_PROGRAMS"
    install -d -o nobody run
    assert_status 77 setpriv --reuid nobody --regid nogroup --clear-groups larderd --in-memory \
        --schema "$schema" --socket "$scratch/run/s" --group 0
    assert_contains "$stderr" "error[PERMISSION_DENIED]: $scratch/run/s cannot get the group 0"
    assert_contains "$stderr" "hint: run larderd as a member of the group"
    [ ! -e run/s ]
}

@test "permissions are never set by path, where another user could have put a link" {
    strace -f -qq -o calls -e trace=bind,fchmod,chmod,fchmodat,chown,fchownat,lchown larderd \
        --in-memory --schema "$schema" --socket "$LARDER_SOCKET" --mode 0666 \
        --group "$(id -g)" --idle-exit 1 2>log 3>&-
    grep -q 'fchmod([0-9]*, 0666)' calls
    grep -q "bind(.*$LARDER_SOCKET" calls
    grep -q 'fchownat([0-9]*, "", -1' calls
    run grep -E ' (chmod|fchmodat|chown|lchown)\(' calls
    assert_equal '' "$output"
}

@test "larderd without --socket listens in the runtime directory, with the name of the store file" {
    unset RUNTIME_DIRECTORY
    XDG_RUNTIME_DIR=$scratch serve --store test.store --schema "$schema"
    assert_equal 700 "$(stat -c %a larder)"
    larder ping --socket larder/test.sock
}

@test "SIGTERM, SIGINT and SIGQUIT shut it down gracefully and leave the store alone" {
    for signal in TERM INT QUIT; do
        rm -f log_lines
        serve --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
        uri=$(larder insert Category name="$signal")
        larder get "$uri" >/dev/null
        kill "-$signal" "$daemon"
        wait "$daemon"
        daemon=
        [ ! -e "$LARDER_SOCKET" ]
        # Neither a log, not even an empty one, nor the owner's file.
        assert_equal test.store "$(echo test.store*)"
    done
    assert_equal 3 "$(larder count Category --store test.store)"
}

@test "the log is removed after each kind of read" {
    serve --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    seq 1 3000 | sed 's/.*/{"int64": &, "string": "a string of some length"}/' |
        larder import Sample - >/dev/null
    larder export Sample >/dev/null
    larder aggregate Sample count >/dev/null
    larder history >/dev/null
    larder check >/dev/null
    larder backup test.backup >/dev/null
    kill -TERM "$daemon"
    wait "$daemon"
    daemon=
    assert_equal test.store "$(echo test.store*)"
}

@test "the signals that have no meaning for larderd do not end it" {
    serve --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    for signal in HUP USR1 USR2 ALRM VTALRM PROF IO; do
        kill "-$signal" "$daemon"
        larder ping
        kill "-$signal" "$daemon"
    done
    larder insert Category name=kept >/dev/null
    kill -TERM "$daemon"
    wait "$daemon"
    daemon=
    assert_equal 1 "$(larder count Category --store test.store)"
}

@test "SIGTERM ends it while it starts" {
    mkfifo wait.json
    larderd --store test.store --schema wait.json --socket "$LARDER_SOCKET" 2>log 3>&- &
    daemon=$!
    # The program waits for the schema file as soon as it has opened it.
    exec {schema_file}>wait.json
    kill -TERM "$daemon"
    local status=0
    wait "$daemon" || status=$?
    daemon=
    exec {schema_file}>&-
    assert_equal 143 "$status"
}

@test "SIGTERM ends it in time beside a client that does not read" {
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET"
    text=$(printf 'x%.0s' {1..1000})
    seq 1 5000 | sed "s/.*/{\"int64\": &, \"string\": \"$text\"}/" >in
    larder import Sample in
    mkfifo slow
    larder export Sample >slow 3>&- &
    client=$!
    exec {slow}<slow
    read -r -n 10 -t 300 _ <&"$slow"
    SECONDS=0
    kill -TERM "$daemon"
    wait "$daemon"
    daemon=
    # Its connections have 10 seconds to end.
    ((SECONDS <= 150))
    kill -KILL "$client"
    wait "$client" || true
}

@test "a second SIGINT exits without waiting for a slow client" {
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET"
    text=$(printf 'x%.0s' {1..1000})
    seq 1 5000 | sed "s/.*/{\"int64\": &, \"string\": \"$text\"}/" >in
    larder import Sample in
    mkfifo slow
    larder export Sample >slow 3>&- &
    client=$!
    exec {slow}<slow
    # The first bytes show that the stream has begun; the rest is never read.
    read -r -n 10 -t 300 _ <&"$slow"
    kill -INT "$daemon"
    # The second signal is sent after the first was handled.
    read -r -t 20 line <&"$log_lines"
    assert_contains "$line" stopping
    kill -INT "$daemon"
    local status=0
    wait "$daemon" || status=$?
    daemon=
    kill -KILL "$client"
    wait "$client" || true
    assert_equal 130 "$status"
}

@test "a stale socket is replaced; a socket in use and a regular file are not" {
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET"
    assert_status 69 larderd --in-memory --schema "$schema" --socket "$LARDER_SOCKET"
    assert_contains "$stderr" "$LARDER_SOCKET is in use"
    kill -KILL "$daemon"
    wait "$daemon" || true
    [ -S "$LARDER_SOCKET" ]
    rm log_lines
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET"
    larder ping
    echo text >file
    assert_status 69 larderd --in-memory --schema "$schema" --socket file
    assert_equal text "$(cat file)"
}

@test "a socket path that is too long is rejected with both lengths" {
    assert_status 65 larderd --in-memory --schema "$schema" --socket "/tmp/$(printf 'x%.0s' {1..103})"
    assert_contains "$stderr" "108 bytes"
    assert_contains "$stderr" "107"
}

@test "an idle server has at most 6 MiB of private and 28 MiB of resident memory" {
    [[ $BUILT_PROGRAMS != */debug ]] || skip "release programs only"
    # With a second server, pages of the program's file are shared and do not count as private.
    larderd --in-memory --schema "$schema" --socket "$scratch/second" 2>>log 3>&- &
    local second=$!
    LARDER_SOCKET=$scratch/second larder ping --wait --timeout 300s >/dev/null
    start_daemon
    local private resident
    private=$(awk '/^Private_(Clean|Dirty):/ { sum += $2 } END { print sum }' \
        "/proc/$daemon/smaps_rollup")
    resident=$(awk '/^Rss:/ { print $2 }' "/proc/$daemon/smaps_rollup")
    kill -TERM "$second"
    wait "$second"
    echo "# private: $private kB, resident: $resident kB" >&3
    # How much of the program's file is mapped depends on the kernel's cache of the file.
    ((private <= 6 * 1024 && resident <= 28 * 1024))
}

@test "--idle-exit ends it after a time without connections" {
    serve --in-memory --schema "$schema" --socket "$LARDER_SOCKET" --idle-exit 1
    wait "$daemon"
    daemon=
}

@test "larderd with socket activation rejects --socket, and --idle-exit leaves the socket in place" {
    systemd-socket-activate -l "$LARDER_SOCKET" "$(command -v larderd)" --in-memory \
        --schema "$schema" --idle-exit 1 2>log 3>&- &
    daemon=$!
    until [ -S "$LARDER_SOCKET" ]; do kill -0 "$daemon"; done
    larder ping --timeout 300s
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
    assert_equal 64 "$status"
}

@test "an inherited descriptor that is not a listening socket is rejected" {
    export schema
    # shellcheck disable=SC2016
    assert_status 69 sh -c \
        'LISTEN_PID=$$ LISTEN_FDS=1 exec larderd --in-memory --schema "$schema" 3</dev/null'
    assert_contains "$stderr" "descriptor 3"
}

@test "larderd without free descriptors neither exits nor spins, and accepts connections again later" {
    (
        ulimit -n 30
        exec larderd --in-memory --schema "$schema" --socket "$LARDER_SOCKET" 2>log 3>&-
    ) &
    daemon=$!
    larder ping --wait --timeout 300s
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
# Wait until the first accepted connection is closed, because it sends no handshake.
select.select(peers, [], [], 20)
share = (processor_time() - before) / 100 / max(1, time.monotonic() - began)
assert share < 0.5, f"it used {share} of a processor while it could not accept"
for peer in peers:
    peer.close()
END
    larder ping --wait --timeout 300s
    kill -0 "$daemon"
    assert_contains "$(cat log)" "cannot accept connections now"
}
