load helper

setup() {
    enter_scratch
    start_daemon
    insert_articles
}

@test "fetch filters, sorts and limits the objects" {
    assert_status 0 larder fetch Article --where 'wordCount > 20' --sort wordCount:desc --limit 2 \
        --offset 1 --select title,wordCount
    assert_equal $'five\t50\nfour\t40' "$output"
    assert_equal "" "$stderr"
}

@test "fetch without --select prints @id, every attribute and every to-one relationship" {
    assert_status 0 larder fetch Article --where 'title == "two"' --output csv
    assert_equal $'@id,title,wordCount,published,category,collection\r' "${lines[0]}"
    assert_status 0 larder fetch Article --where 'title == "two"' --output json
    assert_equal '["@entity","@id","@version","category","collection","published","title","wordCount"]' \
        "$(jq -c '.[0] | keys' <<<"$output")"
}

@test "--select prints its columns in its order, including @id and @version" {
    assert_status 0 larder fetch Article --where 'title == "one"' --select title,@version,category.name,@id
    [[ $output =~ ^one$'\t'1$'\t'tech$'\t'x-coredata:.*/Article/p[0-9]+$ ]]
}

@test "--arg fills %@ and %K, converted to the type of the comparison, including negative numbers" {
    assert_equal 2 "$(larder count Article --where '%K > %@' --arg wordCount --arg 40)"
    assert_equal 3 "$(larder count Article --where 'category == %@' --arg "$tech")"
    assert_equal 6 "$(larder count Article --where 'wordCount > %@' --arg -5)"
}

@test "--variable fills \$name, and a JSON array is a list after IN" {
    assert_equal 2 "$(larder count Article --where '$n < wordCount' --variable n=40)"
    assert_equal 2 "$(larder count Article --where 'title IN %@' --arg '["one", "two", "none"]')"
    assert_equal 2 "$(larder count Article --where 'title IN $titles' --variable 'titles=["one", "two"]')"
    assert_status 65 larder count Article --where 'wordCount > $n'
    assert_contains "$stderr" 'error[MALFORMED_PREDICATE]: predicate, column 13: there is no value for $n'
    assert_status 64 larder count Article --where 'wordCount > $n' --variable n
    assert_status 64 larder count Article --where 'wordCount > $n' --variable n=1 --variable n=2
}

@test "--select prints the strings of many objects as one text" {
    assert_equal $'arts\tfive, four' "$(larder fetch Category --where 'name == "arts"' \
        --select name,articles.title)"
    assert_equal 'arts,"five, four"' "$(larder fetch Category --where 'name == "arts"' \
        --select name,articles.title --output csv | tail -1 | tr -d '\r')"
    assert_equal '{"titles":"five, four"}' "$(larder fetch Category --where 'name == "arts"' \
        --select titles=articles.title --output jsonl)"
    assert_equal null "$(larder fetch Category --where 'name == "empty"' \
        --select articles.title --output jsonl | jq '."articles.title"')"
    # An ordered relationship has its order.
    assert_equal $'one, four\ttech, arts' \
        "$(larder fetch ArticleCollection --select articles.title,articles.category.name)"
    assert_equal 'five, four' "$(larder export Category --select name,articles.title |
        jq -r 'select(.name == "arts")."articles.title"')"
    assert_contains "$(larder explain Category --select articles.title)" 'join over'
    assert_status 65 larder fetch Category --select articles.wordCount
    assert_contains "$stderr" 'leads to many objects'
    assert_equal $'one/four\t1' "$(larder aggregate ArticleCollection \
        --group-by 'k=join(articles.title, "/")' count)"
    assert_equal 1 "$(larder count Category --where 'join(articles.title, "") == "fivefour"')"
    assert_status 65 larder fetch Category --sort articles.title
    assert_contains "$stderr" 'hint: write `join(articles.title, ", ")`'
}

@test "--distinct removes duplicate rows" {
    assert_status 0 larder fetch Article --select category.name --distinct --sort category.name
    assert_equal $'\narts\ntech' "$output"
}

@test "--ids prints URIs that other commands accept" {
    larder fetch Article --where 'category.name == "tech"' --ids | xargs larder delete >/dev/null
    assert_equal 3 "$(larder count Article)"
}

