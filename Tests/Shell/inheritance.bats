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
        expect 4 larder get "${world/Atlas/$name}"
        expect 4 larder update "${world/Atlas/$name}" title=x
    done
    expect 4 larder update "$eve" "items:=[\"${world/Atlas/Book}\"]"
    expect 0 larder get "$world" --output jsonl
    same 50000 "$(jq .scale <<<"$output")"
}

@test "a fetch includes the objects of subentities, unless --no-subentities is given" {
    expect 0 larder fetch Item --sort title --output jsonl
    same $'Book Emma null\nFilm Solaris Atlas\nAtlas World Book' "$(jq -r \
        '"\(."@entity") \(.title) \(.sequel // "null" | capture("//[^/]*/(?<e>[^/]*)/").e? // .)"' \
        <<<"$output")"
    same 3 "$(larder count Item)"
    same 2 "$(larder count Book)"
    same 1 "$(larder count Book --no-subentities)"
    same 0 "$(larder count Item --no-subentities)"
    same "$emma"$'\n'"$world" "$(larder fetch Book --sort pages:desc --ids)"
    same 490 "$(larder aggregate Book sum:pages)"
    same 400 "$(larder aggregate Book sum:pages --no-subentities)"
    expect 0 larder explain Book --no-subentities --where 'pages > 3'
    holds "$output" "of Book"
}

@test "a bulk update can exclude the objects of subentities" {
    same 1 "$(larder update Book --all --no-subentities pages=401)"
    same 401 "$(larder fetch Book --where 'pages == 401' --select pages --output plain)"
    printf '%s' '{"updateAll": {"@entity": "Book", "@all": true, "@subentities": 1, "pages": 1}}' >x
    expect 65 larder save x
    printf '%s' '{"updateAll": {"@entity": "Book", "@all": true, "@subentities": false, "pages": 400}}' >x
    expect 0 larder save x
    same 1 "$(larder count Book --where 'pages == 400')"
}

@test "IS tests the entity, also along key paths and for the objects of a list" {
    same 2 "$(larder count Item --where 'SELF IS Book')"
    same 1 "$(larder count Item --where 'sequel IS Atlas')"
    same 2 "$(larder count Item --where 'NOT sequel IS Atlas')"
    same 1 "$(larder count Reader --where 'SUBQUERY(items, $i, $i IS Atlas).@count == 1')"
    expect 4 larder count Item --where 'title == "x" OR SELF IS Bok'
    holds "$stderr" 'there is no entity "Bok"'
    holds "$stderr" $'\n                          ^'
    expect 65 larder count Item --where 'pages > 3'
    holds "$stderr" 'Item has no property "pages"'
    holds "$stderr" 'ask for objects of Book'
}

@test "an abstract entity has no objects, and a value is unique in the whole entity tree" {
    expect 65 larder insert Item title=x --output json
    same abstract "$(jq -r '.details[0].rule' <<<"$stderr")"
    expect 65 larder insert Film title=x shelf=A1
    holds "$stderr" "$emma has the same"
    expect 65 larder insert Film title=x shelf=A1 --upsert
    holds "$stderr" "$emma has the same"
}

@test "a change set links objects of several entities, and each entity is exported separately" {
    expect 0 larder save - <<'LINES'
{"insert": {"@id": "t:r", "@entity": "Reader", "name": "Ann", "items": ["t:a", "t:f"]}}
{"insert": {"@id": "t:a", "@entity": "Atlas", "title": "Moon", "pages": 9}}
{"insert": {"@id": "t:f", "@entity": "Film", "title": "Stalker", "sequel": "t:a"}}
LINES
    reader=${lines[0]}
    expect 0 larder get "$reader" --output jsonl
    same '["Atlas","Film"]' "$(jq -c '.items | map(split("/")[3])' <<<"$output")"
    larder export Atlas >atlases
    same '["World","Moon"]' "$(jq -c -s 'map(.title)' atlases)"
    same 1 "$(larder export Book | wc -l)"
    expect 65 larder export Item
    holds "$stderr" "Item is abstract"
    same 2 "$(jq -c 'del(.sequel, .borrower)' atlases | larder import Atlas -)"
    same 5 "$(larder count Book)"
}

@test "check finds no problem, and schema show prints inheritance as written" {
    expect 0 larder check
    same "" "$output"
    larder schema show >shown
    expect 0 larder schema check shown
    same Item "$(jq -r '.entities[] | select(.name == "Film").parent' shown)"
    same '["minutes"]' "$(jq -c '.entities[] | select(.name == "Film").attributes | map(.name)' shown)"
    stop_daemon
    jq '(.entities[] | select(.name == "Atlas")).parent = "Item"' "$schema" >other
    expect 65 larder stats --store test.store --schema other
    holds "$stderr" "Atlas: parent is Book in the store, Item in the file"
}

@test "schemas with missing or cyclic parents are rejected with every problem" {
    echo '{"version":"1.0.0","entities":[{"name":"A","parent":"B"},{"name":"B","parent":"A"},
        {"name":"C","parent":"Z","abstract":1}]}' >bad
    expect 65 larder schema check bad
    holds "$stderr" 'entities[0].parent: `A` cannot be its own ancestor'
    holds "$stderr" 'entities[2].parent: unknown entity'
    holds "$stderr" 'entities[2].abstract: expected true or false'
}
