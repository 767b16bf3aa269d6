# Loaded by every file of the suite. Puts the built programs on the PATH, and gives each test a
# scratch folder with a daemon, which is stopped by its process id.

bats_require_minimum_version 1.5.0

fixtures=$(realpath "$(dirname "${BASH_SOURCE[0]}")/Fixtures")
schema=$fixtures/schema.json
# larder warns about variables that it does not have, so that LARDER_BIN_DIR is not passed to it.
# Bats may load this file in a process and again in its children.
export BUILT_PROGRAMS=${BUILT_PROGRAMS:-${LARDER_BIN_DIR:-$fixtures/../../../.build/debug}}
BUILT_PROGRAMS=$(realpath "$BUILT_PROGRAMS")
PATH=$BUILT_PROGRAMS:$PATH
export -n LARDER_BIN_DIR
export LARDER_SOCKET SWIFT_BACKTRACE=enable=no
# Tests with a terminal see plain text, unless they are about colours or the pager.
export NO_COLOR=1 PAGER=cat
# A command may take long on a machine that does something else too.
export LARDER_TIMEOUT=300s

# Creates the scratch folder. Its path is short enough for a socket.
enter_scratch() {
    scratch=$(mktemp -d)
    cd "$scratch"
    LARDER_SOCKET=$scratch/s
    daemon=
}

start_daemon() {
    larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
}

# Stops the daemon gracefully and returns its exit status.
stop_daemon() {
    kill -TERM "$daemon"
    local status=0
    wait "$daemon" || status=$?
    daemon=
    return $status
}

leave_scratch() {
    if [ -n "$daemon" ]; then
        kill -KILL "$daemon" 2>/dev/null || true
        wait "$daemon" 2>/dev/null || true
    fi
    cd /
    # A test may have mounted a small disk.
    if [ -d "$scratch/disk" ] && mountpoint -q "$scratch/disk"; then umount "$scratch/disk"; fi
    rm -rf "$scratch"
}

setup() {
    enter_scratch
    start_daemon
}

teardown() { leave_scratch; }

# assert_status STATUS COMMAND…: runs the command and checks its exit status. Sets $output and $stderr.
assert_status() {
    local expected=$1
    shift
    run --separate-stderr "$@"
    [ "$status" = "$expected" ] || {
        printf 'status %s, not %s\nstdout: %s\nstderr: %s\n' \
            "$status" "$expected" "$output" "$stderr"
        return 1
    }
}

# assert_equal EXPECTED ACTUAL: checks that two texts are equal.
assert_equal() {
    [ "$1" = "$2" ] || {
        printf 'expected: %s\nfound:    %s\n' "$1" "$2"
        return 1
    }
}

# assert_contains TEXT PART: checks that a text contains another.
assert_contains() {
    [[ "$1" == *"$2"* ]] || {
        printf 'text: %s\nlacks: %s\n' "$1" "$2"
        return 1
    }
}

# Inserts three categories and six articles, two of them in a collection, in one transaction.
insert_articles() {
    mapfile -t inserted < <(larder save - <<'END'
{"insert": {"@id": "t:tech", "@entity": "Category", "name": "tech"}}
{"insert": {"@id": "t:arts", "@entity": "Category", "name": "arts"}}
{"insert": {"@entity": "Category", "name": "empty"}}
{"insert": {"@id": "t:week", "@entity": "ArticleCollection", "name": "week"}}
{"insert": {"@entity": "Article", "title": "one", "wordCount": 10, "category": "t:tech", "collection": "t:week"}}
{"insert": {"@entity": "Article", "title": "two", "wordCount": 20, "category": "t:tech", "published": "2026-01-31T08:15:00Z"}}
{"insert": {"@entity": "Article", "title": "three", "wordCount": 30, "category": "t:tech"}}
{"insert": {"@entity": "Article", "title": "four", "wordCount": 40, "category": "t:arts", "collection": "t:week"}}
{"insert": {"@entity": "Article", "title": "five", "wordCount": 50, "category": "t:arts"}}
{"insert": {"@entity": "Article", "title": "six", "wordCount": 60}}
END
    )
    assert_equal 10 ${#inserted[@]}
    tech=${inserted[0]} arts=${inserted[1]} empty=${inserted[2]} week=${inserted[3]}
}
