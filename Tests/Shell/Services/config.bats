load ../helper

# The configuration of larderd: a file, the environment and options.

setup() {
    enter_scratch
    # The folders of the user who runs the tests are not read.
    export XDG_CONFIG_HOME=$scratch/config HOME=$scratch
    cat >school.toml <<EOF
# A server.
store = "test.store"   # the file
schema = '$schema'
socket = ["$LARDER_SOCKET", "$scratch/r:read"]
query-timeout = 1_0
read-only = false
EOF
}

# print_config ARGUMENT…: the settings that are set, with their sources.
print_config() { larderd "$@" --print-config | grep -v -e '# default$' -e '^#'; }

@test "a configuration file has the settings of larderd" {
    larderd --config school.toml 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    LARDER_SOCKET=$scratch/r assert_status 5 larder insert Category name=arts
    larder insert Category name=arts
    stop_daemon
    # By name, from the folder of the user before that of the system.
    mkdir -p config/larder
    cp school.toml config/larder/school.toml
    assert_equal "store = \"test.store\"  # $scratch/config/larder/school.toml, line 2" \
        "$(print_config --config school | head -1)"
    unset XDG_CONFIG_HOME
    mkdir -p .config/larder
    mv config/larder/school.toml .config/larder
    assert_contains "$(print_config --config school | head -1)" "$scratch/.config/larder/school.toml"
    assert_status 65 larderd --config nowhere
    assert_contains "$stderr" "there is no configuration nowhere: no $scratch/.config/larder/nowhere.toml and no /etc/larder/nowhere.toml"
    assert_status 65 larderd --config ./nowhere.toml
}

