load ../helper

setup() { enter_scratch; }

# Schemas that are proposed for files, and imports with them.

@test "--infer finds the types, names and dates of a csv file and creates the store" {
    cat >'air ports.csv' <<'CSV'
Code;Größe (m);word_count;Opened;Price;Big;Zip;Id;Note;Empty;both
AAA;1.5;1;31.12.2025;12345678901234567890.5;true;01234;0f8fad5b-d9cb-469f-a165-70867728950e;"x
y";;1
BBB;2;-7;01.02.2026;1;FALSE;99999;1F8FAD5B-D9CB-469F-A165-70867728950E;;;x
CSV
    assert_status 0 larder import --infer 'air ports.csv' --store new.store
    assert_equal 2 "$output"
    larder schema show AirPorts --store new.store --output plain |
        awk -F '\t' '$3 == "attribute" { print $2, $4, $5 }' >found
    diff - found <<'ROWS'
Code string 
grosseM double 
word_count int64 
Opened date 
Price decimal 
Big bool 
Zip string 
Id uuid 
Note string yes
Empty string yes
both string 
ROWS
    assert_equal $'2025-12-31T00:00:00Z\t1.5\t01234\tx\\ny' \
        "$(larder fetch AirPorts --where 'Code == "AAA"' --select Opened,grosseM,Zip,Note --store new.store)"
    # A second import into the store, and one into a store without the entity.
    assert_status 0 larder import AirPorts 'air ports.csv' --infer --store new.store
    assert_equal 4 "$(larder count AirPorts --store new.store)"
    assert_status 4 larder import Other 'air ports.csv' --infer --store new.store
    assert_contains "$stderr" 'the store has no entity "Other"'
    assert_contains "$stderr" "larder schema infer air ports.csv --name Other prints it"
}

@test "schema infer reports what it saw, and the options of import" {
    printf 'name,when,n,d\na,2026-01-31 10:00:00,1,01/02/2026\nb,2026-02-01 11:30:00,NA,02/03/2026\nb,,3,\n' >list.csv
    assert_status 0 larder schema infer list.csv --report --output jsonl
    printf '%s\n' "$output" | jq -r '[.entity, .column, .property, .type, .values, .nils, .distinct, .longest, .note] | join("|")' >found
    diff - found <<'ROWS'
List|name|name|string|3|0|2|1|
List|when|when|date|2|1|2|19|dates as %Y-%m-%d %H:%M:%S
List|n|n|string|3|0|3|2|int64 until "NA" in line 3
List|d|d|string|2|1|2|10|dates with an unknown order of day and month; pass --date-format
ROWS
    assert_equal "larder import List 'list.csv' --date-format 'when=%Y-%m-%d %H:%M:%S'" "$stderr"
    larder schema infer list.csv --null NA --name Row >schema.json 2>options
    assert_equal int64 "$(jq -r '.entities[0].attributes[] | select(.name == "n").type' schema.json)"
    assert_status 0 larder schema check schema.json
    # The printed options import the file.
    eval "$(grep '^larder import' options) --null NA --store row.store --schema schema.json" >count
    assert_equal 3 "$(cat count)"
    assert_equal 2026-02-01T11:30:00Z \
        "$(larder fetch Row --where 'd == "02/03/2026"' --select when --store row.store)"
}

@test "a csv file without a header, with equal names, and with empty columns" {
    printf '1,Ann,2001-05-01\n2,Bob,2002-06-01\n' >people.csv
    assert_status 0 larder import --infer people.csv --store a.store
    assert_equal $'1\tAnn\t2001-05-01T00:00:00Z' \
        "$(larder fetch People --select column1,column2,column3 --limit 1 --store a.store)"
    printf ',x,X,x,\n0,a,b,c,\n' >names.csv
    assert_status 0 larder import --infer names.csv --store b.store
    assert_equal $'0\ta\tb\tc' "$(larder fetch Names --select column1,x,X2,x3 --store b.store)"
    printf 'Country,2001,2002\nFR,1,2\n' >years.csv
    assert_status 0 larder import --infer years.csv --store c.store
    assert_equal $'FR\t1\t2' "$(larder fetch Years --select Country,column2001,column2002 --store c.store)"
    # Small numbers in a row are no years.
    printf '1,2\n3,4\n5,6\n' >numbers.csv
    assert_status 0 larder import --infer numbers.csv --store d.store
    assert_equal $'1\t2\n3\t4\n5\t6' "$(larder fetch Numbers --select column1,column2 --store d.store)"
    printf 'code\nF\nF\n' >codes.csv
    larder schema infer codes.csv 2>/dev/null >schema.json
    assert_equal string "$(jq -r '.entities[0].attributes[0].type' schema.json)"
}

