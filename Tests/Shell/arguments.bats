# Arguments that would be misread, and reasons in errors about files and sockets.

load helper

@test "an argument that is not UTF-8 is refused, and nothing is stored" {
    assert_status 65 larder insert Category name=$'Caf\xe9'
    assert_contains "$stderr" 'error[MALFORMED_VALUE]: argument 3, name=Caf'
    assert_contains "$stderr" 'is not valid UTF-8'
    assert_equal 0 "$(larder count Category)"
    assert_status 64 larderd --store $'x\xff' --socket s2
    assert_contains "$stderr" 'is not valid UTF-8'
    larder insert Category name=Café >/dev/null
    assert_equal Café "$(larder fetch Category --select name)"
}

@test "a number below zero is refused with the reason, and not as a missing value" {
    for command in 'fetch Category --limit' 'fetch Category --offset' 'history --limit' 'history --last' \
        'aggregate Category count --limit' 'history delete --keep' 'delete Category --all --limit'; do
        # shellcheck disable=SC2086 # Several words on purpose.
        assert_status 64 larder $command -1
        assert_contains "$stderr" 'must not be negative'
    done
    assert_status 64 larder top --count -1
    assert_contains "$stderr" '--count must be a number from 1'
}

@test "the history of an object that SELF names has no other objects, deleted ones included" {
    insert_articles
    larder delete "$(larder fetch Article --where 'title == "two"' --ids)" >/dev/null
    three=$(larder fetch Article --where 'title == "three"' --ids)
    larder update "$three" wordCount=31 >/dev/null
    history_of() { larder history Article --output jsonl "$@" | jq -r '.changes[] | "\(.kind) \(.count) \(.first)"'; }
    assert_equal "inserted 1 $three"$'\n'"updated 1 $three" \
        "$(history_of --where 'SELF == %@' --arg "$three")"
    short=Article/${three##*/}
    assert_equal "updated 1 $three" "$(history_of --last 1 --where "SELF IN {\"$short\", \"Article/p999\"} AND wordCount > 1")"
    larder delete "$three" >/dev/null
    assert_equal "deleted 1 $three" "$(history_of --last 1 --where '%@ == SELF' --arg "$short")"
    # A predicate that names no object cannot leave out a deleted one.
    assert_contains "$(history_of --where 'SELF == %@ OR wordCount > 9000' --arg "$three")" 'deleted 1'
}

@test "each example in a help text is on a line of its own" {
    for command in $(larder --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p' | sort -u); do
        larder help "$command" >help 2>/dev/null || continue
        sed -n '/^EXAMPLES:/,/^$/p' help | tail -n +2 | sed '/^$/d' >examples
        assert_equal "" "$(grep -v '^  ' examples || true)"
        # A quotation mark that is open at the end of a line would be that of a wrapped one.
        assert_equal "" "$(awk -F "'" 'NF % 2 == 0' examples)"
    done
}

@test "an error about a file that may not be opened has its path and the reason" {
    [ "$(id -u)" = 0 ] || skip "only root can become another user"
    stop_daemon
    larder backup b.backup --store test.store >/dev/null
    chmod 755 .
    nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env -u LARDER_SOCKET "$@"; }
    assert_status 5 nobody larder count Category --store test.store
    assert_contains "$stderr" \
        'test.store may not be opened: it belongs to user 0 and has the mode 600, and this is user 65534'
    assert_status 5 nobody larder restore b.backup --to copy.store
    assert_contains "$stderr" 'b.backup may not be opened: it belongs to user 0'
    chmod 644 b.backup test.store
    assert_status 5 nobody larder restore b.backup --to copy.store
    assert_contains "$stderr" 'copy.store may not be written: the folder . belongs to user 0 and has the mode 755'
    assert_status 5 nobody larder count Category --store test.store
    assert_contains "$stderr" 'test.store may not be written: it belongs to user 0 and has the mode 644'
    assert_contains "$stderr" 'larder restore test.store --to NEWFILE makes a copy'
    mkdir -m 777 copies
    assert_status 0 nobody larder restore test.store --to copies/copy.store
    assert_status 0 nobody larder count Category --store copies/copy.store
    chmod 600 test.store
    assert_status 5 nobody larder migrate --store test.store --schema "$schema"
    assert_contains "$stderr" 'test.store may not be opened: it belongs to user 0'
}

@test "larderd refuses options of the archive without it, and a socket in a folder that is missing" {
    for option in '--archive-interval 5' '--archive-keep-for 1' '--archive-command true'; do
        # shellcheck disable=SC2086 # Two words on purpose.
        assert_status 64 larderd --store other.store --schema "$schema" --socket s2 $option
        assert_contains "$stderr" "${option% *} requires --archive"
    done
    assert_status 69 larderd --store other.store --schema "$schema" --socket "$PWD/nowhere/s"
    assert_contains "$stderr" "the folder of the socket $PWD/nowhere/s does not exist"
    [ ! -e nowhere ]
}

@test "the log names the path of a socket that a service manager passes" {
    command -v systemd-socket-activate >/dev/null || skip "systemd-socket-activate is not installed"
    stop_daemon
    systemd-socket-activate --listen="$PWD/passed" larderd --store test.store 2>passed.log 3>&- &
    daemon=$!
    until [ -S passed ]; do kill -0 "$daemon"; done
    larder ping --socket "$PWD/passed" --timeout 60s >/dev/null
    grep -q "at $PWD/passed\$" passed.log
}

@test "a dry run of a migration is refused by the objects that would refuse the migration" {
    for number in 1 2 3; do larder insert Category name="c$number" >/dev/null; done
    jq '.version = "9.0.0" | (.entities[] | select(.name == "Category") | .attributes[] | select(.name == "name"))
        .maxLength = 2' "$schema" >fits.json
    sed 's/"maxLength": 2/"maxLength": 1/' fits.json >refused.json
    mkdir temporary
    export TMPDIR=$PWD/temporary
    refuses() {
        assert_status 65 larder migrate --schema refused.json --dry-run "$@"
        assert_contains "$stderr" 'error[MIGRATION_REFUSED]: the store has 3 values'
        assert_contains "$stderr" 'Category/p1: Category.name'
        assert_equal "" "$output"
        assert_status 0 larder migrate --schema fits.json --dry-run "$@"
        assert_contains "$output" 'Category.name'
        assert_equal "" "$(ls temporary)"
    }
    refuses
    assert_equal 3 "$(larder count Category)"
    stop_daemon
    before=$(sha256sum test.store)
    refuses --store test.store
    assert_equal "$before" "$(sha256sum test.store)"
}