@test "ANY and an equivalent SUBQUERY select the same objects" {
    assert_equal "$(larder fetch Category --where 'ANY articles.wordCount > 30' --select name)" \
        "$(larder fetch Category --where 'SUBQUERY(articles, $a, $a.wordCount > 30).@count > 0' \
            --select name)"
    assert_equal arts "$(larder fetch Category --where 'ANY articles.wordCount > 30' --select name)"
}

@test "SUBQUERY follows a relationship of its variable" {
    assert_equal 1 "$(larder count ArticleCollection \
        --where 'SUBQUERY(articles, $a, $a.category.name == %@).@count > 0' --arg tech)"
}

@test "nil equals nil and is not less than any value" {
    assert_equal 1 "$(larder count Article --where 'category == nil')"
    assert_equal 0 "$(larder count Article --where 'published < %@ AND published == nil' --arg 2030-01-01)"
}

@test "count prints a number in every output format" {
    assert_equal 6 "$(larder count Article)"
    assert_equal 6 "$(larder count Article --output table)"
    assert_equal '[{"count":6}]' "$(larder count Article --output json | jq -c .)"
    assert_equal '{"count":6}' "$(larder count Article --output jsonl)"
    assert_equal $'count\r\n6\r' "$(larder count Article --output csv)"
}

@test "aggregate groups, and names columns by their text or by NAME=" {
    assert_status 0 larder aggregate Article --group-by category.name count sum:wordCount \
        mean=average:wordCount --sort count:desc --sort sum:wordCount --output json
    assert_equal '[{"category.name":"tech","count":3,"sum:wordCount":60,"mean":20},{"category.name":"arts","count":2,"sum:wordCount":90,"mean":45},{"category.name":null,"count":1,"sum:wordCount":60,"mean":60}]' \
        "$(jq -c . <<<"$output")"
}

@test "--having, --sort and --limit of aggregate refer to columns by name" {
    assert_status 0 larder aggregate Article --group-by category.name n=count words=sum:wordCount \
        --having 'n > 1' --sort words:desc --limit 1
    assert_equal $'arts\t2\t90' "$output"
}

@test "aggregate without groups prints one row" {
    assert_status 0 larder aggregate Article minimum:wordCount maximum:wordCount median:wordCount \
        countDistinct:category
    assert_equal $'10\t60\t35\t2' "$(sed 's/35\.0/35/' <<<"$output")"
}

@test "explain shows the plan, the SQL, SQLite's steps and a warning about a full scan" {
    assert_status 0 larder explain Article --where 'wordCount > 100'
    assert_contains "$output" "sql"
    assert_contains "$output" "SELECT"
    assert_contains "$output" "warnings"
    assert_status 0 larder explain Article --where 'title == "x"' --output json
    assert_contains "$(jq -c '.[0].steps' <<<"$output")" "INDEX"
    assert_status 0 larder explain Article --group-by category.name count
    assert_contains "$output" "larder_count_groups(t1.\"name\")"
}

@test "a malformed predicate is printed with a caret below the error" {
    assert_status 65 larder fetch Article --where 'wordCount > > 3'
    assert_equal "" "$output"
    assert_contains "$stderr" "error[MALFORMED_PREDICATE]"
    assert_contains "$stderr" $'\n  wordCount > > 3\n              ^'
    assert_status 65 larder count Article --where 'wordCount > > 3' --output json
    assert_equal '["MALFORMED_PREDICATE",13,65]' "$(jq -c '[.code,.column,.status]' <<<"$stderr")"
}

@test "the error in one of two predicates prints that predicate" {
    assert_status 65 larder aggregate Article count --where 'wordCount > 3' --having 'count > >'
    assert_contains "$stderr" $'\n  count > >'
}

@test "the caret points to unknown properties and values of the wrong type" {
    assert_status 65 larder count Article --where 'title == "é" AND wordCont > 3'
    assert_contains "$stderr" $'\n  title == "é" AND wordCont > 3\n                   ^'
    assert_status 65 larder count Article --where 'title == "é" AND wordCount > "x"'
    assert_contains "$stderr" $'\n  title == "é" AND wordCount > "x"\n                               ^'
    assert_status 65 larder count Article --where 'wordCount > %@' --arg x
    assert_contains "$stderr" $'\n  wordCount > %@\n              ^'
    assert_status 65 larder aggregate Article count --where 'wordCount > 3' --having 'cont > 3'
    assert_contains "$stderr" $'\n  cont > 3\n  ^'
}

