load helper

# Waits until a file has this number of lines.
await_lines() {
    until [ "$(wc -l <"$1")" -ge "$2" ]; do kill -0 "$watcher" || break; done
}

@test "watch prints each change of the matching objects as a JSON line, and ends after --count" {
    article=$(larder insert Article title=one wordCount=3)
    # Its end shows that it had begun to watch: it prints the changes after the token.
    token=$(larder history token)
    larder watch Article --where 'wordCount > 5' --after "$token" --count 4 >lines &
    watcher=$!
    larder update "$article" wordCount=10 >/dev/null
    await_lines lines 1
    larder update "$article" title=two >/dev/null
    await_lines lines 2
    larder insert Article title=other wordCount=1 >/dev/null
    other=$(larder insert Article title=third wordCount=7)
    await_lines lines 3
    larder update "$article" wordCount=1 >/dev/null
    wait "$watcher"
    assert_equal "two inserted" "$(jq -r 'select(."@id" == "'"$other"'") | "two \(."@change")"' lines)"
    assert_equal "deleted two 10" \
        "$(tail -1 lines | jq -r '"\(."@change") \(.title) \(.wordCount)"')"
    assert_equal 4 "$(wc -l <lines)"
    assert_equal "$article" "$(head -1 lines | jq -r '."@id"')"
}

@test "watch ends with status 0 as soon as an object matches --until" {
    article=$(larder insert Article title=job wordCount=1)
    larder watch Article --where 'SELF == %@' --until 'wordCount == %@' --arg "$article" \
        --arg 3 >lines &
    watcher=$!
    larder update "$article" wordCount=2 >/dev/null
    larder update "$article" wordCount=3 >/dev/null
    wait "$watcher"
    # Now it matches at the start.
    run larder watch Article --until 'wordCount == 3' --timeout 30s
    assert_equal 0 "$status"
    assert_equal "" "$output"
}

@test "watch ends with status 75 if nothing has happened within --timeout" {
    run larder watch Article --count 1 --timeout 100ms
    assert_equal 75 "$status"
    [[ $output == *"error[TIMEOUT]"* ]]
}

@test "watch --after prints what has changed since a token" {
    token=$(larder history token)
    article=$(larder insert Article title=one)
    gone=$(larder insert Article title=gone)
    larder delete "$gone" >/dev/null
    assert_equal "inserted $article deleted $gone" \
        "$(larder watch Article --after "$token" --count 2 |
            jq -r '"\(."@change") \(."@id")"' | paste -sd' ')"
}

@test "watch rejects bad input with its reason" {
    run larder watch Nothing --timeout 1s
    assert_equal 4 "$status"
    run larder watch Article --where 'titel == "x"' --timeout 1s
    assert_equal 65 "$status"
    [[ $output == *titel* ]]
    run larder watch Article --until 'titel == "x"' --timeout 1s
    assert_equal 65 "$status"
    run larder watch Article --count 0
    assert_equal 64 "$status"
    run larder watch Article --output csv
    assert_equal 64 "$status"
    run larder watch Article --after nonsense
    assert_equal 65 "$status"
    run larder watch
    assert_equal 64 "$status"
}
