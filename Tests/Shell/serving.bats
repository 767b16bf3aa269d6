load helper

@test "the server continues after larder is killed at any time" {
    seq 1 20000 | sed 's/.*/{"int64": &, "string": "some text to give it a length"}/' >in
    for delay in 0.01 0.03 0.06 0.1 0.15 0.2 0.3 0.4; do
        timeout -s KILL "$delay" larder import Sample in >/dev/null 2>&1 || true
        timeout -s KILL "$delay" larder fetch Sample >/dev/null 2>&1 || true
        larder ping --timeout 10s >/dev/null
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
    larder insert Category name=activated --timeout 20s >/dev/null
    assert_equal activated "$(larder fetch Category --select name)"
    stop_daemon
    [ -S "$LARDER_SOCKET" ]
}

# It was written from the protocol document alone.
@test "the one-page Python client uses everything that the protocol document describes" {
    stop_daemon
    python=$BATS_TEST_DIRNAME/../Python
    larderd --in-memory --schema "$python/school.schema.json" --socket "$LARDER_SOCKET" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 20s >/dev/null
    "$python/test_client" "$LARDER_SOCKET"
    stop_daemon
}
