# A store in PostgreSQL: larderd beside a database of the test's own.

load ../helper

programs=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)

setup() {
    enter_scratch
    mkfifo input
    "$fixtures/../../LarderPostgresTests/postgres-server" "$programs" secret <input >folder 3>&- &
    server=$!
    exec 8>input
    for ((i = 0; i < 600; i++)); do
        [ ! -s folder ] || break
        sleep 0.1
    done
    folder=$(cat folder)
    echo '*:*:*:owner:secret' >passwords
    chmod 600 passwords
    export PGPASSFILE=$scratch/passwords
    address="postgresql://owner@/postgres?host=$folder"
}

teardown() {
    exec 8>&-
    leave_scratch
    wait "$server" || true
}

serve() {
    larderd --store "$address&schema=articles" --schema "$fixtures/articles.json" \
        --socket "$LARDER_SOCKET" 2>>log 3>&- 8>&- &
    daemon=$!
}

# Stops or starts the database: the name of the action, and its options.
database() {
    local as=()
    [ "$(id -u)" != 0 ] || as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
    (cd "$folder" && "${as[@]}" "$programs/pg_ctl" -D data -l log -w "$@" >/dev/null 3>&- 8>&-)
}

start_database() {
    database start -o "-k '$folder' -c listen_addresses= -c fsync=off -c max_connections=30"
}

sql() { "$programs/psql" -X -A -t -h "$folder" -U owner -d postgres -c "$1"; }

@test "objects in PostgreSQL are inserted, queried, grouped and explained, and SQL tools read them" {
    serve
    larder ping --wait --timeout 300s >/dev/null
    category=$(larder insert Category name=tech)
    one=$(larder insert Article title=one wordCount=10 price=1.50 category="$category" \
        published=2026-01-31T08:15:00Z)
    larder save - <<END >/dev/null
{"insert": {"@id": "t:arts", "@entity": "Category", "name": "arts"}}
{"insert": {"@entity": "Article", "title": "two", "wordCount": 20, "category": "t:arts"}}
{"insert": {"@entity": "Article", "title": "three", "wordCount": 30, "category": "t:arts"}}
END
    assert_equal 3 "$(larder count Article)"
    assert_equal one "$(larder fetch Article --where 'category.name == "tech"' --select title)"
    assert_equal $'three\ntwo' \
        "$(larder fetch Article --where 'wordCount > 10' --sort title --select title)"
    assert_equal $'arts\t2\t50\ntech\t1\t10' \
        "$(larder aggregate Article --group-by category.name --sort category.name count sum:wordCount)"
    assert_equal '{"title":"one","price":"1.5","published":"2026-01-31T08:15:00Z"}' \
        "$(larder get "$one" --output jsonl | jq -c '{title, price, published}')"
    assert_contains "$(larder explain Article --where 'wordCount > 5')" 'Filter: ("wordCount" >'
    assert_equal $'one|10\nthree|30\ntwo|20' \
        "$(sql 'SELECT title, "wordCount" FROM articles."Article" ORDER BY title')"
    # The store is found again, without its schema.
    stop_daemon
    larderd --store "$address&schema=articles" --socket "$LARDER_SOCKET" 2>>log 3>&- 8>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    assert_equal 3 "$(larder count Article)"
}

@test "objects in PostgreSQL are updated, imported and deleted, by the rules of the schema" {
    serve
    larder ping --wait --timeout 300s >/dev/null
    category=$(larder insert Category name=tech)
    one=$(larder insert Article title=one wordCount=10 category="$category")
    larder update "$one" title=uno wordCount=11
    assert_equal $'uno\t11' "$(larder fetch Article --select title,wordCount)"
    run --separate-stderr larder update "$one" wordCount=-1
    [ "$status" != 0 ]
    assert_contains "$stderr" 'error[VALIDATION_FAILED]: Article.wordCount'
    seq 2 301 | sed 's/.*/{"title": "t&", "wordCount": &}/' >articles.jsonl
    assert_equal 300 "$(larder import Article articles.jsonl)"
    assert_equal 301 "$(larder count Article)"
    assert_equal 290 "$(larder update Article --where 'wordCount > 11' --set price=2)"
    assert_equal 290 "$(larder count Article --where 'price == 2')"
    # The category is nullified in the article.
    larder delete "$category"
    assert_equal 1 "$(larder count Article --where 'title == "uno" AND category == nil')"
    assert_equal 292 "$(larder delete Article --where 'wordCount > 10')"
    assert_equal 9 "$(sql 'SELECT count(*) FROM articles."Article"')"
}

@test "a second value of a unique attribute in PostgreSQL is an error, and stores nothing" {
    serve
    larder ping --wait --timeout 300s >/dev/null
    larder insert Category name=tech >/dev/null
    run --separate-stderr larder insert Category name=tech
    [ "$status" != 0 ]
    assert_contains "$stderr" 'error[UNIQUENESS_VIOLATED]'
    assert_equal 1 "$(larder count Category)"
}

# The error of a larderd that cannot start.
refusal() { timeout 60 larderd --socket "$LARDER_SOCKET" "$@" 2>&1 8>&- || true; }

@test "an address with a password, or of something that is no store, is an error" {
    text=$(refusal --store "postgresql://owner:secret@/postgres?host=$folder")
    assert_contains "$text" 'error[USAGE]: --store has a password'
    [[ $text != *secret* ]]
    assert_contains "$(refusal --store "$address&schema=pg_catalog")" \
        'error[MALFORMED_VALUE]: the address of the database is malformed: the name of its schema'
    assert_contains "$(refusal --store "postgresql://owner@/none?host=$folder")" \
        'error[NOT_A_STORE]: database "none" does not exist'
    assert_contains "$(refusal --store "$address")" \
        'error[NOT_A_STORE]: there is no store in the schema larder'
    assert_contains "$(refusal --store "postgresql://stranger@/postgres?host=$folder")" \
        'error[PERMISSION_DENIED]: the database refused'
    sql 'CREATE SCHEMA other; CREATE TABLE other.something (name text)' >/dev/null
    assert_contains "$(refusal --store "$address&schema=other")" \
        'error[NOT_A_STORE]: the schema other is not that of a store'
    assert_contains "$(refusal --store "$address" --archive archive)" \
        '--archive requires a store in a file'
}

@test "larderd waits for its database and says so, and serves when it can be reached" {
    database stop -m fast
    serve
    for ((i = 0; i < 600; i++)); do
        ! grep -q 'waiting for the database' log 2>/dev/null || break
        sleep 0.1
    done
    assert_contains "$(cat log)" 'waiting for the database: the database cannot be reached'
    start_database
    larder ping --wait --timeout 300s >/dev/null
    assert_contains "$(cat log)" 'can be reached'
    larder insert Category name=tech >/dev/null
    assert_equal 1 "$(larder count Category)"
}

@test "requests fail while the database is away, and succeed after it has come back" {
    serve
    larder ping --wait --timeout 300s >/dev/null
    larder insert Category name=tech >/dev/null
    database stop -m fast
    run --separate-stderr larder count Category
    [ "$status" != 0 ]
    assert_contains "$stderr" 'error[UNAVAILABLE]'
    run --separate-stderr larder insert Category name=arts
    [ "$status" != 0 ]
    assert_contains "$stderr" 'error[UNAVAILABLE]'
    start_database
    assert_equal 1 "$(larder count Category)"
    larder insert Category name=arts >/dev/null
    assert_equal 2 "$(larder count Category)"
}
