load helper

# larder dump and larder load.

# The lines without the first one, which has the time and the store, and without the checksum.
content() { tail -n +2 "$1" | sed 's/"checksum":"[0-9a-f]*",//'; }

leftovers() { find "$scratch" -name '.larder*' -o -name 'larder-*' | sort; }

# A schema with references that are required in a cycle, and lists with a least number.
write_schema() {
    cat >team.json <<'END'
{"version": "1.0.0", "entities": [
 {"name": "Team", "attributes": [{"name": "name", "type": "string", "unique": true}],
  "relationships": [
   {"name": "players", "destination": "Player", "toMany": true, "ordered": true, "optional": false,
    "minCount": 2, "inverse": "team"},
   {"name": "captain", "destination": "Player", "optional": false, "inverse": "leads"}]},
 {"name": "Player", "attributes": [
   {"name": "number", "type": "int16"}, {"name": "seen", "type": "date", "optional": true},
   {"name": "rank", "type": "int64", "derived": "number * 2"}],
  "relationships": [
   {"name": "team", "destination": "Team", "optional": false, "inverse": "players"},
   {"name": "leads", "destination": "Team", "inverse": "captain"},
   {"name": "next", "destination": "Player", "optional": false}]}]}
END
}

insert_teams() {
    for team in $(seq "$1"); do
        cat <<END
{"insert": {"@id": "t:t$team", "@entity": "Team", "name": "team $team", "players": ["t:c$team", "t:a$team", "t:b$team"], "captain": "t:b$team"}}
{"insert": {"@id": "t:a$team", "@entity": "Player", "number": 1, "next": "t:b$team", "seen": "2026-01-31T08:15:00.25Z"}}
{"insert": {"@id": "t:b$team", "@entity": "Player", "number": 2, "next": "t:c$team"}}
{"insert": {"@id": "t:c$team", "@entity": "Player", "number": 3, "next": "t:c$team"}}
END
    done | larder save - --store teams.store --schema team.json >/dev/null
}

@test "a dump of a served store is loaded into a new store with the same objects and links" {
    insert_articles
    assert_status 0 larder dump a.dump
    assert_equal "" "$output"
    assert_equal 600 "$(stat -c %a a.dump)"
    assert_equal 1 "$(head -n 1 a.dump | jq .larderDump)"
    assert_equal "$(larder schema show --output json | jq -cS .entities)" \
        "$(head -n 1 a.dump | jq -cS .schema.entities)"
    larder delete "$tech" >/dev/null
    assert_status 0 larder load a.dump --store b.store
    assert_equal 10 "$output"
    assert_equal "one two three" "$(larder fetch Article --where 'category.name == "tech"' \
        --sort title:desc --select title --store b.store | sort -r | xargs |
        awk '{ print $3, $1, $2 }')"
    assert_equal "" "$(larder check --store b.store)"
    larder dump b.dump --store b.store
    assert_equal "$(content a.dump)" "$(content b.dump)"
    assert_equal "" "$(leftovers)"
}

@test "a dump is written to standard output and read from standard input" {
    insert_articles
    larder dump | larder load - --store b.store >count
    assert_equal 10 "$(cat count)"
    larder dump a.dump
    larder dump --store b.store >b.dump
    assert_equal "$(content a.dump)" "$(content b.dump)"
}

@test "objects that require each other are loaded, with the order of their lists" {
    write_schema
    insert_teams 600
    larder dump a.dump --store teams.store
    for option in "" --upsert; do
        rm -f b.store* b.dump
        assert_status 0 larder load a.dump --store b.store $option
        assert_equal 2400 "$output"
        assert_equal "" "$(larder check --store b.store)"
        larder dump b.dump --store b.store
        assert_equal "$(content a.dump)" "$(content b.dump)"
    done
    assert_equal "3 1 2" "$(larder get Team/p7 --store b.store --output json |
        jq -r '.[0].players[]' | while read -r player; do
            larder get "$player" --store b.store --output json | jq '.[0].number'
        done | xargs)"
}

