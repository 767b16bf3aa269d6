load ../helper

# Files as other programs write them: their forms of columns, numbers, dates and nil, bad rows, and
# files that are neither CSV nor JSON.

@test "--null names texts that are nil, and \"\" is nil where the type is not a string" {
    printf 'string,int64,date,json\n\\N,NA,"",""\nNA,1,,\n"",2,,1\n' >in.csv
    assert_status 0 larder import Sample in.csv --null '\N' --null NA
    assert_equal $'[null,null,null,null]\n[null,1,null,null]\n["",2,null,1]' \
        "$(larder fetch Sample --sort int64 --select string,int64,date,json --output jsonl |
            jq -c '[.string, .int64, .date, .json]')"
    echo '[{"string": "NA", "int64": "NA", "json": "NA"}]' >in.json
    assert_status 0 larder import Sample in.json --null NA
    assert_equal 2 "$(larder count Sample --where 'string == nil AND int64 == nil AND json == nil')"
    assert_equal 0 "$(larder count Sample --where 'string == "NA"')"
}

@test "columns without a name and with equal names are named by their position" {
    printf ',string,string,\n0,a,b,\n' >in.csv
    assert_status 65 larder import Sample in.csv
    assert_contains "$stderr" 'line 1: column 1 of the header has no name'
    assert_contains "$stderr" "pass --map '#1=PROPERTY', or --map '#1=' to leave the column out"
    assert_status 65 larder import Sample in.csv --map '#1=' --map '#4='
    assert_contains "$stderr" 'the header contains string more than once: columns 2, 3'
    assert_status 0 larder import Sample in.csv --map '#1=int64' --map '#4=' --map '#3=json' --null b
    assert_equal $'0\ta\t' "$(larder fetch Sample --select int64,string,json)"
    assert_status 65 larder import Sample in.csv --map '#5='
    assert_contains "$stderr" 'there is no column "#5"'
    printf '#2,string\nx,y\n' >sharp.csv
    assert_status 0 larder import Sample sharp.csv --map '#1=' --map '#2=string'
    printf 'Emily,7\nJane,8\n' >names.csv
    assert_status 65 larder import Sample names.csv
    assert_contains "$stderr" 'for a file without a header, pass the names of its columns with --header'
}

@test "several date formats, of all columns or of one, and times from 1970" {
    cat >schema.json <<'JSON'
{"version": "1.0.0", "entities": [{"name": "Event", "attributes": [
  {"name": "a", "type": "date", "optional": true}, {"name": "b", "type": "date", "optional": true}]}]}
JSON
    printf 'a,b\n31.12.2025,2025-12-31\n12/31/2025,2026-01-01T00:00:00Z\n' >in.csv
    assert_status 0 larder import Event in.csv --store e.store --schema schema.json \
        --date-format a=%d.%m.%Y --date-format a=%m/%d/%Y
    assert_equal $'2025-12-31T00:00:00Z\t2025-12-31T00:00:00Z\n2025-12-31T00:00:00Z\t2026-01-01T00:00:00Z' \
        "$(larder fetch Event --select a,b --store e.store)"
    larder delete Event --all --store e.store >/dev/null
    while read -r format text expected; do
        printf 'a\n%s\n' "$text" >in.csv
        if [ "$expected" = - ]; then
            assert_status 65 larder import Event in.csv --date-format "$format" --store e.store
            assert_contains "$stderr" "Event.a: expected a date in the form of --date-format, found \"$text\""
        else
            assert_status 0 larder import Event in.csv --date-format "$format" --store e.store
            assert_equal "$expected" "$(larder fetch Event --select a --store e.store)"
            larder delete Event --all --store e.store >/dev/null
        fi
    done <<'TABLE'
%s -1 1969-12-31T23:59:59Z
%s 1.5 1970-01-01T00:00:01.5Z
%s 1517966773840 -
%Q 1517966773840 2018-02-07T01:26:13.84Z
%Q -1500.5 1969-12-31T23:59:58.4995Z
%s 1. -
%s 1-2 -
TABLE
    echo '{"A": 1517966773840, "b": "1.2.2026"}' >in.jsonl
    assert_status 0 larder import Event in.jsonl --map A=a --date-format A=%Q \
        --date-format b=%d.%m.%Y --store e.store
    assert_equal $'2018-02-07T01:26:13.84Z\t2026-02-01T00:00:00Z' \
        "$(larder fetch Event --select a,b --store e.store)"
    assert_status 65 larder import Event in.csv --date-format c=%Y-%m-%d --store e.store
    assert_contains "$stderr" '--date-format: there is no column "c"'
}

