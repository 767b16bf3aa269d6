load ../helper

# Follows the history until it is connected.
follow() {
    larder insert Category name=first >/dev/null
    larder history --follow >followed 3>&- &
    follower=$!
    until [ -s followed ]; do kill -0 "$follower"; done
}

stop_following() {
    kill -TERM "$follower"
    wait "$follower" || true
}

@test "top prints one report of the connections when piped" {
    follow
    larder top >rows
    assert_equal 2 "$(wc -l <rows)"
    assert_equal "$(id -un) larder" "$(cut -f1,3 rows | sort -u | tr '\t' ' ')"
    assert_equal "$follower 1" "$(awk -F '\t' '$8 == 1 {print $2, $8}' rows)"
    assert_equal 3 "$(larder top --output csv | wc -l)"
    stop_following
}

@test "top as JSON has the load, the connections and the slow reads" {
    follow
    larder top --output json >report
    assert_equal "1 2 0 true" "$(jq -r '"\(length) \(.[0].connections | length) \(.[0].slowReads
        | length) \(.[0].requests > 0 and .[0].logBytes > 0)"' report)"
    assert_equal "$(id -u) $(id -un)" \
        "$(jq -r '.[0].connections[0] | "\(.user) \(.userName)"' report)"
    assert_equal 3 "$(larder top --output jsonl --count 3 --interval 10ms | jq .time | sort -u | wc -l)"
    stop_following
}

@test "top names the slow queries" {
    seq 1 20000 | sed 's/.*/{"string": "abcdefghijklmnop &"}/' >in
    predicate='string MATCHES "(a|b|c|d|e|f|g)*[a-p ]*(h|i|j)*[k-p 0-9]*9$"'
    # The store grows until the query takes 100 ms.
    until [ "$(larder top --output json | jq '.[0].slowReads | length')" -gt 0 ]; do
        larder import Sample in >/dev/null
        larder count Sample --where "$predicate" >/dev/null
    done
    assert_equal "Sample count where $predicate" \
        "$(larder top --output json | jq -r '.[0].slowReads[0] | "\(.entity) \(.query)"')"
    assert_contains "$(larder top --output table)" "slow reads"
}

@test "top as a table has a summary; on a terminal it is refreshed until it is interrupted" {
    assert_status 0 larder top --output table --count 2 --interval 10ms
    assert_equal 2 "$(grep -c '^user ' <<<"$output")"
    assert_contains "$output" "1 connection, 0 followers"
    assert_contains "$output" "per second:"
    run script -qec "timeout --preserve-status -s INT 1 larder top --interval 100ms" /dev/null
    assert_equal 130 "$status"
    assert_contains "$output" $'\e[H\e[2J'
}

@test "top ends with the reader of its output, and reports wrong arguments" {
    assert_equal 1 "$(timeout 20 larder top --count 1000 --interval 100ms | head -1 | wc -l)"
    for arguments in '--count 0' '--interval 0s' '--interval 2' 'x'; do
        # shellcheck disable=SC2086
        assert_status 64 larder top $arguments
    done
    assert_status 69 larder top --socket "$scratch/nobody"
    stop_daemon
    assert_equal 1 "$(larder top --store test.store | wc -l)"
}
