#!/usr/bin/env bats
#
# larder migrate --plan and --keep-backup.

load helper

setup() {
    enter_scratch
    unset LARDER_SOCKET
    cat >1.json <<'JSON'
{"version": "1.0.0", "entities": [{"name": "Person", "attributes": [
  {"name": "name", "type": "string"}]}]}
JSON
    cat >2.json <<'JSON'
{"version": "2.0.0", "entities": [{"name": "Person", "attributes": [
  {"name": "name", "type": "string"},
  {"name": "first", "type": "string", "optional": true},
  {"name": "last", "type": "string", "optional": true}]}]}
JSON
    cat >3.json <<'JSON'
{"version": "3.0.0", "entities": [{"name": "Person", "attributes": [
  {"name": "first", "type": "string"}, {"name": "last", "type": "string"}]}]}
JSON
    cat >split <<'SH'
#!/bin/sh -e
# Splits the name of each person by the first space.
larder fetch Person --select @id,name --output plain | while read -r uri first last; do
    larder update "$uri" first="$first" last="$last"
done
larder count Person
SH
    chmod +x split
    cat >plan.json <<'JSON'
{"stages": [
  {"from": "1.json", "to": "2.json", "didMigrate": {"run": ["./split"]}},
  {"from": "2.json", "to": "3.json", "willMigrate": {"save": "last.jsonl"}}]}
JSON
    echo '{"insert": {"@entity": "Person", "name": "Cy Poe", "first": "Cy", "last": "Poe"}}' >last.jsonl
}

make_store() {
    larder insert Person --store s.store --schema 1.json name="Ann Lee" >/dev/null
    larder insert Person --store s.store name="Bob Ray" >/dev/null
}

people() { larder fetch Person --select first,last --sort first --output plain "$@"; }

@test "a program and a file of changes perform their stages, without a server" {
    make_store
    run --separate-stderr larder migrate --store s.store --plan plan.json --output plain
    [[ $status == 0 && $output == *$'\t3.0.0\t'* ]]
    # The output of the program is not that of larder.
    [[ $stderr == *2* ]]
    [[ $(people --store s.store) == $'Ann\tLee\nBob\tRay\nCy\tPoe' ]]
    larder check --store s.store
    [[ $(ls -A) != *.larder* ]]
    # All stages have been performed, also from another folder.
    (mkdir elsewhere && cd elsewhere && larder migrate --store ../s.store --plan ../plan.json)
    [[ $(larder count Person --store s.store) == 3 ]]
}

@test "clients of a server wait for a migration in stages, and then have the result" {
    make_store
    mv s.store test.store
    export LARDER_SOCKET=$scratch/s
    schema=1.json start_daemon
    before=$(larder history --output jsonl | wc -l)
    cat >split2 <<'SH'
#!/bin/sh -e
env -u LARDER_MIGRATION_SESSION larder ping --timeout 100ms 2>others || true
./split
SH
    chmod +x split2
    sed -i 's/split/split2/' plan.json
    larder migrate --plan plan.json
    [[ $(cat others) == *'error[UNAVAILABLE]: the store is being migrated'* ]]
    [[ $(people) == $'Ann\tLee\nBob\tRay\nCy\tPoe' ]]
    # The saves of the stages are in the history.
    (($(larder history --output jsonl | wc -l) == before + 3))
    stop_daemon
}

@test "a plan of one stage without code prints the new version" {
    make_store
    sed 's/, "didMigrate".*}},/}]}/; /3.json/d' plan.json >one.json
    run larder migrate --store s.store --plan one.json --output plain
    [[ $status == 0 && $output == *$'\t2.0.0\t'* ]]
}

@test "a program that fails, a change that fails and a refused schema leave the store as it was" {
    make_store
    printf '#!/bin/sh\nlarder delete --help >/dev/null; ./split; exit 3\n' >fails
    chmod +x fails
    sed 's/split/fails/' plan.json >failing.json
    assert_status 1 larder migrate --store s.store --plan failing.json
    [[ $stderr == *'fails of stages[0].didMigrate ended with status 3; nothing was changed'* ]]
    sed 's/split/missing/' plan.json >failing.json
    assert_status 1 larder migrate --store s.store --plan failing.json
    [[ $stderr == *'missing of stages[0].didMigrate cannot be started'* ]]
    echo '{"insert": {"@entity": "Person", "nam": "x"}}' >last.jsonl
    assert_status 65 larder migrate --store s.store --plan plan.json
    [[ $stderr == *'last.jsonl, line 1'* ]]
    sed 's/, "didMigrate".*}}/}/' plan.json >failing.json
    echo '{"insert": {"@entity": "Person", "name": "x"}}' >last.jsonl
    assert_status 65 larder migrate --store s.store --plan failing.json
    [[ $stderr == *'error[MIGRATION_REFUSED]'* ]]
    [[ $(larder fetch Person --store s.store --select name --output plain) == $'Ann Lee\nBob Ray' ]]
    [[ $(ls -A) != *.larder* ]]
}

