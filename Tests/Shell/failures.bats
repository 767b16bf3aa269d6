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
    larder ping --wait --timeout 300s >/dev/null
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

    # One line of the log for all of them.
    assert_equal 1 "$(grep -c 'error the storage failed: .* code=STORAGE_FULL' log)"

    # After the limit is removed while it runs, it accepts writes again.
    prlimit --pid "$daemon" --fsize=unlimited
    larder insert Sample string="$text" >/dev/null
    assert_equal "$((stored + 1))" "$(larder count Sample)"
    stop_daemon
    assert_equal ok "$(sqlite3 test.store 'PRAGMA integrity_check')"
    start_daemon
    assert_equal "$((stored + 1))" "$(larder count Sample)"
}

@test "a damaged file is a line of the log, and the requests that find it get the error" {
    start_daemon
    seq 1 2000 | sed 's/.*/{"string": "text &"}/' | larder import Sample - >/dev/null
    stop_daemon
    pages=$(($(stat -c %s test.store) / 4096))
    # One of the last pages, which have the objects.
    head -c 200 /dev/zero | tr '\0' '\377' |
        dd of=test.store bs=4096 seek=$((pages - 2)) conv=notrunc status=none
    start_daemon
    for _ in 1 2; do
        assert_status 74 larder count Sample --where 'string ENDSWITH "x"'
        assert_contains "$stderr" "the store file is damaged"
    done
    assert_equal 1 "$(grep -c 'error the storage failed: the store file is damaged' log)"
}

@test "a store of a newer version is rejected, and the error names both versions" {
    start_daemon
    stop_daemon
    sqlite3 test.store 'PRAGMA user_version = 99'
    assert_status 74 larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET"
    assert_contains "$stderr" "error[STORE_TOO_NEW]"
    assert_contains "$stderr" 99
    sqlite3 test.store 'PRAGMA user_version = 7'
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

# serve_people: serves a store with 1,500 people, of about 3 MiB, on a disk of its own. Schema 2 adds
# an attribute and schema 3 an index of the names; the plan runs the program `stage` between them.
serve_people() {
    local person='{"version": "%s.0.0", "entities": [{"name": "Person", "attributes": [%s]}]}\n'
    local age='{"name": "age", "type": "int64", "default": 7}' name='{"name": "name", "type": "string"'
    # shellcheck disable=SC2059
    {
        printf "$person" 1 "$name}" >1.json
        printf "$person" 2 "$name}, $age" >2.json
        printf "$person" 3 "$name, \"unique\": true}, $age" >3.json
    }
    echo '{"stages": [
        {"from": "1.json", "to": "2.json", "didMigrate": {"run": ["./stage"]}},
        {"from": "2.json", "to": "3.json"}]}' >plan.json
    printf '#!/bin/sh -e\nlarder update Person --where "age == 7" age=8\n' >stage
    chmod +x stage
    schema=$scratch/1.json
    mkdir disk
    mount -t tmpfs -o size=32m larder-test disk 2>/dev/null ||
        skip "mounting a file system is not permitted"
    cd disk
    start_daemon
    for number in {1..1500}; do
        printf '{"name": "%s %01500d"}\n' "$number" 0
    done | larder import Person - >/dev/null
    # The log is removed.
    stop_daemon
    start_daemon
    before=$(free_space)
}

# The free space of the disk in KiB.
free_space() { df --output=avail . | tail -1; }

# leave_free KIB: fills the disk.
leave_free() { head -c "$((($(free_space) - $1) * 1024))" /dev/zero >filler; }

# The store is as it was, clients use it, and the disk has nothing else.
assert_served_as_before() {
    assert_equal 1500 "$(larder count Person)"
    assert_contains "$(larder schema show --output json)" '"1.0.0"'
    larder check >/dev/null
    larder insert Person name=new >/dev/null
    larder delete Person --where 'name == "new"' >/dev/null
    rm filler
    assert_equal $'log\ntest.store\ntest.store-wal\ntest.store.owner' "$(ls -A)"
    # The log has the last two saves only.
    (($(free_space) >= before - 500))
}

# With more space the plan succeeds.
assert_migrates() {
    larder migrate --plan ../plan.json >/dev/null
    assert_equal 1500 "$(larder count Person --where 'age == 8')"
    stop_daemon
    larder check --store test.store >/dev/null
}

@test "a working copy that does not fit on the disk is an error, and nothing is left of it" {
    serve_people
    leave_free 2000
    assert_status 74 larder migrate --plan ../plan.json
    assert_contains "$stderr" "error[STORAGE_FULL]: there is no disk space for a copy of the store"
    assert_served_as_before
    assert_migrates
}

@test "changes of a stage that do not fit on the disk are an error, and nothing is left of them" {
    serve_people
    leave_free 4000
    assert_status 1 larder migrate --plan ../plan.json
    assert_contains "$stderr" "error[STORAGE_FULL]"
    assert_contains "$stderr" "ended with status 74; nothing was changed"
    assert_served_as_before
    assert_migrates
}

@test "the result of a migration that does not fit on the disk is an error, and the store is as it was" {
    serve_people
    cp ../stage ../update
    # Takes the space after the last change of the working copy.
    cat >../stage <<SH
#!/bin/bash -e
$(declare -f free_space leave_free)
../update
leave_free 2000
SH
    sed 's/"to": "2.json"/"to": "3.json"/; 3d; s/}},$/}}]}/' ../plan.json >../short.json
    assert_status 74 larder migrate --plan ../short.json
    assert_contains "$stderr" "there is no disk space for the result of the migration"
    assert_served_as_before
    mv ../update ../stage
    assert_migrates
}

@test "a migration in one transaction that does not fit on the disk leaves the store as it was" {
    serve_people
    leave_free 2000
    assert_status 74 larder migrate --schema ../3.json
    assert_contains "$stderr" "error[STORAGE_FULL]"
    assert_served_as_before
    # The same without a server.
    stop_daemon
    leave_free 2000
    assert_status 74 larder migrate --store test.store --schema ../3.json
    assert_contains "$stderr" "error[STORAGE_FULL]"
    assert_equal 0 "$(cat test.store-wal 2>/dev/null | wc -c)"
    rm filler
    assert_contains "$(larder schema show --store test.store --output json)" '"1.0.0"'
    larder migrate --store test.store --schema ../3.json >/dev/null
    larder check --store test.store >/dev/null
    assert_equal 1500 "$(larder count Person --store test.store)"
}

@test "the archive continues after a migration that does not fit on the disk" {
    serve_people
    stop_daemon
    mkdir ../archive
    larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET" \
        --archive ../archive --archive-interval 1 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    for _ in {1..200}; do
        if compgen -G '../archive/*.base' >/dev/null; then break; fi
        sleep 0.1
    done
    leave_free 2000
    assert_status 74 larder migrate --schema ../3.json
    assert_contains "$stderr" "error[STORAGE_FULL]"
    assert_served_as_before
    larder insert Person name=last >/dev/null
    stop_daemon
    assert_equal 1 "$(larder archive list ../archive --output plain | wc -l)"
    larder archive check ../archive >/dev/null
    larder restore --archive ../archive --to ../restored >/dev/null
    assert_equal 1501 "$(larder count Person --store ../restored)"
}
