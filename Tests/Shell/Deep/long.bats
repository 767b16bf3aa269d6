# Objects that are longer than a frame, in imports and dumps: debug programs take a minute for them.

load ../helper

# The lines of a dump without the first one, which has the time and the store, and without the
# checksum.
content() { tail -n +2 "$1" | sed 's/"checksum":"[0-9a-f]*",//'; }

# A store with an object of 20 MiB, and lines that are longer still.
write_long() {
    cat >files.json <<'END'
{"version": "1.0.0", "entities": [{"name": "File", "attributes": [
  {"name": "name", "type": "string", "unique": true}, {"name": "content", "type": "data"},
  {"name": "note", "type": "string", "optional": true}]}]}
END
    head -c 20971520 /dev/urandom >content
    {
        printf '{"name": "first", "content": "YQ=="}\n{"name": "long", "content": "'
        base64 -w 0 content
        printf '"}\n{"name": "last", "content": "Yg==", "note": "é"}\n'
    } >files.jsonl
}

# Prints the hash of the long value of a store.
long_hash() {
    larder get "$(larder fetch File --where 'name == "long"' --select @id "$@")" "$@" \
        --output jsonl | jq -r .content | base64 -d | sha256sum
}

@test "an object of 20 MiB is imported, dumped and loaded, from files and from servers" {
    write_long
    wanted=$(sha256sum <content)
    assert_status 0 larder import File files.jsonl --store a.store --schema files.json
    assert_equal 3 "$output"
    assert_equal "$wanted" "$(long_hash --store a.store)"
    assert_status 0 larder dump a.dump --store a.store
    assert_status 0 larder load a.dump --store b.store
    assert_equal 3 "$output"
    assert_equal "$wanted" "$(long_hash --store b.store)"
    stop_daemon
    schema=files.json
    larderd --store c.store --schema files.json --socket "$LARDER_SOCKET" --max-object 32 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    assert_status 0 larder load a.dump
    assert_equal 3 "$output"
    assert_equal "$wanted" "$(long_hash)"
    assert_status 0 larder dump c.dump
    assert_equal "$(content a.dump)" "$(content c.dump)"
}

@test "a server refuses objects of a dump that are longer than its maximum" {
    write_long
    larder import File files.jsonl --store a.store --schema files.json >/dev/null
    larder dump a.dump --store a.store
    stop_daemon
    larderd --store c.store --schema files.json --socket "$LARDER_SOCKET" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    run --separate-stderr larder load a.dump
    [ "$status" != 0 ]
    assert_contains "$stderr" "a.dump, line 3"
    assert_contains "$stderr" "RESOURCE_EXHAUSTED"
    larder ping >/dev/null
    # A line that no object of the server needs is not read into memory.
    { head -n 1 a.dump; printf '{"@id":"File/p1","name":"'; yes xxxxxxxx | tr -d '\n' |
        head -c 130000000; } >long.dump
    run --separate-stderr larder load long.dump
    [ "$status" != 0 ]
    assert_contains "$stderr" "long.dump, line 2: the line is longer than the maximum of 117440512"
}
