# Variables of the environment, short identifiers, dry runs, and the default socket.

load ../helper

setup() {
    enter_scratch
    start_daemon
    insert_articles
}

@test "LARDER_OUTPUT is the default of --output, also for errors, and an option overrides it" {
    export LARDER_OUTPUT=jsonl
    assert_equal '{"title":"one"}' "$(larder fetch Article --where 'title == "one"' --select title)"
    assert_equal one "$(larder fetch Article --where 'title == "one"' --select title --output plain)"
    assert_status 4 larder fetch Articel
    assert_equal UNKNOWN_ENTITY "$(jq -r .code <<<"$stderr")"
    LARDER_OUTPUT=xml assert_status 64 larder count Article
    assert_contains "$stderr" 'LARDER_OUTPUT must be one of table, vertical, plain, json, jsonl, csv'
    LARDER_OUTPUT=xml assert_status 0 larder count Article --output plain
}

@test "LARDER_TIMEOUT is the default of --timeout" {
    LARDER_TIMEOUT=5 assert_status 64 larder count Article
    assert_contains "$stderr" 'LARDER_TIMEOUT must be a time such as 500ms, 10s or 2m'
    LARDER_TIMEOUT=5 assert_status 0 larder count Article --timeout 5s
    LARDER_TIMEOUT=5s assert_status 0 larder count Article
}

@test "an unknown variable that begins with LARDER_ causes a warning" {
    LARDER_SOKET=x assert_status 0 larder count Article
    assert_equal 6 "$output"
    assert_equal 'warning: LARDER_SOKET is not a variable of larder
hint: did you mean "LARDER_SOCKET"?' "$stderr"
    LARDER_COLOUR=x assert_status 0 larder count Article
    assert_contains "$stderr" 'hint: the variables are LARDER_SOCKET, LARDER_OUTPUT, LARDER_TIMEOUT'
    LARDER_SOKET= assert_status 0 larder count Article --output json
    assert_equal WARNING "$(jq -r .code <<<"$stderr")"
}

@test "without a path, larder uses the only socket in the runtime folder" {
    unset LARDER_SOCKET
    export XDG_RUNTIME_DIR=$scratch/run
    assert_status 64 larder count Article
    assert_contains "$stderr" 'no store given'
    mkdir -p run/larder
    ln -s "$scratch/s" run/larder/school.sock
    assert_equal 6 "$(larder count Article)"
    ln -s "$scratch/s" run/larder/library.sock
    assert_status 64 larder count Article
    assert_contains "$stderr" "$scratch/run/larder contains the sockets of 2 servers
hint: pass one of them: --socket $scratch/run/larder/library.sock"
    assert_equal 6 "$(LARDER_SOCKET=$scratch/s larder count Article)"
}

