load helper

clients=$BATS_TEST_DIRNAME/../../Clients

setup_file() { "$BATS_TEST_DIRNAME/../../Clients/build" "$BATS_FILE_TMPDIR"; }

# Starts a server with the schema of the clients' tours, in place of the one that runs.
start_school() {
    [ -z "$daemon" ] || stop_daemon
    larderd "${@:---in-memory}" --schema "$clients/school.json" --socket "$LARDER_SOCKET" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
}

# tour python|asyncio|go|c|typescript SOCKET [follow]: runs the tour of a client.
tour() {
    local language=$1
    shift
    case $language in
    python) "$BATS_FILE_TMPDIR/python/tour.py" "$@" ;;
    asyncio) "$BATS_FILE_TMPDIR/python/tour_asyncio.py" "$@" ;;
    go) "$BATS_FILE_TMPDIR/go/tour" "$@" ;;
    typescript) "$BATS_FILE_TMPDIR/typescript/tour.js" "$@" ;;
    c) valgrind -q --leak-check=full --error-exitcode=9 "$BATS_FILE_TMPDIR/c/tour" "$@" ;;
    esac
}

# Runs a tour of an empty store, and compares its output with the text for all languages.
check_tour() {
    tour "$@" | sed -E 's/[0-9A-F]{8}-[0-9A-F-]{27}/STORE/' >tour.out
    diff "$clients/tour.text" tour.out
}

# start_proxy DAMAGE: starts a proxy that damages one reply.
start_proxy() {
    rm -f proxy
    PYTHONPATH=$BATS_FILE_TMPDIR/python "$BATS_TEST_DIRNAME/../Python/damaging_proxy" \
        "$LARDER_SOCKET" proxy "$1" 2>>log 3>&- &
    proxy=$!
    until [ -S proxy ]; do kill -0 "$proxy"; done
}

stop_proxy() {
    kill "$proxy"
    wait "$proxy" || true
}

# Waits until a file contains a text.
wait_for() {
    until grep -q "$2" "$1"; do kill -0 "${followers[@]}"; done
}

@test "the server continues after larder is killed at any time" {
    seq 1 20000 | sed 's/.*/{"int64": &, "string": "some text to give it a length"}/' >in
    for delay in 0.01 0.03 0.06 0.1 0.15 0.2 0.3 0.4; do
        timeout -s KILL "$delay" larder import Sample in >/dev/null 2>&1 || true
        timeout -s KILL "$delay" larder fetch Sample >/dev/null 2>&1 || true
        larder ping --timeout 300s >/dev/null
    done
    # Only whole transactions were committed.
    assert_equal 0 "$(($(larder count Sample) % 2000))"
}

@test "acknowledged writes survive a graceful shutdown and a kill" {
    a=$(larder insert Category name=a)
    stop_daemon
    start_daemon
    assert_equal a "$(larder get "$a" --output jsonl | jq -r .name)"
    b=$(larder insert Category name=b)
    kill -KILL "$daemon"
    wait "$daemon" || true
    start_daemon
    assert_equal b "$(larder get "$b" --output jsonl | jq -r .name)"
}

@test "a graceful shutdown removes the socket and exits with 0" {
    stop_daemon
    [ ! -e "$LARDER_SOCKET" ]
}

@test "opening a store that is in use fails with 74 and names the process" {
    assert_status 74 larderd --store test.store --schema "$schema" --socket "$scratch/second"
    assert_contains "$stderr" "STORE_IN_USE"
    assert_contains "$stderr" "$daemon"
    assert_status 74 larder count Article --store test.store
    assert_contains "$stderr" "error[STORE_IN_USE]"
    larder ping >/dev/null
}

@test "concurrent inserts of twenty processes are all stored" {
    for i in {1..20}; do larder insert Sample int64="$i" >/dev/null 3>&- & children+=($!); done
    for child in "${children[@]}"; do wait "$child"; done
    assert_equal $'20\t210' "$(larder aggregate Sample count sum:int64)"
}

@test "systemd socket activation starts the server at the first connection" {
    stop_daemon
    # It listens, and executes larderd with the socket at the first connection.
    systemd-socket-activate -l "$LARDER_SOCKET" "$(command -v larderd)" --store test.store \
        --schema "$schema" 2>>log 3>&- &
    daemon=$!
    until [ -S "$LARDER_SOCKET" ]; do kill -0 "$daemon"; done
    larder insert Category name=activated --timeout 300s >/dev/null
    assert_equal activated "$(larder fetch Category --select name)"
    stop_daemon
    [ -S "$LARDER_SOCKET" ]
}

# Its client was written from the protocol document alone.
@test "a client of single messages uses everything that the protocol document describes" {
    stop_daemon
    python=$BATS_TEST_DIRNAME/../Python
    larderd --in-memory --schema "$python/school.schema.json" --socket "$LARDER_SOCKET" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    "$python/test_client" "$LARDER_SOCKET"
    stop_daemon
}

