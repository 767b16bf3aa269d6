load ../helper

package=$BATS_TEST_DIRNAME/../../../Clients/python

# Copies what a build reads, so that nothing is written into the repository, and builds a wheel and a
# source distribution, which it installs into folders. None of this uses a network.
setup_file() {
    mkdir -p "$BATS_FILE_TMPDIR/top/Clients"
    cp -R "$BATS_TEST_DIRNAME/../../../Proto" "$BATS_FILE_TMPDIR/top"
    cp -R "$package" "$BATS_FILE_TMPDIR/top/Clients"
    cd "$BATS_FILE_TMPDIR/top/Clients/python"
    rm -rf build dist ./*.egg-info larder/v1/*_pb2.py*
    pip wheel --wheel-dir "$BATS_FILE_TMPDIR/wheels" .
    pip install --target "$BATS_FILE_TMPDIR/installed" "$BATS_FILE_TMPDIR"/wheels/*.whl
}

setup() { enter_scratch; }

pip() {
    local command=$1
    shift
    /usr/bin/python3 -m pip "$command" --quiet --disable-pip-version-check --no-index --no-deps \
        --no-build-isolation "$@"
}

# Runs a file of the package's tests on the installed package.
run_tests() {
    LARDER_BIN_DIR=$BUILT_PROGRAMS PYTHONPATH=$BATS_FILE_TMPDIR/installed \
        /usr/bin/python3 -B -W error -m unittest discover -s "$package/tests" -p "$1"
}

@test "the wheel of the Python package has the messages, their types and the version" {
    cd "$BATS_FILE_TMPDIR/installed"
    for name in "$BATS_TEST_DIRNAME"/../../../Proto/*.proto; do
        [ -s "larder/v1/$(basename "$name" .proto)_pb2.py" ]
        [ -s "larder/v1/$(basename "$name" .proto)_pb2.pyi" ]
    done
    [ -e larder/py.typed ]
    diff <(cd "$package/larder" && find . -name '*.py' ! -name '*_pb2.py' | sort) \
        <(cd larder && find . -name '*.py' ! -name '*_pb2.py' | sort)
    version=$(/usr/bin/python3 -B -c 'import larder; print(larder.__version__)')
    [ -d "larder-$version.dist-info" ]
    assert_contains "$(larderd --version)" "$version"
}

@test "the Python package builds from its source distribution without protoc, and not without messages" {
    cd "$BATS_FILE_TMPDIR/top/Clients/python"
    /usr/bin/python3 -c 'import setuptools.build_meta as b; b.build_sdist("dist")' >/dev/null 2>&1
    PATH=/nowhere pip install --target "$scratch/installed" dist/*.tar.gz
    cmp "$scratch/installed/larder/v1/larder_pb2.py" \
        "$BATS_FILE_TMPDIR/installed/larder/v1/larder_pb2.py"
    assert_status 1 env PATH=/nowhere /usr/bin/python3 generate_messages.py "$scratch"
    assert_contains "$stderr" "apt install protobuf-compiler"
    export -f pip
    assert_status 1 env PATH=/nowhere /bin/bash -c 'pip install --target none .'
    assert_contains "$output$stderr" "apt install protobuf-compiler"
}

@test "the codec and the logic of the Python package pass their tests" {
    run_tests test_codec.py
    run_tests test_logic.py
}

@test "the Python clients report violations of the protocol" {
    run_tests test_hostile.py
}

@test "the Python clients pass their tests with a server" {
    run_tests test_client.py
}

@test "the code of the page about Python prints what the page shows" {
    run_tests test_page.py
}
