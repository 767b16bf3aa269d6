load helper

# larderd --archive, larder archive and larder restore.

setup() {
    enter_scratch
    mkdir archive
}

# start OPTION…: starts larderd with an archive.
start() {
    larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET" --archive archive \
        --archive-interval 1 "$@" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
}

# wait_for COMMAND…: repeats a command until it succeeds, for at most 20 seconds.
wait_for() {
    local deadline=$((SECONDS + 300))
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ]
        larder ping >/dev/null 2>&1 || true
    done
}

has_base() { compgen -G 'archive/*.base' >/dev/null; }

names() { larder fetch Category --store "$1" --select name --sort name --output plain; }

@test "a store is restored to each of its commits, by number and by time" {
    start
    larder insert Category name=first >/dev/null
    wait_for has_base
    # The first transaction of a new store.
    first=1
    larder insert Category name=second >/dev/null
    before=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ | sed 's/......Z$/Z/')
    larder insert Category name=third >/dev/null
    stop_daemon
    assert_equal 1 "$(larder archive list archive --output plain | cut -f1)"
    assert_equal $((first + 2)) "$(larder archive list archive --output plain | cut -f3)"
    larder archive check archive
    larder restore --archive archive --to latest.store >/dev/null
    assert_equal $'first\nsecond\nthird' "$(names latest.store)"
    larder restore --archive archive --to first.store --at "$first" >/dev/null
    assert_equal first "$(names first.store)"
    larder restore --archive archive --to time.store --at "$before" >/dev/null
    assert_equal $'first\nsecond' "$(names time.store)"
    larder check --store time.store
}

@test "an existing file, an unknown state and a damaged archive are refused" {
    start
    larder insert Category name=a >/dev/null
    wait_for has_base
    stop_daemon
    echo mine >mine
    assert_status 5 larder restore --archive archive --to mine
    assert_contains "$stderr" "exists already"
    assert_equal mine "$(cat mine)"
    assert_status 4 larder restore --archive archive --to new --at 99
    assert_contains "$stderr" "it can be restored to transactions"
    assert_status 64 larder restore --archive archive --to new --at yesterday
    base=$(echo archive/*.base)
    printf x | dd of="$base" bs=1 seek=5000 conv=notrunc status=none
    assert_status 74 larder restore --archive archive --to new
    assert_contains "$stderr" "$base is damaged"
    assert_status 74 larder archive check archive
    assert_contains "$output" "$base is damaged"
    [ ! -e new ]
    assert_equal "" "$(compgen -G 'new.*' || true)"
}

@test "a restored store has another epoch, and another identity on request" {
    start
    larder insert Category name=a >/dev/null
    wait_for has_base
    first=$(larder history token)
    larder insert Category name=b >/dev/null
    second=$(larder history token)
    stop_daemon
    same=$(larder restore --archive archive --to same.store --at 1 --output plain | cut -f4)
    other=$(larder restore --archive archive --to other.store --new-identity --output plain | cut -f4)
    [ "$same" != "$other" ]
    larder history --store same.store --after "$first"
    # The number of a later transaction is used again.
    assert_status 4 larder history --store same.store --after "$second"
    assert_contains "$stderr" TOKEN_EXPIRED
}

@test "an archive folder that disappears is reported, and no write fails" {
    start
    larder insert Category name=a >/dev/null
    wait_for has_base
    mv archive away
    larder insert Category name=b >/dev/null
    wait_for grep -q 'changes are not archived' log
    larder stats | grep archiveFailure | grep -q archive/
    larder insert Category name=c >/dev/null
    mv away archive
    wait_for grep -q 'archived again' log
    stop_daemon
    larder restore --archive archive --to new >/dev/null
    assert_equal $'a\nb\nc' "$(names new)"
    assert_equal 1 "$(larder archive list archive --output plain | wc -l)"
}

@test "a full disk of the archive is reported, and the archive continues when there is space" {
    if ! mount -t tmpfs -o size=400k larder-test archive 2>/dev/null; then
        skip "mounting a file system is not permitted"
    fi
    start
    larder insert Category name=a >/dev/null
    wait_for has_base || true
    head -c 350000 /dev/zero >archive/filler 2>/dev/null || true
    for number in 1 2 3; do larder insert Category name="$number" >/dev/null; done
    wait_for grep -qE 'not archived|base copy failed' log
    rm -f archive/filler
    mount -o remount,size=8m archive
    wait_for has_base
    stop_daemon
    larder restore --archive archive --to new >/dev/null
    assert_equal $'1\n2\n3\na' "$(names new)"
    umount archive
}

@test "conflicting options and a missing folder are errors" {
    for options in "--read-only" "--archive-interval 0"; do
        # shellcheck disable=SC2086
        assert_status 64 larderd --store x --archive archive $options
    done
    assert_status 64 larderd --store x --archive-keep-for 3
    assert_contains "$stderr" "--archive-keep-for requires --archive"
    assert_status 74 larderd --store x --schema "$schema" --socket s --archive nowhere
    assert_contains "$stderr" nowhere
}

@test "the command gets each file, and the path is no part of its text" {
    mkdir copies
    start --archive-command 'cp "$1" "copies/$2"'
    larder insert Category name=a >/dev/null
    wait_for has_base
    wait_for compgen -G 'copies/*.base' >/dev/null
    stop_daemon
    wait_for diff <(cd archive && ls -- *.segment *.base) <(ls copies)
}

@test "a store is archived after a migration while it is served, in a new generation" {
    start
    larder insert Category name=first >/dev/null
    wait_for has_base
    before=$(larder history --output plain --limit 1 | cut -f1)
    sed 's/"version": *"1.0.0"/"version": "1.1.0"/' "$schema" >new.json
    echo '{"insert": {"@entity": "Category", "name": "staged"}}' >staged.jsonl
    cp "$schema" old.json
    echo '{"stages": [{"from": "old.json", "to": "new.json", "didMigrate": {"save": "staged.jsonl"}}]}' >plan.json
    larder migrate --plan plan.json >/dev/null
    larder insert Category name=second >/dev/null
    sed 's/1.1.0/1.2.0/' new.json >newer.json
    larder migrate --schema newer.json >/dev/null
    larder insert Category name=third >/dev/null
    stop_daemon
    larder archive check archive
    assert_equal $'1\n2\n3' "$(larder archive list archive --output plain | cut -f1)"
    larder restore --archive archive --to latest.store >/dev/null
    assert_equal $'first\nsecond\nstaged\nthird' "$(names latest.store)"
    assert_contains "$(larder schema show --store latest.store --output json)" 1.2.0
    larder restore --archive archive --to old.store --at "$before" >/dev/null
    assert_equal first "$(names old.store)"
    # An abandoned migration leaves the archive as it was.
    schema=newer.json start
    sed 's/1.2.0/1.3.0/' newer.json >newest.json
    echo '{"stages": [{"from": "newer.json", "to": "newest.json", "didMigrate": {"run": ["false"]}}]}' >fails.json
    assert_status 1 larder migrate --plan fails.json
    larder insert Category name=fourth >/dev/null
    stop_daemon
    assert_equal $'1\n2\n3' "$(larder archive list archive --output plain | cut -f1)"
    larder restore --archive archive --to fourth.store >/dev/null
    assert_equal 5 "$(larder count Category --store fourth.store)"
}
