# Errors of the disk, and files that are not valid stores.

load helper

setup() { enter_scratch; }

# start_daemon_within KIB: starts the daemon with a limit on the size of its files.
start_daemon_within() {
    (
        ulimit -S -f "$1"
        exec larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET" 2>>log 3>&-
    ) &
    daemon=$!
    larder ping --wait --timeout 20s >/dev/null
}

@test "a full disk rejects writes and loses nothing; reads continue, and writes work with space again" {
    text=$(printf 'x%.0s' {1..2000})
    start_daemon_within 1024
    stored=0
    for _ in {1..2000}; do
        run --separate-stderr larder insert Sample string="$text"
        [ "$status" = 0 ] || break
        stored=$((stored + 1))
    done
    assert_equal 74 "$status"
    assert_contains "$stderr" "error[STORAGE_FULL]"
    [ "$stored" -gt 10 ]
    assert_equal "$stored" "$(larder count Sample)"
    # It rejects the next write too, and continues to serve.
    assert_status 74 larder insert Sample string="$text"
    assert_equal "$stored" "$(larder count Sample)"

    # After the limit is removed while it runs, it accepts writes again.
    prlimit --pid "$daemon" --fsize=unlimited
    larder insert Sample string="$text" >/dev/null
    assert_equal "$((stored + 1))" "$(larder count Sample)"
    stop_daemon
    assert_equal ok "$(sqlite3 test.store 'PRAGMA integrity_check')"
    start_daemon
    assert_equal "$((stored + 1))" "$(larder count Sample)"
}

@test "a store of a newer version is rejected, and the error names both versions" {
    start_daemon
    stop_daemon
    sqlite3 test.store 'PRAGMA user_version = 99'
    assert_status 74 larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    assert_contains "$stderr" "error[STORE_TOO_NEW]"
    assert_contains "$stderr" 99
    sqlite3 test.store 'PRAGMA user_version = 4'
    start_daemon
}

@test "a file that is not a store is rejected and left unchanged" {
    printf 'not a store, but a text of some length\n%.0s' {1..200} >test.store
    cp test.store before
    assert_status 74 larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    assert_contains "$stderr" "error[NOT_A_STORE]"
    cmp test.store before
    rm test.store
    sqlite3 test.store 'CREATE TABLE others (x)'
    cp test.store before
    assert_status 74 larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    assert_contains "$stderr" "error[NOT_A_STORE]"
    cmp test.store before
}
