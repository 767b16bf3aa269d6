load helper

setup() {
    enter_scratch
    start_daemon
    fill
}

@test "fetch filters, sorts and limits" {
    expect 0 larder fetch Article --where 'wordCount > 20' --sort wordCount:desc --limit 2 \
        --offset 1 --select title,wordCount
    same $'five\t50\nfour\t40' "$output"
    same "" "$stderr"
}

@test "fetch without --select prints @id, every attribute and every to-one relationship" {
    expect 0 larder fetch Article --where 'title == "two"' --output csv
    same $'@id,title,wordCount,published,category,collection\r' "${lines[0]}"
    expect 0 larder fetch Article --where 'title == "two"' --output json
    same '["@entity","@id","@version","category","collection","published","title","wordCount"]' \
        "$(jq -c '.[0] | keys' <<<"$output")"
}

@test "--select prints its columns in its order, including @id and @version" {
    expect 0 larder fetch Article --where 'title == "one"' --select title,@version,category.name,@id
    [[ $output =~ ^one$'\t'1$'\t'tech$'\t'x-coredata:.*/Article/p[0-9]+$ ]]
}

@test "--arg fills %@ and %K, converted to the type of the comparison, including negative numbers" {
    same 2 "$(larder count Article --where '%K > %@' --arg wordCount --arg 40)"
    same 3 "$(larder count Article --where 'category == %@' --arg "$tech")"
    same 6 "$(larder count Article --where 'wordCount > %@' --arg -5)"
}

@test "--variable fills \$name, and a JSON array is a list after IN" {
    same 2 "$(larder count Article --where '$n < wordCount' --variable n=40)"
    same 2 "$(larder count Article --where 'title IN %@' --arg '["one", "two", "none"]')"
    same 2 "$(larder count Article --where 'title IN $titles' --variable 'titles=["one", "two"]')"
    expect 65 larder count Article --where 'wordCount > $n'
    holds "$stderr" 'error[MALFORMED_PREDICATE]: predicate, column 13: there is no value for $n'
    expect 64 larder count Article --where 'wordCount > $n' --variable n
    expect 64 larder count Article --where 'wordCount > $n' --variable n=1 --variable n=2
}

@test "--distinct removes duplicate rows" {
    expect 0 larder fetch Article --select category.name --distinct --sort category.name
    same $'\narts\ntech' "$output"
}

@test "--ids prints URIs that other commands accept" {
    larder fetch Article --where 'category.name == "tech"' --ids | xargs larder delete >/dev/null
    same 3 "$(larder count Article)"
}

@test "ANY and an equivalent SUBQUERY select the same objects" {
    same "$(larder fetch Category --where 'ANY articles.wordCount > 30' --select name)" \
        "$(larder fetch Category --where 'SUBQUERY(articles, $a, $a.wordCount > 30).@count > 0' \
            --select name)"
    same arts "$(larder fetch Category --where 'ANY articles.wordCount > 30' --select name)"
}

@test "SUBQUERY follows a relationship of its variable" {
    same 1 "$(larder count ArticleCollection \
        --where 'SUBQUERY(articles, $a, $a.category.name == %@).@count > 0' --arg tech)"
}

@test "nil equals nil and is not less than any value" {
    same 1 "$(larder count Article --where 'category == nil')"
    same 0 "$(larder count Article --where 'published < %@ AND published == nil' --arg 2030-01-01)"
}

@test "count prints a number in every output format" {
    same 6 "$(larder count Article)"
    same 6 "$(larder count Article --output table)"
    same '[{"count":6}]' "$(larder count Article --output json | jq -c .)"
    same '{"count":6}' "$(larder count Article --output jsonl)"
    same $'count\r\n6\r' "$(larder count Article --output csv)"
}

