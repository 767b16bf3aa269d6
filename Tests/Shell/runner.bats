# scripts/test itself, with stages made for the test.

load helper

setup() {
    enter_scratch
    cp -r "$BATS_TEST_DIRNAME/../../scripts" scripts
    rm -r scripts/test.d/*
    cat >scripts/test.d/stages <<'END'
# name, depth, description
one gate the first
two gate the second
three deep the third
four deep the fourth
END
    printf '%s\n' 'Sources/A/ three' 'Sources/ three four' 'docs/' >scripts/test.d/changed
    stage one 'echo "2 passed, 0 failed"'
    stage two 'echo "3 passed, 0 failed"'
    stage three 'echo "4 passed, 0 failed"'
    stage four 'echo "5 passed, 0 failed"'
    # Nothing is installed.
    printf '#!/bin/sh\nexit 0\n' >scripts/install-packages
}

# stage NAME COMMANDS: a stage that runs these commands.
stage() {
    printf '#!/bin/bash\n%s\n' "$2" >"scripts/test.d/$1"
    chmod +x "scripts/test.d/$1"
}

last_line() { tail -n 1 <<<"$output"; }

@test "scripts/test runs the gate, --all every stage, and a name one; the last line is the sum" {
    assert_status 0 scripts/test
    assert_equal "5 passed, 0 failed" "$(last_line)"
    assert_status 0 scripts/test --all
    assert_equal "14 passed, 0 failed" "$(last_line)"
    assert_status 0 scripts/test three one
    assert_equal "6 passed, 0 failed" "$(last_line)"
}

@test "scripts/test --list names the stages with the seconds of their last run" {
    scripts/test one >/dev/null
    assert_status 0 scripts/test --list
    assert_equal "one gate N the first" "$(sed -nE '2s/ [0-9]+ / N /p' <<<"$output" | xargs)"
    assert_equal "two gate - the second" "$(sed -n 3p <<<"$output" | xargs)"
}

@test "scripts/test --changed adds the deep stages of changed paths, and all of a path without a row" {
    git init -q .
    echo .build/ >.gitignore
    git add -A
    git -c user.name=a -c user.email=a@b commit -qm first
    mkdir -p Sources/A Sources/B docs
    stages() { scripts/test --changed "$@" | sed -n 's/^-- //p' | xargs; }
    touch docs/a
    assert_equal "one two" "$(stages HEAD)"
    touch Sources/A/a
    assert_equal "one two three" "$(stages)"
    touch Sources/B/b
    assert_equal "one two three four" "$(stages)"
    rm -r Sources
    touch other
    assert_equal "one two three four" "$(stages)"
    git add -A
    git -c user.name=a -c user.email=a@b commit -qm second
    assert_equal "one two" "$(stages)"
    assert_equal "one two three four" "$(stages HEAD~1)"
    assert_status 64 scripts/test --changed nonsense
    assert_contains "$stderr" "there is no commit nonsense"
}

@test "scripts/test refuses a stage, an option and an argument that it does not know, in one sentence" {
    assert_status 64 scripts/test nothing
    assert_equal "scripts/test: there is no stage nothing; scripts/test --list names the stages" "$stderr"
    assert_equal "" "$output"
    assert_status 64 scripts/test --nothing
    assert_status 64 scripts/test --all one
    assert_status 64 scripts/test --list one
}

@test "scripts/test does not start if a package cannot be installed" {
    stage one '# Packages: a-package another
echo "2 passed, 0 failed"'
    printf '#!/bin/sh\necho "installing $*" >&2\nexit 100\n' >scripts/install-packages
    assert_status 69 scripts/test
    assert_contains "$stderr" "installing a-package another"
    assert_contains "$stderr" "cannot be installed"
    assert_equal "" "$output"
    # Another stage may need the same packages.
    stage three '# Packages of one
echo "4 passed, 0 failed"'
    assert_status 69 scripts/test three
    assert_contains "$stderr" "installing a-package another"
}

@test "a stage that fails, ends without a result or is killed makes scripts/test fail, and is named" {
    stage one 'echo "FAILED: the reason"; echo "2 passed, 1 failed"; exit 1'
    assert_status 1 scripts/test
    assert_equal "5 passed, 1 failed" "$(last_line)"
    assert_contains "$output" "one: FAILED: the reason"
    for commands in 'exit 0' 'echo "2 passed"' 'kill -9 $$' 'echo "2 passed, 0 failed"; exit 1'; do
        stage one "$commands"
        assert_status 1 scripts/test
        assert_contains "$(last_line)" " passed, 1 failed"
    done
    stage one 'no-such-program'
    assert_status 1 scripts/test
    assert_contains "$output" "the stage one ended with status 127 and without a result"
    assert_contains "$output" "no-such-program: command not found"
}

@test "scripts/test continues after a stage that failed, unless it is the build" {
    printf '%s gate a stage\n' format build one >scripts/test.d/stages
    stage format 'echo "1 passed, 1 failed"; exit 1'
    stage build 'echo "1 passed, 0 failed"'
    assert_status 1 scripts/test
    assert_equal "4 passed, 1 failed" "$(last_line)"
}

@test "scripts/test stops after a build that failed" {
    echo 'build gate the build' >scripts/test.d/stages
    echo 'one gate the first' >>scripts/test.d/stages
    stage build 'echo "0 passed, 1 failed"; exit 1'
    assert_status 1 scripts/test
    assert_equal "0 passed, 1 failed" "$(last_line)"
}

@test "a disk that is full makes scripts/test fail, and the sentence says so" {
    [ "$(id -u)" = 0 ] || skip "it mounts a small disk"
    mkdir small
    stage one 'head -c 2000000 /dev/zero && echo "2 passed, 0 failed"'
    assert_status 1 unshare --mount sh -c \
        'mount -t tmpfs -o size=1m small small && TMPDIR=$PWD/small exec scripts/test'
    assert_contains "$output" "a disk has less than 100 MB free"
    [[ $(last_line) != *", 0 failed" ]]
}

@test "the siege refuses to run without root, in one sentence" {
    [ "$(id -u)" = 0 ] || skip "it becomes another user"
    chmod 755 .
    cp "$BATS_TEST_DIRNAME/../../scripts/test.d/siege" siege
    assert_status 1 setpriv --reuid=65534 --regid=65534 --clear-groups env PATH=/usr/bin:/bin "$PWD/siege"
    assert_contains "$output" "FAILED the siege needs root"
    assert_equal "0 passed, 1 failed" "$(last_line)"
}

@test "the report of thousands of Swift tests ends with their counts, and names those that failed" {
    local report=$BATS_TEST_DIRNAME/../../scripts/test.d/report-swift
    seq -f '✔ Test "the test with the number %g of a long suite" passed after 0.001 seconds.' 9000 >tests
    printf '%s\n' '✘ Test "a" recorded an issue at A.swift:1:2: no' '↳ its comment' \
        '✘ Test "a" failed after 1.5 seconds.' '✘ Test run with 9001 tests in 1 suite failed after 2 seconds with 1 issue.' 'exit status 1' >>tests
    printf '%s\n' '✔ Test "b" passed after 0.1 seconds.' \
        '✔ Test run with 1 test in 1 suite passed after 1 seconds.' 'exit status 0' >more
    assert_status 1 "$report" tests more
    assert_equal "9001 passed, 1 failed" "$(last_line)"
    assert_contains "$output" $'FAILED Test "a" recorded an issue at A.swift:1:2: no\n  ↳ its comment'
    assert_contains "$output" '  1.5 "a"'
    assert_equal 24 "$(wc -l <<<"$output")"
}

@test "the report of Swift tests that a trap ended gives its message and the tests that had not ended" {
    local report=$BATS_TEST_DIRNAME/../../scripts/test.d/report-swift
    printf '%s\n' '◇ Test "a" started.' '✔ Test "a" passed after 0.1 seconds.' '◇ Test "b" started.' \
        'Some/File.swift:12: Assertion failed' 'Current stack trace:' '0  libswiftCore.so  0x1 f + 33' 'exit status 132' >tests
    printf '%s\n' '✘ Test "c" recorded an issue at A.swift:1:2: no' '✘ Test "c" failed after 1.5 seconds.' \
        '✘ Test run with 3 tests in 1 suite failed after 2 seconds with 1 issue.' 'exit status 1' >more
    assert_status 1 "$report" more tests
    assert_equal "1 passed, 2 failed" "$(last_line)"
    assert_contains "$output" \
        'FAILED tests ended with status 132: Some/File.swift:12: Assertion failed'
    assert_equal '  "b"' "$(sed -n '/had not ended/,/slowest/p' <<<"$output" | grep '^  "')"
}
