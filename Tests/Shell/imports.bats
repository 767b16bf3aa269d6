load helper

teardown() {
    umount --lazy "$scratch/small" 2>/dev/null || true
    leave_scratch
}

@test "import stores many objects and export prints them" {
    seq 1 5000 | sed 's/.*/{"int64": &, "string": "n&"}/' >in
    assert_status 0 larder import Sample in
    assert_equal 5000 "$output"
    larder export Sample --select int64,string >out
    jq -c . in | cmp - out
}

@test "the output of export can be imported into another store" {
    insert_articles
    larder export Category >categories
    larder export Article --select title,wordCount,published >articles
    larder --version >/dev/null
    larder import Category categories --store copy.store --schema "$schema" >/dev/null
    larder import Article articles --store copy.store >/dev/null
    assert_equal "$(larder fetch Article --select title,wordCount,published --sort title)" \
        "$(larder fetch Article --select title,wordCount,published --sort title \
            --store copy.store)"
    assert_equal 3 "$(larder count Category --store copy.store)"
}

@test "import rejects a URI of another store" {
    insert_articles
    larder export Article >articles
    assert_status 4 larder import Article articles --store copy.store --schema "$schema"
    assert_contains "$stderr" "error[FOREIGN_IDENTIFIER]"
}

@test "csv import uses the header, distinguishes nil from the empty string, and round-trips" {
    printf 'string,int64,date\r\n"a,""b""\nc",1,2026-01-31T08:15:00Z\r\n"",2,\r\n,3,\r\n' >in.csv
    assert_status 0 larder import Sample in.csv
    assert_equal 3 "$output"
    larder export Sample --select string,int64,date --output csv | cmp - in.csv
    larder export Sample --output csv >whole.csv
    assert_status 0 larder import Sample - --format csv <whole.csv
    assert_equal 6 "$(larder count Sample)"
}

@test "an import error names the line, the property and the last committed line" {
    { seq 1 4500 | sed 's/.*/{"int64": &}/'; echo '{"int64": "x"}'; } >in
    assert_status 65 larder import Sample in
    assert_contains "$stderr" "in, line 4501: Sample.int64"
    assert_contains "$stderr" "up to line 4000 were committed (4000 objects)"
    assert_equal 4000 "$(larder count Sample)"
}

@test "an error of the store names the line, and its transaction is not committed" {
    printf '{"name": "a"}\n{"name": "b"}\n{"name": "a"}\n' >in
    assert_status 65 larder import Category in
    assert_contains "$stderr" "error[UNIQUENESS_VIOLATED]"
    assert_contains "$stderr" "line"
    assert_contains "$stderr" "nothing from in was committed"
    assert_equal 0 "$(larder count Category)"
}

@test "csv with an invalid header, too few fields or an unclosed quotation mark is rejected" {
    printf 'nothing\n1\n' >a.csv
    assert_status 65 larder import Sample a.csv
    assert_contains "$stderr" "line 1: Sample has no property \"nothing\""
    printf 'int64,string\n1\n' >b.csv
    assert_status 65 larder import Sample b.csv
    assert_contains "$stderr" "line 2"
    printf 'string\n"abc\n' >c.csv
    assert_status 65 larder import Sample c.csv
    assert_contains "$stderr" "not closed"
}

@test "--upsert updates objects that already have the unique values" {
    larder insert Category name=a >first
    printf '{"name": "a"}\n{"name": "b"}\n' >in
    assert_status 0 larder import Category in --upsert
    assert_equal 2 "$output"
    assert_status 0 larder import Category in --upsert
    assert_equal 2 "$(larder count Category)"
    assert_equal "$(cat first)" "$(larder insert Category name=a --upsert)"
}

@test "an empty file is valid, a missing file is an error" {
    : >empty
    assert_status 0 larder import Sample empty
    assert_equal 0 "$output"
    assert_status 74 larder import Sample nowhere
    assert_contains "$stderr" "nowhere"
}

# many [COUNT]: prints the lines of more objects than a few transactions have.
many() { seq 1 "${1:-70000}" | sed 's/.*/{"title": "t&", "wordCount": &}/'; }

