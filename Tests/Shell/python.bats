# The protocol document is enough to write a client: the one in Python was made from it, and here it
# exercises the built daemon.

load helper

python=$BATS_TEST_DIRNAME/../Python

setup() {
    enter_scratch
    larderd --in-memory --schema "$python/school.schema.json" --socket "$LARDER_SOCKET" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 20s >/dev/null
}

@test "a client of one page in Python does everything that the document describes" {
    "$python/test_client" "$LARDER_SOCKET"
    stop_daemon
}
