load helper

@test "insert prints a URI, and get prints the object with its defaults" {
    assert_status 0 larder insert Article title=First
    assert_equal "" "$stderr"
    [[ $output =~ ^x-coredata://[0-9A-F-]{36}/Article/p1$ ]]
    uri=$output
    assert_status 0 larder get "$uri" --output json
    assert_equal '{"@entity":"Article","@id":"'"$uri"'","@version":1,"category":null,"collection":null,"published":null,"title":"First","wordCount":0}' \
        "$(jq -Sc '.[0]' <<<"$output")"
}

@test "values of every type round-trip through JSON" {
    document='{"bool":true,"int16":-32768,"int32":2147483647,"int64":"9223372036854775807","float":0.5,"double":0.1,"decimal":"12345678901234567890.12","string":"a\tb\"ü","date":"2026-01-31T08:15:00.25Z","uuid":"0F8FAD5B-D9CB-469F-A165-70867728950E","url":"https://example.org/a?b=c","data":"AAEC/w==","json":{"a":[1,2.5,null]}}'
    uri=$(larder insert Sample --json "$document")
    assert_status 0 larder get "$uri" --output jsonl
    assert_equal "$(jq -Sc . <<<"$document")" "$(jq -Sc 'del(.["@id"],.["@entity"],.["@version"])' <<<"$output")"
}

@test "assignments convert text to the type of the property; key= is empty and key:=null is nil" {
    uri=$(larder insert Sample bool=true int64=-5 double=2.5 string= json='{"a": 1}' \
        date=2026-01-31 int32:=7 uuid:=null)
    assert_status 0 larder get "$uri" --output jsonl
    assert_equal '[true,-5,2.5,"",{"a":1},"2026-01-31T00:00:00Z",7,null]' \
        "$(jq -c '[.bool,.int64,.double,.string,.json,.date,.int32,.uuid]' <<<"$output")"
}

@test "a value may contain = and begin with a dash" {
    uri=$(larder insert Sample string=--a=b=)
    assert_equal '--a=b=' "$(larder get "$uri" --output jsonl | jq -r .string)"
}

@test "a relationship can be set by URI from either side" {
    one=$(larder insert Article title=one)
    two=$(larder insert Article title=two)
    category=$(larder insert Category name=tech articles:="[\"$one\",\"$two\"]")
    assert_equal "$category" "$(larder get "$one" --output jsonl | jq -r .category)"
    assert_equal 2 "$(larder get "$category" --output jsonl | jq '.articles | length')"
    larder update "$one" category:=null >/dev/null
    assert_equal "[\"$two\"]" "$(larder get "$category" --output jsonl | jq -c .articles)"
}

@test "insert - inserts JSON lines in one transaction" {
    assert_status 0 larder insert Category - <<<'{"name": "a"}
{"name": "b"}'
    assert_equal 2 "${#lines[@]}"
    assert_status 65 larder insert Category - <<<'{"name": "c"}
{"name": 7}'
    assert_contains "$stderr" "line 2"
    assert_equal 2 "$(larder count Category)"
}

@test "update changes the given properties and prints the new version" {
    uri=$(larder insert Article title=a wordCount=3)
    assert_status 0 larder update "$uri" title=b
    assert_equal 2 "$output"
    assert_equal '["b",3,2]' "$(larder get "$uri" --output jsonl | jq -c '[.title,.wordCount,.["@version"]]')"
}

@test "update --if-version rejects another version with status 3" {
    uri=$(larder insert Article title=a)
    assert_status 0 larder update "$uri" title=b --if-version 1
    assert_status 3 larder update "$uri" title=c --if-version 1
    assert_contains "$stderr" "error[VERSION_CONFLICT]"
    assert_equal b "$(larder get "$uri" --output jsonl | jq -r .title)"
}

@test "--unless and --expect change nothing unless their conditions are met" {
    free='Article where wordCount > %@ AND title == $t'
    options=(--unless "$free" --arg 2 --variable t=a)
    assert_status 0 larder insert Article title=a wordCount=3 "${options[@]}"
    uri=$output
    assert_status 3 larder insert Article title=a wordCount=4 "${options[@]}" --output json
    assert_equal '["CONDITION_FAILED","condition",0,1]' \
        "$(jq -c '[.code, (.details[0] | .rule, .condition, .found)]' <<<"$stderr")"
    assert_status 3 larder update "$uri" title=b "${options[@]}"
    assert_status 0 larder update "$uri" title=b --expect '1 Article' --unless Category
    assert_status 3 larder update Article --all title=c --expect '2 Article'
    assert_contains "$stderr" "condition 1 is not met: it expects 2 objects of Article, and the store has 1"
    assert_status 0 larder update Article --expect '1 Article where wordCount == %@' --arg 3 \
        --where 'title == %@' --arg b --set 'wordCount=wordCount + %@' --arg 10
    assert_equal '["b",13]' "$(larder get "$uri" --output jsonl | jq -c '[.title,.wordCount]')"
    assert_status 3 larder delete "$uri" --unless Article
    assert_status 3 larder delete Article --all --expect '0 Article'
    assert_status 0 larder delete Article --all --expect '1 Article'
}

@test "an invalid condition is an error, with a caret below the column" {
    assert_status 65 larder insert Article title=a --unless Category --unless 'Article where titel == "a"'
    assert_contains "$stderr" "condition 2, column 1"
    assert_contains "$stderr" '  titel == "a"'
    assert_status 65 larder insert Article title=a --unless 'Article where title = = 1'
    assert_contains "$stderr" "condition 1, column 9"
    assert_status 65 larder insert Article title=a --unless 'Article where title == %@'
    assert_status 65 larder insert Article title=a --unless 'Article where title == %@' --arg a --arg b
    assert_status 4 larder insert Article title=a --unless Nothing
    for option in '--unless=' '--unless=Article title' '--expect=Article' '--expect=-1 Article' --arg=1; do
        assert_status 64 larder insert Article title=a "$option"
    done
    assert_equal 0 "$(larder count Article)"
}

@test "the input of save has conditions, which are checked before the first change" {
    set='{"insert": {"@entity": "Category", "name": "a"}}
{"unless": {"@entity": "Category", "@where": "name == %@", "@args": ["a"]}}
{"expect": {"@entity": "Category", "@all": true, "@count": 0}}'
    assert_status 0 larder save - <<<"$set"
    assert_status 3 larder save - --unless Article <<<"$set"
    assert_contains "$stderr" "standard input, line 2: condition 2 is not met"
    assert_status 0 larder save - <<<'{"expect": {"@entity": "Category", "@all": true, "@count": 1}}'
    for line in '{"expect": {"@entity": "Category", "@all": true}}' '{"unless": {"@entity": "Category"}}' \
        '{"unless": {"@entity": "Category", "@all": true, "name": "x"}}' \
        '{"unless": {"@entity": "Category", "@all": true, "@count": 1}}'; do
        assert_status 65 larder save - <<<"$line"
    done
    assert_equal 1 "$(larder count Category)"
}

@test "a condition that takes longer than the time limit is stopped" {
    category=$(larder insert Category name=c)
    seq 10000 | jq -c --arg c "$category" '{title: "a\(.)", category: $c}' |
        larder import Article - >/dev/null
    assert_status 75 larder insert Category name=d --timeout 3s --unless \
        'Article where SUBQUERY(category.articles, $a, $a.wordCount + wordCount == -1).@count > 0'
    assert_contains "$stderr" "error[TIMEOUT]"
    assert_status 0 larder insert Category name=e
    assert_equal 2 "$(larder count Category)"
}

@test "update --merge resolves a conflict property by property" {
    uri=$(larder insert Article title=a wordCount=1)
    larder update "$uri" title=b >/dev/null
    assert_status 3 larder update "$uri" wordCount=2 --if-version 1 --output json
    assert_equal '["VERSION_CONFLICT",0,"version",2,1,"wordCount",1,2]' "$(jq -c '
        [.code, (.details[0] | .change, .rule, (.conflict | .storedVersion, .expectedVersion,
            (.properties[0] | .name, .stored, .given)))]' <<<"$stderr")"
    assert_status 0 larder update "$uri" title=c wordCount=2 --if-version 1 --merge storeWins \
        --base title=a --base wordCount=1
    assert_equal 3 "$output"
    assert_status 0 larder save - --merge callerWins <<END
{"update": {"@id": "$uri", "@version": 1, "@base": {"title": "a"}, "wordCount": 4}}
END
    assert_equal '["b",4]' "$(larder get "$uri" --output jsonl | jq -c '[.title,.wordCount]')"
    assert_status 64 larder update "$uri" wordCount=2 --merge perhaps
}

@test "all problems of a change set are reported, one per line and as JSON details" {
    assert_status 65 larder save - --output json <<'END'
{"insert": {"@entity": "Category", "name": "a"}}
{"insert": {"@entity": "Category", "name": "a"}}
{"insert": {"@entity": "Article", "wordCount": -1}}
END
    assert_equal '[[2,"Article","optional"],[2,"Article","minimum"],[1,"Category","unique"]]' \
        "$(jq -c '[.details[] | [.change, .entity, .rule]] | sort_by(-.[0], -(.[2] | length))' <<<"$stderr")"
    assert_equal 3 "$(jq '.problems | length' <<<"$stderr")"
}

@test "save --upsert prints the URI of the object that already has the unique values" {
    uri=$(larder insert Category name=a)
    assert_status 0 larder save - --upsert --output json <<'END'
{"insert": {"@id": "t:a", "@entity": "Category", "name": "a"}}
{"insert": {"@entity": "Article", "title": "x", "category": "t:a"}}
END
    assert_equal "$uri" "$(jq -r '.[0]["@id"]' <<<"$output")"
    assert_equal 1 "$(larder count Article --where 'category.name == "a"')"
}

@test "delete removes all of its objects or none" {
    one=$(larder insert Category name=a)
    two=$(larder insert Category name=b)
    assert_status 0 larder delete "$one"
    assert_equal 1 "$output"
    assert_status 4 larder delete "$two" "$one"
    assert_equal 1 "$(larder count Category)"
}

@test "update and delete take an entity and a predicate" {
    printf '{"title": "a%s", "wordCount": %s}\n' 1 10 2 20 3 30 | larder import Article - >/dev/null
    category=$(larder insert Category name=tech)
    assert_status 0 larder update Article --where 'wordCount >= %@' --arg 20 category="$category" \
        --set 'wordCount=wordCount * 2 + length(title)'
    assert_equal 2 "$output"
    assert_equal '[["a1",10,1],["a2",42,2],["a3",62,2]]' \
        "$(larder export Article | jq -sc 'map([.title,.wordCount,.["@version"]])')"
    assert_status 0 larder update Article --where 'category.name == $n' --variable n=tech \
        category:=null title=same --ids
    assert_equal 2 "${#lines[@]}"
    assert_equal '"same"' "$(larder get "${lines[1]}" --output jsonl | jq .title)"
    assert_status 0 larder update Article --all wordCount:=7 --output json
    assert_equal '[{"updated":3}]' "$(jq -c . <<<"$output")"
    assert_status 0 larder update Article --all --sort wordCount:desc,title --limit 2 wordCount=8
    assert_equal 2 "$output"
    assert_equal $'8\n8\n7' "$(larder fetch Article --sort wordCount:desc --select wordCount)"
    assert_status 64 larder update Article --all --sort title wordCount=8
    assert_contains "$stderr" '--sort requires --limit'
    assert_status 64 larder delete "$category" --limit 1
    echo '{"updateAll": {"@entity": "Article", "@all": true, "@sort": ["wordCount"], "@limit": 1, "wordCount": 9}}' |
        larder save - >/dev/null
    assert_equal $'9\n8\n8' "$(larder fetch Article --sort wordCount:desc --select wordCount)"
    run larder save - <<<'{"deleteAll": {"@entity": "Article", "@all": true, "@limit": -1}}'
    assert_contains "$output" '@limit must be an integer that is not negative'
    run larder save - <<<'{"deleteAll": {"@entity": "Article", "@all": true, "@sort": ["title desc"], "@limit": 1}}'
    assert_contains "$output" 'write `title:desc`'
    assert_status 0 larder delete Article --where 'title == "a1"' --ids
    [[ $output == */Article/p1 ]]
    assert_status 0 larder delete Article --all
    assert_equal 2 "$output"
}

@test "a bulk change requires --where or --all, and no conflicting options" {
    larder insert Category name=a >/dev/null
    uri=$(larder insert Category name=b)
    for arguments in 'delete Category' 'delete Category --ids' 'delete Category --all --where TRUEPREDICATE' \
        "delete Category $uri --all" 'update Category name=c' 'update Category --all' "delete $uri --all" \
        "update $uri --where TRUEPREDICATE name=c" "update $uri --set name=name" 'update Category --all --set name' \
        'update Category --all name=c --if-version 1' 'delete Category --all --merge rollback'; do
        # shellcheck disable=SC2086
        assert_status 64 larder $arguments
        assert_contains "$stderr" "error[USAGE]"
    done
    assert_status 65 larder update Category --all --set 'name=length(name) +'
    assert_contains "$stderr" "value of name, column 15"
    assert_contains "$stderr" "  length(name) +"
    assert_status 65 larder delete Category --where 'nam == "a"'
    assert_contains "$stderr" "predicate, column 1"
    assert_status 65 larder update Category --all name=c
    assert_contains "$stderr" "error[UNIQUENESS_VIOLATED]"
    assert_equal 2 "$(larder count Category)"
}

@test "delete --if-version keeps an object that has changed, unless --merge resolves the conflict" {
    uri=$(larder insert Category name=a)
    larder update "$uri" name=b >/dev/null
    assert_status 3 larder delete "$uri" --if-version 1
    assert_status 0 larder delete "$uri" --if-version 1 --merge storeWins
    assert_equal 0 "$output"
    assert_status 0 larder delete "$uri" --if-version 1 --merge callerWins
    assert_equal 1 "$output"
    assert_status 64 larder delete "$uri" "$uri" --if-version 1
}

@test "a change set mixes single and bulk changes, applied in the order of the lines" {
    larder insert Article title=old wordCount=3 >/dev/null
    assert_status 0 larder save - <<'END'
{"insert": {"@id": "t:c", "@entity": "Category", "name": "tech"}}
{"insert": {"@entity": "Article", "title": "x", "wordCount": 5}}
{"updateAll": {"@entity": "Article", "@where": "wordCount IN %@ AND title != $t", "@args": [[5, 7]], "@variables": {"t": null}, "@set": {"wordCount": "wordCount * 2"}, "category": "t:c"}}
{"updateAll": {"@entity": "Article", "@where": "category == %@", "@args": ["t:c"], "title": "of tech"}}
{"deleteAll": {"@entity": "Article", "@where": "wordCount < 4"}}
END
    assert_equal '[["of tech",10]]' "$(larder export Article | jq -sc 'map([.title,.wordCount])')"
    for line in '{"deleteAll": {"@entity": "Article"}}' '{"updateAll": {"@where": "a == 1"}}' \
        '{"deleteAll": {"@entity": "Article", "@all": true, "title": "x"}}' \
        '{"deleteAll": {"@entity": "Article", "@all": true, "@where": "title == nil"}}' \
        '{"updateAll": {"@entity": "Article", "@all": true, "@set": {"title": 3}}}' \
        '{"updateAll": {"@entity": "Article", "@all": true, "@what": 3}}' \
        '{"updateAll": {"@entity": "Article", "@all": true, "category": "t:x"}}' \
        '{"updateAll": {"@entity": "Article", "@where": "nothing == 1", "title": "x"}}'; do
        printf '{"insert": {"@entity": "Category", "name": "n"}}\n%s\n' "$line" >case
        assert_status 65 larder save case
        assert_contains "$stderr" "case, line 2: "
    done
}

@test "a bulk update that takes too long fails with TIMEOUT and changes nothing" {
    category=$(larder insert Category name=a)
    seq 1 3000 | sed "s|.*|{\"title\": \"&\", \"category\": \"$category\"}|" >in
    larder import Article in >/dev/null
    slow='SUBQUERY(category.articles, $a, length($a.title) * wordCount == -1).@count > 0'
    assert_status 75 larder update Article --where "$slow" --set 'wordCount=1' --timeout 1s
    assert_contains "$stderr" "error[TIMEOUT]: the change set took longer"
    assert_equal 3000 "$(larder count Article --where 'wordCount == 0')"
}

@test "a bulk change of many objects needs little memory" {
    seq 1 100000 | sed 's|.*|{"title": "the title of &"}|' >in
    larder import Article in >/dev/null
    peak() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$daemon/status"; }
    before=$(peak)
    assert_equal 100000 "$(larder update Article --all --set 'wordCount=wordCount + length(title)' --set 'title=uppercase(title)')"
    assert_equal 100000 "$(larder delete Article --all)"
    echo "kilobytes: $before before, $(peak) after"
    [ $(($(peak) - before)) -lt 40000 ]
}

@test "the history records the author, the client and the user of every change" {
    uri=$(larder insert Category name=a --author ann)
    larder update "$uri" name=b --author bob >/dev/null
    larder save - --author cleo >/dev/null <<<'{"insert": {"@entity": "Category", "name": "c"}}'
    printf '{"name": "d%s"}\n' {1..5000} >in
    larder import Category in --author dan >/dev/null
    larder delete "$uri" >/dev/null
    assert_status 64 larder delete "$uri" --author "$(printf 'a%.0s' {1..257})"
    larder check
    stop_daemon
    assert_equal "ann|larder|$UID
bob|larder|$UID
cleo|larder|$UID
dan|larder|$UID
dan|larder|$UID
dan|larder|$UID
|larder|$UID" "$(sqlite3 test.store 'SELECT author, client, user FROM _transaction ORDER BY number')"
    assert_equal '1|1|1|
2|1|1|name
1|2|2|
1|3|2002|
1|2003|4002|
1|4003|5002|
3|1|1|' "$(sqlite3 test.store 'SELECT kind, first_key, last_key, properties FROM _transaction ORDER BY number')"
}

@test "a repeated command with an idempotency key applies its changes once" {
    uri=$(larder insert Category name=a --idempotency-key one)
    assert_equal "$uri" "$(larder insert Category name=a --idempotency-key one)"
    assert_equal 2 "$(larder update "$uri" name=b --if-version 1 --idempotency-key two)"
    assert_equal 2 "$(larder update "$uri" name=b --if-version 1 --idempotency-key two)"
    set='{"insert": {"@entity": "Category", "name": "c"}}'
    other=$(larder save - --idempotency-key three <<<"$set")
    assert_equal "$other" "$(larder save - --idempotency-key three --author ann <<<"$set")"
    assert_equal 1 "$(larder delete "$uri" --idempotency-key four)"
    stop_daemon
    start_daemon
    assert_equal 1 "$(larder delete "$uri" --idempotency-key four)"
    assert_status 65 larder delete "$other" --idempotency-key four
    [[ $stderr == *'error[IDEMPOTENCY_MISMATCH]'* ]]
    assert_equal 1 "$(larder count Category)"
    assert_status 4 larder delete "$uri" --idempotency-key five
    assert_equal 1 "$(larder delete "$other" --idempotency-key five)"
    assert_status 64 larder delete "$uri" --idempotency-key ''
    assert_status 64 larder delete "$uri" --idempotency-key "$(printf 'a%.0s' {1..65})"
}

@test "delete counts the objects that cascading delete rules removed" {
    week=$(larder insert ArticleCollection name=week)
    larder insert Article title=a collection="$week" >/dev/null
    larder insert Article title=b collection="$week" >/dev/null
    assert_status 0 larder delete "$week" --output json
    assert_equal '[{"deleted":3}]' "$(jq -c . <<<"$output")"
    assert_equal 0 "$(larder count Article)"
}

@test "get prints several objects in the given order, or none" {
    a=$(larder insert Category name=a)
    b=$(larder insert Category name=b)
    assert_status 0 larder get "$b" "$a" --output jsonl
    assert_equal 'b a' "$(jq -r .name <<<"$output" | xargs)"
    larder delete "$a" >/dev/null
    assert_status 4 larder get "$b" "$a"
    assert_equal "" "$output"
    assert_contains "$stderr" "$a"
}

@test "get of objects of two entities prints one JSON array or two tables, and rejects csv" {
    a=$(larder insert Category name=a)
    b=$(larder insert ArticleCollection name=b)
    assert_equal '["Category","ArticleCollection"]' \
        "$(larder get "$a" "$b" --output json | jq -c 'map(.["@entity"])')"
    assert_equal 2 "$(larder get "$a" "$b" --output table | grep -c '^@id')"
    assert_status 64 larder get "$a" "$b" --output csv
}

@test "id prints the parts of a URI and whether the object exists, or SwiftData's JSON" {
    uri=$(larder insert Category name=a)
    store=$(cut -d/ -f3 <<<"$uri")
    assert_status 0 larder id "$uri"
    assert_equal "$store"$'\tCategory\t1\ttrue' "$output"
    assert_status 0 larder id "$uri" --output json
    assert_equal "{\"implementation\":{\"entityName\":\"Category\",\"isTemporary\":false,\"primaryKey\":\"p1\",\"storeIdentifier\":\"$store\",\"uriRepresentation\":\"$uri\"}}" "$output"
    larder delete "$uri" >/dev/null
    assert_equal false "$(larder id "$uri" | cut -f4)"
}

@test "a malformed URI, a URI of another store, an unknown entity and a deleted object are different errors" {
    uri=$(larder insert Category name=a)
    larder delete "$uri" >/dev/null
    store=$(cut -d/ -f3 <<<"$uri")
    assert_status 65 larder get nonsense
    assert_contains "$stderr" "error[MALFORMED_IDENTIFIER]"
    assert_status 4 larder get x-coredata://0F8FAD5B-D9CB-469F-A165-70867728950E/Category/p1
    assert_contains "$stderr" "error[FOREIGN_IDENTIFIER]"
    assert_status 4 larder get "x-coredata://$store/Nothing/p1"
    assert_contains "$stderr" "error[UNKNOWN_ENTITY]"
    assert_status 4 larder get "$uri"
    assert_contains "$stderr" "error[OBJECT_NOT_FOUND]"
}

@test "save resolves temporary names that are used before and after the insert" {
    old=$(larder insert Article title=old)
    gone=$(larder insert Article title=gone)
    assert_status 0 larder save - <<END
{"insert": {"@id": "t:a", "@entity": "Article", "title": "x", "category": "t:c"}}
{"insert": {"@id": "t:c", "@entity": "Category", "name": "tech"}}

{"insert": {"@entity": "Category", "name": "unnamed"}}
{"update": {"@id": "$old", "@version": 1, "title": "new", "category": "t:c"}}
{"delete": {"@id": "$gone"}}
END
    assert_equal 3 "${#lines[@]}"
    assert_equal "${lines[1]}" "$(larder get "${lines[0]}" --output jsonl | jq -r .category)"
    assert_equal 2 "$(larder count Article --where 'category.name == "tech"')"
    assert_equal 0 "$(larder count Article --where 'title == "gone"')"
}

@test "save reads a file, and its JSON output contains temporary names and URIs" {
    echo '{"insert": {"@id": "t:c", "@entity": "Category", "name": "tech"}}' >set
    assert_status 0 larder save set --output json
    assert_equal '["t:c","Category"]' \
        "$(jq -c '.[0] | [.["@temporary"], (.["@id"] | split("/")[3])]' <<<"$output")"
}

@test "an invalid change set changes nothing, and the error names the line" {
    assert_status 65 larder save - <<'END'
{"insert": {"@entity": "Category", "name": "a"}}
{"insert": {"@entity": "Article", "title": "x", "category": "t:nobody"}}
END
    assert_contains "$stderr" "line 2: no line inserts t:nobody"
    assert_status 65 larder save - <<'END'
{"insert": {"@entity": "Category", "name": "a"}}
{"insert": {"@entity": "Article", "wordCount": 3}}
END
    assert_contains "$stderr" "error[MISSING_VALUE]"
    assert_contains "$stderr" "line 2"
    assert_status 65 larder save - <<'END'
{"insert": {"@entity": "Category", "name": "a"}, "delete": {}}
END
    assert_contains "$stderr" "error[INVALID_CHANGE_SET]"
    assert_status 65 larder save - <<'END'
{"insert": {"@id": "t:c", "@entity": "Category", "name": "a"}}
{"insert": {"@id": "t:a", "@entity": "Article", "title": "x", "collection": "t:c"}}
END
    assert_contains "$stderr" "line 2: t:c is of entity Category, not ArticleCollection"
    assert_equal 0 "$(larder count Category)"
}

# titles URI: prints the titles of a collection's articles, in its order.
titles() {
    larder get "$1" --output json | jq -r '.[0].articles[]' |
        while read -r uri; do larder get "$uri" --output json | jq -r '.[0].title'; done | xargs
}

@test "save edits a list at positions, and the edits of two change sets are both applied" {
    list=$(larder insert ArticleCollection name=list)
    for title in a b c; do
        declare "$title=$(larder insert Article title=$title "collection=$list")"
    done
    assert_equal "a b c" "$(titles "$list")"
    assert_status 0 larder save - <<END
{"update": {"@id": "$list", "articles": {"@add": {"objects": ["t:x"], "before": "$b"}}}}
{"insert": {"@id": "t:x", "@entity": "Article", "title": "x"}}
END
    assert_status 0 larder save - <<END
{"update": {"@id": "$list", "name": "edited", "articles": [{"@remove": ["$a"]}, {"@move": {"objects": ["$c"], "end": "first"}}, {"@add": ["$a"]}]}}
END
    assert_equal "c x b a" "$(titles "$list")"
    assert_status 0 larder update "$list" articles:='{"@move": {"objects": ["'"$c"'"], "index": 2}}'
    assert_equal 4 "$output"
    assert_equal "x b c a" "$(titles "$list")"
    assert_status 0 larder update "$list" articles:='{"@move": {"objects": ["'"$b"'"], "after": "'"$a"'"}}'
    assert_equal "x c a b" "$(titles "$list")"
    assert_status 0 larder check
}

@test "--upsert applies edits to the list of the existing object" {
    tech=$(larder insert Category name=tech)
    first=$(larder insert Article title=first "category=$tech")
    second=$(larder insert Article title=second)
    echo '{"name": "tech", "articles": {"@add": ["'"$second"'"]}}' |
        larder import Category - --upsert >/dev/null
    assert_equal 2 "$(larder count Article --where 'category.name == "tech"')"
    echo '{"name": "tech", "articles": {"@remove": ["'"$first"'"]}}' |
        larder insert Category - --upsert >/dev/null
    assert_equal second "$(larder fetch Article --where 'category.name == "tech"' --select title)"
}

@test "an invalid edit changes nothing, and the error names the line" {
    list=$(larder insert ArticleCollection name=list)
    article=$(larder insert Article title=a)
    other='{"insert": {"@entity": "Category", "name": "other"}}'
    update='{"update": {"@id": "'$list'", "name": "new", "articles": '
    while IFS='|' read -r edit code sentence; do
        assert_status 65 larder save - <<<"$other
$update$edit}}"
        assert_contains "$stderr" "error[$code]"
        assert_contains "$stderr" "line 2: $sentence"
    done <<END
{"@add": ["$article"], "@remove": []}|WRONG_TYPE|ArticleCollection.articles: an edit must be an object with one member
{"@insert": []}|WRONG_TYPE|ArticleCollection.articles: an edit must be an object
[{"@add": []}, "$article"]|WRONG_TYPE|ArticleCollection.articles: an edit must be an object
{"@move": ["$article"]}|WRONG_TYPE|ArticleCollection.articles: @move requires a position
{"@add": "$article"}|WRONG_TYPE|ArticleCollection.articles: the objects of an edit must be an array
{"@add": {"objects": [3]}}|WRONG_TYPE|ArticleCollection.articles: each element
{"@add": {"objects": [], "end": "middle"}}|WRONG_TYPE|ArticleCollection.articles: an edit takes "objects" and at most one position
{"@add": {"objects": [], "index": 1, "end": "last"}}|WRONG_TYPE|ArticleCollection.articles: an edit takes "objects" and at most one position
{"@add": ["t:nobody"]}|INVALID_CHANGE_SET|no line inserts t:nobody
{"@move": {"objects": [], "after": "t:nobody"}}|INVALID_CHANGE_SET|no line inserts t:nobody
{"@add": {"objects": [], "index": -1}}|INVALID_CHANGE_SET|an edit of ArticleCollection.articles has a negative index
END
    assert_status 4 larder save - <<<"$other
$update"'{"@move": {"objects": ["'"$article"'"], "end": "first"}}}}'
    assert_contains "$stderr" "line 2: $article is not in ArticleCollection.articles"
    assert_equal list "$(larder fetch ArticleCollection --select name)"
    uri=$(larder insert Sample json:='{"@add": ["x"]}')
    assert_equal '{"@add":["x"]}' "$(larder get "$uri" --output json | jq -c '.[0].json')"
}
