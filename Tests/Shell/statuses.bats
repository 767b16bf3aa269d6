load helper

@test "usage errors exit with 64" {
    for arguments in '' bogus fetch 'fetch A --limit x' 'fetch A --limit -1' 'fetch A --output xml' \
        'fetch A --timeout 5' 'fetch A --timeout 0s' 'fetch A --ids --select x' \
        'fetch A --distinct' 'aggregate A' 'aggregate A nonsense:x' 'insert Article title' \
        'count A --socket s --store f' 'count A --schema f' 'get' 'update'; do
        [ -n "$arguments" ] || continue
        # shellcheck disable=SC2086
        assert_status 64 larder $arguments
        assert_contains "$stderr" "error[USAGE]"
        assert_equal "" "$output"
    done
}

@test "help is not an error and shows examples before usage" {
    for command in insert get update delete save fetch count aggregate id import export explain \
        'schema show' 'schema check' 'schema init' stats top check ping history 'history show' 'history token' \
        'history delete'; do
        # shellcheck disable=SC2086
        assert_status 0 larder $command --help
        assert_equal "" "$stderr"
        [[ $output == *EXAMPLES:*USAGE:* ]]
    done
    assert_status 0 larder --version
}

@test "a missing server exits with 69; a missing store option is a usage error" {
    assert_status 69 larder count Article --socket "$scratch/nobody"
    assert_contains "$stderr" "error[CONNECTION_FAILED]"
    unset LARDER_SOCKET
    assert_status 64 larder count Article
}

@test "a socket without a server and a path that is too long exit with 69" {
    kill -KILL "$daemon"
    wait "$daemon" || true
    daemon=
    assert_status 69 larder count Article
    assert_status 69 larder count Article --socket "/tmp/$(printf 'x%.0s' {1..120})"
}

@test "ping --wait exits with 75 after the timeout" {
    assert_status 75 larder ping --wait --timeout 100ms --socket "$scratch/nobody"
    assert_contains "$stderr" "error[TIMEOUT]"
}

@test "ping --wait waits for a server that starts later" {
    stop_daemon
    larder ping --wait --timeout 300s >reply 3>&- &
    waiting=$!
    start_daemon
    wait "$waiting"
    [ -s reply ]
}

@test "a server that does not reply to the handshake exits with 69" {
    # The kernel accepts connections through the backlog; nothing replies.
    python3 - "$scratch/mute" 3>&- <<'END' &
import socket, sys, signal
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
open(sys.argv[1] + ".ready", "w").close()
signal.pause()
END
    mute=$!
    until [ -e mute.ready ]; do kill -0 "$mute"; done
    assert_status 69 larder count Article --socket "$scratch/mute" --timeout 200ms
    kill "$mute"
}

@test "a write without a reply before the timeout is indeterminate" {
    mkfifo pipe
    larder import Sample pipe --timeout 300ms 2>errors 3>&- &
    import=$!
    # Opens after the command has opened the pipe; by then it has read the schema.
    exec 4>pipe
    kill -STOP "$daemon"
    # Each thread stops by itself.
    while grep -L '^State:.T' "/proc/$daemon"/task/*/status | grep -q .; do kill -0 "$daemon"; done
    echo '{"int64": 1}' >&4
    exec 4>&-
    status=0
    wait "$import" || status=$?
    kill -CONT "$daemon"
    assert_equal 1 "$status"
    assert_contains "$(cat errors)" "error[INDETERMINATE]"
}

@test "a server of another protocol exits with 76" {
    python3 - "$scratch/other" 3>&- <<'END' &
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
open(sys.argv[1] + ".ready", "w").close()
peer, _ = listener.accept()
peer.sendall(b"\x00\x00\x00\x08HTTP/1.1")
peer.recv(4096)
END
    other=$!
    until [ -e other.ready ]; do kill -0 "$other"; done
    assert_status 76 larder count Article --socket "$scratch/other" --timeout 5s
    kill "$other" 2>/dev/null || true
}

@test "an interrupted command exits with 130" {
    mkfifo pipe
    exec 4<>pipe
    run timeout --preserve-status -s INT 1 larder import Sample pipe
    exec 4>&-
    assert_equal 130 "$status"
    assert_equal 0 "$(larder count Sample)"
}

@test "a closed pipe ends a fetch without a message" {
    seq 1 5000 | sed 's/.*/{"int64": &, "string": "a string of some length, to fill pipes"}/' |
        larder import Sample - >/dev/null
    for form in table plain json jsonl csv; do
        larder fetch Sample --output "$form" 2>errors | head -1 >first
        assert_equal "" "$(cat errors)"
        [ -s first ]
    done
    assert_equal 5000 "$(larder count Sample)"
}