@test "a short identifier is accepted wherever a URI is" {
    local one short
    one=$(larder fetch Article --where 'title == "one"' --ids)
    short=Article/${one##*/}
    assert_equal "$(larder get "$one" --output json)" "$(larder get "$short" --output json)"
    assert_contains "$(larder id "$short")" "Article"
    assert_equal one "$(larder fetch Article --where 'SELF == %@' --arg "$short" --select title)"
    assert_equal 1 "$(larder count Article --where "SELF IN {\"$short\"}")"
    larder update "$short" "category=Category/${arts##*/}" >/dev/null
    assert_equal arts "$(larder fetch Article --where 'title == "one"' --select category.name)"
    larder save - >/dev/null <<<"{\"update\": {\"@id\": \"$short\", \"category\": \"Category/${tech##*/}\"}}"
    assert_equal tech "$(larder fetch Article --where 'title == "one"' --select category.name)"
    larder update Article --where 'title == "one"' --set "category=\"Category/${arts##*/}\"" >/dev/null
    assert_equal arts "$(larder fetch Article --where 'title == "one"' --select category.name)"
    assert_equal 1 "$(larder delete "$short")"
}

@test "text in the form of a short identifier stays text for a string" {
    larder insert Category name=Article/p1 >/dev/null
    assert_equal 1 "$(larder count Category --where 'name == "Article/p1"')"
    assert_equal 1 "$(larder count Category --where 'name == %@' --arg Article/p1)"
}

@test "a malformed short identifier is rejected" {
    for text in Article/p0 Article/p Article/p01 Article/p9223372036854775808 Article/x7 /p7; do
        assert_status 65 larder get "$text"
        assert_contains "$stderr" 'error[MALFORMED_IDENTIFIER]'
    done
}

@test "tables on a terminal have short identifiers; other output has URIs" {
    command -v script >/dev/null || skip "script is not installed"
    run script -qec "larder fetch Article --where 'title == \"one\"' --select @id,category" /dev/null
    assert_contains "$output" "Category/${tech##*/}"
    [[ $output != *x-coredata:* ]]
    run script -qec "larder fetch Article --where 'title == \"one\"' --ids --output plain" /dev/null
    assert_contains "$output" x-coredata:
    assert_contains "$(larder fetch Article --select category --output table)" x-coredata:
}

@test "--dry-run prints what would be changed and changes nothing" {
    assert_equal 3 "$(larder delete Article --where 'category.name == %@' --arg tech --dry-run)"
    assert_equal 2 "$(larder update Article --where 'wordCount > %@' --arg 40 \
        --set 'wordCount=wordCount + %@' --arg 1 --dry-run)"
    assert_equal 6 "$(larder delete Article --all --dry-run)"
    assert_equal 2 "$(larder delete Article --all --limit 2 --dry-run)"
    assert_equal "$(larder fetch Article --sort wordCount:desc --limit 1 --ids)" "$(larder update Article --all \
        --sort 'abs(wordCount - %@):desc' --limit 1 --set 'wordCount=%@' --arg 0 --arg 1 --dry-run --ids)"
    assert_equal "$(larder fetch Article --where 'wordCount == 10' --ids)" \
        "$(larder delete Article --where 'wordCount == 10' --dry-run --ids)"
    assert_equal $'6\t210' "$(larder aggregate Article count sum:wordCount)"
    assert_equal 1 "$(larder delete "$tech" --dry-run)"
    assert_equal 1 "$(larder count Category --where 'name == "tech"')"
    assert_status 64 larder delete "$tech" --yes
    assert_contains "$stderr" '--ids and --yes require an entity instead of a URI'
    assert_status 64 larder delete Article --all --dry-run --unless Category
    assert_contains "$stderr" '--dry-run cannot be combined with --unless'
}

@test "before --all, a person at a terminal is asked; a script is not" {
    command -v script >/dev/null || skip "script is not installed"
    run script -qec 'larder delete Article --all' /dev/null <<<n
    assert_contains "$output" 'All objects of Article will be deleted. Continue? [y/N]'
    assert_contains "$output" 'error[CANCELLED]: nothing was deleted'
    assert_equal 6 "$(larder count Article)"
    run script -qec 'larder update Article --all wordCount=1' /dev/null <<<y
    assert_equal 6 "$(larder count Article --where 'wordCount == 1')"
    run script -qec 'larder delete Article --all --yes' /dev/null
    assert_equal 0 "$(larder count Article)"
    assert_equal 3 "$(larder delete Category --all)"
}

@test "aggregate --offset omits the first groups" {
    assert_equal $'arts\t2' "$(larder aggregate Article --group-by category.name count \
        --sort category.name --offset 1 --limit 1)"
    assert_status 64 larder aggregate Article count --offset -1
}

@test "examples in help texts have at most 80 columns" {
    local command
    for command in insert get update delete save id fetch count aggregate explain import export \
        history watch stats top check ping backup restore new-identity migrate; do
        run larder "$command" --help
        awk '/^EXAMPLES/ { on = 1 } /^$/ { on = 0 } on && length > 80 { print; bad = 1 }
            on && /^ *larder/ { shown = 1 } END { exit bad }' <<<"$output"
        assert_contains "$output" "larder $command"
    done
}
