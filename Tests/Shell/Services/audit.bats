load ../helper

# The values in the history: what has changed an object from what to what, and undoing it.

setup() {
    enter_scratch
    cat >books.json <<'EOF'
{ "version": "1.0.0",
  "entities": [
    { "name": "Author", "history": "values",
      "attributes": [ { "name": "name", "type": "string", "unique": true },
                      { "name": "owner", "type": "string", "default": "all" } ],
      "relationships": [ { "name": "books", "destination": "Book", "toMany": true,
                           "inverse": "author", "deleteRule": "cascade" } ] },
    { "name": "Book", "history": "values",
      "attributes": [ { "name": "title", "type": "string" },
                      { "name": "pages", "type": "int64", "optional": true } ],
      "relationships": [
        { "name": "author", "destination": "Author", "inverse": "books" },
        { "name": "tags", "destination": "Tag", "toMany": true, "inverse": "books" } ] },
    { "name": "Tag",
      "attributes": [ { "name": "name", "type": "string" } ],
      "relationships": [ { "name": "books", "destination": "Book", "toMany": true,
                           "inverse": "tags" } ] } ] }
EOF
    serve
    # Transactions 1 to 5.
    larder insert Author name=Ann >/dev/null
    larder insert Book title=Sea pages=10 author=Author/p1 >/dev/null
    larder insert Book title=Sky author=Author/p1 >/dev/null
    larder update Book/p1 title=Ocean pages=12 --author editor >/dev/null
    larder update Book/p2 title=Skies >/dev/null
}

# serve ARGUMENT…: starts a server.
serve() {
    larderd --store books.store --schema books.json --socket "$LARDER_SOCKET" "$@" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
}

# changes OBJECT OPTION…: transaction, author, kind, property, from, to and whether both are known.
changes() {
    larder history "$@" --output csv | tr -d '\r' | tail -n +2 | cut -d, -f 1,3,7-11 |
        sed "s|x-coredata://[^/]*/||g"
}

# book: the title and the pages of the first book.
book() { larder fetch Book --select title,pages --limit 1 --output csv | tail -1 | tr -d '\r'; }

@test "history of an object prints its values before and after each change" {
    assert_equal '2,"",inserted,author,,Author/p1,true
2,"",inserted,pages,,10,true
2,"",inserted,title,,Sea,true
4,editor,updated,pages,10,12,true
4,editor,updated,title,Sea,Ocean,true' "$(changes Book/p1)"
    assert_equal '4,editor,updated,pages,10,12,true
4,editor,updated,title,Sea,Ocean,true' "$(changes Book/p1 --after 3)"
    larder update Book/p1 author:=null >/dev/null
    assert_equal '6,"",updated,author,Author/p1,,true
4,editor,updated,pages,10,12,true
4,editor,updated,title,Sea,Ocean,true' "$(changes Book/p1 --last 2 --newest-first)"
    larder delete Book/p1
    assert_equal '7,"",deleted,pages,12,,true
7,"",deleted,title,Ocean,,true' "$(changes Book/p1 --last 1)"
    # The history has no values of an entity with the history `changes`.
    larder insert Tag name=a >/dev/null
    larder update Tag/p1 name=b >/dev/null
    assert_equal '8,"",inserted,name,,,false
9,"",updated,name,,b,false' "$(changes Tag/p1)"
    assert_status 4 larder history Book/p99
    for options in '--kind updated' '--follow' '--objects' '--limit 3' 'Author' "--where pages=1"; do
        # shellcheck disable=SC2086
        assert_status 64 larder history Book/p1 $options
    done
}

@test "revert undoes a transaction, and its own" {
    larder revert 4 --dry-run --output json | jq -c '.[] | [.change, .property, .from, .to]' >lines
    assert_equal '["updated","pages",12,10]
["updated","title","Ocean","Sea"]' "$(cat lines)"
    assert_equal Ocean "$(larder get Book/p1 --output json | jq -r '.[0].title')"
    larder revert 4 --author ann >/dev/null
    assert_equal 'Sea,10' "$(book)"
    assert_equal ann "$(larder history --last 1 --output json | jq -r '.[0].author')"
    larder revert 6 >/dev/null
    assert_equal 'Ocean,12' "$(book)"
    # An insert is undone by a deletion.
    larder insert Author name=Bob >/dev/null
    larder revert 8
    assert_equal 1 "$(larder count Author)"
}