@test "the clients in other languages print the same on a tour" {
    set -o pipefail
    for language in python asyncio go c typescript; do
        start_school
        check_tour "$language" "$LARDER_SOCKET"
    done
    # Their schema is the README's.
    sed -n '/^    { "version"/,/^$/p' "$BATS_TEST_DIRNAME/../../README.md" | jq -S . >readme.json
    diff <(jq -S . "$clients/school.json") readme.json
}

@test "the clients in other languages send a change set again whose reply was lost" {
    set -o pipefail
    for language in python asyncio go c typescript; do
        start_school
        start_proxy lost
        check_tour "$language" proxy
        stop_proxy
    done
    assert_equal 5 "$(grep -c "damaged: lost" log)"
}

@test "the clients in other languages report a damaged reply" {
    damages=(
        "cut: the server closed the connection"
        "long: error[FRAME_TOO_LONG]: the server sent a frame of 16777217 bytes; at most 16777216"
        "long-welcome: error[FRAME_TOO_LONG]: the server sent a frame of 65537 bytes; at most 65536"
        "nonsense: error[MALFORMED_FRAME]: the server sent a frame that is not an envelope"
        "unknown: error[UNKNOWN_MESSAGE]: the server sent a message that is not a known reply"
        "other-id: error[MALFORMED_MESSAGE]: the server replied to another request"
        "other-kind: error[MALFORMED_MESSAGE]: the server replied with another message"
        "ends: error[MALFORMED_MESSAGE]: the server sent columns that contradict each other"
        "rows: error[MALFORMED_MESSAGE]: the server sent columns that contradict each other"
        "entity: error[MALFORMED_MESSAGE]: the server sent columns that contradict each other"
    )
    start_school
    for damage in "${damages[@]}"; do
        for language in python asyncio go c typescript; do
            # The others repeat a read whose connection has ended.
            [ "${damage%%:*}" != cut ] || [ "$language" = c ] || continue
            start_proxy "${damage%%:*}"
            assert_status 1 tour "$language" proxy
            assert_contains "$stderr" "${damage#*: }"
            stop_proxy
        done
    done
    larder ping >/dev/null
}

@test "the clients for Python, Go and TypeScript repeat a read whose connection has ended" {
    set -o pipefail
    for language in python asyncio go typescript; do
        start_school
        start_proxy cut
        check_tour "$language" proxy
        stop_proxy
    done
    assert_equal 4 "$(grep -c "damaged: cut" log)"
}

@test "the clients for Go and asyncio keep to the limits with many requests at once" {
    start_school
    "$BATS_TEST_DIRNAME/../Python/test_asyncio" "$LARDER_SOCKET"
    start_school
    GO111MODULE=off GOFLAGS= GOPATH=$BATS_FILE_TMPDIR/go:/usr/share/gocode \
        go test -race -count=1 larder
}

@test "the clients in other languages report that there is no server, and wrong arguments" {
    for language in python asyncio go c typescript; do
        assert_status 1 tour "$language" nowhere
        assert_contains "$stderr" "tour: "
        assert_contains "${stderr,,}" "no such file"
        assert_status 64 tour "$language"
        assert_contains "$stderr" "usage: tour"
    done
}

@test "the clients in other languages follow the history after a server was killed" {
    start_school --store school.store
    larder insert Student name=Zoe birthOfYear=1999 >/dev/null
    followers=()
    for language in python asyncio go c typescript; do
        tour "$language" "$LARDER_SOCKET" follow >"$language.out" 2>"$language.err" 3>&- &
        followers+=($!)
    done
    for language in python asyncio go c typescript; do
        wait_for "$language.out" "following after transaction 1"
    done
    larder insert Student name=Ann birthOfYear=2001 >/dev/null
    for language in python asyncio go c typescript; do wait_for "$language.out" "transaction 2:"; done
    kill -KILL "$daemon"
    wait "$daemon" || true
    daemon=
    start_school --store school.store
    larder insert Student name=Bob birthOfYear=2002 >/dev/null
    for language in python asyncio go c typescript; do wait_for "$language.out" "transaction 3:"; done
    stop_daemon
    for language in python asyncio go c typescript; do
        status=0
        wait "${followers[0]}" || status=$?
        followers=("${followers[@]:1}")
        assert_equal 1 "$status"
        assert_contains "$(cat "$language.err")" "tour: "
        # The keys that a killed server had reserved are not used.
        assert_equal "following after transaction 1
transaction 2: inserted Student/p2
transaction 3: inserted Student/p…" "$(sed '3s/p[0-9]*$/p…/' "$language.out")"
    done
}
