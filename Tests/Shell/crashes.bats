# What is left when the daemon, its power or its disk fails: the quick form of scripts/crash-test.

load helper

setup() {
    LARDER_BIN_DIR=$(dirname "$(command -v larderd)")
    export LARDER_BIN_DIR
}

crash_test() { "$BATS_TEST_DIRNAME/../../scripts/crash-test" --quick "$@"; }

@test "the checker of histories finds each anomaly, and none where there is none" {
    cd "$BATS_TEST_DIRNAME/../Crash"
    /usr/bin/python3 -B -m unittest test_history
}

@test "what was acknowledged survives kill -9 at a random time, and nothing is torn" {
    crash_test kills
}

@test "what was acknowledged survives a kill at each operation on the file" {
    crash_test operations
}

@test "a loss of power while a store is created leaves an empty file or a store" {
    crash_test creation
}

@test "what was acknowledged survives a loss of power, and nothing is torn" {
    crash_test power
}

@test "a loss of power shows where it must: with synchronous=NORMAL, and on a disk that lies" {
    crash_test losses-show
}

@test "a disk that answers EIO or ENOSPC brings refusals, and never wrong data" {
    crash_test errors
}

@test "what concurrent clients see is serializable; the planted faults are found" {
    crash_test isolation
}
