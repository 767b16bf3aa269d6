load helper

# Commands on a store file without a server must behave as on a served store.

commands=(
    'fetch Article --sort wordCount --select title,wordCount,published,category.name'
    'fetch Article --sort wordCount --select title,wordCount --output json'
    'count Article --where wordCount>20'
    'aggregate Article --group-by category.name count average:wordCount --sort count:desc'
    'explain Article --where wordCount>20'
    'schema show'
    'schema show Article --output json'
    'schema show Nothing'
    'fetch Nothing'
    'fetch Article --where wordCount>>'
    'get nonsense'
    'get x-coredata://0F8FAD5B-D9CB-469F-A165-70867728950E/Category/p1'
)

@test "commands behave the same with --store as with a socket" {
    insert_articles
    for command in "${commands[@]}"; do
        # shellcheck disable=SC2086
        run --separate-stderr larder $command
        served+=("$status|$output|$stderr")
    done
    stop_daemon
    for index in "${!commands[@]}"; do
        # shellcheck disable=SC2086
        run --separate-stderr larder ${commands[index]} --store test.store
        assert_equal "${served[index]}" "$status|$output|$stderr"
    done
}

@test "--store with --schema creates a store; later commands need no schema" {
    uri=$(larder insert Category name=a --store new.store --schema "$schema")
    assert_status 0 larder get "$uri" --store new.store --output jsonl
    assert_equal a "$(jq -r .name <<<"$output")"
    assert_status 0 larder update "$uri" name=b --store new.store
    assert_status 0 larder delete "$uri" --store new.store
    assert_status 0 larder ping --store new.store
    assert_status 0 larder stats --store new.store
}

@test "a missing store without a schema and a file that is not a store are errors" {
    run --separate-stderr larder count Article --store missing.store
    [ "$status" -ge 64 ] && [ "$status" -le 78 ]
    [ ! -e missing.store ]
    head -c 5000 /dev/urandom >noise
    assert_status 74 larder count Article --store noise
    assert_contains "$stderr" "error[NOT_A_STORE]"
}

@test "a copied store is reported, and new-identity makes it a store of its own" {
    larder insert Category name=tech --store file.store --schema "$schema" >uri
    cp file.store copy.store
    assert_status 0 larder count Category --store copy.store
    assert_contains "$stderr" "warning: $scratch/copy.store is a copy of $scratch/file.store"
    assert_status 0 larder get "$(cat uri)" --store copy.store
    assert_status 0 larder new-identity copy.store
    assert_equal '' "$stderr"
    assert_equal "$output" "$(larder stats --store copy.store | sed -n 's/^store\t//p')"
    assert_status 4 larder get "$(cat uri)" --store copy.store
    assert_contains "$stderr" FOREIGN_IDENTIFIER
    assert_status 0 larder count Category --store copy.store
    assert_equal '' "$stderr"
    assert_equal 1 "$output"
    assert_status 0 larder get "$(cat uri)" --store file.store
}

@test "saves are refused after the file of the server was removed" {
    larder insert Category name=tech
    rm test.store
    assert_status 74 larder insert Category name=arts
    assert_contains "$stderr" "test.store is open, but not at its path any more (was removed"
    [ ! -e test.store ]
}

@test "after the file of the server was renamed, the hint of the error saves everything" {
    larder insert Category name=tech >/dev/null
    mv test.store other.store
    assert_status 74 larder insert Category name=arts
    assert_contains "$stderr" "hint: put the file back, or run larder backup before the server stops"
    larder backup saved.backup >/dev/null
    larder restore saved.backup --to saved.store >/dev/null
    assert_equal 1 "$(larder count Category --store saved.store)"
    # The other half of the hint.
    mv other.store test.store
    larder insert Category name=arts >/dev/null
    assert_equal 2 "$(larder count Category)"
}

@test "an error in a schema with many faults lists 100 of them" {
    python3 -c 'import json; print(json.dumps({"version": "1.0.0", "entities": [
        {"name": "A", "attributes": [{"name": f"{n}", "type": "int64"} for n in range(300)]}]}))' >bad.json
    assert_status 65 larder schema check bad.json
    assert_contains "$stderr" "and 200 more"
    assert_equal 102 "$(printf '%s\n' "$stderr" | wc -l)"
}

@test "a schema that differs from that of the store is rejected with the differences" {
    sed 's/"int64",  "default": 0/"int32",  "default": 0/' "$schema" >other.json
    stop_daemon
    assert_status 65 larder count Article --store test.store --schema other.json
    assert_contains "$stderr" "error[SCHEMA_MISMATCH]"
    assert_contains "$stderr" "wordCount"
}