@test "revert inserts deleted objects again, and references lead to the new ones" {
    larder insert Book title=Other >/dev/null
    assert_equal 3 "$(larder delete Author/p1)"
    larder revert 7 --output jsonl >lines
    new=$(jq -r 'select(.property == "name") | ."@id"' lines)
    [[ $new = */Author/p2 ]]
    assert_equal "$new" "$(jq -r 'select(.property == "author") | .to' lines | sort -u)"
    assert_equal 'Ocean 12 Ann,Skies  Ann' \
        "$(larder fetch Book --where 'author != nil' --sort title --select 'title,pages,author.name' | tr '\t' ' ' | paste -sd,)"
    larder check
}

@test "revert names each conflict and changes nothing" {
    larder update Book/p1 title=Later >/dev/null
    assert_status 3 larder revert 4
    assert_contains "$stderr" "error[VERSION_CONFLICT]: 4 cannot be reverted: there is 1 conflict"
    assert_contains "$stderr" "Book/p1.title was changed again by transaction 6"
    assert_equal 'Later,12' "$(book)"
    larder delete Book/p2
    assert_status 3 larder revert 5
    assert_contains "$stderr" "Book/p2 was deleted by transaction 7"
    # It was changed by the insert of its book.
    assert_status 3 larder revert 1
    assert_contains "$stderr" "Author/p1 was changed again by transaction 7"
    larder insert Tag name=a 'books:=["Book/p1"]' >/dev/null
    larder update Tag/p1 name=b 'books:=[]' >/dev/null
    assert_status 3 larder revert 9
    assert_contains "$stderr" "there are 3 conflicts"
    assert_contains "$stderr" "Tag/p1.name: the history does not have its value"
    assert_contains "$stderr" "Tag/p1.books: the history does not have its value"
    larder delete Tag/p1
    assert_status 3 larder revert 10
    assert_contains "$stderr" "Tag/p1: the history does not have its values"
    assert_status 4 larder revert 99
    assert_status 64 larder revert Book/p1
    assert_status 64 larder revert 4 --to 3
    larder history delete --up-to 5
    assert_status 4 larder revert 4
}

@test "revert --to gives an object the values that it had, also if it is deleted" {
    larder update Book/p1 title=Later pages:=null >/dev/null
    larder revert Book/p1 --to 4 >/dev/null
    assert_equal 'Ocean,12' "$(book)"
    assert_equal '' "$(larder revert Book/p1 --to 4)"
    assert_status 4 larder revert Book/p1 --to 1
    assert_contains "$stderr" "Book/p1 did not exist after transaction 1"
    larder delete Book/p1
    assert_contains "$(larder revert Book/p1 --to 2 | head -1)" Book/p3
    assert_equal 'Sea 10 Ann' \
        "$(larder fetch Book --where 'SELF == %@' --arg Book/p3 --select 'title,pages,author.name' | tr '\t' ' ')"
    assert_status 4 larder revert Book/p1 --to 99
}

@test "values in the history obey policies" {
    chmod 755 "$scratch"
    larder update Author/p1 owner=daemon name=Secret >/dev/null
    larder update Author/p1 name=Public >/dev/null
    stop_daemon
    [ "$(id -u)" = 0 ] || skip "it becomes other users"
    cat >books.policy <<'EOF'
{ "roles": [
  { "name": "clerk", "users": ["daemon"],
    "entities": {
      "Author": { "read": "owner == $user", "history": true },
      "Book": { "read": true, "update": true, "history": true, "hidden": ["pages"] } } } ] }
EOF
    serve --policy books.policy --mode 0666
    as_daemon=(setpriv --reuid daemon --regid daemon --clear-groups)
    "${as_daemon[@]}" larder history --output jsonl >history
    # Neither the name of an object that belonged to another, nor a reference to it, nor what is hidden.
    run ! grep -E 'Secret|Ann|pages' history
    assert_contains "$(cat history)" '"title":"Sea"'
    larder update Book/p1 author:=null >/dev/null
    "${as_daemon[@]}" larder history Book/p1 --output jsonl | tail -1 >last
    assert_equal '["updated","author",null,false]' "$(jq -c '[.kind, .property, .from, .recorded]' last)"
    # The hidden value stays as it is.
    "${as_daemon[@]}" larder revert 4 >/dev/null
    assert_equal 'Sea,12' "$(book)"
}

