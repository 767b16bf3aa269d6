# The steps of the newcomer's list that no other test has: `bash -e newcomer.bash NOTE`. Each runs in a
# folder of its own, beside a server with books ($LARDER_SOCKET).

fixtures=$(dirname "${BASH_SOURCE[0]}")/../Fixtures

# The schema of the server, and of the stores that a step makes.
library() {
    cat <<'END'
{ "version": "1.0.0", "entities": [
  { "name": "Author",
    "attributes": [ { "name": "name", "type": "string", "unique": true } ],
    "relationships": [ { "name": "books", "destination": "Book", "toMany": true, "inverse": "author", "deleteRule": "cascade" } ] },
  { "name": "Tag",
    "attributes": [ { "name": "name", "type": "string", "unique": true } ],
    "relationships": [ { "name": "books", "destination": "Book", "toMany": true, "inverse": "tags" } ] },
  { "name": "Book",
    "attributes": [
      { "name": "title", "type": "string" },
      { "name": "pages", "type": "int64", "default": 0, "minimum": 0 },
      { "name": "price", "type": "decimal", "optional": true, "scale": 2 },
      { "name": "published", "type": "date", "optional": true },
      { "name": "blurb", "type": "string", "optional": true },
      { "name": "meta", "type": "json", "optional": true } ],
    "relationships": [
      { "name": "author", "destination": "Author", "inverse": "books" },
      { "name": "tags", "destination": "Tag", "toMany": true, "inverse": "books" } ] } ] }
END
}

# Books of 3 authors, with 2 tags.
books() {
    seq 1 60 | awk '{ printf "{\"title\": \"Book %d\", \"pages\": %d, \"price\": %d.5, " \
        "\"published\": \"2026-0%d-15T23:30:00Z\", \"blurb\": \"the story of number %d\", " \
        "\"meta\": {\"lang\": \"%s\", \"dims\": {\"w\": %d}}, " \
        "\"author\": {\"name\": \"Author %d\"}, \"tags\": [{\"name\": \"novel\"}%s]}\n", \
        $1, $1 * 10, $1, $1 % 6 + 1, $1, ($1 % 2 ? "de" : "en"), $1, $1 % 3, \
        ($1 % 2 ? ", {\"name\": \"classic\"}" : "") }'
}

equal() {
    [ "$1" = "$2" ] || { printf 'expected: %s\nfound:    %s\n' "$1" "$2"; exit 1; }
}

has() {
    [[ "$1" == *"$2"* ]] || { printf 'text: %s\nlacks: %s\n' "$1" "$2"; exit 1; }
}

# fails STATUS COMMAND…: the command ends with the status. Sets $output and $error.
fails() {
    local expected=$1 status=0
    shift
    output=$("$@" 2>error) || status=$?
    error=$(cat error)
    equal "$expected" "$status"
}

# A store of this folder.
local_store() {
    library >library.json
    books >books.jsonl
    larder import Book books.jsonl --create-related --store books.store --schema library.json >count
    equal 60 "$(cat count)"
    unset LARDER_SOCKET
}

step_A1() {
    larder schema init book.json
    larder schema check book.json >checked
    cp book.json before
    fails 5 larder schema init book.json
    has "$error" 'book.json exists already'
    cmp book.json before
}

step_A3() {
    cat >typo.json <<'END'
{ "version": "1", "entities": [
  { "name": "Book", "atributes": [],
    "attributes": [ { "name": "title", "type": "sting" }, { "name": "2x", "type": "int64" } ],
    "relationships": [ { "name": "author", "destination": "Autor" } ] },
  { "name": "Author", "attributes": [ { "name": "name", "type": "string", "minimum": 1 } ] } ] }
END
    fails 65 larder schema check typo.json
    for part in 'the schema has 6 errors' 'did you mean "attributes"' 'did you mean "string"' \
        'did you mean "Author"' 'entities[0].attributes[1].name' 'expected a string'; do
        has "$error" "$part"
    done
}

step_A4() {
    library >library.json
    larderd --store new.store --schema library.json --socket ./new.sock 2>log 3>&- &
    larder ping --wait --socket ./new.sock >pong
    equal 1 "$(wc -l <log)"
    kill "$!"
    wait "$!"
}

step_A5() {
    fails 65 larder insert Book titel=Dune
    has "$error" 'did you mean "title"?'
    fails 4 larder insert Bok title=Dune
    has "$error" 'did you mean "Book"?'
}