@test "an import error names the line, and the transactions before it are committed" {
    { many; echo '{"title": "bad", "wordCount": -1}'; many 5; } >in
    assert_status 65 larder import Article in
    assert_contains "$stderr" "error[VALIDATION_FAILED]: in, line 70001: Article.wordCount"
    assert_contains "$stderr" "up to line 70000 were committed (70000 objects)"
    assert_equal 70000 "$(larder count Article)"
}

@test "--atomic imports the whole file or nothing" {
    many >in
    assert_status 0 larder import Article in --atomic
    assert_equal 70000 "$output"
    assert_equal 70000 "$(larder count Article)"
    { many; echo '{"title": "bad", "wordCount": -1}'; many 5; } >bad
    assert_status 65 larder import Article bad --atomic
    assert_contains "$stderr" "error[VALIDATION_FAILED]: bad, line 70001: Article.wordCount"
    assert_contains "$stderr" "nothing from bad was committed"
    { many; echo '{"title": "bad", "wordCount": "x"}'; } >typed
    assert_status 65 larder import Article typed --atomic
    assert_contains "$stderr" "typed, line 70001: Article.wordCount"
    assert_equal 70000 "$(larder count Article)"
    assert_equal "" "$(find . -name '*spool*')"
}

@test "a csv error names the correct line if values span several lines" {
    { echo 'name'; seq 1 3000 | sed 's/.*/"a\n&"/'; echo '"a'; echo '5"'; } >in.csv
    assert_status 65 larder import Category in.csv --atomic
    assert_contains "$stderr" "error[UNIQUENESS_VIOLATED]: in.csv, line 6002: Category.name must be unique"
    assert_equal 0 "$(larder count Category)"
    assert_status 65 larder import Category in.csv
    assert_contains "$stderr" "error[UNIQUENESS_VIOLATED]: in.csv, line 6002"
    assert_contains "$stderr" "up to line 4000 were committed (2000 objects)"
    assert_equal 2000 "$(larder count Category)"
}

@test "properties that a line omits get their defaults" {
    printf '%s\n' '{"title": "a"}' '{"title": "b", "wordCount": 3}' '{}' >in
    assert_status 65 larder import Article in
    assert_contains "$stderr" "in, line 3: Article.title is required"
    head -2 in >two
    assert_status 0 larder import Article two
    assert_equal $'a\t0\nb\t3' "$(larder fetch Article --select title,wordCount --sort title)"
    echo '{}' >empty
    assert_status 0 larder import Sample empty
    assert_equal 1 "$(larder count Sample)"
}

@test "--ids prints URIs in the order of the file" {
    many 2500 >in
    assert_status 0 larder import Article in --ids
    printf '%s\n' "$output" >ids
    assert_equal 2500 "$(wc -l <ids)"
    assert_equal t2500 "$(larder get "$(tail -n 1 ids)" --output jsonl | jq -r .title)"
    printf '{"name": "%s"}\n' a b a >names
    assert_status 0 larder import Category names --upsert --ids
    assert_equal "$(sed -n 1p <<<"$output")" "$(sed -n 3p <<<"$output")"
    printf '{"name": "%s"}\n' c a c >more
    assert_status 0 larder import Category more --upsert --atomic --ids
    assert_equal "$(sed -n 1p <<<"$output")" "$(sed -n 3p <<<"$output")"
    assert_equal 3 "$(larder count Category)"
}

@test "a disk without space for the rows of one transaction leaves the store unchanged" {
    mkdir small
    mount -t tmpfs -o size=4m none small 2>/dev/null || skip "needs to mount a file system"
    many 400000 >in
    larder import Article /dev/null --store small/store --schema "$schema" >/dev/null
    assert_status 74 larder import Article in --atomic --store small/store
    assert_contains "$stderr" "error[STORAGE_FULL]"
    assert_contains "$stderr" "nothing from in was committed"
    assert_equal 0 "$(larder count Article --store small/store)"
    head -n 9 in >few
    assert_status 0 larder import Article few --store small/store
}
