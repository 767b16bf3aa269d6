#!/usr/bin/env bats
#
# larder migrate, larder schema diff and larderd --migrate.

load helper

setup() {
    enter_scratch
    unset LARDER_SOCKET
    cat >one.json <<'JSON'
{"version": "1.0.0", "entities": [
  {"name": "Book", "attributes": [
    {"name": "title", "type": "string"},
    {"name": "pages", "type": "string", "optional": true}],
   "relationships": [{"name": "author", "destination": "Writer", "inverse": "books"}]},
  {"name": "Writer", "attributes": [{"name": "name", "type": "string"}],
   "relationships": [{"name": "books", "destination": "Book", "toMany": true, "inverse": "author"}]}]}
JSON
    cat >two.json <<'JSON'
{"version": "2.0.0", "entities": [
  {"name": "Volume", "originalName": "Book", "attributes": [
    {"name": "title", "type": "string"},
    {"name": "pages", "type": "int64", "optional": true},
    {"name": "price", "type": "decimal", "default": "9.99"}],
   "relationships": [{"name": "author", "destination": "Writer", "inverse": "books"}]},
  {"name": "Writer", "attributes": [{"name": "name", "type": "string"}],
   "relationships": [{"name": "books", "destination": "Volume", "toMany": true, "inverse": "author"}]}]}
JSON
}

@test "a store is migrated, and URIs from before lead to the same objects" {
    ann=$(larder insert Writer --store s.store --schema one.json name=Ann)
    book=$(larder insert Book --store s.store title=Sea pages=120 author="$ann")
    run larder migrate --store s.store --schema two.json --output plain
    [[ $status == 0 && $output == *$'\t2.0.0\t'* ]]
    [[ $(larder get "$book" --store s.store --output jsonl) == *"/Volume/p1"* ]]
    [[ $(larder fetch Volume --store s.store --select title,pages,price --output plain) == $'Sea\t120\t9.99' ]]
    [[ $(larder count Volume --store s.store --where 'author.name == "Ann" AND pages == 120') == 1 ]]
    larder update "$book" --store s.store title=Ocean
    larder check --store s.store
    [[ $(larder history --store s.store --output jsonl | grep -c Book) == 0 ]]
    # A second migration finds it done.
    larder migrate --store s.store --schema two.json --drop
}

@test "migrate --dry-run prints the steps of a migration with rows, and changes nothing" {
    larder insert Writer --store s.store --schema one.json name=Ann
    larder insert Book --store s.store title=Sea
    run larder migrate --store s.store --schema two.json --dry-run --output plain
    [[ $status == 0 ]]
    [[ $output == *$'change\tVolume: renamed from Book\t'* ]]
    [[ $output == *$'change\tVolume.price: added\t'* ]]
    [[ $output == *$'step\trewrites the table of Volume\t1'* ]]
    [[ $output == *$'clients\tbuilt for the old schema are refused'* ]]
    [[ $(larder count Book --store s.store) == 1 ]]
    run larder schema diff one.json two.json --output plain
    [[ $status == 0 && $output == *$'change\tVolume.price: added\t'* ]]
}

@test "a migration is refused with every reason, and changes nothing" {
    larder insert Book --store s.store --schema one.json title=Sea pages=many
    larder insert Book --store s.store title=Sky pages=7
    assert_status 65 larder migrate --store s.store --schema two.json
    [[ $stderr == *'error[MIGRATION_REFUSED]: the store has 1 value that the new schema does not permit'* ]]
    [[ $stderr == *'/Volume/p1: expected a whole number'* ]]
    sed 's/"2.0.0"/"0.1.0"/; s/, "default": "9.99"//' two.json >bad.json
    assert_status 65 larder migrate --store s.store --schema bad.json
    [[ $stderr == *'version: 0.1.0 is older than'* ]]
    [[ $stderr == *'entities[0].attributes[2]: Volume.price is required and has no default'* ]]
    assert_status 65 larder schema diff two.json one.json
    [[ $(larder count Book --store s.store) == 2 ]]
    assert_status 74 larder migrate --store missing.store --schema two.json
    [[ ! -e missing.store ]]
    assert_status 64 larder migrate --schema two.json
}

