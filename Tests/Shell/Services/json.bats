load ../helper

# Members of JSON documents that are compared with arguments, ordered and grouped.

setup() {
    enter_scratch
    cat >jobs.json <<'END'
{"version": "1.0.0", "entities": [{"name": "Job", "attributes": [
  {"name": "name", "type": "string"}, {"name": "data", "type": "json"}]}]}
END
    schema=$scratch/jobs.json
    start_daemon
    larder import Job - <<'END' >/dev/null
{"name": "keep", "data": {"p": 9, "s": "Ann Lee", "b": true, "n": 1.0, "tags": ["x", "y"]}}
{"name": "drop", "data": {"p": 10, "s": "Ann", "b": false, "n": 1, "tags": ["y", 9]}}
END
}

@test "an argument that is a number or a bool is compared with members as one" {
    assert_equal 1 "$(larder count Job --where 'data.p == %@' --arg 9)"
    assert_equal 1 "$(larder count Job --where 'data.p > %@' --arg 9)"
    assert_equal 2 "$(larder count Job --where 'data.p IN %@' --arg '[9, 10]')"
    assert_equal 2 "$(larder count Job --where 'data.p BETWEEN %@' --arg '[9, 10]')"
    assert_equal 1 "$(larder count Job --where 'data.p == $x' --variable x=9)"
    assert_equal 1 "$(larder count Job --where '%@ == data.p' --arg 9)"
    assert_equal 1 "$(larder count Job --where 'data.b == %@' --arg true)"
    assert_equal 2 "$(larder aggregate Job 'count where data.p > %@' --arg 5)"
    assert_equal 1 "$(larder count Job --where 'data.s == %@' --arg 'Ann Lee')"
    assert_equal 1 "$(larder count Job --where 'data.s ==[c] %@' --arg ANN)"
}

@test "an argument in quotation marks is a string, and one that is nearly JSON is an error" {
    larder insert Job name=text 'data:={"p": "9"}' >/dev/null
    assert_equal keep "$(larder fetch Job --where 'data.p == %@' --arg 9 --select name)"
    assert_equal text "$(larder fetch Job --where 'data.p == %@' --arg '"9"' --select name)"
    assert_status 65 larder count Job --where 'data.p == %@' --arg '"9'
    assert_contains "$stderr" 'is compared with an argument that begins as JSON and is not JSON'
    assert_contains "$stderr" 'hint: write a text in quotation marks'
}

@test "delete with != deletes only the objects with other members" {
    assert_equal 1 "$(larder delete Job --where 'data.p != %@' --arg 9 --yes)"
    assert_equal keep "$(larder fetch Job --select name)"
}

@test "a change set compares members with the JSON types of its arguments" {
    larder insert Job name=text 'data:={"p": "9"}' >/dev/null
    assert_status 3 larder save - <<'END'
{"unless": {"@entity": "Job", "@where": "data.p == %@", "@args": [9]}}
{"insert": {"@entity": "Job", "name": "twin", "data": {"p": 9}}}
END
    assert_status 3 larder save - <<'END'
{"unless": {"@entity": "Job", "@where": "data.p == $x", "@variables": {"x": 9}}}
{"insert": {"@entity": "Job", "name": "twin", "data": {"p": 9}}}
END
    assert_status 3 larder insert Job name=twin 'data:={"p": 9}' \
        --unless 'Job where data.p == %@' --arg 9
    assert_status 0 larder save - <<'END'
{"deleteAll": {"@entity": "Job", "@where": "data.p == %@", "@args": ["9"]}}
{"deleteAll": {"@entity": "Job", "@where": "data.p != %@", "@args": [9]}}
END
    assert_equal keep "$(larder fetch Job --select name)"
}

@test "watch compares members with arguments" {
    assert_status 0 larder watch Job --where 'data.p == %@' --arg 9 --until TRUEPREDICATE --timeout 60s
}

@test "members are ordered and grouped by value" {
    assert_equal $'keep\ndrop' "$(larder fetch Job --sort data.p --select name)"
    assert_equal $'drop\nkeep' "$(larder fetch Job --sort data.s --select name)"
    assert_equal $'10\t1' "$(larder aggregate Job --group-by p=data.p count --sort p:desc --limit 1)"
    assert_equal $'1\t2' "$(larder aggregate Job --group-by data.n count)"
    assert_equal $'1\t10\t9' \
        "$(larder aggregate Job countDistinct:data.n maximum:data.p minimum:data.p)"
    assert_equal 1 "$(larder delete Job --where 'data.p > 0' --sort data.p --limit 1)"
    assert_equal drop "$(larder fetch Job --select name)"
}

@test "elements of arrays are found" {
    assert_equal keep "$(larder fetch Job --where 'ANY data.tags == "x"' --select name)"
    assert_equal keep "$(larder fetch Job --where '"x" IN data.tags' --select name)"
    assert_equal drop "$(larder fetch Job --where '%@ IN data.tags' --arg 9 --select name)"
    assert_equal keep "$(larder fetch Job --where 'data.tags CONTAINS "x"' --select name)"
    assert_equal keep "$(larder fetch Job --where 'data.s CONTAINS %@' --arg 'n L' --select name)"
    assert_equal keep "$(larder fetch Job --where 'data.s CONTAINS %@' --arg '"n L"' --select name)"
    assert_equal drop "$(larder fetch Job --where 'data.tags CONTAINS %@' --arg 9 --select name)"
    assert_equal 0 "$(larder count Job --where 'data.s CONTAINS %@' --arg '[')"
    assert_equal drop "$(larder fetch Job --where 'data.tags.1 == 9' --select name)"
    assert_equal 2 "$(larder count Job --where 'data.tags.@count == 2')"
}