@test "a number is a number in the file, for each option that takes one" {
    mapfile -t numbers < <(larderd --experimental-dump-help | jq -r '.command.arguments[] |
        select(.valueName | IN("seconds", "milliseconds", "number", "MiB", "days")) |
        .preferredName.name')
    [ ${#numbers[@]} -ge 10 ]
    for name in "${numbers[@]}"; do
        # Some of them require an archive.
        printf 'store = "test.store"\nschema = "%s"\narchive = "archive"\n%s = 32\n' "$schema" \
            "$name" >number.toml
        assert_contains "$(print_config --config ./number.toml)" "$name = 32  # ./number.toml, line 4"
    done
    assert_status 64 larderd --store test.store --schema "$schema" --max-log 31
    assert_contains "$stderr" "--max-log must be a number from 32 to 1000000"
}

@test "options weigh more than the environment, and that more than the file" {
    export LARDERD_QUERY_TIMEOUT=20 LARDERD_MAX_OBJECT=32 LARDERD_READ_ONLY=true
    assert_equal "store = \"test.store\"  # school.toml, line 2
schema = \"$schema\"  # school.toml, line 3
socket = [\"other.sock\"]  # option
read-only = true  # variable LARDERD_READ_ONLY
query-timeout = 5  # option
max-object = 32  # variable LARDERD_MAX_OBJECT" \
        "$(print_config --config school.toml --query-timeout=5 --socket other.sock)"
    # What it prints is a configuration file with the same settings.
    larderd --config school.toml --print-config >printed.toml
    unset LARDERD_QUERY_TIMEOUT LARDERD_MAX_OBJECT LARDERD_READ_ONLY
    larderd --config printed.toml --print-config >again
    assert_equal "$(sed 's/  #.*//' printed.toml)" "$(sed 's/  #.*//' again)"
    assert_contains "$(cat printed.toml)" 'max-connections = 1024  # default'
    assert_contains "$(cat printed.toml)" '# archive is not set'
    # Every option is a setting.
    larderd --experimental-dump-help | jq -r '.command.arguments[].names[0].name' |
        grep -vx -e h -e help -e version -e config -e check-config -e print-config >options
    sed 's/^# //; s/ .*//' printed.toml >settings
    diff options settings
}

@test "an error of a configuration names the file and the line" {
    cat >wrong.toml <<'EOF'
store = "a.store"
quary-timeout = 30
query-timeout = "30"
read-only = yes
store = "b.store"
archive = 5
max-object = 1.5
mode = 0660
[tables]
group = "unfinished
history-count = -5 more
socket = ["a", 5]
log-level
EOF
    assert_status 65 larderd --config wrong.toml
    assert_equal 'error[MALFORMED_VALUE]: wrong.toml: the configuration has 12 errors
  line 2: there is no setting "quary-timeout"; did you mean "query-timeout"?
  line 3: query-timeout takes a whole number: query-timeout = 30
  line 4: a value is a text in quotes, a whole number, true, false, or a list of texts
  line 5: store is set in line 1 already
  line 6: archive takes a text: archive = "…"
  line 7: a value is a text in quotes, a whole number, true, false, or a list of texts
  line 8: a value is a text in quotes, a whole number, true, false, or a list of texts
  line 9: there are no tables; write key = value
  line 10: the text has no end
  line 11: there is something after the value
  line 12: a list has texts in quotes, and is on one line
  line 13: a line is key = value' "$stderr"
    # A value that the option refuses.
    sed 's/1_0/0/' school.toml >zero.toml
    assert_status 64 larderd --config zero.toml --check-config
    assert_contains "$stderr" "--query-timeout must be a number from 1"
    assert_contains "$stderr" "query-timeout is set in zero.toml, line 5"
    LARDERD_MAX_OBJECT=1 assert_status 64 larderd --config school.toml --check-config
    assert_contains "$stderr" "max-object is set in variable LARDERD_MAX_OBJECT"
    LARDERD_READ_ONLY=maybe assert_status 65 larderd --config school.toml --check-config
    assert_contains "$stderr" "the variable LARDERD_READ_ONLY takes true or false"
    printf 'store = "\xff"\n' >bytes.toml
    assert_status 65 larderd --config bytes.toml
    assert_contains "$stderr" "bytes.toml is not valid UTF-8"
    [ ! -e test.store ]
}

@test "texts of a configuration have escapes as in TOML" {
    cat >text.toml <<'EOF'
store = "a \"b\" \\ \u00e9 \U0001F600\t"
schema = 'C:\raw "x" # no comment'
archive-command = "echo # $1"
EOF
    printf 'archive = "x"\r\n' >>text.toml
    assert_equal 'store = "a \"b\" \\ é 😀\t"
schema = "C:\\raw \"x\" # no comment"
archive = "x"
archive-command = "echo # $1"' "$(print_config --config text.toml | sed 's/  # text.toml, line .//')"
    for text in '"\x"' '"\ud800"' '"\u12"' '"a' "'a" '"a" b' '5 5' '[' '["a" "b"]' '["a",' '0x10' '1__0' '_1' '""""""'; do
        echo "store = $text" >bad.toml
        assert_status 65 larderd --config bad.toml
        assert_contains "$stderr" "line 1: "
    done
}

@test "--check-config reads the schema and the policy, and starts nothing" {
    larderd --config school.toml --check-config
    [ ! -e test.store ]
    echo '{"roles": [{"name": "a", "entities": {"Artcle": {"read": true}}}]}' >wrong.policy
    assert_status 65 larderd --config school.toml --policy wrong.policy --check-config
    assert_contains "$stderr" 'did you mean "Article"?'
    assert_status 65 larderd --config school.toml --schema missing.json --check-config
    assert_status 64 larderd --config school.toml --group no-such-group --check-config
    [ ! -e test.store ]
    # The schema of a store that exists.
    larder insert Category name=a --store test.store --schema "$schema"
    assert_status 65 larderd --store test.store --policy wrong.policy --check-config
    assert_contains "$stderr" 'did you mean "Article"?'
}

@test "an option that is given twice is an error, except for sockets" {
    for options in '--store a --store b' '--store=a --store b' '--in-memory --in-memory' \
        '--config school.toml --config school.toml' '--query-timeout 1 --query-timeout=1'; do
        # shellcheck disable=SC2086
        assert_status 64 larderd $options
        assert_contains "$stderr" 'is given twice'
    done
    larderd --store a --socket b --socket c --print-config | grep -qx 'socket = \["b", "c"\]  # option'
    # The value of an option is no option.
    assert_equal '"--store"' \
        "$(larderd --store=--store --print-config | sed -n 's/^store = \(.*\)  # option/\1/p')"
}

@test "a misspelled variable of larderd is met with a warning" {
    LARDERD_QUERY_TIMOUT=3 larderd --config school.toml --check-config 2>warning
    assert_contains "$(cat warning)" 'warning: there is no variable LARDERD_QUERY_TIMOUT; did you mean "LARDERD_QUERY_TIMEOUT"?'
}