@test "numbers with a decimal comma and separators of thousands" {
    while IFS='|' read -r decimal thousands text expected; do
        printf 'double\n"%s"\n' "$text" >in.csv
        larder delete Sample --all >/dev/null
        if [ "$expected" = - ]; then
            assert_status 65 larder import Sample in.csv --decimal "$decimal" --thousands "$thousands"
            assert_contains "$stderr" "Sample.double: expected a number"
            assert_contains "$stderr" "found \"$text\""
        else
            assert_status 0 larder import Sample in.csv --decimal "$decimal" --thousands "$thousands"
            assert_equal "$expected" "$(larder fetch Sample --select double)"
        fi
    done <<'TABLE'
,|.|1.234.567,5|1234567.5
,|.|-12,25|-12.25
,|.|1234,5|1234.5
,|.|12.34,5|-
,|.|1,5,5|-
,|.|5,|-
.|,|1,234|1234.0
.|'|1'234.5|1234.5
,| |1 234,5|1234.5
TABLE
    printf 'int64\n"1.234"\n' >in.csv
    assert_status 0 larder import Sample in.csv --decimal , --thousands .
    assert_equal 1234 "$(larder fetch Sample --where 'int64 != nil' --select int64)"
    assert_status 64 larder import Sample in.csv --decimal 5
    assert_status 64 larder import Sample in.csv --decimal , --thousands ,
}

@test "booleans of other programs" {
    printf '%s\n' bool t F y N Yes no TRUE 0 >in.csv
    assert_status 0 larder import Sample in.csv
    assert_equal 'true false true false true false true false' \
        "$(larder fetch Sample --select bool | xargs)"
}