@test "schema check prints the entities, or every problem with its path" {
    assert_status 0 larder schema check "$schema"
    assert_equal $'Category\t1\t1' "$(grep ^Category <<<"$output")"
    cat >bad.json <<'END'
{ "version": "1.0.0", "entities": [
  { "name": "A", "attributes": [ { "name": "x", "type": "strin" } ],
    "relationships": [ { "name": "r", "destination": "B" } ], "colour": 1 } ] }
END
    assert_status 65 larder schema check bad.json
    assert_contains "$stderr" "error[MALFORMED_SCHEMA]"
    assert_contains "$stderr" "entities[0].attributes[0].type"
    assert_contains "$stderr" "entities[0].colour"
    assert_status 65 larder schema check - <<<'{'
    assert_status 74 larder schema check nowhere.json
}

@test "schema check warns of an index that serves no query" {
    cat >json.json <<'END'
{ "version": "1.0.0", "entities": [
  { "name": "A", "attributes": [ { "name": "data", "type": "json", "indexed": true },
      { "name": "x", "type": "int64" },
      { "name": "width", "type": "double", "derived": "data.dims.w", "optional": true, "indexed": true } ],
    "indexes": [["data", "x"], ["x", "data"]] } ] }
END
    assert_status 0 larder schema check json.json
    assert_equal 'warning: A: the index of data serves no query, because a JSON attribute is not ordered by its text
hint: index a derived attribute with the member that queries compare
warning: A: the index of data, x serves no query, because a JSON attribute is not ordered by its text
hint: index a derived attribute with the member that queries compare' "$stderr"
    larder import A - --store a.store --schema json.json >/dev/null <<'END'
{"data": {"dims": {"w": 3}}, "x": 1}
{"data": {"dims": {"w": 4.5}}, "x": 2}
{"data": [], "x": 3}
END
    assert_equal 2 "$(larder fetch A --where 'width > 4' --select x --store a.store)"
    assert_contains "$(larder explain A --where 'width > 4' --store a.store)" 'USING INDEX'
}

@test "schema check --cloudkit reports what CloudKit does not support" {
    assert_status 65 larder schema check "$schema" --cloudkit
    assert_contains "$stderr" "entities[0].attributes[0]"
    assert_contains "$stderr" "entities[1].attributes[0].unique"
    cat >good.json <<'END'
{ "version": "1.0.0", "entities": [
  { "name": "A", "attributes": [ { "name": "x", "type": "string", "optional": true } ] } ] }
END
    assert_status 0 larder schema check good.json --cloudkit
}

@test "completion scripts are available for three shells" {
    for shell in bash zsh fish; do
        assert_status 0 larder --generate-completion-script $shell
        assert_equal "" "$stderr"
        assert_contains "$output" larder
    done
}

@test "bash completes commands, the entities of the store, and their properties" {
    larder --generate-completion-script bash >completion
    run bash -c 'set -e
        source ./completion
        complete_line() {
            COMP_LINE=$*; COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            COMPREPLY=()
            _larder larder "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[@]}"
        }
        complete_line larder fe
        complete_line larder fetch A
        complete_line larder fetch Article --sort wordCount,t
        complete_line larder aggregate Category --group-by ""
        complete_line larder fetch Article --where ti
        complete_line larder fetch Article --where category.n
        complete_line larder insert Article word
        complete_line larder aggregate Article countD
        complete_line larder insert Article --unless Categor'
    assert_equal 'fetch' "$(xargs <<<"${lines[0]}")"
    assert_equal 'Article ArticleCollection' "$(xargs <<<"${lines[1]}")"
    assert_equal 'wordCount,title' "$(xargs <<<"${lines[2]}")"
    assert_equal 'name articles' "$(xargs <<<"${lines[3]}")"
    assert_equal 'title' "$(xargs <<<"${lines[4]}")"
    assert_equal 'category.name' "$(xargs <<<"${lines[5]}")"
    assert_equal 'wordCount=' "$(xargs <<<"${lines[6]}")"
    assert_equal 'countDistinct:' "$(xargs <<<"${lines[7]}")"
    assert_equal 'Category' "$(xargs <<<"${lines[8]}")"
}

@test "bash adds no space after an argument that continues" {
    larder --generate-completion-script bash >completion
    run bash -c 'source ./completion
        compopt() { echo "compopt $*"; }
        complete_line() {
            COMP_LINE=$*; COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            COMPREPLY=()
            _larder_arguments larder "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[@]}"
        }
        complete_line larder insert Article word
        complete_line larder aggregate Article countD
        complete_line larder fetch Articl
        complete -p larder'
    assert_equal 'compopt -o nospace' "${lines[0]}"
    assert_equal 'wordCount=' "$(xargs <<<"${lines[1]}")"
    assert_equal 'compopt -o nospace' "${lines[2]}"
    assert_equal 'countDistinct:' "$(xargs <<<"${lines[3]}")"
    assert_equal 'Article ArticleCollection' "$(xargs <<<"${lines[4]}")"
    assert_contains "${lines[5]}" '-F _larder_arguments larder'
}