@test "unknown entities, unknown properties and wrong types are different errors" {
    assert_status 4 larder count Nothing
    assert_contains "$stderr" "error[UNKNOWN_ENTITY]"
    assert_status 65 larder count Article --where 'nothing == 3'
    assert_contains "$stderr" "error[UNKNOWN_PROPERTY]"
    assert_status 65 larder count Article --where 'wordCount == "x"'
    assert_status 65 larder insert Article title:=7
    assert_contains "$stderr" "error[WRONG_TYPE]"
    assert_contains "$stderr" "Article.title"
}

@test "check finds nothing in an intact store, and the damage in a damaged one" {
    assert_status 0 larder check
    assert_equal '' "$output"
    stop_daemon
    sqlite3 test.store 'UPDATE Article SET category = 99 WHERE wordCount = 10'
    assert_status 74 larder check --store test.store --output jsonl
    assert_equal '["Article.category","it leads to an object that is not there"]' \
        "$(jq -c '[.location, .problem]' <<<"$output")"
    assert_equal '"STORAGE_FAILED"' "$(jq .code <<<"$stderr")"
}

@test "stats, ping and schema show print their results" {
    assert_status 0 larder stats --output json
    [ "$(jq 'length' <<<"$output")" -gt 3 ]
    assert_status 0 larder ping
    assert_status 0 larder schema show --output json
    assert_equal '["Article","Category","ArticleCollection","Sample"]' \
        "$(jq -c '[.entities[].name]' <<<"$output")"
    larder schema show --output json >shown.json
    assert_status 0 larder schema check shown.json
}


@test "sort modifiers set the position of nil and the comparison of strings" {
    assert_equal $'arts\ntech\n' "$(larder fetch Article --select category.name --distinct \
        --sort category.name:localized:nilslast)"$'\n'
    assert_status 0 larder fetch Article --sort category.name:nilslast:desc --sort title:caseinsensitive \
        --select title --limit 2
    assert_equal $'one\nthree' "$output"
    assert_status 64 larder fetch Article --sort title:desc:desc:asc
}

@test "a string modifier of a sort key is rejected for numbers" {
    assert_status 65 larder fetch Article --sort wordCount:localized
    assert_contains "$stderr" "error[WRONG_TYPE]"
}

@test "--after continues after a row, and all pages together are the whole result" {
    larder fetch Article --sort category.name --sort title --select category.name,title,@id >whole
    : >pages
    after=()
    while true; do
        larder fetch Article --sort category.name --sort title --limit 2 \
            --select category.name,title,@id ${after[@]+"${after[@]}"} >page
        [ -s page ] || break
        cat page >>pages
        last=$(tail -n 1 page)
        IFS=$'\x1f' read -r category title id <<<"${last//$'\t'/$'\x1f'}"
        after=(--after "${category:-nil}" --after "$title" --after "$id")
    done
    cmp whole pages
}

@test "--after rejects invalid values and conflicting options" {
    assert_status 65 larder fetch Article --sort title --after x
    assert_contains "$stderr" "error[MALFORMED_VALUE]"
    assert_status 65 larder fetch Article --sort wordCount --after many --after "$tech"
    assert_status 64 larder fetch Article --sort title --after x --after "$tech" --offset 1
    assert_status 64 larder fetch Article --select title --distinct --after "$tech"
}

@test "--prefetch embeds related objects at any depth" {
    assert_status 0 larder fetch Article --where 'title == "one"' --prefetch category --output jsonl
    assert_equal '["one","tech","Category"]' \
        "$(jq -c '[.title, .category.name, .category["@entity"]]' <<<"$output")"
    assert_status 0 larder fetch Category --where 'name == "tech"' --prefetch articles.category \
        --output json
    assert_equal '[["one","tech"],["three","tech"],["two","tech"]]' \
        "$(jq -c '[.[0].articles[] | [.title, .category.name]] | sort' <<<"$output")"
}