@test "--infer of json" {
    cat >in.json <<'JSON'
[ {"a b": 1, "s": "x", "d": "2026-01-31", "n": 1.5, "list": [1], "mixed": 1, "b": true},
  {"a b": 2, "s": null, "d": "2026-02-01", "n": 2, "list": {"x": 1}, "mixed": "1"} ]
JSON
    assert_status 0 larder import Thing in.json --infer --store new.store
    assert_equal '[1,"x","2026-01-31T00:00:00Z",1.5,[1],1,true] [2,null,"2026-02-01T00:00:00Z",2,{"x":1},"1",null]' \
        "$(larder export Thing --store new.store | jq -c '[.aB, .s, .d, .n, .list, .mixed, .b]' | xargs -d '\n')"
    echo '{"rows": [{"a": 1}, {"a": 2}]}' >one.json
    assert_status 65 larder import --infer one.json --store x.store
    assert_contains "$stderr" "hint: jq '.[\"rows\"]' one.json > NEWFILE"
    [ ! -e x.store ]
}

@test "--infer leaves nothing of a file that it cannot import" {
    printf 'a,b\n1,2\n3\n' >short.csv
    assert_status 65 larder import --infer short.csv --store new.store
    assert_contains "$stderr" 'short.csv, line 3: the record has 1 fields, the first one 2'
    [ ! -e new.store ]
    assert_status 0 larder import --infer short.csv --store new.store --skip-bad bad.csv
    assert_equal 1 "$output"
    : >empty.csv
    assert_status 65 larder import --infer empty.csv --store other.store
    assert_contains "$stderr" 'empty.csv has no columns'
    assert_status 64 larder import --infer - --store other.store
    assert_status 64 larder import only.csv --store other.store
    [ -z "$(find . -name 'other*')" ]
}

@test "the tables, keys and indexes of an sqlite file become a schema, and import their rows" {
    sqlite3 app.db <<'SQL'
CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "born on" TEXT);
CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT NOT NULL, price REAL,
    artist_id INTEGER NOT NULL REFERENCES artist (id) ON DELETE CASCADE, UNIQUE (title, artist_id));
CREATE VIEW v AS SELECT 1;
INSERT INTO artist VALUES (1, 'Ann', NULL), (2, 'Bob', '2001');
INSERT INTO album VALUES (7, 'x', 1.5, 2);
SQL
    assert_status 0 larder schema infer app.db
    printf '%s\n' "$output" >schema.json
    printf '%s\n' "$stderr" >notes
    assert_equal 'Album Artist' "$(jq -r '.entities[].name' schema.json | xargs)"
    jq -c '.entities[0] | [.relationships, .unique]' schema.json >found
    echo '[[{"name":"artist","destination":"Artist","optional":false,"inverse":"albums"}],[["title","artist"]]]' |
        diff - found
    assert_equal '["id","name"]' \
        "$(jq -c '[.entities[1].attributes[] | select(.unique).name]' schema.json)"
    assert_equal cascade "$(jq -r '.entities[1].relationships[0].deleteRule' schema.json)"
    larder stats --store new.store --schema schema.json >/dev/null
    grep '^larder import ' notes | sed 's/$/ --store new.store/' >import.sh
    bash -e import.sh >/dev/null
    assert_equal $'x\t1.5\tBob' \
        "$(larder fetch Album --select title,price,artist.name --store new.store)"
    head -c 3000 app.db >damaged.db
    assert_status 65 larder import Artist app.db --store new.store
    assert_contains "$stderr" 'larder import ENTITY app.db --table NAME'
    assert_status 4 larder import Artist app.db --table artis --store new.store
    assert_contains "$stderr" 'did you mean "artist"?'
    assert_status 64 larder import Artist app.db --table artist --infer --store new.store
    assert_status 65 larder import Artist notes --table artist --store new.store
    assert_contains "$stderr" 'notes is not a readable SQLite file'
    assert_status 65 larder import Artist app.db --table artist --store new.store --map 'born on=bornOn'
    assert_contains "$stderr" 'app.db, table artist, line 2: Artist.id must be unique'
    run --separate-stderr larder schema infer damaged.db
    [ "$status" != 0 ]
    assert_contains "$stderr" 'damaged.db'
}

