# The quick forms of scripts/model-test, random change sets against a model, and of
# scripts/crash-test, the store after a failure of the daemon, the power or the disk.

load ../helper

setup() {
    LARDER_BIN_DIR=$(dirname "$(command -v larderd)")
    export LARDER_BIN_DIR
}

model_test() { "$BATS_TEST_DIRNAME/../../../scripts/model-test" "$@"; }

crash_test() { "$BATS_TEST_DIRNAME/../../../scripts/crash-test" --quick "$@"; }

@test "the checker finds each anomaly, and accepts histories without one" {
    cd "$BATS_TEST_DIRNAME/../../Crash"
    /usr/bin/python3 -B -m unittest test_history
}

@test "acknowledged saves survive SIGKILL at a random time, and none is incomplete" {
    crash_test kills
}

@test "acknowledged saves survive SIGKILL at each operation on the file" {
    crash_test operations
}

@test "a power loss while a store is created leaves an empty file or a store" {
    crash_test creation
}

@test "acknowledged saves survive a power loss, and none is incomplete" {
    crash_test power
}

@test "losses are found where they must be: with synchronous=NORMAL, on a disk without syncs" {
    crash_test losses-show
}

@test "a disk that fails with EIO or ENOSPC causes errors, and never wrong data" {
    crash_test errors
}

@test "concurrent clients see a serializable history; the planted errors are found" {
    crash_test isolation
}

@test "backups under load are complete, each a prefix of the history, also if processes are killed" {
    crash_test backup
}

@test "every commit is in the archive after crashes, and random states are restored" {
    crash_test archive
}

@test "two versions of a program that start at once migrate once, and lose and double no save" {
    crash_test versions
}

@test "a migration in stages that is interrupted leaves the former or the final store, with all saves" {
    crash_test stages
}

@test "random states are restored from an archive, before and after a migration, as they were" {
    crash_test restores
}

@test "sixteen processes share a file without a daemon while its owner is killed again and again" {
    crash_test owners
}

@test "the store agrees with the model after 10,000 random steps" {
    # The seed and the counts are shown also on success.
    set -o pipefail
    model_test | sed 's/^/# /' >&3
}

@test "the model test finds errors planted into the model and into the clients" {
    # The rarest error is found after 300 steps on average, sometimes after more than 1,000.
    model_test --planted --steps 2500
}
