# Crashes of the daemon, power failures and disk errors: a short run of scripts/crash-test.

load helper

setup() {
    LARDER_BIN_DIR=$(dirname "$(command -v larderd)")
    export LARDER_BIN_DIR
}

crash_test() { "$BATS_TEST_DIRNAME/../../scripts/crash-test" --quick "$@"; }

@test "the history checker finds each kind of anomaly, and none in a correct history" {
    cd "$BATS_TEST_DIRNAME/../Crash"
    /usr/bin/python3 -B -m unittest test_history
}

@test "acknowledged writes survive kill -9 at random times, and no write is partial" {
    crash_test kills
}

@test "acknowledged writes survive a kill at each file operation" {
    crash_test operations
}

@test "a power failure during creation leaves an empty file or a valid store" {
    crash_test creation
}

@test "acknowledged writes survive a power failure, and no write is partial" {
    crash_test power
}

@test "the test detects lost writes with synchronous=NORMAL and with a disk that ignores syncs" {
    crash_test losses-show
}

@test "EIO and ENOSPC cause errors, never wrong data" {
    crash_test errors
}

@test "the history of concurrent clients is serializable; injected faults are detected" {
    crash_test isolation
}
