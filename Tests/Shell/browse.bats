# `larder browse`, which executes another program. The pages themselves have tests in Browser/Tests.

load helper

# A program that prints how it was executed, in place of larder-browse.
make_program() {
    mkdir -p programs
    cat >programs/larder-browse <<'SCRIPT'
#!/bin/sh
echo "$LARDER_SOCKET" "$@"
[ "$1" != --count ] || larder count Article
[ "$1" != --fail ] || exit 7
SCRIPT
    chmod +x programs/larder-browse
    PATH=$scratch/programs:$PATH
}

@test "browse executes larder-browse of the PATH with the socket and the remaining arguments" {
    make_program
    assert_equal "$LARDER_SOCKET --edit --port 8080" "$(larder browse --edit --port 8080)"
    assert_equal "/other --edit" "$(LARDER_SOCKET=/no larder browse --socket /other --edit)"
    assert_equal "$LARDER_SOCKET --query-time 90" "$(larder browse --timeout 90s)"
    assert_status 7 larder browse --fail
    assert_status 64 larder browse --schema-version 1.0.0
}

@test "larder-browse next to larder comes before that of the PATH" {
    make_program
    mkdir installed
    ln "$BUILT_PROGRAMS/larder" installed/larder || cp "$BUILT_PROGRAMS/larder" installed/larder
    printf '#!/bin/sh\necho next to it\n' >installed/larder-browse
    chmod +x installed/larder-browse
    assert_equal "next to it" "$(installed/larder browse)"
}

@test "browse without larder-browse says that it is not installed and how to get it" {
    mkdir installed
    ln "$BUILT_PROGRAMS/larder" installed/larder || cp "$BUILT_PROGRAMS/larder" installed/larder
    PATH=/usr/bin:/bin assert_status 65 installed/larder browse
    assert_contains "$stderr" "error[UNSUPPORTED]: larder-browse is not installed"
    assert_contains "$stderr" "hint: scripts/build larder-browse"
}

@test "browse with a file serves it for larder-browse, and returns its status" {
    make_program
    stop_daemon
    unset LARDER_SOCKET
    run larder browse --store test.store --count
    [ "$status" = 0 ]
    assert_contains "$output" "--count"
    assert_equal 0 "$(tail -n 1 <<<"$output")"
    assert_status 7 larder browse --store test.store --fail
    assert_status 74 larder browse --store /nowhere/none.store
}