@test "larderd migrates a store when it is asked to, and otherwise does not start" {
    larder insert Writer --store s.store --schema one.json name=Ann
    assert_status 65 larderd --store s.store --schema two.json --socket "$scratch/s.sock"
    [[ $stderr == *SCHEMA_MISMATCH* && $stderr == *'larder migrate'* ]]
    larderd --store s.store --schema two.json --socket s.sock --migrate 3>&- 2>log &
    daemon=$!
    larder ping --socket s.sock --wait --timeout 300s
    [[ $(larder count Volume --socket s.sock) == 0 && $(larder count Writer --socket s.sock) == 1 ]]
    grep -q 'migration: ' log
    stop_daemon
    # The store never had this schema.
    sed 's/"price"/"cost"/; s/2.0.0/1.5.0/' two.json >other.json
    assert_status 65 larderd --store s.store --schema other.json --socket s.sock --migrate
    [[ $stderr == *MIGRATION_REFUSED* && $stderr == *'1.5.0 is older than'* ]]
}

# start_with OPTION…: serves s.store, and prints what it logged when it is ready.
start_with() {
    larderd --store s.store --socket s.sock "$@" 3>&- 2>log &
    daemon=$!
    larder ping --socket s.sock --wait --timeout 300s >/dev/null
}

@test "a schema file from before a migration does not keep larderd from starting, or migrate the store back" {
    larder insert Writer --store s.store --schema one.json name=Ann
    start_with --schema one.json
    run ! grep -q warning log
    larder insert Book --socket s.sock title=Sea pages=120
    larder migrate --socket s.sock --schema two.json
    stop_daemon
    for options in '' --migrate --read-only; do
        # shellcheck disable=SC2086
        start_with --schema one.json $options
        grep -q 'warning the schema file one.json is ignored: the store had this schema, version 1.0.0, and was migrated to version 2.0.0' log
        [[ $(larder fetch Volume --socket s.sock --select title,pages,price --output plain) == $'Sea\t120\t9.99' ]]
        stop_daemon
    done
    # As the warning says, the file is replaced with the schema of the store.
    larder schema show --store s.store --output json >current.json
    start_with --schema current.json
    run ! grep -q warning log
    stop_daemon
    # A command to migrate is not ignored.
    assert_status 65 larder migrate --store s.store --schema one.json
    [[ $stderr == *MIGRATION_REFUSED* ]]
    assert_status 65 larder count Writer --store s.store --schema one.json
    [[ $stderr == *SCHEMA_MISMATCH* ]]
}

@test "a schema file from before a migration of the same version is not taken for a newer one" {
    larder insert Book --store s.store --schema one.json title=Sea pages=120
    sed 's/2.0.0/1.0.0/' two.json >same.json
    larder migrate --store s.store --schema same.json
    # --migrate would delete all volumes.
    start_with --schema one.json --migrate
    [[ $(larder count Volume --socket s.sock) == 1 ]]
    stop_daemon
    # After a migration to the first schema again, the second one is the former.
    sed 's/"name": "Book"/"name": "Book", "originalName": "Volume"/' one.json >back.json
    larder migrate --store s.store --schema back.json --drop
    start_with --schema one.json
    run ! grep -q warning log
    stop_daemon
    start_with --schema same.json
    grep -q 'schema file same.json is ignored' log
    [[ $(larder count Book --socket s.sock) == 1 ]]
}

@test "a backup, a plan of stages and many migrations keep the record of former schemas" {
    larder insert Book --store s.store --schema one.json title=Sea pages=120
    sed 's/2.0.0/3.0.0/; s/"price"/"cost", "originalName": "price"/' two.json >three.json
    echo '{"stages": [{"from": "one.json", "to": "two.json"}, {"from": "two.json", "to": "three.json"}]}' >plan.json
    larder migrate --store s.store --plan plan.json
    larder backup --store s.store s.backup
    rm s.store
    larder restore s.backup --to s.store
    for file in one two; do
        start_with --schema $file.json
        grep -q "schema file $file.json is ignored" log
        stop_daemon
    done
}