@test "a dump is added to the objects of a store, and --upsert updates those with its unique values" {
    write_schema
    insert_teams 3
    larder dump a.dump --store teams.store
    assert_status 65 larder load a.dump --store teams.store
    assert_contains "$stderr" "error[UNIQUENESS_VIOLATED]: a.dump, line "
    assert_contains "$stderr" "nothing was stored"
    assert_equal 9 "$(larder count Player --store teams.store)"
    assert_status 0 larder load a.dump --store teams.store --upsert --author ann
    assert_equal 12 "$output"
    assert_equal 3 "$(larder count Team --store teams.store)"
    assert_equal 18 "$(larder count Player --store teams.store)"
    assert_equal ann "$(larder history --store teams.store --last 1 --output jsonl | jq -r .author)"
    assert_equal "" "$(larder check --store teams.store)"
}

@test "--atomic stores a dump in one transaction, or nothing of it" {
    insert_articles
    larder dump a.dump
    before=$(larder history --output jsonl | wc -l)
    assert_status 0 larder load a.dump --atomic --upsert
    assert_equal $((before + 1)) "$(larder history --output jsonl | wc -l)"
    assert_equal 12 "$(larder count Article)"
    sed -i 's/"title":"two"/"title":null/; s/"checksum":"[0-9a-f]*",//' a.dump
    assert_status 65 larder load a.dump --atomic --upsert
    assert_contains "$stderr" "nothing was stored"
    assert_equal 12 "$(larder count Article)"
}

@test "an edited dump is loaded if its checksum is removed, and refused otherwise" {
    insert_articles
    larder dump a.dump
    sed 's/"title":"two"/"title":"zwei"/' a.dump >b.dump
    assert_status 65 larder load b.dump --store b.store
    assert_contains "$stderr" "error[MALFORMED_VALUE]: b.dump, line 1"
    assert_contains "$stderr" "checksum"
    [ ! -e b.store ]
    sed -i 's/"checksum":"[0-9a-f]*",//' b.dump
    assert_status 0 larder load b.dump --store b.store
    assert_equal 1 "$(larder count Article --where 'title == "zwei"' --store b.store)"
}

@test "a truncated, foreign, newer or invalid dump is an error with the line, and leaves nothing" {
    insert_articles
    larder dump a.dump
    refuse() {
        assert_status "$1" larder load b.dump --store b.store
        assert_contains "$stderr" "$2"
        [ ! -e b.store ]
    }
    head -n 5 a.dump >b.dump
    refuse 65 "error[MALFORMED_VALUE]: b.dump is truncated"
    : >b.dump
    refuse 65 "b.dump is empty"
    echo '{"name": "tech"}' >b.dump
    refuse 65 "b.dump, line 1: the file is not a dump"
    sed '1s/"larderDump":1/"larderDump":2/' a.dump >b.dump
    refuse 65 "error[UNSUPPORTED]: b.dump, line 1: the dump has format 2"
    sed '4d; s/"checksum":"[0-9a-f]*",//' a.dump >b.dump
    refuse 65 "links, but its last line says"
    { cat a.dump; echo '{}'; } >b.dump
    refuse 65 "a line follows the last line"
    sed '3s/"@id":"[A-Za-z]*\/p/&9999999999/; 3s/$/x/' a.dump >b.dump
    refuse 65 "b.dump, line 3: "
    sed '3s/"name":/"nam":/' a.dump >b.dump
    refuse 65 'b.dump, line 3: '
    sed '4s/"@id":"\([A-Za-z]*\)\/p2"/"@id":"\1\/p1"/' a.dump >b.dump
    refuse 65 "must ascend"
    sed 's/Category\/p1"/Category\/p99"/; s/"checksum":"[0-9a-f]*",//' a.dump >b.dump
    sed -i '0,/Category\/p99"/s/Category\/p99"/Category\/p1"/' b.dump
    refuse 4 "Category/p99 is not in the dump"
    assert_equal "" "$(leftovers)"
}