@test "a failure to write the output exits with 74" {
    larder insert Sample int64=1 >/dev/null
    run bash -c 'larder fetch Sample >/dev/full'
    assert_equal 74 "$status"
    run bash -c 'larder fetch Sample >&-'
    assert_equal 74 "$status"
}

@test "a closed standard input, invalid UTF-8 and endless lines are errors" {
    run bash -c 'larder save - <&-'
    assert_equal 74 "$status"
    printf '{"int64": 1, "string": "\xff"}\n' >bytes
    assert_status 65 larder import Sample bytes
    assert_contains "$stderr" "line 1: not valid UTF-8"
    # Longer than any object of the server in JSON.
    head -c 118000000 /dev/zero | tr '\0' a >long
    assert_status 5 larder import Sample long
    assert_contains "$stderr" "error[RESOURCE_EXHAUSTED]"
    assert_contains "$stderr" "long, line 1: the line is longer than the maximum of 117440512 bytes"
    assert_status 65 larder save bytes
}

@test "more lines than one change set may contain are rejected with the line number" {
    text=$(printf 'x%.0s' {1..10000})
    yes "{\"insert\": {\"@entity\": \"Sample\", \"string\": \"$text\"}}" | head -c 68000000 >long
    assert_status 5 larder save long
    assert_contains "$stderr" "error[RESOURCE_EXHAUSTED]"
    assert_contains "$stderr" "too long for one change set"
}

@test "more changes than one change set may contain are rejected" {
    yes '{"delete": {"@id": "x-coredata://0F8FAD5B-D9CB-469F-A165-70867728950E/Sample/p1"}}' |
        head -n 250001 >many
    assert_status 5 larder save many
    assert_contains "$stderr" "error[RESOURCE_EXHAUSTED]"
    assert_contains "$stderr" "more than the maximum of 250000 changes"
}

@test "a change set longer than a frame is saved, and one longer than its limit changes nothing" {
    text=$(printf 'x%.0s' {1..10000})
    seq 1 2000 | sed "s/.*/{\"insert\": {\"@entity\": \"Sample\", \"string\": \"$text\"}}/" >big
    larder save big >uris
    assert_equal 2000 "$(wc -l <uris)"
    assert_equal 2000 "$(larder count Sample --where 'length(string) == 10000')"
    assert_equal 1 "$(larder history --output jsonl | wc -l)"
    cat big big big big >longer
    assert_status 5 larder save longer
    assert_contains "$stderr" "error[RESOURCE_EXHAUSTED]"
    assert_equal 2000 "$(larder count Sample)"
}

@test "malformed changes are rejected with their line number, never with a crash" {
    printf '%s\n' '{' '[]' '"x"' 'null' '{"insert": 1}' '{"insert": {"@entity": 1}}' '{"a": {}}' \
        '{"update": {"title": "x"}}' '{"update": {"@id": "t:a"}}' '{"delete": {"@id": 7}}' \
        '{"insert": {"@entity": "Category", "name": {"a": 1}}}' \
        '{"insert": {"@id": "t:", "@entity": "Category", "name": "x"}}' \
        '{"insert": {"@entity": "Category", "@what": 1, "name": "x"}}' \
        "$(printf '[%.0s' {1..300})" >cases
    while IFS= read -r line; do
        printf '%s\n' "$line" >case
        run --separate-stderr larder save case
        [ "$status" = 65 ] || { echo "status $status for: $line: $stderr"; return 1; }
        assert_contains "$stderr" "line 1"
    done <cases
}

@test "random bytes on standard input never end a command by a signal" {
    seed=${LARDER_SEED:-$RANDOM}
    echo "LARDER_SEED=$seed"
    RANDOM=$seed
    for _ in {1..10}; do
        size=$((RANDOM % 3000))
        python3 -c 'import random, sys
random.seed(int(sys.argv[1]))
sys.stdout.buffer.write(random.randbytes(int(sys.argv[2])))' $RANDOM "$size" >noise
        for command in 'save -' 'insert Sample -' 'import Sample -' 'import Sample - --format csv'; do
            # shellcheck disable=SC2086
            run larder $command <noise
            [ "$status" -lt 128 ] || { echo "status $status of $command"; return 1; }
        done
    done
    larder ping >/dev/null
}