@test "delete --dry-run counts what delete rules delete, and reports their errors" {
    assert_equal 3 "$(larder delete Author/p1 --dry-run)"
    assert_equal 3 "$(larder delete Author --where 'name == "Ann"' --dry-run)"
    assert_equal '[{"deleted":3}]' "$(larder delete Author --all --dry-run --output json | tr -d ' \n')"
    assert_equal 1 "$(larder delete Author --all --dry-run --ids | wc -l)"
    assert_equal 1 "$(larder count Author)"
    assert_equal 2 "$(larder count Book)"
    assert_equal 5 "$(larder history token | sed 's/.*-n//')"
    assert_status 4 larder delete Book/p99 --dry-run
    assert_equal 3 "$(larder delete Author/p1)"
}

@test "migrate refuses to remove objects and values without --drop" {
    jq '.version = "2.0.0" | .entities |= map(select(.name != "Tag")) |
        (.entities[] | .relationships) |= map(select(.name != "tags")) |
        (.entities[1].attributes) |= map(select(.name != "pages"))' books.json >less.json
    # Without values, nothing is lost.
    larder insert Tag name=a >/dev/null
    assert_status 65 larder migrate --schema less.json
    assert_contains "$stderr" "error[MIGRATION_REFUSED]: the migration would remove objects or values"
    assert_contains "$stderr" "1 object of Tag"
    assert_contains "$stderr" "1 value of Book.pages"
    assert_contains "$stderr" "hint: pass --drop"
    assert_status 65 larder migrate --schema less.json --keep-backup kept.backup
    [ ! -e kept.backup ]
    larder migrate --schema less.json --dry-run >plan
    assert_contains "$(cat plan)" "Tag: removed, with its objects"
    larder delete Tag/p1
    larder update Book/p1 pages:=null >/dev/null
    larder migrate --schema less.json
    stop_daemon
    jq '.version = "3.0.0" | del(.entities[0].relationships, .entities[1].relationships)' less.json >least.json
    assert_status 65 larder migrate --store books.store --schema least.json
    assert_contains "$stderr" "2 values of Book.author"
    larder migrate --store books.store --schema least.json --drop
    assert_equal 2 "$(larder count Book --store books.store)"
}

@test "migrate asks on a terminal before it removes objects" {
    jq '.version = "2.0.0" | .entities |= [.[0]] | del(.entities[0].relationships)' books.json >less.json
    # script runs the command on a terminal of its own.
    answer() { echo "$1" | script -qec "larder migrate --schema less.json" /dev/null >asked 2>&1; }
    run answer n
    assert_contains "$(cat asked)" "The migration removes 2 objects of Book. Continue? [y/N]"
    assert_contains "$(cat asked)" "nothing was changed"
    assert_equal 2 "$(larder count Book)"
    answer y
    assert_status 4 larder count Book
}

@test "restore --at before the first commit of an archive names the range" {
    stop_daemon
    mkdir archive
    rm books.store*
    serve --archive archive --archive-interval 1
    larder insert Author name=Ann >/dev/null
    until larder stats | grep -q 'archivedTransaction.1'; do kill -0 "$daemon"; done
    stop_daemon
    assert_status 4 larder restore --archive archive --to new.store --at 2020-01-01T00:00:00Z
    assert_contains "$stderr" "the archive begins with transaction 1 of 20"
    assert_contains "$stderr" "hint: it can be restored to times from 20"
    [ ! -e new.store ]
    larder restore --archive archive --to new.store --at 0
    assert_equal 0 "$(larder count Author --store new.store 2>/dev/null)"
}