@test "aggregate groups, and names columns by their text or by NAME=" {
    expect 0 larder aggregate Article --group-by category.name count sum:wordCount \
        mean=average:wordCount --sort count:desc --sort sum:wordCount --output json
    same '[{"category.name":"tech","count":3,"sum:wordCount":60,"mean":20},{"category.name":"arts","count":2,"sum:wordCount":90,"mean":45},{"category.name":null,"count":1,"sum:wordCount":60,"mean":60}]' \
        "$(jq -c . <<<"$output")"
}

@test "--having, --sort and --limit of aggregate refer to columns by name" {
    expect 0 larder aggregate Article --group-by category.name n=count words=sum:wordCount \
        --having 'n > 1' --sort words:desc --limit 1
    same $'arts\t2\t90' "$output"
}

@test "aggregate without groups prints one row" {
    expect 0 larder aggregate Article minimum:wordCount maximum:wordCount median:wordCount \
        countDistinct:category
    same $'10\t60\t35\t2' "$(sed 's/35\.0/35/' <<<"$output")"
}

@test "explain shows the plan, the SQL, SQLite's steps and a warning about a full scan" {
    expect 0 larder explain Article --where 'wordCount > 100'
    holds "$output" "sql"
    holds "$output" "SELECT"
    holds "$output" "warnings"
    expect 0 larder explain Article --where 'title == "x"' --output json
    holds "$(jq -c '.[0].steps' <<<"$output")" "INDEX"
    expect 0 larder explain Article --group-by category.name count
    holds "$output" "larder_count_groups(t1.\"name\")"
}

@test "a malformed predicate is printed with a caret below the error" {
    expect 65 larder fetch Article --where 'wordCount > > 3'
    same "" "$output"
    holds "$stderr" "error[MALFORMED_PREDICATE]"
    holds "$stderr" $'\n  wordCount > > 3\n              ^'
    expect 65 larder count Article --where 'wordCount > > 3' --output json
    same '["MALFORMED_PREDICATE",13,65]' "$(jq -c '[.code,.column,.status]' <<<"$stderr")"
}

@test "of two predicates, the one with the error is printed" {
    expect 65 larder aggregate Article count --where 'wordCount > 3' --having 'count > >'
    holds "$stderr" $'\n  count > >'
}

@test "the caret points to unknown properties and values of the wrong type" {
    expect 65 larder count Article --where 'title == "é" AND wordCont > 3'
    holds "$stderr" $'\n  title == "é" AND wordCont > 3\n                   ^'
    expect 65 larder count Article --where 'title == "é" AND wordCount > "x"'
    holds "$stderr" $'\n  title == "é" AND wordCount > "x"\n                               ^'
    expect 65 larder count Article --where 'wordCount > %@' --arg x
    holds "$stderr" $'\n  wordCount > %@\n              ^'
    expect 65 larder aggregate Article count --where 'wordCount > 3' --having 'cont > 3'
    holds "$stderr" $'\n  cont > 3\n  ^'
}

@test "unknown entities, unknown properties and wrong types are different errors" {
    expect 4 larder count Nothing
    holds "$stderr" "error[UNKNOWN_ENTITY]"
    expect 65 larder count Article --where 'nothing == 3'
    holds "$stderr" "error[UNKNOWN_PROPERTY]"
    expect 65 larder count Article --where 'wordCount == "x"'
    expect 65 larder insert Article title:=7
    holds "$stderr" "error[WRONG_TYPE]"
    holds "$stderr" "Article.title"
}

@test "check finds nothing in an intact store, and the damage in a damaged one" {
    expect 0 larder check
    same '' "$output"
    stop_daemon
    sqlite3 test.store 'UPDATE Article SET category = 99 WHERE wordCount = 10'
    expect 74 larder check --store test.store --output jsonl
    same '["Article.category","it leads to an object that is not there"]' \
        "$(jq -c '[.location, .problem]' <<<"$output")"
    same '"STORAGE_FAILED"' "$(jq .code <<<"$stderr")"
}

