# What the store does when the disk does not do what it is asked, and when the file is not what it
# should be.

load helper

setup() { enter_scratch; }

# Starts the daemon in a shell that may not make files larger than so many KiB.
start_daemon_within() {
    (
        ulimit -S -f "$1"
        exec larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET" 2>>log 3>&-
    ) &
    daemon=$!
    larder ping --wait --timeout 20s >/dev/null
}

@test "a full disk refuses writes and loses nothing; reads go on, and room heals it" {
    text=$(printf 'x%.0s' {1..2000})
    start_daemon_within 1024
    stored=0
    for _ in {1..2000}; do
        run --separate-stderr larder insert Sample string="$text"
        [ "$status" = 0 ] || break
        stored=$((stored + 1))
    done
    same 74 "$status"
    holds "$stderr" "error[STORAGE_FULL]"
    [ "$stored" -gt 10 ]
    same "$stored" "$(larder count Sample)"
    # It refuses the next one too, and still serves.
    expect 74 larder insert Sample string="$text"
    same "$stored" "$(larder count Sample)"

    # With room again, by a limit that is lifted while it runs, it takes writes again.
    prlimit --pid "$daemon" --fsize=unlimited
    larder insert Sample string="$text" >/dev/null
    same "$((stored + 1))" "$(larder count Sample)"
    stop_daemon
    same ok "$(sqlite3 test.store 'PRAGMA integrity_check')"
    start_daemon
    same "$((stored + 1))" "$(larder count Sample)"
}

@test "a store of a newer program is refused, naming both versions" {
    start_daemon
    stop_daemon
    sqlite3 test.store 'PRAGMA user_version = 99'
    expect 74 larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    holds "$stderr" "error[STORE_TOO_NEW]"
    holds "$stderr" 99
    sqlite3 test.store 'PRAGMA user_version = 3'
    start_daemon
}

@test "a store that is not one is refused and left as it was" {
    printf 'not a store, but a text of some length\n%.0s' {1..200} >test.store
    cp test.store before
    expect 74 larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    holds "$stderr" "error[NOT_A_STORE]"
    cmp test.store before
    rm test.store
    sqlite3 test.store 'CREATE TABLE others (x)'
    cp test.store before
    expect 74 larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    holds "$stderr" "error[NOT_A_STORE]"
    cmp test.store before
}
