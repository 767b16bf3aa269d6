# Results that never end, from a server that only pretends to be one.

load ../helper

# Serves at a socket what larderd does, but repeats the first batch of a stream as long as the
# client takes it.
serve_endlessly() {
    python3 - "$LARDER_SOCKET" "$scratch/endless" 3>&- <<'END' &
import os, socket, sys, threading

def serve(client, server):
    replies = server.makefile("rb")
    sending = threading.Lock()
    batch = []

    def forward():
        requests = client.makefile("rb")
        while header := requests.read(4):
            content = requests.read(int.from_bytes(header, "big"))
            with sending:
                if batch:
                    # Credit for two more batches.
                    client.sendall(2 * batch[0])
                else:
                    server.sendall(header + content)

    def repeat_first_batch():
        while header := replies.read(4):
            content = replies.read(int.from_bytes(header, "big"))
            with sending:
                if len(content) > 50_000:
                    batch.append(header + content)
                    client.sendall(4 * batch[0])
                    return
                client.sendall(header + content)

    for work in (forward, repeat_first_batch):
        threading.Thread(target=until_closed, args=(work,), daemon=True).start()

def until_closed(work):
    try:
        work()
    except OSError:
        pass

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[2] + ".new")
listener.listen()
os.rename(sys.argv[2] + ".new", sys.argv[2])
while True:
    client, _ = listener.accept()
    server = socket.socket(socket.AF_UNIX)
    server.connect(sys.argv[1])
    serve(client, server)
END
    endless=$!
    until [ -S endless ]; do kill -0 "$endless"; done
}

teardown() {
    if [ -n "${endless-}" ]; then
        kill -KILL "$endless" 2>/dev/null || true
        wait "$endless" 2>/dev/null || true
    fi
    leave_scratch
}

@test "a result that never ends obeys --timeout" {
    seq 1 5000 | sed 's/.*/{"int64": &, "string": "a string of some length, to fill batches"}/' |
        larder import Sample - >/dev/null
    serve_endlessly
    for command in 'fetch Sample' 'export Sample' 'fetch Sample --select int64,string --output csv'; do
        # shellcheck disable=SC2086
        local found=0
        timeout 300 larder $command --socket endless --timeout 2s >rows 2>errors || found=$?
        assert_equal 75 "$found"
        assert_contains "$(cat errors)" 'error[TIMEOUT]: the result was not complete within 2.0 seconds'
        # Rows are written as they arrive.
        [ -s rows ]
    done
}

@test "a result within the time limit is complete, also one that nobody limits" {
    seq 1 20000 | sed 's/.*/{"int64": &, "string": "a string of some length, to fill batches"}/' |
        larder import Sample - >/dev/null
    assert_equal 20000 "$(larder export Sample --timeout 5m | wc -l)"
    assert_equal 20000 "$(LARDER_TIMEOUT=5m larder export Sample | wc -l)"
}