@test "--prefetch requires JSON output and whole objects" {
    assert_status 64 larder fetch Article --prefetch category --output csv
    assert_status 64 larder fetch Article --prefetch category --select title --output json
    assert_status 65 larder fetch Article --prefetch title --output json
    assert_contains "$stderr" "WRONG_TYPE"
}

@test "a limit out of range is a usage error, an offset beyond the end finds nothing" {
    assert_status 64 larder fetch Article --limit 9223372036854775808
    assert_status 64 larder fetch Article --offset -1
    assert_status 0 larder fetch Article --limit 9223372036854775807 --offset 9223372036854775807
    assert_equal "" "$output"
}

@test "explain shows the condition of --after and the prefetched relationships" {
    assert_status 0 larder explain Article --sort wordCount:desc --after 30 \
        --after "$(larder fetch Article --limit 1 --select @id)" \
        --prefetch category
    assert_contains "$output" '"wordCount" < ?'
    assert_contains "$output" 'prefetch category'
    assert_contains "$output" 'json_each'
}

@test "the caret is aligned after escaped characters" {
    assert_status 65 larder count Article --where 'title MATCHES "\\d" AND wordCont > 3'
    assert_contains "$stderr" $'\n  title MATCHES "\\\\\\\\d" AND wordCont > 3\n                            ^'
}

@test "only the part of a long predicate around the caret is printed" {
    assert_status 5 larder count Article --where "$(printf '(%.0s' {1..50000})"
    [ "${#stderr}" -lt 1000 ]
    assert_contains "$stderr" '(…'
}

@test "an empty column of --select and an unknown modifier of --sort are usage errors" {
    assert_status 64 larder fetch Article --select title,,wordCount
    assert_contains "$stderr" '--select: column 2 of 3 is empty'
    assert_status 64 larder export Article --select ''
    assert_contains "$stderr" '--select: column 1 of 1 is empty'
    assert_status 64 larder fetch Article --sort title:dsc
    assert_contains "$stderr" '--sort: unknown or repeated modifier `:dsc`; valid modifiers are :asc'
    assert_status 64 larder fetch Article --sort title:desc:asc
    assert_equal 6 "$(larder fetch Article --sort 'length("a:b") + wordCount:desc' --ids | wc -l)"
}

@test "a page after many rows of an order without an index has the rows that follow them" {
    echo '{"version": "1.0.0", "entities": [{"name": "Item", "attributes": [
        {"name": "n", "type": "int64"}, {"name": "text", "type": "string"}]}]}' >many.json
    { echo n,text && seq 1 140000 | awk '{ print $1 * 7919 % 140001 ",x" }'; } >many.csv
    larder import Item many.csv --store many.store --schema many.json
    assert_status 0 larder fetch Item --store many.store --where 'text == "x"' --sort n:desc \
        --offset 131072 --limit 3 --select n,text
    assert_equal $'8928\tx\n8927\tx\n8926\tx' "$output"
    assert_status 0 larder fetch Item --store many.store --sort n --offset 139999 --limit 3 --select n
    assert_equal 140000 "$output"
    assert_status 0 larder fetch Item --store many.store --sort n --offset 140000 --limit 3 --select n
    assert_equal "" "$output"
}

@test "indexes of texts are suggested, added by a migration, used, checked, dumped and readable by sqlite3" {
    stop_daemon
    unset LARDER_SOCKET
    schema() {
        printf '{"version": "%s", "entities": [{"name": "Note", "attributes": [
            {"name": "title", "type": "string"%s}, {"name": "body", "type": "string"%s}]}]}' "$@"
    }
    schema 1.0.0 '' '' >one.json
    schema 2.0.0 ', "unique": "insensitive", "indexed": "insensitive"' ', "search": true' >two.json
    larder insert Note --store notes.store --schema one.json title=Émile body='The larder is full'
    larder insert Note --store notes.store title=Zola body=empty
    substring='body CONTAINS[cd] "LARDER"'
    assert_contains "$(larder explain Note --store notes.store --where "$substring" 2>&1)" '`"search": true` at Note.body would'
    assert_contains "$(larder explain Note --store notes.store --where 'title ==[cd] "a"' 2>&1)" '`"indexed": "insensitive"` at Note.title would'
    larder migrate --store notes.store --schema two.json
    [[ $(larder explain Note --store notes.store --where "$substring") == *MATCH* ]]
    assert_equal Émile "$(larder fetch Note --store notes.store --where "$substring" --select title)"
    assert_equal 1 "$(larder count Note --store notes.store --where 'title ==[cd] "EMILE"')"
    assert_status 65 larder insert Note --store notes.store title=EMILE body=x
    assert_contains "$stderr" 'without regard to case and accents ("EMILE" is "Émile")'
    larder check --store notes.store
    assert_contains "$(larder schema show --store notes.store)" 'indexed for searches'
    larder dump --store notes.store >notes.dump
    larder load notes.dump --store loaded.store
    assert_equal Émile "$(larder fetch Note --where "$substring" --select title --store loaded.store)"
    larder check --store loaded.store
    assert_equal Zola "$(sqlite3 notes.store 'SELECT title FROM Note WHERE body = "empty"')"
    run sqlite3 notes.store "UPDATE Note SET title = 'x'"
    assert_contains "$output" larder_canonical
    larder check --store notes.store
}

