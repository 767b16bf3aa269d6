load helper

@test "plain output escapes characters that would break a line or a column" {
    larder insert Sample --json '{"string": "a\tb\nc\\d\u001b[1m"}' >/dev/null
    assert_status 0 larder fetch Sample --select string,int64
    assert_equal 'a\tb\nc\\d\x1b[1m'$'\t' "$output"
}

@test "csv follows RFC 4180 and distinguishes nil from the empty string" {
    larder insert Sample --json '{"string": "a,\"b\"\nc", "int64": 1}' >/dev/null
    larder insert Sample --json '{"string": "", "int64": 2}' >/dev/null
    larder insert Sample --json '{"int64": 3}' >/dev/null
    larder fetch Sample --select int64,string --sort int64 --output csv >out
    printf 'int64,string\r\n1,"a,""b""\nc"\r\n2,""\r\n3,\r\n' | cmp - out
}

@test "a table has a header, a separator line and right-aligned numbers" {
    larder insert Sample string=ab int64=5 >/dev/null
    larder insert Sample string=漢字 int64=1234 >/dev/null
    larder fetch Sample --select string,int64 --sort int64 --output table >out
    printf 'string  int64\n------  -----\nab          5\n漢字     1234\n' | diff - out
}

@test "json is one array and jsonl one object per line, also for an empty result" {
    assert_equal '[]' "$(larder fetch Sample --output json)"
    assert_equal '' "$(larder fetch Sample --output jsonl)"
    assert_equal '' "$(larder fetch Sample)"
    larder insert Sample int64=1 >/dev/null
    larder insert Sample int64=2 >/dev/null
    assert_equal '[{"int64":1},{"int64":2}]' \
        "$(larder fetch Sample --select int64 --sort int64 --output json | jq -c .)"
    assert_equal $'{"int64":1}\n{"int64":2}' \
        "$(larder fetch Sample --select int64 --sort int64 --output jsonl)"
}

@test "csv and table output of an empty result has a header" {
    assert_equal $'int64\r' "$(larder fetch Sample --select int64 --output csv)"
    assert_equal $'int64\n-----' "$(larder fetch Sample --select int64 --output table)"
}

@test "with --output json, errors are one JSON object, including usage errors" {
    assert_status 4 larder count Nothing --output json
    assert_equal '["UNKNOWN_ENTITY",4]' "$(jq -c '[.code,.status]' <<<"$stderr")"
    assert_status 64 larder fetch --output json
    assert_equal '["USAGE",64]' "$(jq -c '[.code,.status]' <<<"$stderr")"
}

@test "a successful command prints nothing to standard error" {
    for i in 1 2 3; do echo '{"int64": '$i'}'; done >lines
    assert_status 0 larder import Sample lines
    assert_equal "" "$stderr"
    assert_equal 3 "$output"
    assert_status 0 larder export Sample
    assert_equal "" "$stderr"
    assert_equal 3 "${#lines[@]}"
}
