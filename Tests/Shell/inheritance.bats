load helper

# A schema with an entity tree: the items of a small library.
setup() {
    enter_scratch
    schema=$scratch/schema.json
    cat >"$schema" <<'JSON'
{ "version": "1.0.0", "entities": [
  { "name": "Film", "parent": "Item",
    "attributes": [ { "name": "minutes", "type": "int32", "optional": true } ] },
  { "name": "Item", "abstract": true,
    "attributes": [ { "name": "title", "type": "string", "indexed": true },
                    { "name": "shelf", "type": "string", "optional": true, "unique": true } ],
    "relationships": [ { "name": "borrower", "destination": "Reader", "inverse": "items" },
                       { "name": "sequel", "destination": "Item" } ] },
  { "name": "Book", "parent": "Item",
    "attributes": [ { "name": "pages", "type": "int32" } ], "indexes": [["title", "pages"]] },
  { "name": "Atlas", "parent": "Book",
    "attributes": [ { "name": "scale", "type": "int64", "optional": true } ] },
  { "name": "Reader", "attributes": [ { "name": "name", "type": "string" } ],
    "relationships": [ { "name": "items", "destination": "Item", "toMany": true,
                         "ordered": true, "inverse": "borrower" } ] } ] }
JSON
    start_daemon
    eve=$(larder insert Reader name=Eve)
    emma=$(larder insert Book title=Emma pages=400 shelf=A1 borrower="$eve")
    world=$(larder insert Atlas title=World pages=90 scale:=50000 sequel="$emma" borrower="$eve")
    solaris=$(larder insert Film title=Solaris minutes=167 sequel="$world")
}

@test "a URI contains the exact entity of its object, and another entity does not find the object" {
    [[ $world =~ /Atlas/p2$ ]]
    for name in Item Book Film; do
        assert_status 4 larder get "${world/Atlas/$name}"
        assert_status 4 larder update "${world/Atlas/$name}" title=x
    done
    assert_status 4 larder update "$eve" "items:=[\"${world/Atlas/Book}\"]"
    assert_status 0 larder get "$world" --output jsonl
    assert_equal 50000 "$(jq .scale <<<"$output")"
}

@test "a fetch includes the objects of subentities, unless --no-subentities is given" {
    assert_status 0 larder fetch Item --sort title --output jsonl
    assert_equal $'Book Emma null\nFilm Solaris Atlas\nAtlas World Book' "$(jq -r \
        '"\(."@entity") \(.title) \(.sequel // "null" | capture("//[^/]*/(?<e>[^/]*)/").e? // .)"' \
        <<<"$output")"
    assert_equal 3 "$(larder count Item)"
    assert_equal 2 "$(larder count Book)"
    assert_equal 1 "$(larder count Book --no-subentities)"
    assert_equal 0 "$(larder count Item --no-subentities)"
    assert_equal "$emma"$'\n'"$world" "$(larder fetch Book --sort pages:desc --ids)"
    assert_equal 490 "$(larder aggregate Book sum:pages)"
    assert_equal 400 "$(larder aggregate Book sum:pages --no-subentities)"
    assert_status 0 larder explain Book --no-subentities --where 'pages > 3'
    assert_contains "$output" "of Book"
}

@test "a bulk update can exclude the objects of subentities" {
    assert_equal 1 "$(larder update Book --all --no-subentities pages=401)"
    assert_equal 401 "$(larder fetch Book --where 'pages == 401' --select pages --output plain)"
    printf '%s' '{"updateAll": {"@entity": "Book", "@all": true, "@subentities": 1, "pages": 1}}' >x
    assert_status 65 larder save x
    printf '%s' '{"updateAll": {"@entity": "Book", "@all": true, "@subentities": false, "pages": 400}}' >x
    assert_status 0 larder save x
    assert_equal 1 "$(larder count Book --where 'pages == 400')"
}

@test "IS tests the entity, also along key paths and for the objects of a list" {
    assert_equal 2 "$(larder count Item --where 'SELF IS Book')"
    assert_equal 1 "$(larder count Item --where 'sequel IS Atlas')"
    assert_equal 2 "$(larder count Item --where 'NOT sequel IS Atlas')"
    assert_equal 1 "$(larder count Reader --where 'SUBQUERY(items, $i, $i IS Atlas).@count == 1')"
    assert_status 4 larder count Item --where 'title == "x" OR SELF IS Bok'
    assert_contains "$stderr" 'there is no entity "Bok"'
    assert_contains "$stderr" $'\n                          ^'
    assert_status 65 larder count Item --where 'pages > 3'
    assert_contains "$stderr" 'Item has no property "pages"'
    assert_contains "$stderr" 'query Book instead'
}

@test "an abstract entity has no objects, and a value is unique in the whole entity tree" {
    assert_status 65 larder insert Item title=x --output json
    assert_equal abstract "$(jq -r '.details[0].rule' <<<"$stderr")"
    assert_status 65 larder insert Film title=x shelf=A1
    assert_contains "$stderr" "$emma has the same"
    assert_status 65 larder insert Film title=x shelf=A1 --upsert
    assert_contains "$stderr" "$emma has the same"
}

@test "a change set links objects of several entities, and each entity is exported separately" {
    assert_status 0 larder save - <<'LINES'
{"insert": {"@id": "t:r", "@entity": "Reader", "name": "Ann", "items": ["t:a", "t:f"]}}
{"insert": {"@id": "t:a", "@entity": "Atlas", "title": "Moon", "pages": 9}}
{"insert": {"@id": "t:f", "@entity": "Film", "title": "Stalker", "sequel": "t:a"}}
LINES
    reader=${lines[0]}
    assert_status 0 larder get "$reader" --output jsonl
    assert_equal '["Atlas","Film"]' "$(jq -c '.items | map(split("/")[3])' <<<"$output")"
    larder export Atlas >atlases
    assert_equal '["World","Moon"]' "$(jq -c -s 'map(.title)' atlases)"
    assert_equal 1 "$(larder export Book | wc -l)"
    assert_status 65 larder export Item
    assert_contains "$stderr" "Item is abstract"
    assert_equal 2 "$(jq -c 'del(.sequel, .borrower)' atlases | larder import Atlas -)"
    assert_equal 5 "$(larder count Book)"
}

@test "check finds no problem, and schema show prints inheritance as written" {
    assert_status 0 larder check
    assert_equal "" "$output"
    larder schema show --output json >shown
    assert_status 0 larder schema check shown
    assert_equal Item "$(jq -r '.entities[] | select(.name == "Film").parent' shown)"
    assert_equal '["minutes"]' "$(jq -c '.entities[] | select(.name == "Film").attributes | map(.name)' shown)"
    stop_daemon
    jq '(.entities[] | select(.name == "Atlas")).parent = "Item"' "$schema" >other
    assert_status 65 larder stats --store test.store --schema other
    assert_contains "$stderr" "Atlas: parent is Book in the store, Item in the file"
}

@test "schemas with missing or cyclic parents are rejected with every problem" {
    echo '{"version":"1.0.0","entities":[{"name":"A","parent":"B"},{"name":"B","parent":"A"},
        {"name":"C","parent":"Z","abstract":1}]}' >bad
    assert_status 65 larder schema check bad
    assert_contains "$stderr" 'entities[0].parent: `A` cannot be its own ancestor'
    assert_contains "$stderr" 'entities[2].parent: unknown entity'
    assert_contains "$stderr" 'entities[2].abstract: expected true or false'
}
