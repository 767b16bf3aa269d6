load helper

# Five transactions: two inserts, an update with a relationship, an import, and a delete.
change_articles() {
    article=$(larder insert Article title=one wordCount=3 --author ann)
    category=$(larder insert Category name=tech)
    larder update "$article" title=two category="$category" --author bob >/dev/null
    printf '{"int64": 1}\n{"int64": 2}\n{"int64": 3}\n' | larder import Sample - >/dev/null
    larder delete "$article" >/dev/null
}

# Waits until a file contains a text.
await() {
    until grep -q "$2" "$1"; do kill -0 "$follower"; done
}

@test "history prints one transaction per row, oldest first, with a token to continue" {
    change_articles
    larder history >rows
    assert_equal "1 2 3 4 5" "$(cut -f1 rows | paste -sd' ')"
    assert_equal '+1 Article|+1 Category|~1 Article (category, title), ~1 Category (articles)|+3 Sample|~1 Category (articles), -1 Article' \
        "$(cut -f7 rows | paste -sd'|')"
    assert_equal "ann||bob||" "$(cut -f3 rows | paste -sd'|')"
    assert_equal "larder" "$(cut -f4 rows | sort -u)"
    assert_equal "$(id -u)" "$(cut -f5 rows | sort -u)"
    assert_equal "4 5" "$(larder history --after "$(sed -n 3p rows | cut -f8)" | cut -f1 | paste -sd' ')"
    assert_equal "$(tail -1 rows | cut -f8)" "$(larder history token)"
    assert_equal "" "$(larder history --after "$(larder history token)")"
}

@test "history as JSON has the runs with the URIs of their objects" {
    change_articles
    larder history --output json >all
    assert_equal 5 "$(jq length all)"
    assert_equal "[\"updated\",\"Article\",1,\"$article\",\"$article\",[\"category\",\"title\"]]" \
        "$(jq -c '.[2].changes[0] | [.kind, .entity, .count, .first, .last, .properties]' all)"
    assert_equal '[3,true]' \
        "$(jq -c '.[3].changes[0] | [.count, (.first | endswith("/Sample/p1"))]' all)"
    assert_equal '[]' "$(jq -c '.[0].tombstones' all)"
    assert_equal "$(jq -c '.[]' all)" "$(larder history --output jsonl | jq -c .)"
    assert_equal 6 "$(larder history --output csv | wc -l)"
}

@test "history selects changes of objects by a predicate, and prints the objects" {
    short=$(larder insert Article title=short wordCount=3)
    long=$(larder insert Article title=long wordCount=300)
    larder insert Category name=tech >/dev/null
    larder update "$short" title=still >/dev/null
    larder update "$long" title=longer >/dev/null
    long_articles() { larder history Article --where 'wordCount > %@' --arg 100 "$@"; }
    assert_equal "2 5" "$(long_articles | cut -f1 | paste -sd' ')"
    assert_equal "[[\"$long\",\"longer\",2],[\"$long\",\"longer\",2]]" \
        "$(long_articles --objects --output json |
            jq -c '[.[].objects[] | [."@id", .title, ."@version"]]')"
    larder update "$long" wordCount=1 >/dev/null
    larder delete "$short" >/dev/null
    assert_equal '[["updated",0],["deleted",0]]' \
        "$(long_articles --objects --last 2 --output json |
            jq -c '[.[] | [.changes[0].kind, (.objects | length)]]')"
    assert_equal 2 "$(larder history Article Category --objects --output jsonl |
        jq -r '.objects[]."@entity"' | sort -u | wc -l)"
    assert_status 64 larder history --where 'wordCount > 1'
    assert_status 64 larder history Article --objects
    assert_status 65 larder history Article --where 'size > 1'
}

@test "the values of deleted objects that the schema preserves are in the history" {
    stop_daemon
    cat >preserving.json <<'END'
{ "version": "1.0.0", "entities": [ { "name": "Note", "attributes": [
    { "name": "title", "type": "string", "preserveValueOnDeletion": true } ] } ] }
END
    note=$(larder insert Note title=secret --store notes --schema preserving.json)
    larder delete "$note" --store notes
    assert_equal "[{\"@entity\":\"Note\",\"@id\":\"$note\",\"title\":\"secret\"}]" \
        "$(larder history --store notes --kind deleted --output jsonl | jq -c .tombstones)"
}

