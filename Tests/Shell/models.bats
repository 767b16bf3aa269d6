# Random change sets against a model: the short form of scripts/model-test.

load helper

setup() {
    LARDER_BIN_DIR=$(dirname "$(command -v larderd)")
    export LARDER_BIN_DIR
}

model_test() { "$BATS_TEST_DIRNAME/../../scripts/model-test" "$@"; }

@test "the store agrees with the model after 10,000 random steps" {
    # The seed and the counts are shown also on success.
    set -o pipefail
    model_test | sed 's/^/# /' >&3
}

@test "the model test finds errors planted into the model and into the clients" {
    # The rarest error is found after 300 steps on average, sometimes after more than 1,000.
    model_test --planted --steps 2500
}