@test "killed in a stage, nothing has changed, and the rest is removed" {
    make_store
    printf '#!/bin/sh\n./split; kill -9 $PPID\n' >kills
    chmod +x kills
    sed 's/split/kills/' plan.json >killed.json
    run larder migrate --store s.store --plan killed.json
    [[ $status == 137 ]]
    [[ $(larder fetch Person --store s.store --select name --output plain) == $'Ann Lee\nBob Ray' ]]
    [[ $(ls -A) != *.larder* ]]
}

@test "migrate --plan --dry-run prints the steps of a plan, stage by stage" {
    make_store
    run larder migrate --store s.store --plan plan.json --dry-run --output plain
    [[ $status == 0 ]]
    [[ $output == *$'stage\tfrom version 1.0.0 to 2.0.0, custom\t'* ]]
    [[ $output == *$'change\tPerson.first: added\t'* ]]
    [[ $output == *$'stage\tfrom version 2.0.0 to 3.0.0, custom\t'* ]]
    [[ $output == *$'change\tPerson.name: removed, with its values\t'* ]]
    [[ $(larder count Person --store s.store --where 'name == "Ann Lee"') == 1 ]]
}

@test "a backup is kept of the store as it was" {
    make_store
    larder migrate --store s.store --plan plan.json --keep-backup before
    larder restore before --to old.store
    [[ $(larder fetch Person --store old.store --select name --output plain) == $'Ann Lee\nBob Ray' ]]
    # Also without stages. An existing file is not replaced, and nothing is migrated then.
    larder insert Person --store t.store --schema 1.json name=Dan
    assert_status 5 larder migrate --store t.store --schema 2.json --keep-backup before
    [[ $(larder schema show --store t.store --output json) == *'"1.0.0"'* ]]
    larder migrate --store t.store --schema 2.json --keep-backup other
    [[ $(larder schema show --store t.store --output json) == *'"2.0.0"'* ]]
}

@test "a plan with faults is refused with all of them" {
    make_store
    echo '{"stages": [{"from": "1.json", "too": 1}, 7, {"from": "1.json", "to": "2.json", "didMigrate": "x"}]}' >bad.json
    assert_status 65 larder migrate --store s.store --plan bad.json
    [[ $stderr == *'bad.json is not a plan of a migration'* ]]
    [[ $stderr == *'stages[0].too is unknown; the keys are from, to, willMigrate, didMigrate'* ]]
    [[ $stderr == *'stages[0].to must be the path of a schema file'* ]]
    [[ $stderr == *'stages[1] must be an object'* ]]
    [[ $stderr == *'stages[2].didMigrate must be {"save": FILE} or {"run": [PROGRAM, ARGUMENT, …]}'* ]]
    echo '{"stages": [{"from": "1.json", "to": "2.json"}, {"from": "3.json", "to": "2.json"}]}' >gap.json
    assert_status 65 larder migrate --store s.store --plan gap.json
    [[ $stderr == *'stages[1] begins with schema version 3.0.0'*', and stages[0] ends with schema version 2.0.0'* ]]
    [[ $stderr == *'stages[1] leads back to schema version 2.0.0'* ]]
    echo '{"stages": [{"from": "2.json", "to": "3.json"}]}' >late.json
    assert_status 65 larder migrate --store s.store --plan late.json
    [[ $stderr == *'no stage begins with the schema of the store, which is schema version 1.0.0'* ]]
    for text in '' '{' '[]' '{"stages": 1}'; do
        echo "$text" >bad.json
        assert_status 65 larder migrate --store s.store --plan bad.json
    done
    assert_status 64 larder migrate --store s.store --plan plan.json --schema 2.json
    assert_status 64 larder migrate --store s.store
}

@test "a migration that takes too long is abandoned" {
    make_store
    mv s.store test.store
    export LARDER_SOCKET=$scratch/s
    larderd --store test.store --schema 1.json --socket "$LARDER_SOCKET" --migration-timeout 1 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s
    printf '#!/bin/sh\nwhile larder count Person; do :; done\n' >endless
    chmod +x endless
    sed 's/split/endless/' plan.json >slow.json
    assert_status 1 larder migrate --plan slow.json
    [[ $(larder fetch Person --select name --output plain) == $'Ann Lee\nBob Ray' ]]
    grep -q 'the migration is abandoned: the migration took longer than it may' log
    assert_status 64 larderd --store x --schema 1.json --migration-timeout 0
    stop_daemon
}
