# Costs of queries: larder stats queries, explain --analyze, and the ids of requests.

load ../helper

setup() {
    enter_scratch
    start_daemon
    seq 1 300 | sed 's/.*/{"title": "t&", "wordCount": &}/' | larder import Article - >/dev/null
}

# statistic COLUMN QUERY: a number of the row of a query.
statistic() {
    larder stats queries --output json | jq ".[] | select(.query == \"$2\") | .$1"
}

@test "stats queries has a line for each shape, without values, the longest total time first" {
    for number in 1 2 3; do larder count Article --where "wordCount == $number" >/dev/null; done
    larder count Article --where 'wordCount > %@' --arg 290 >/dev/null
    larder fetch Article --where 'title == "secret"' --sort wordCount --select title >/dev/null
    larder stats queries --output json >rows
    assert_equal 3 "$(jq '.[] | select(.query == "count where wordCount == %@").calls' rows)"
    assert_equal 1 "$(jq '.[] | select(.query == "count where wordCount > %@").rows' rows)"
    fetch='fetch title where title == %@ sort by wordCount'
    assert_equal 0 "$(jq ".[] | select(.query == \"$fetch\").rows" rows)"
    ((900 <= $(jq '.[] | select(.query == "count where wordCount == %@").scanned + 3' rows)))
    jq -e 'all(.[]; .steps > 0 or (.query | startswith("get")))' rows
    jq -e 'all(.[]; .p50 <= .p99 and .total > 0 and .entity == "Article")' rows
    assert_equal "$(jq -c 'map(.total)' rows)" "$(jq -c 'map(.total) | sort | reverse' rows)"
    ! grep -q secret rows
    assert_equal 1 "$(larder stats queries --limit 1 | wc -l)"
    assert_contains "$(larder stats queries --output table)" "p99"
    assert_status 64 larder stats queries --limit -1
}

@test "reads by identifier are counted with the replies from the cache" {
    stop_daemon
    # A cache belongs to an event loop.
    larderd --store test.store --socket "$LARDER_SOCKET" --event-loops 1 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    article=$(larder insert Article title=x wordCount=1)
    for _ in 1 2 3 4; do larder get "$article" >/dev/null; done
    assert_equal 4 "$(statistic calls get)"
    assert_equal 4 "$(statistic rows get)"
    assert_equal 2 "$(statistic cached get)"
}

@test "stats reset begins again, and the numbers of stats continue" {
    larder count Article --where 'wordCount == 1' >/dev/null
    before=$(larder stats | sed -n 's/^requests\t//p')
    assert_status 0 larder stats reset
    assert_equal "" "$(larder stats queries)"
    assert_equal 0 "$(larder stats | sed -n 's/^queryShapes\t//p')"
    (($(larder stats | sed -n 's/^requests\t//p') > before))
}

@test "the other users of a server reset nothing, and with a policy only administrators see it" {
    [ "$(id -u)" = 0 ] || skip "it becomes another user"
    stop_daemon
    chmod 755 "$scratch"
    larderd --store test.store --socket "$LARDER_SOCKET" --mode 0666 --socket "$scratch/r:read" \
        2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    other=(setpriv --reuid=games --regid=games --clear-groups)
    larder count Article --where 'wordCount == 1' >/dev/null
    assert_contains "$("${other[@]}" larder stats queries)" "wordCount == %@"
    assert_status 5 "${other[@]}" larder stats reset
    assert_contains "$stderr" "hint: root and the user of the server may reset them"
    LARDER_SOCKET=$scratch/r assert_status 5 larder stats queries
    assert_contains "$stderr" "the role read may not read the metrics"
}

@test "explain --analyze runs the query, and shows rows, work, times and the index as a line" {
    larder explain Article --where 'wordCount > 290' >planned
    ! grep -q execution planned
    assert_status 0 larder explain Article --where 'wordCount > 290' --analyze --output json
    jq -c '.[0].execution' <<<"$output" >execution
    assert_equal 10 "$(jq .rows execution)"
    ((299 <= $(jq .scannedRows execution)))
    jq -e '.steps > 300 and .statements == 1 and .bytes > 10 and .batches == 1' execution
    jq -e '.planningTime > 0 and .readingTime > 0 and .time >= .readingTime' execution
    index=$(jq -r '.[0].indexes[0]' <<<"$output")
    assert_contains "$index" 'Article: {'
    assert_equal '{"indexed":true,"name":"wordCount"}' \
        "$(jq -cS '{name, indexed}' <<<"${index#Article: }")"
    assert_contains "$(larder explain Article --where 'wordCount > 290' --analyze)" "scannedRows"
    # With the line in its schema file, the store reads no other rows.
    version=$(jq -r .version "$schema")
    sed "s/.*\"name\": \"wordCount\".*/${index#Article: },/; s/\"$version\"/\"9.0.0\"/" "$schema" >new.json
    larder migrate --schema new.json >/dev/null
    larder explain Article --where 'wordCount > 290' --analyze --output json >indexed
    assert_equal "[] 0" "$(jq -c '.[0].indexes, .[0].execution.scannedRows' indexed | xargs)"
}

@test "explain --analyze fails as the query does" {
    assert_status 65 larder explain Article --where 'nothing == 1' --analyze
    assert_contains "$stderr" "UNKNOWN_PROPERTY"
}

@test "the id of a request is in the log and in top, and a bad one is refused" {
    stop_daemon
    larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET" --log-level debug \
        --log-format json 2>json.log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    id=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
    run larder count Article --where 'nothing == 1' --traceparent "$id"
    TRACEPARENT=from-the-environment run larder count Article --where 'nothing == 1'
    assert_equal "$id from-the-environment" \
        "$(jq -r 'select(.code == "UNKNOWN_PROPERTY") | select(.kind == "query").trace' json.log |
            xargs)"
    larder history --follow --traceparent "$id" >/dev/null 2>errors 3>&- &
    follower=$!
    until [ "$(larder top --output json | jq -r '.[0].running[0].trace')" = "$id" ]; do
        kill -0 "$follower"
    done
    assert_contains "$(larder top --output table)" "$id"
    kill "$follower"
    wait "$follower" || true
    assert_status 64 larder count Article --traceparent 'two words'
    assert_contains "$stderr" "--traceparent: the trace of the request has other characters"
    TRACEPARENT=$(printf 'x%.0s' {1..129}) assert_status 64 larder count Article
    assert_contains "$stderr" "TRACEPARENT: the trace of the request has 129 bytes"
}