@test "--search finds words, the best first, in the index with the most texts or in all strings" {
    stop_daemon
    unset LARDER_SOCKET
    entity='"name": "Note", "attributes": [{"name": "title", "type": "string"},
        {"name": "body", "type": "string", "optional": true}, {"name": "size", "type": "int64", "default": 1}]'
    printf '{"version": "1.0.0", "entities": [{%s}]}' "$entity" >one.json
    printf '{"version": "2.0.0", "entities": [{"search": [["title", "body"]], %s}]}' "$entity" >two.json
    larder insert Note --store notes.store --schema one.json title='The larder' body='An object-store, no Redis'
    larder insert Note --store notes.store title='Larder, Larder' body='Émile'
    larder insert Note --store notes.store title='Pantry'
    check_results() {
        assert_equal $'Larder, Larder\nThe larder' "$(larder fetch Note --store notes.store --search larder --select title)"
        assert_equal 'The larder' "$(larder fetch Note --store notes.store --search '-émile larder' --select title)"
        assert_equal $'The larder\nPantry' "$(larder fetch Note --store notes.store \
            --search '"object store" redis OR pan*' --select title --sort title:desc)"
        assert_equal $'The larder\t…object-[store], no Redis' "$(larder fetch Note --store notes.store \
            --search store --where 'size == %@ OR size == 2' --arg 1 --select 'title,snippet(body, $search, 4)')"
        assert_equal '' "$(larder fetch Note --store notes.store --search larder --where 'size == 3')"
        assert_equal 2 "$(larder count Note --store notes.store --where 'SEARCH(title, body, $t)' --variable t=larder)"
    }
    check_results
    assert_contains "$(larder explain Note --store notes.store --search larder)" '`"search": [["title", "body"]]` at Note would'
    larder migrate --store notes.store --schema two.json
    check_results
    assert_contains "$(larder explain Note --store notes.store --search larder)" larder_match_score
    assert_contains "$(larder schema show --store notes.store)" $'title, body\tsearch'
    larder update Note --store notes.store --where 'SEARCH(title, body, "pantry")' --set 'title="a larder"'
    assert_equal 3 "$(larder count Note --store notes.store --where 'SEARCH(title, "larder")')"
    larder check --store notes.store
    larder dump --store notes.store >notes.dump
    larder load notes.dump --store loaded.store
    assert_equal 3 "$(larder count Note --where 'SEARCH(title, "larder")' --store loaded.store)"
    larder check --store loaded.store
}

@test "a search text that is none is an error with the column, and --search a usage error without strings" {
    assert_status 65 larder fetch Article --where 'wordCount > 1 AND SEARCH(title, "one \"two")'
    assert_contains "$stderr" 'column 33: the search text has no second quotation mark for the one at character 5'
    assert_status 65 larder fetch Article --search '-'
    assert_contains "$stderr" 'the search text has no word'
    assert_status 5 larder fetch Article --search "$(printf '%0100000d' 0)"
    assert_contains "$stderr" 'the search text has 100000 bytes; at most 4096 are allowed'
    assert_status 65 larder fetch Article --where 'SEARCH(wordCount, "one")'
    assert_contains "$stderr" 'search takes strings, not an int64'
    assert_status 64 larder fetch Article --search one --variable search=two
}
