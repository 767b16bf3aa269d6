load helper

@test "import stores many objects and export gives them back" {
    seq 1 5000 | sed 's/.*/{"int64": &, "string": "n&"}/' >in
    expect 0 larder import Sample in
    same 5000 "$output"
    larder export Sample --select int64,string >out
    jq -c . in | cmp - out
}

@test "an export is imported into another store" {
    fill
    larder export Category >categories
    larder export Article --select title,wordCount,published >articles
    larder --version >/dev/null
    larder import Category categories --store copy.store --schema "$schema" >/dev/null
    larder import Article articles --store copy.store >/dev/null
    same "$(larder fetch Article --select title,wordCount,published --sort title)" \
        "$(larder fetch Article --select title,wordCount,published --sort title \
            --store copy.store)"
    same 3 "$(larder count Category --store copy.store)"
}

@test "a URI of another store is refused by import" {
    fill
    larder export Article >articles
    expect 4 larder import Article articles --store copy.store --schema "$schema"
    holds "$stderr" "error[FOREIGN_IDENTIFIER]"
}

@test "csv is imported by its heading, with nil and the empty string, and goes round" {
    printf 'string,int64,date\r\n"a,""b""\nc",1,2026-01-31T08:15:00Z\r\n"",2,\r\n,3,\r\n' >in.csv
    expect 0 larder import Sample in.csv
    same 3 "$output"
    larder export Sample --select string,int64,date --output csv | cmp - in.csv
    larder export Sample --output csv >whole.csv
    expect 0 larder import Sample - --format csv <whole.csv
    same 6 "$(larder count Sample)"
}

@test "an error names line and property, and says how much is stored" {
    { seq 1 4500 | sed 's/.*/{"int64": &}/'; echo '{"int64": "x"}'; } >in
    expect 65 larder import Sample in
    holds "$stderr" "in, line 4501: Sample.int64"
    holds "$stderr" "up to line 4000 are stored, 4000 of them"
    same 4000 "$(larder count Sample)"
}

@test "what the store refuses is told with its line, and its chunk is left out" {
    printf '{"name": "a"}\n{"name": "b"}\n{"name": "a"}\n' >in
    expect 65 larder import Category in
    holds "$stderr" "error[UNIQUENESS_VIOLATED]"
    holds "$stderr" "line"
    holds "$stderr" "nothing of in is stored"
    same 0 "$(larder count Category)"
}

@test "csv with a wrong heading, too few fields or an open quotation mark is refused" {
    printf 'nothing\n1\n' >a.csv
    expect 65 larder import Sample a.csv
    holds "$stderr" "line 1: Sample has no property nothing"
    printf 'int64,string\n1\n' >b.csv
    expect 65 larder import Sample b.csv
    holds "$stderr" "line 2"
    printf 'string\n"abc\n' >c.csv
    expect 65 larder import Sample c.csv
    holds "$stderr" "not closed"
}

@test "--upsert updates what has the unique values already" {
    larder insert Category name=a >first
    printf '{"name": "a"}\n{"name": "b"}\n' >in
    expect 0 larder import Category in --upsert
    same 2 "$output"
    expect 0 larder import Category in --upsert
    same 2 "$(larder count Category)"
    same "$(cat first)" "$(larder insert Category name=a --upsert)"
}

@test "an empty file is no error, a missing one is" {
    : >empty
    expect 0 larder import Sample empty
    same 0 "$output"
    expect 74 larder import Sample nowhere
    holds "$stderr" "nowhere"
}