@test "the rows of a table of an sqlite file keep each value" {
    /usr/bin/python3 - <<'END'
import sqlite3
db = sqlite3.connect("values.db")
db.execute('CREATE TABLE "a ""b" (id INTEGER, "x, y" TEXT, real REAL, bytes BLOB)')
rows = [(1, 'a "quoted"\n, text', 0.1, b"\0\xff"), (2, "", 1e300, b""), (3, None, None, None),
        (-2**63, "é", 123456789.123456789, b"x" * 100000)]
db.executemany('INSERT INTO "a ""b" VALUES (?, ?, ?, ?)', rows)
db.executemany('INSERT INTO "a ""b" VALUES (?, ?, ?, ?)', [(n, "n", n / 7, None) for n in range(10, 5000)])
db.commit()
END
    larder schema infer values.db --output json >schema.json 2>notes
    grep '^larder import' notes | sed 's/$/ --store values.store --schema schema.json/' >import.sh
    assert_equal 4994 "$(bash -e import.sh)"
    entity=$(jq -r '.entities[0].name' schema.json)
    names=$(jq -r '[.entities[0].attributes[].name] | join(",")' schema.json)
    larder fetch "$entity" --select "$names" --limit 4 --output jsonl --store values.store |
        /usr/bin/python3 -c 'import base64, json, sys
rows = [list(json.loads(line).values()) for line in sys.stdin]
expected = [(1, "a \"quoted\"\n, text", 0.1, b"\0\xff"), (2, "", 1e300, b""), (3, None, None, None),
            (-2**63, "é", 123456789.123456789, b"x" * 100000)]
for row, wanted in zip(rows, expected, strict=True):
    data = row[3] and base64.b64decode(row[3])
    found = [int(row[0]), row[1], row[2], b"" if row[3] == "" else data]
    assert found == list(wanted), (found, wanted)'
    assert_equal 714.1428571428571 \
        "$(larder fetch "$entity" --where 'id == 4999' --select real --store values.store)"
}

@test "a column of amounts is decimal, with the scale 2" {
    printf 'price,mixed,whole\n12.50,1.5,1\n0.99,2.25,2\n,3,3\n' >amounts.csv
    assert_status 0 larder schema infer amounts.csv
    assert_equal 'decimal 2|double null|int64 null' "$(jq -r '[.entities[0].attributes[] |
        "\(.type) \(.scale)"] | join("|")' <<<"$output")"
    larder import --infer amounts.csv --store amounts.store >/dev/null
    assert_equal '13.49 12.50' "$(larder aggregate Amounts sum:price maximum:price --output table \
        --store amounts.store | tail -1 | xargs)"
}

@test "what larder exports it imports: random schemas and objects" {
    seed=${SEED:-$RANDOM}
    echo "seed $seed"
    /usr/bin/python3 "$BATS_TEST_DIRNAME/../../Python/check_round_trip" "$seed" 3
}

@test "--infer reads no pipe, which has nothing when it is read again" {
    mkfifo pipe.csv
    for path in <(printf 'a,b\n1,2\n') pipe.csv; do
        assert_status 64 larder import --infer Pipe "$path" --store pipe.store
        assert_contains "$stderr" '--infer reads the file twice, which a named pipe does not allow; write it to a file'
        [ ! -e pipe.store ]
    done
    assert_status 64 larder import --infer Pipe - --store pipe.store </dev/null
    assert_contains "$stderr" 'which standard input does not allow'
    # Nothing else reads it twice.
    assert_equal int64 "$(larder schema infer <(printf 'a\n1\n') --name A 2>/dev/null |
        jq -r '.entities[0].attributes[0].type')"
}

@test "a page in HTML or XML is no table of one column" {
    printf '\xef\xbb\xbf\n <!DOCTYPE html>\n<p>not found\n' >download.csv
    printf '<?xml version="1.0"?><a/>' >rows.json
    printf '<HTML><body>' >page.tsv
    for file in download.csv rows.json page.tsv; do
        assert_status 65 larder import --infer "$file" --store page.store
        assert_contains "$stderr" "$file is an HTML or XML document"
        assert_status 65 larder schema infer "$file"
    done
    printf '<a>,b\n1,2\n' >columns.csv
    assert_status 0 larder import --infer columns.csv --store columns.store
}

@test "a hint for a line that is not UTF-8 says nothing about the first line" {
    printf 'a,b\n\xff,2\n' >latin1.csv
    assert_status 65 larder import --infer latin1.csv --store latin1.store
    assert_contains "$stderr" 'iconv -f latin1 -t utf-8 FILE > NEWFILE'
    [[ $stderr != *"tail -n +2"* ]]
    printf 'title\na,b\n1,2\n' >ragged.csv
    assert_status 65 larder import --infer ragged.csv --store ragged.store
    assert_contains "$stderr" 'tail -n +2 ragged.csv > NEWFILE'
}