@test "stats, ping and schema show print their results" {
    expect 0 larder stats --output json
    [ "$(jq 'length' <<<"$output")" -gt 3 ]
    expect 0 larder ping
    expect 0 larder schema show
    same '["Article","Category","ArticleCollection","Sample"]' \
        "$(jq -c '[.entities[].name]' <<<"$output")"
    larder schema show >shown.json
    expect 0 larder schema check shown.json
}


@test "sort modifiers set the position of nil and the comparison of strings" {
    same $'arts\ntech\n' "$(larder fetch Article --select category.name --distinct \
        --sort category.name:localized:nilslast)"$'\n'
    expect 0 larder fetch Article --sort category.name:nilslast:desc --sort title:caseinsensitive \
        --select title --limit 2
    same $'one\nthree' "$output"
    expect 64 larder fetch Article --sort title:desc:desc:asc
}

@test "a string modifier of a sort key is rejected for numbers" {
    expect 65 larder fetch Article --sort wordCount:localized
    holds "$stderr" "error[WRONG_TYPE]"
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
    expect 65 larder fetch Article --sort title --after x
    holds "$stderr" "error[MALFORMED_VALUE]"
    expect 65 larder fetch Article --sort wordCount --after many --after "$tech"
    expect 64 larder fetch Article --sort title --after x --after "$tech" --offset 1
    expect 64 larder fetch Article --select title --distinct --after "$tech"
}

@test "--prefetch embeds related objects at any depth" {
    expect 0 larder fetch Article --where 'title == "one"' --prefetch category --output jsonl
    same '["one","tech","Category"]' \
        "$(jq -c '[.title, .category.name, .category["@entity"]]' <<<"$output")"
    expect 0 larder fetch Category --where 'name == "tech"' --prefetch articles.category \
        --output json
    same '[["one","tech"],["three","tech"],["two","tech"]]' \
        "$(jq -c '[.[0].articles[] | [.title, .category.name]] | sort' <<<"$output")"
}

@test "--prefetch requires JSON output and whole objects" {
    expect 64 larder fetch Article --prefetch category --output csv
    expect 64 larder fetch Article --prefetch category --select title --output json
    expect 65 larder fetch Article --prefetch title --output json
    holds "$stderr" "WRONG_TYPE"
}

@test "a limit out of range is a usage error, an offset beyond the end finds nothing" {
    expect 64 larder fetch Article --limit 9223372036854775808
    expect 64 larder fetch Article --offset -1
    expect 0 larder fetch Article --limit 9223372036854775807 --offset 9223372036854775807
    same "" "$output"
}

@test "explain shows the condition of --after and the prefetched relationships" {
    expect 0 larder explain Article --sort wordCount:desc --after 30 \
        --after "$(larder fetch Article --limit 1 --select @id)" \
        --prefetch category
    holds "$output" '"wordCount" < ?'
    holds "$output" 'prefetch category'
    holds "$output" 'json_each'
}

@test "the caret is aligned after escaped characters" {
    expect 65 larder count Article --where 'title MATCHES "\\d" AND wordCont > 3'
    holds "$stderr" $'\n  title MATCHES "\\\\\\\\d" AND wordCont > 3\n                            ^'
}

@test "only the part of a long predicate around the caret is printed" {
    expect 5 larder count Article --where "$(printf '(%.0s' {1..50000})"
    [ "${#stderr}" -lt 1000 ]
    holds "$stderr" '(…'
}

@test "an empty column of --select and an unknown modifier of --sort are usage errors" {
    expect 64 larder fetch Article --select title,,wordCount
    holds "$stderr" '--select: column 2 of 3 is empty'
    expect 64 larder export Article --select ''
    holds "$stderr" '--select: column 1 of 1 is empty'
    expect 64 larder fetch Article --sort title:dsc
    holds "$stderr" '--sort: unknown or repeated modifier `:dsc`; valid modifiers are :asc'
    expect 64 larder fetch Article --sort title:desc:asc
    same 6 "$(larder fetch Article --sort 'length("a:b") + wordCount:desc' --ids | wc -l)"
}
