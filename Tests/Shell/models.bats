# Random change sets against a model: the form of scripts/model-test that runs every time.

load helper

setup() {
    LARDER_BIN_DIR=$(dirname "$(command -v larderd)")
    export LARDER_BIN_DIR
}

model_test() { "$BATS_TEST_DIRNAME/../../scripts/model-test" "$@"; }

@test "10,000 random steps leave in the store what the model says" {
    # The seed and the figures are shown also if nothing is wrong.
    set -o pipefail
    model_test | sed 's/^/# /' >&3
}

@test "the model test finds faults that are planted into the model and into the clients" {
    # The rarest fault shows after 300 steps in the mean, at times after more than 1,000.
    model_test --planted --steps 2500
}