step_A7() {
    local_store
    printf '\xef\xbb\xbfTitel;Seiten;Erschienen;Autor\r\nDüne;612;01.08.1965;Author 1\r\n' >de.csv
    options=(--map Titel=title --map Seiten=pages --map Erschienen=published --map Autor=author.name)
    fails 65 larder import Book de.csv --store books.store
    has "$error" "--delimiter ';'"
    equal 1 "$(larder import Book de.csv "${options[@]}" --delimiter ';' --date-format %d.%m.%Y \
        --store books.store)"
    equal 1965-08-01T00:00:00Z \
        "$(larder fetch Book --where 'title == "Düne"' --select published --store books.store)"
}

step_A9() {
    printf 'title\nCaf\xe9\n' >latin1.csv
    fails 65 larder import Book latin1.csv
    equal 1 "$(grep -o 'latin1.csv, line 2' <<<"$error" | wc -l)"
    has "$error" iconv
    has "$error" '-t utf-8'
    iconv -f utf-8 -t utf-16 latin1.csv >/dev/null 2>&1 || true
    printf '\xff\xfet\0i\0' >utf16.csv
    fails 65 larder import Book utf16.csv
    has "$error" 'iconv -f utf-16'
}

step_A10() {
    local_store
    printf 'Titel,Autor,Schlagworte\nDune,Frank,"sf,desert"\n' >new.csv
    equal 1 "$(larder import Book new.csv --map Titel=title --map Autor=author.name \
        --map Schlagworte=tags.name --list-separator , --create-related --store books.store)"
    equal $'Frank\tdesert, sf' "$(larder fetch Book --where 'title == "Dune"' \
        --select author.name,tags.name --store books.store)"
}

step_A15() {
    equal $'Book 3\nBook 6' \
        "$(larder fetch Book --sort author.name --sort title:localized --select title --limit 2)"
    equal 'Book 60' "$(larder fetch Book --sort title:localized:desc --select title --limit 1)"
}

step_A16() {
    larder aggregate Book --group-by 'month=month(published)' n=count total=sum:price >groups
    equal 6 "$(wc -l <groups)"
    larder aggregate Book --group-by 'month=month(published)' 'n=COUNT(*)' 'total=SUM(price)' |
        cmp groups -
    equal 305 "$(larder aggregate Book avg:pages | cut -d. -f1)"
}

step_A17() {
    equal 1 "$(larder fetch Book --where 'title == "Book 1"' \
        --select 'hour(published, "Europe/Berlin")' | sed 's/^0$/1/')"
    equal 2026-01-31T23:00:00Z "$(larder fetch Book --where 'title == "Book 1"' \
        --select 'startOf(published, "month", "Europe/Berlin")')"
    fails 65 larder count Book --where 'published > "2026-01-01T08:00"'
    has "$error" hint
}

step_A18() {
    local_store
    equal 3 "$(larder update Book --where 'pages < 40' --set 'pages=pages + 1' --dry-run --store books.store)"
    equal 3 "$(larder update Book --where 'pages < 40' --set 'pages=pages + 1' --store books.store)"
    equal 11 "$(larder fetch Book --where 'title == "Book 1"' --select pages --store books.store)"
}

step_A25() {
    local_store
    sed 's/"name": "pages", /&"indexed": true, /; s/"1.0.0"/"1.1.0"/' library.json >new.json
    has "$(larder schema diff library.json new.json)" 'index (pages) added'
    larder migrate --schema new.json --store books.store --dry-run >steps
    has "$(cat steps)" pages
    larder migrate --schema new.json --store books.store >migrated
    has "$(larder explain Book --where 'pages == 10' --store books.store)" 'USING INDEX'
}

step_A26() {
    local_store
    sed 's/"name": "pages", /"name": "length", "originalName": "pages", /; s/"1.0.0"/"1.1.0"/' \
        library.json >new.json
    larder migrate --schema new.json --store books.store >migrated
    equal 600 "$(larder aggregate Book maximum:length --store books.store)"
}

step_A27() {
    local_store
    sed 's/{ "name": "title"/{ "name": "isbn", "type": "string" }, &/; s/"1.0.0"/"1.1.0"/' \
        library.json >new.json
    fails 65 larder migrate --schema new.json --store books.store
    has "$error" isbn
    has "$error" optional
    has "$error" default
}

step_A34() {
    equal 61 "$(larder export Book --output csv | wc -l)"
    equal 'title,author.name' "$(larder fetch Book --select title,author.name --output csv | head -1 | tr -d '\r')"
}

step_A35() {
    has "$(larder fetch Book --search '"number 42" story' --select 'title,snippet(blurb, $search)')" \
        'the [story] of [number 42]'
}