@test "a json array, an object over several lines and json lines are imported" {
    printf '\xef\xbb\xbf [ {"string": "[a\\"]", "int64": 1},\n\n{"string": "b,",\n "json": [1, {"x": "]"}]}\n]\n' >in.json
    assert_status 0 larder import Sample in.json
    assert_equal 2 "$output"
    printf '{\n  "string": "c"\n}\n' >one.json
    assert_status 0 larder import Sample one.json
    assert_status 0 larder import Sample - <<<'[]'
    assert_equal $'[a"]\nb,\nc' "$(larder fetch Sample --select string)"
    printf '[{"int64": 1},\n{"int64": "x"}]' >bad.json
    assert_status 65 larder import Sample bad.json
    assert_contains "$stderr" 'bad.json, line 2: Sample.int64: expected a whole number'
    assert_contains "$stderr" 'found "x"'
    while read -r text message; do
        assert_status 65 larder import Sample - <<<"$text"
        assert_contains "$stderr" "$message"
    done <<'TABLE'
[{"int64":1} the array is not closed
[{"int64":1}, the array is not closed
[{"int64":1}{} expected `,` or `]`
[{"int64":1 the element is not complete
[{}]x there is text after the array
[1] not a JSON object
TABLE
    echo '{"Title (x)": "t", "Other": 1, "w": "7"}' >in.jsonl
    assert_status 0 larder import Article in.jsonl --map 'Title (x)=title' --map Other= --map w=wordCount
    assert_equal $'t\t7' "$(larder fetch Article --select title,wordCount)"
    assert_status 65 larder import Article in.jsonl --map w=words
    assert_contains "$stderr" '--map w: Article has no property "words"'
}

@test "more than 1,000 columns can be left out" {
    python3 -c '
print(",".join(["string"] + [f"c{n}" for n in range(1200)]))
print(",".join(["x"] + ["1"] * 1200))' >in.csv
    mapfile -t left_out < <(seq 2 1201 | sed 's/.*/--map=#&=/')
    assert_status 0 larder import Sample in.csv "${left_out[@]}"
    assert_equal x "$(larder fetch Sample --select string)"
    assert_status 5 larder import Row in.csv --infer --store new.store
    assert_contains "$stderr" '1201 columns, and an entity at most 1000 properties'
    [ ! -e new.store ]
}

@test "--skip-bad writes the bad rows with their reasons, in a form that import reads" {
    printf 'title,wordCount\na,1\nb,x\nc\nd,-1\n"e\ne",2\na,3\n' >in.csv
    assert_status 0 larder import Article in.csv --skip-bad bad.csv
    assert_equal 3 "$output"
    assert_equal 'warning: 3 rows were left out; bad.csv has them with the reasons' "$stderr"
    assert_equal '@line,@error,title,wordCount' "$(head -1 bad.csv)"
    assert_contains "$(sed -n 2p bad.csv)" '3,"Article.wordCount: expected a whole number'
    assert_equal '4,"the record has 1 field, the header 2",c' "$(sed -n 3p bad.csv)"
    assert_equal '5,"Article.wordCount must not be less than 0",d,-1' "$(sed -n 4p bad.csv)"
    sed -i 's/,b,x/,b,5/; s/,c$/,c,6/; s/,-1$/,7/' bad.csv
    assert_status 0 larder import Article bad.csv
    assert_equal $'a\t1\ne\\ne\t2\na\t3\nb\t5\nc\t6\nd\t7' \
        "$(larder fetch Article --sort wordCount --select title,wordCount)"
}

@test "--skip-bad finds the rows that the store rejects, and --max-bad limits them" {
    seq 1 3000 | sed 's/.*/{"name": "n&"}/; 700s/n700/n1/; 2500s/n2500/n2/; 2999s/"n2999"/7/' >in
    assert_status 0 larder import Category in --skip-bad bad.jsonl
    assert_equal 2997 "$output"
    assert_equal '700 2500 2999' "$(jq -r '.["@line"]' bad.jsonl | sort -n | xargs)"
    assert_contains "$(jq -r 'select(.["@line"] == 700) | .["@error"]' bad.jsonl)" 'Category.name must be unique'
    larder delete Category --all >/dev/null
    assert_status 65 larder import Category in --skip-bad few.jsonl --max-bad 1
    assert_contains "$stderr" 'few.jsonl has the bad rows, which are more than 1'
    assert_equal 2 "$(wc -l <few.jsonl)"
    assert_status 5 larder import Category in --skip-bad few.jsonl
    assert_contains "$stderr" 'error[FILE_EXISTS]: few.jsonl exists already'
    printf '{"name": "good"}\n' >good
    assert_status 0 larder import Category good --skip-bad none.jsonl
    [ ! -e none.jsonl ]
    assert_status 64 larder import Category good --skip-bad x --atomic
    assert_status 64 larder import Category good --max-bad 1
}

@test "files of other kinds are named, and nothing is stored" {
    printf 'PK\003\004rest' >sheet.xlsx
    printf '\037\213rest' >in.csv.gz
    printf 't\0i\0t\0l\0e\0\n\0' >utf16.csv
    printf '\xfe\xff\0t' >big.csv
    printf 'a\0b,c\n' >zero.csv
    python3 -c 'import sqlite3; sqlite3.connect("app.db").executescript("create table t(a)")'
    while read -r file message; do
        for entity in 'Article' 'New --infer --store new.store'; do
            # shellcheck disable=SC2086
            assert_status 65 larder import ${entity%% *} "$file" --format csv \
                $(cut -s -d ' ' -f 2- <<<"$entity")
            [ "$file" = zero.csv ] || assert_contains "$stderr" "$message"
            assert_contains "$stderr" 'hint: '
            [ ! -e new.store ]
        done
    done <<'TABLE'
sheet.xlsx sheet.xlsx is a ZIP archive, as .xlsx and .ods files are
in.csv.gz hint: unpack it: zcat in.csv.gz > NEWFILE
utf16.csv utf16.csv is in UTF-16
big.csv iconv -f utf-16 -t utf-8 big.csv > NEWFILE
app.db app.db is an SQLite database
TABLE
    assert_status 65 larder import Article zero.csv
    assert_contains "$stderr" 'the name of column 1 has a zero byte'
}

@test "lines without an end, and a million columns, take bounded memory" {
    { printf 'string\n'; head -c 200000000 /dev/zero | tr '\0' x; } >long.csv
    { printf '[{"string": "'; head -c 200000000 /dev/zero | tr '\0' x; } >long.json
    head -c 1000000 /dev/zero | tr '\0' , >wide.csv
    cat >measure.py <<'PYTHON'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stderr=open("error", "w")).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
PYTHON
    for file in long.csv long.json wide.csv; do
        read -r status mebibytes < <(
            /usr/bin/python3 measure.py larder import New "$file" --infer --store new.store)
        [[ $status = 65 || $status = 5 ]]
        [ "$mebibytes" -lt 300 ]
        assert_contains "$(cat error)" maximum
        [ ! -e new.store ]
    done
}

@test "a csv file of one column has nil in its empty lines" {
    printf 'string\r\na\r\n\r\n""\r\n\r\n' >in.csv
    assert_status 0 larder import Sample in.csv
    assert_equal 4 "$output"
    assert_equal 2 "$(larder count Sample --where 'string == nil')"
    larder export Sample --select string --output csv | cmp - in.csv
    printf 'name\n\na\n\n' >required.csv
    assert_status 0 larder import Category required.csv
    assert_equal 1 "$output"
}

@test "lists of URIs in the form of export are imported" {
    insert_articles
    larder fetch Category --select name,articles --output csv >in.csv
    larder export Category --select name,articles --output csv | cmp - in.csv
    sed -i 's/^\([a-z]*\),\(x-\)/new\1,\2/; s/^empty/newempty/' in.csv
    assert_status 0 larder import Category in.csv
    assert_equal $'newarts\t2\nnewempty\t0\nnewtech\t3' \
        "$(larder fetch Category --where 'name BEGINSWITH "new"' --sort name --select name,articles.@count)"
}