@test "all differences of the schemas are reported before anything is stored" {
    write_schema
    insert_teams 1
    larder dump a.dump --store teams.store
    assert_status 65 larder load a.dump
    assert_contains "$stderr" "error[SCHEMA_MISMATCH]"
    assert_contains "$stderr" "the store has no entity Team"
    assert_contains "$stderr" "the store has no entity Player"
    sed 's/"int16"/"int64"/; s/{"name": "seen".*},$/{"name": "size", "type": "bool"},/' team.json >other.json
    sed -i 's/"destination": "Team", "inverse": "captain"/"destination": "Team", "inverse": "captain", "toMany": true/' other.json
    assert_status 65 larder load a.dump --store other.store --schema other.json
    assert_contains "$stderr" "the store has no attribute Player.seen"
    assert_contains "$stderr" "the store requires Player.size, which the dump lacks"
    assert_contains "$stderr" "Player.leads is to-one in the dump and to-many in the store"
    [ ! -e other.store ]
    sed 's/"int16"/"int64"/' team.json >wider.json
    assert_status 0 larder load a.dump --store wider.store --schema wider.json
    assert_equal 4 "$output"
}

@test "an existing file is never replaced by a dump, and an error leaves none" {
    echo kept >a.dump
    assert_status 5 larder dump a.dump
    assert_contains "$stderr" "error[FILE_EXISTS]: a.dump exists already"
    assert_equal kept "$(cat a.dump)"
    assert_status 74 larder dump --store missing.store b.dump
    [ ! -e b.dump ]
    assert_status 74 env TMPDIR="$scratch/missing" larder dump b.dump
    assert_contains "$stderr" "set TMPDIR to a folder"
    assert_status 64 larder dump --store test.store --schema "$schema"
    assert_contains "$stderr" "--schema is not an option of dump"
}

@test "references to deleted objects, which noAction leaves, are nil in a dump" {
    cat >tree.json <<'END'
{"version": "1.0.0", "entities": [{"name": "Node", "attributes": [], "relationships": [
  {"name": "parent", "destination": "Node", "inverse": "children"},
  {"name": "children", "destination": "Node", "toMany": true, "inverse": "parent", "deleteRule": "noAction"}]}]}
END
    larder save - --store tree.store --schema tree.json >/dev/null <<'END'
{"insert": {"@id": "t:a", "@entity": "Node"}}
{"insert": {"@id": "t:b", "@entity": "Node", "parent": "t:a"}}
{"insert": {"@id": "t:c", "@entity": "Node", "parent": "t:d"}}
{"insert": {"@id": "t:d", "@entity": "Node", "parent": "t:b"}}
END
    larder delete Node/p1 --store tree.store
    larder dump a.dump --store tree.store
    assert_equal '{"@id":"Node/p2","parent":null}' "$(sed -n 2p a.dump)"
    assert_equal '{"@link":"Node/p3","parent":"Node/p4"}' "$(sed -n 5p a.dump)"
    assert_status 0 larder load a.dump --store b.store
    assert_equal 3 "$output"
}

@test "a killed load leaves a store that does not exist yet, and the next load takes over" {
    for number in $(seq 2000); do
        printf '{"name": "%s %0800d"}\n' "$number" 0
    done | larder import Category - >/dev/null
    larder dump a.dump
    mkfifo pipe
    larder load pipe --store b.store >/dev/null 2>&1 &
    load=$!
    head -n 1500 a.dump >pipe
    kill -KILL "$load" 2>/dev/null || true
    wait "$load" || true
    [ ! -e b.store ]
    assert_status 0 larder load a.dump --store b.store
    assert_equal 2000 "$output"
    assert_equal "" "$(leftovers)"
}
