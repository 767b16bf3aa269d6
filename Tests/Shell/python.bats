# The Python client was written from the protocol document alone. Here it exercises the built daemon.

load helper

python=$BATS_TEST_DIRNAME/../Python

setup() {
    enter_scratch
    larderd --in-memory --schema "$python/school.schema.json" --socket "$LARDER_SOCKET" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 20s >/dev/null
}

@test "the one-page Python client uses everything that the protocol document describes" {
    "$python/test_client" "$LARDER_SOCKET"
    stop_daemon
}
