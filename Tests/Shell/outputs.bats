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

@test "tables show decimals with the scale of their attribute, and programs get them as they are" {
    cat >money.json <<'END'
{ "version": "1.0.0", "entities": [
  { "name": "Item",
    "attributes": [ { "name": "name", "type": "string" },
                    { "name": "price", "type": "decimal", "optional": true, "scale": 2 },
                    { "name": "weight", "type": "decimal", "default": 1 } ],
    "relationships": [ { "name": "kind", "destination": "Kind", "inverse": "items" } ] },
  { "name": "Kind", "attributes": [ { "name": "fee", "type": "decimal", "scale": 1 } ],
    "relationships": [ { "name": "items", "destination": "Item", "toMany": true, "inverse": "kind" } ] } ] }
END
    use() { larder "$@" --store money.store; }
    kind=$(larder insert Kind fee=3 --store money.store --schema money.json)
    use insert Item - >inserted <<END
{"name": "a", "price": 12.5, "kind": "$kind"}
{"name": "b", "price": 0.125, "weight": 2.50}
{"name": "c", "price": -7}
{"name": "d"}
END
    use fetch Item --select name,price,kind.fee,weight --sort name --output table >table
    printf '%s\n' 'name  price  kind.fee  weight' '----  -----  --------  ------' 'a     12.50       3.0       1' \
        'b     0.125               2.5' 'c     -7.00                 1' 'd                           1' |
        diff - table
    assert_equal 12.5,0.125,-7, "$(use fetch Item --select price --sort name | paste -sd,)"
    assert_equal '12.5 0.125 -7 null' \
        "$(use fetch Item --select price --sort name --output jsonl | jq .price | xargs)"
    assert_contains "$(use get Item/p1 --output vertical)" 'price   12.50'
    assert_contains "$(use fetch Item --where 'name == "a"' --output vertical)" '12.50'
    use aggregate Item sum:price average:price maximum:price median:weight 'half=sum:price / 2' \
        --output table >table
    assert_equal '5.625 1.88 12.50 1 2.8125' "$(tail -1 table | xargs)"
    assert_equal 1.875 "$(use aggregate Item average:price)"
    use aggregate Item average:weight --output table | tail -1 >table
    assert_equal 1.375 "$(xargs <table)"
    use fetch Item --select 'x=weight / 3' --where 'name == "a"' --output table | tail -1 >table
    assert_equal 0.333333 "$(xargs <table)"
    assert_equal 0.33333333333333333333333333333333333333 \
        "$(use fetch Item --select 'x=weight / 3' --where 'name == "a"')"
    # A scale is added by a migration that touches no object, and former programs continue.
    sed 's/"default": 1/"default": 1, "scale": 3/; s/1.0.0/1.1.0/' money.json >new.json
    assert_contains "$(larder schema diff money.json new.json)" 'Item.weight: scale none -> 3'
    larder migrate --schema new.json --store money.store >/dev/null
    assert_contains "$(use fetch Item --select weight --output table)" 2.500
    assert_equal 2.5 "$(use fetch Item --select weight --where 'name == "b"' --schema-version 1.0.0)"
    echo '{"version": "1.0.0", "entities": [{"name": "A", "attributes": [
        {"name": "x", "type": "double", "scale": 2}, {"name": "y", "type": "decimal", "scale": 39}]}]}' >bad.json
    assert_status 65 larder schema check bad.json
    assert_contains "$stderr" 'attributes[0].scale: only a decimal has a scale, not double'
    assert_contains "$stderr" 'attributes[1].scale: expected a number from 0 to 38'
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
