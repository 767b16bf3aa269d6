# The metrics of a server, checked by Prometheus' own tool.

load ../helper

@test "promtool has nothing to say about the metrics of a server with an archive that was used" {
    stop_daemon
    mkdir archive
    larderd --store test.store --schema "$schema" --socket "$LARDER_SOCKET" --archive archive \
        --metrics-socket "$scratch/m" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    seq 1 3000 | sed 's/.*/{"string": "text &"}/' | larder import Sample - >/dev/null
    larder insert Sample string=a >/dev/null
    larder count Sample --where 'string ENDSWITH "x"' >/dev/null
    run larder count Sample --where 'nothing == 1'
    curl -s --max-time 60 --unix-socket m http://localhost/metrics >text
    assert_status 0 promtool check metrics <text
    assert_equal "" "$output$stderr"
}