step_A36() {
    equal $'"de"\n"en"' \
        "$(larder fetch Book --where 'meta.dims.w > 58' --select meta.lang --sort meta.lang)"
}

step_A37() {
    has "$(larder fetch Book --where 'title == "Book 7"' --select title,price --output table)" 7.50
    equal 7.5 "$(larder fetch Book --where 'title == "Book 7"' --select price)"
    equal 31.00 "$(larder aggregate Book average:price --output table | tail -1 | xargs)"
    equal '[{"average:price":"31"}]' "$(larder aggregate Book average:price --output json | jq -c .)"
}

step_A38() {
    equal $'Book 7\tclassic, novel' \
        "$(larder fetch Book --where 'title == "Book 7"' --select title,tags.name)"
    equal 'classic+novel' \
        "$(larder fetch Book --where 'title == "Book 7"' --select 'join(tags.name, "+")')"
}

step_A45() {
    [ "$(id -u)" = 0 ] || return 0
    larder ping >/dev/null
    status=0
    chmod 700 "$LARDER_SOCKET"
    setpriv --reuid nobody --clear-groups larder count Book 2>error || status=$?
    [ "$status" = 69 ] || [ "$status" = 5 ]
    has "$(cat error)" 'the mode'
}

step_A52() {
    fails 75 larder count Book --timeout 200ms --where \
        'SUBQUERY(author.books, $a, SUBQUERY($a.author.books, $b, SUBQUERY($b.author.books, $c, SUBQUERY($c.author.books, $d, $d.title MATCHES "(B|o)*x")
        .@count > 1).@count > 1).@count > 1).@count > 1'
    has "$error" '--query-timeout'
}

step_A54() {
    equal 0 "$(larder count Book --where 'title == "none"')"
    fails 64 larder cout Book
    fails 4 larder count Bok
    fails 65 larder count Book --where 'title ='
    fails 69 larder count Book --socket ./none.sock
}

step_A55() {
    equal 60 "$(env -i "LARDER_SOCKET=$LARDER_SOCKET" "$(command -v larder)" count Book)"
}

step_B4() {
    [ "$(id -u)" = 0 ] || return 0
    mkdir of-nobody
    chown nobody of-nobody
    library >library.json
    chmod 755 . ..
    setpriv --reuid nobody --clear-groups larderd --store of-nobody/x.store --schema library.json \
        --socket of-nobody/x.sock 2>log 3>&- &
    larder ping --wait --socket of-nobody/x.sock >pong
    equal 600 "$(stat -c %a of-nobody/x.store)"
    kill "$!"
    wait "$!"
}

step_B6() {
    library >library.json
    larderd --store new.store --schema library.json --socket ./new.sock \
        --max-connections-per-user 1 2>log 3>&- &
    server=$!
    larder ping --wait --socket ./new.sock >pong
    larder history --follow --socket ./new.sock >followed 3>&- &
    until ! larder ping --socket ./new.sock >pong 2>error; do :; done
    has "$(cat error)" 1
    kill "$!" "$server"
    wait "$server"
}

step_B16() {
    larder count Book --where 'SUBQUERY(author.books, $a, SUBQUERY($a.author.books, $b, SUBQUERY($b.author.books, $c, SUBQUERY($c.author.books, $d, SUBQUERY($d.author.books, $e, $e.title MATCHES "(B|o)*x").@count > 1).@count > 1).@count > 1).@count > 1).@count > 1' \
        >counted 2>&1 3>&- &
    query=$!
    until larder top --output json | jq -e '.[0].running[] | select(.query) | .query' >running; do
        kill -0 "$query"
    done
    has "$(cat running)" MATCHES
    larder cancel "$(larder top --output json | jq -r '.[0].running[] | select(.query) | .id')" >ended
    wait "$query" || true
}

step_B18() { has "$(larder ping --output json)" millisecond; }

step_B22() {
    larder stats --output json | jq -e '.[] | select(.name == "diskFreeBytes") | .value > 0' >/dev/null
}

step_C2() {
    "$fixtures/terminal" 80 24 timeout -s INT 2 larder top --interval 100ms --count 1 >top || true
    tr -d '\r' <top | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' >shown
    grep '^user ' shown >heading
    for name in user pid client age reqs /s open feeds memory id; do
        has " $(cat heading) " " $name "
    done
    awk 'length > 80 { exit 1 }' shown
}

step_C6() {
    fails 65 larder get dune
    has "$error" Article/p7
    fails 64 larder fetch Book --limit -1
    has "$error" 'must not be negative'
}

[ $# = 0 ] || "step_$1"