@test "history selects by entity, kind, property, author, client and time" {
    change_articles
    numbers() { larder history "$@" | cut -f1 | paste -sd' '; }
    assert_equal "1 3 5" "$(numbers Article)"
    assert_equal "1 3 4 5" "$(numbers Article Sample)"
    assert_equal "3 5" "$(numbers --kind updated)"
    assert_equal "3" "$(numbers Article --kind updated --property title)"
    assert_equal "1 3" "$(numbers --author ann --author bob)"
    assert_equal "2 4 5" "$(numbers --author '')"
    assert_equal "2 3 4 5" "$(numbers --not-author ann)"
    assert_equal "" "$(numbers --client other)"
    assert_equal "1 2 3 4 5" "$(numbers --since 1h)"
    assert_equal "" "$(numbers --until 2020-01-01)"
    assert_equal "2 3" "$(numbers --after 1 --up-to 3)"
    assert_equal "5 4" "$(numbers --newest-first --limit 2)"
    assert_equal "1 2" "$(numbers --limit 2)"
    assert_equal "4 5" "$(numbers --last 2)"
    assert_equal "" "$(numbers --last 0)"
    assert_equal 6 "$(larder history --no-changes --limit 1 | tr '\t' '\n' | grep -c -v -e '-n1')"
}

@test "a history of several pages is printed whole from either end" {
    for i in {1..230}; do larder insert Sample int64="$i" >/dev/null; done
    assert_equal "$(seq 1 230)" "$(larder history | cut -f1)"
    assert_equal "$(seq 230 -1 1)" "$(larder history --newest-first | cut -f1)"
    assert_equal "$(seq 11 225)" "$(larder history --after 10 --limit 215 | cut -f1)"
    assert_equal "1" "$(larder history | head -1 | cut -f1)"
}

@test "invalid tokens and names have an exit status and a hint" {
    change_articles
    assert_status 65 larder history --after nonsense
    assert_contains "$stderr" "error[MALFORMED_TOKEN]"
    assert_contains "$stderr" "hint: pass the number"
    assert_status 4 larder history --after 6
    assert_contains "$stderr" "error[FUTURE_TOKEN]"
    foreign=$(larder history token --store other --schema "$schema")
    assert_status 4 larder history --after "$foreign"
    assert_contains "$stderr" "error[FOREIGN_TOKEN]"
    assert_status 4 larder history delete --up-to "$foreign"
    assert_status 4 larder history Artcle
    assert_contains "$stderr" 'did you mean "Article"?'
    assert_status 65 larder history --property titel
    for arguments in '--kind x' '--since x' '--limit -1' '--last 1 --limit 1' \
        '--follow --newest-first' '--follow --output json' 'delete' 'delete --keep 1 --before 1h' \
        'delete --keep x'; do
        # shellcheck disable=SC2086
        assert_status 64 larder history $arguments
    done
}

@test "history delete prints the number of transactions, and expires earlier tokens" {
    change_articles
    assert_equal 0 "$(larder history delete --before 1h)"
    assert_equal 2 "$(larder history delete --up-to 2)"
    assert_equal '[{"deleted":1}]' "$(larder history delete --keep 2 --output json | jq -c .)"
    assert_equal "4 5" "$(larder history | cut -f1 | paste -sd' ')"
    assert_equal "4 5" "$(larder history --after 3 | cut -f1 | paste -sd' ')"
    assert_status 4 larder history --after 1
    assert_contains "$stderr" "error[TOKEN_EXPIRED]"
    assert_contains "$stderr" "larder history token"
    # The newest transaction is never deleted.
    assert_equal 1 "$(larder history delete --keep 0)"
    assert_equal 5 "$(larder history | cut -f1)"
}

@test "history --follow prints the last transactions and each commit, also after a restart" {
    change_articles
    larder history --follow --last 2 --output jsonl >followed 2>notes 3>&- &
    follower=$!
    await followed '"number":5'
    larder insert Category name=a >/dev/null
    await followed '"number":6'
    stop_daemon
    await notes 'warning: the connection was lost'
    start_daemon
    larder insert Category name=b >/dev/null
    await followed '"number":7'
    assert_contains "$(cat notes)" "note: reconnected; the history continues after transaction 6"
    assert_equal "4 5 6 7" "$(jq .number followed | paste -sd' ')"
    kill -TERM "$follower"
    wait "$follower" || true
}

@test "SIGINT ends history --follow with 130, and a closed pipe ends it" {
    change_articles
    assert_status 130 timeout --preserve-status --signal INT 1 larder history --follow
    assert_equal 5 "$(wc -l <<<"$output")"
    assert_equal "" "$stderr"
    assert_equal 1 "$(timeout 300 larder history --follow | head -1 | cut -f1)"
}

@test "history reads and follows a store file without a server" {
    change_articles
    stop_daemon
    assert_equal 5 "$(larder history --store test.store | wc -l)"
    assert_equal 3 "$(larder history delete --store test.store --keep 2)"
    assert_status 130 timeout --preserve-status --signal INT 1 \
        larder history --store test.store --follow
    assert_equal 2 "$(wc -l <<<"$output")"
}
