# The metrics of a server for Prometheus, and the end of requests of others.

load ../helper

setup() {
    enter_scratch
    mkdir archive
    larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET" --archive archive \
        --metrics-socket "$scratch/m" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
}

metrics() { curl -s --max-time 60 --unix-socket m "http://localhost$1" "${@:2}"; }

# The name of a metric in words.
words() { sed -E 's/([A-Z])/_\L\1/g'; }

@test "the socket of the metrics and larder metrics have the same families" {
    assert_equal 600 "$(stat -c %a m)"
    metrics /metrics >http
    larder metrics >text
    assert_equal "$(grep '^# HELP' text | grep -v request_duration)" \
        "$(grep '^# HELP' http | grep -v request_duration)"
    assert_equal 405 "$(metrics /metrics -o /dev/null -w '%{http_code}' -X POST)"
    assert_equal 404 "$(metrics / -o /dev/null -w '%{http_code}')"
    assert_equal "text/plain; version=0.0.4; charset=utf-8" \
        "$(metrics /metrics -o /dev/null -w '%{content_type}')"
    metrics /metrics -I | grep -q '^HTTP/1.1 200 OK'
}

@test "each number of stats is a metric with the same value" {
    larder insert Sample string=a >/dev/null
    larder stats --output json >stats
    larder metrics >text
    count=0
    for name in $(jq -r '.[] | select(.value | type == "number" or type == "boolean") | .name
        | select(. != "formatVersion" and (startswith("memoryBytesOfUser") | not))' stats); do
        metric=larder_$(words <<<"$name")
        grep -qE "^$metric(_total)? [0-9]" text || { echo "no $metric"; return 1; }
        count=$((count + 1))
    done
    ((count > 40))
    for name in fileBytes pages saves connectionsMax archiveGeneration; do
        metric=larder_$(words <<<"$name")
        assert_equal "$(jq -r ".[] | select(.name == \"$name\").value" stats)" \
            "$(sed -nE "s/^$metric(_total)? //p" text)"
    done
    grep -q '^larder_info{server="larderd [0-9.]*",store=' text
}

@test "a role without the right admin does not read the metrics" {
    stop_daemon
    larderd --store test.store --socket "$LARDER_SOCKET" --socket "$scratch/r:read" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    larder metrics >/dev/null
    assert_status 5 larder metrics --socket "$scratch/r"
    assert_contains "$stderr" "error[PERMISSION_DENIED]: the role read may not read the metrics"
}

@test "failed requests are counted by kind and code" {
    run larder count Sample --where 'nothing == 1'
    larder metrics >text
    grep -q '^larder_request_errors_total{kind="query",code="UNKNOWN_PROPERTY"} 1$' text
    grep -q '^larder_request_duration_seconds_count{kind="query",result="error"} 1$' text
}

@test "cancel ends one request or all of a connection, whose client gets CANCELLED" {
    larder history --follow >followed 2>errors 3>&- &
    follower=$!
    # A line shows that it follows, after the requests by which it begins.
    until [ -s followed ]; do
        kill -0 "$follower"
        larder insert Category "name=$((++count))" >/dev/null
    done
    until id=$(larder top --output json | jq -re '.[0].running[0].id'); do kill -0 "$follower"; done
    assert_equal history "$(larder top --output json | jq -r '.[0].running[0].kind')"
    assert_contains "$(larder top --output table)" "running"
    assert_equal 1 "$(larder cancel "$id")"
    status=0
    wait "$follower" || status=$?
    [ "$status" != 0 ]
    assert_contains "$(cat errors)" "error[CANCELLED]"
    assert_status 4 larder cancel "$id"
    assert_contains "$stderr" "has no running request"
    assert_status 64 larder cancel 0
    assert_status 64 larder cancel 1/
    assert_status 64 larder cancel 1/2/3
}