@test "a migration that is killed at any time leaves the old store or the new one" {
    for ((i = 1; i <= 5000; i++)); do
        echo "{\"title\": \"book $i\", \"pages\": \"$i\"}"
    done >books.jsonl
    larder import Book --store old.store --schema one.json books.jsonl >/dev/null
    migrated=0
    for delay in 0 0.005 0.01 0.02 0.03 0.04 0.05 0.07 0.1 0.2; do
        rm -f s.store*
        cp old.store s.store
        larder migrate --store s.store --schema two.json >/dev/null 2>&1 3>&- &
        pid=$!
        sleep "$delay"
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" || true
        larder check --store s.store
        if [[ $(larder schema show --store s.store --output json) == *2.0.0* ]]; then
            migrated=$((migrated + 1))
        else
            [[ $(larder count Book --store s.store --where 'pages == "17"') == 1 ]]
            larder migrate --store s.store --schema two.json --drop
        fi
        [[ $(larder aggregate Volume --store s.store count sum:pages --output plain) == $'5000\t12502500' ]]
    done
    echo "# $migrated of 10 were migrated before the kill" >&3
}

# Extends the first schema by an attribute and an entity.
extend() {
    sed 's/"1.0.0"/"1.1.0"/; s/{"name": "title", "type": "string"},/&{"name": "price", "type": "decimal", "default": "9.99"},/
        s/{"name": "Writer", "attributes"/{"name": "Shop", "attributes": [{"name": "city", "type": "string"}]}, &/' one.json >added.json
}

@test "commands with --schema-version use a store as it was before a migration that adds" {
    extend
    book=$(larder insert Book --store s.store --schema one.json title=Sea pages=120)
    run larder migrate --store s.store --schema added.json --dry-run --output plain
    [[ $output == *$'clients\tbuilt for the old schema can go on'* ]]
    larder migrate --store s.store --schema added.json
    larderd --store s.store --socket s.sock 3>&- 2>log &
    daemon=$!
    export LARDER_SOCKET=s.sock
    larder ping --wait --timeout 300s
    [[ $(larder get "$book" --output jsonl) == *price* ]]
    [[ $(larder get "$book" --output jsonl --schema-version 1.1.0) == *price* ]]
    [[ $(larder get "$book" --output jsonl --schema-version 1.0.0) != *price* ]]
    [[ $(larder schema show --schema-version 1.0.0 --output json) == *'"1.0.0"'* ]]
    [[ $(larder schema show --schema-version 1.0.0 --output json) != *Shop* ]]
    [[ $(larder export Book --schema-version 1.0.0) != *price* ]]
    [[ $(larder export Book --schema-version 1.0.0 --output csv | head -1) != *price* ]]
    [[ $(larder export Book --output csv | head -1) == *price* ]]
    larder insert Book --schema-version 1.0.0 title=Sky
    [[ $(larder count Book --where 'price == 9.99') == 2 ]]
    assert_status 65 larder insert Book --schema-version 1.0.0 title=Sky price=1
    [[ $stderr == *UNKNOWN_PROPERTY* ]]
    assert_status 4 larder count Shop --schema-version 1.0.0
    [[ $stderr == *UNKNOWN_ENTITY* ]]
    larder insert Shop city=Bern
    larder update "$book" price=1
    [[ $(larder history --schema-version 1.0.0 --output jsonl) != *@(Shop|price)* ]]
    [[ $(larder history --output jsonl) == *Shop* ]]
    larder check --schema-version 1.0.0
    assert_status 65 larder count Book --schema-version 0.9.0
    [[ $stderr == *SCHEMA_MISMATCH* && $stderr == *0.9.0* && $stderr == *1.1.0* ]]
    stop_daemon
    unset LARDER_SOCKET
    # Without a server too.
    [[ $(larder fetch Book --store s.store --schema-version 1.0.0 --output jsonl) != *price* ]]
    larder migrate --store s.store --schema two.json --drop
    assert_status 65 larder count Book --store s.store --schema-version 1.0.0
    [[ $stderr == *SCHEMA_MISMATCH* && $stderr == *1.0.0* && $stderr == *2.0.0* ]]
}
