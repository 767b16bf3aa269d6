# Random change sets against a model: a short run of scripts/model-test.

load helper

setup() {
    LARDER_BIN_DIR=$(dirname "$(command -v larderd)")
    export LARDER_BIN_DIR
}

model_test() { "$BATS_TEST_DIRNAME/../../scripts/model-test" "$@"; }

@test "after 10,000 random steps the store equals the model" {
    # The seed and the statistics are printed in every case.
    set -o pipefail
    model_test | sed 's/^/# /' >&3
}

@test "the model test finds faults injected into the model and into the clients" {
    # The rarest fault is found after 300 steps on average, sometimes after more than 1,000.
    model_test --planted --steps 2500
}
