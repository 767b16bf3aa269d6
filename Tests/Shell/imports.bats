load helper

teardown() {
    umount --lazy "$scratch/small" 2>/dev/null || true
    leave_scratch
}

@test "import stores many objects and export prints them" {
    seq 1 5000 | sed 's/.*/{"int64": &, "string": "n&"}/' >in
    assert_status 0 larder import Sample in
    assert_equal 5000 "$output"
    larder export Sample --select int64,string >out
    jq -c . in | cmp - out
}

@test "the output of export can be imported into another store" {
    insert_articles
    larder export Category >categories
    larder export Article --select title,wordCount,published >articles
    larder --version >/dev/null
    larder import Category categories --store copy.store --schema "$schema" >/dev/null
    larder import Article articles --store copy.store >/dev/null
    assert_equal "$(larder fetch Article --select title,wordCount,published --sort title)" \
        "$(larder fetch Article --select title,wordCount,published --sort title \
            --store copy.store)"
    assert_equal 3 "$(larder count Category --store copy.store)"
}

@test "import rejects a URI of another store" {
    insert_articles
    larder export Article >articles
    assert_status 4 larder import Article articles --store copy.store --schema "$schema"
    assert_contains "$stderr" "error[FOREIGN_IDENTIFIER]"
}

@test "csv import uses the header, distinguishes nil from the empty string, and round-trips" {
    printf 'string,int64,date\r\n"a,""b""\nc",1,2026-01-31T08:15:00Z\r\n"",2,\r\n,3,\r\n' >in.csv
    assert_status 0 larder import Sample in.csv
    assert_equal 3 "$output"
    larder export Sample --select string,int64,date --output csv | cmp - in.csv
    larder export Sample --output csv >whole.csv
    assert_status 0 larder import Sample - --format csv <whole.csv
    assert_equal 6 "$(larder count Sample)"
}

@test "a standard input that does not block is waited for" {
    mkfifo pipe
    python3 -c 'import os; os.set_blocking(0, False); os.execvp("larder", ["larder", "import", "Category", "-"])' <pipe >count 3>&- &
    reader=$!
    exec {writer}>pipe
    # The system calls poll and ppoll, by their numbers on the machines of Debian.
    until [[ $(cut -d ' ' -f 1 "/proc/$reader/syscall") =~ ^(7|73|271)$ ]]; do kill -0 "$reader"; done
    echo '{"name": "late"}' >&"$writer"
    exec {writer}>&-
    wait "$reader"
    assert_equal 1 "$(cat count)"
}

@test "an import error names the line, the property and the last committed line" {
    { seq 1 4500 | sed 's/.*/{"int64": &}/'; echo '{"int64": "x"}'; } >in
    assert_status 65 larder import Sample in
    assert_contains "$stderr" "in, line 4501: Sample.int64"
    assert_contains "$stderr" "up to line 4000 were committed (4000 objects)"
    assert_equal 4000 "$(larder count Sample)"
}

@test "an error of the store names the line, and its transaction is not committed" {
    printf '{"name": "a"}\n{"name": "b"}\n{"name": "a"}\n' >in
    assert_status 65 larder import Category in
    assert_contains "$stderr" "error[UNIQUENESS_VIOLATED]"
    assert_contains "$stderr" "line"
    assert_contains "$stderr" "nothing from in was committed"
    assert_equal 0 "$(larder count Category)"
}

@test "an error of the store about one value shows it, also after many rows" {
    { seq 1 4500 | sed 's/.*/{"title": "a&", "wordCount": &}/'; echo '{"title": "b", "wordCount": -7}'; } >in
    for options in '' --upsert; do
        assert_status 65 larder import Article in $options
        assert_contains "$stderr" 'in, line 4501: Article.wordCount must not be less than 0, found "-7"'
        larder delete Article --all >/dev/null
    done
    printf 'title,wordCount\nx,1\ny,-30\n' >in.csv
    assert_status 65 larder import Article in.csv
    assert_contains "$stderr" 'in.csv, line 3: Article.wordCount must not be less than 0, found "-30"'
    printf '{"name": "a"}\n{"name": "a"}\n' >in
    assert_status 65 larder import Category in
    assert_contains "$stderr" 'found "a"'
}

@test "csv with an invalid header, too few fields or an unclosed quotation mark is rejected" {
    printf 'nothing\n1\n' >a.csv
    assert_status 65 larder import Sample a.csv
    assert_contains "$stderr" "line 1: Sample has no property \"nothing\""
    printf 'int64,string\n1\n' >b.csv
    assert_status 65 larder import Sample b.csv
    assert_contains "$stderr" "line 2"
    printf 'string\n"abc\n' >c.csv
    assert_status 65 larder import Sample c.csv
    assert_contains "$stderr" "not closed"
}

@test "--upsert updates objects that already have the unique values" {
    larder insert Category name=a >first
    printf '{"name": "a"}\n{"name": "b"}\n' >in
    assert_status 0 larder import Category in --upsert
    assert_equal 2 "$output"
    assert_status 0 larder import Category in --upsert
    assert_equal 2 "$(larder count Category)"
    assert_equal "$(cat first)" "$(larder insert Category name=a --upsert)"
}

@test "an empty file is valid, a missing file is an error" {
    : >empty
    assert_status 0 larder import Sample empty
    assert_equal 0 "$output"
    assert_status 74 larder import Sample nowhere
    assert_contains "$stderr" "nowhere"
}

# many [COUNT]: prints the lines of more objects than a few transactions have.
many() { seq 1 "${1:-70000}" | sed 's/.*/{"title": "t&", "wordCount": &}/'; }

@test "an import error names the line, and the transactions before it are committed" {
    { many; echo '{"title": "bad", "wordCount": -1}'; many 5; } >in
    assert_status 65 larder import Article in
    assert_contains "$stderr" "error[VALIDATION_FAILED]: in, line 70001: Article.wordCount"
    assert_contains "$stderr" "up to line 70000 were committed (70000 objects)"
    assert_equal 70000 "$(larder count Article)"
}

@test "--atomic imports the whole file or nothing" {
    many >in
    assert_status 0 larder import Article in --atomic
    assert_equal 70000 "$output"
    assert_equal 70000 "$(larder count Article)"
    { many; echo '{"title": "bad", "wordCount": -1}'; many 5; } >bad
    assert_status 65 larder import Article bad --atomic
    assert_contains "$stderr" "error[VALIDATION_FAILED]: bad, line 70001: Article.wordCount"
    assert_contains "$stderr" "nothing from bad was committed"
    { many; echo '{"title": "bad", "wordCount": "x"}'; } >typed
    assert_status 65 larder import Article typed --atomic
    assert_contains "$stderr" "typed, line 70001: Article.wordCount"
    assert_equal 70000 "$(larder count Article)"
    assert_equal "" "$(find . -name '*spool*')"
}

@test "a csv error names the correct line if values span several lines" {
    { echo 'name'; seq 1 3000 | sed 's/.*/"a\n&"/'; echo '"a'; echo '5"'; } >in.csv
    assert_status 65 larder import Category in.csv --atomic
    assert_contains "$stderr" "error[UNIQUENESS_VIOLATED]: in.csv, line 6002: Category.name must be unique"
    assert_equal 0 "$(larder count Category)"
    assert_status 65 larder import Category in.csv
    assert_contains "$stderr" "error[UNIQUENESS_VIOLATED]: in.csv, line 6002"
    assert_contains "$stderr" "up to line 4000 were committed (2000 objects)"
    assert_equal 2000 "$(larder count Category)"
}

@test "properties that a line omits get their defaults" {
    printf '%s\n' '{"title": "a"}' '{"title": "b", "wordCount": 3}' '{}' >in
    assert_status 65 larder import Article in
    assert_contains "$stderr" "in, line 3: Article.title is required"
    head -2 in >two
    assert_status 0 larder import Article two
    assert_equal $'a\t0\nb\t3' "$(larder fetch Article --select title,wordCount --sort title)"
    echo '{}' >empty
    assert_status 0 larder import Sample empty
    assert_equal 1 "$(larder count Sample)"
}

@test "--ids prints URIs in the order of the file" {
    many 2500 >in
    assert_status 0 larder import Article in --ids
    printf '%s\n' "$output" >ids
    assert_equal 2500 "$(wc -l <ids)"
    assert_equal t2500 "$(larder get "$(tail -n 1 ids)" --output jsonl | jq -r .title)"
    printf '{"name": "%s"}\n' a b a >names
    assert_status 0 larder import Category names --upsert --ids
    assert_equal "$(sed -n 1p <<<"$output")" "$(sed -n 3p <<<"$output")"
    printf '{"name": "%s"}\n' c a c >more
    assert_status 0 larder import Category more --upsert --atomic --ids
    assert_equal "$(sed -n 1p <<<"$output")" "$(sed -n 3p <<<"$output")"
    assert_equal 3 "$(larder count Category)"
}

@test "a disk without space for the rows of one transaction leaves the store unchanged" {
    mkdir small
    mount -t tmpfs -o size=4m none small 2>/dev/null || skip "needs to mount a file system"
    many 400000 >in
    larder import Article /dev/null --store small/store --schema "$schema" >/dev/null
    assert_status 74 larder import Article in --atomic --store small/store
    assert_contains "$stderr" "error[STORAGE_FULL]"
    assert_contains "$stderr" "nothing from in was committed"
    assert_equal 0 "$(larder count Article --store small/store)"
    head -n 9 in >few
    assert_status 0 larder import Article few --store small/store
}

# titles: the articles with their categories and collections, in the order of their keys.
titles() { larder fetch Article --select title,category.name,collection.name --output csv | tr -d '\r' | tail -n +2; }

@test "a related object is named by its unique value in csv, json and arguments" {
    insert_articles
    printf 'title,category.name\ncsv,arts\nnil,\n' >in.csv
    assert_status 0 larder import Article in.csv
    printf '{"title": "json", "category": {"name": "tech"}}\n{"title": "path", "category.name": "arts"}\n' >in
    assert_status 0 larder import Article in
    new=$(larder insert Article title=argument category.name=tech)
    larder insert Article - <<<'{"title": "input", "category": {"name": "arts"}}' >/dev/null
    assert_equal $'csv,arts,\nnil,,\njson,tech,\npath,arts,\nargument,tech,\ninput,arts,' \
        "$(titles | tail -n 6)"
    assert_status 0 larder update "$new" category.name=arts
    assert_status 0 larder update "$new" category.name=tech --base category.name=arts
    assert_equal tech "$(larder fetch Article --where 'title == "argument"' --select category.name)"
    assert_status 0 larder update Article --where 'title == "nil"' category.name=empty
    assert_equal 1 "$(larder count Article --where 'category.name == "empty"')"
    assert_equal 3 "$(larder count Category)"
}

@test "what export prints with unique values can be imported into another store" {
    insert_articles
    larder export Category --select name >categories
    for format in csv jsonl; do
        larder export Article --select title,category.name --output $format >articles.$format
        larder import Category categories --store $format.store --schema "$schema" >/dev/null
        assert_status 0 larder import Article articles.$format --store $format.store
        assert_equal "$(larder fetch Article --select title,category.name)" \
            "$(larder fetch Article --select title,category.name --store $format.store)"
    done
}

@test "a missing related object is an error with line, relationship and value" {
    insert_articles
    printf 'title,category.name\na,arts\nb,"no ""one"""\n' >in.csv
    assert_status 4 larder import Article in.csv
    assert_contains "$stderr" 'error[OBJECT_NOT_FOUND]: in.csv, line 3: Article.category: there is no Category with name "no "one""'
    assert_contains "$stderr" '--create-related'
    assert_contains "$stderr" 'nothing from in.csv was committed'
    { many 2500; echo '{"title": "x", "category": {"name": "nobody"}}'; } >in
    assert_status 4 larder import Article in
    assert_contains "$stderr" 'in, line 2501: Article.category'
    assert_contains "$stderr" 'up to line 2000 were committed (2000 objects)'
    assert_status 4 larder insert Article title=x category.name=nobody
    assert_status 4 larder update Article --all category.name=nobody
    assert_equal 3 "$(larder count Category)"
}

@test "related objects are looked up for many lines at once" {
    requests() { larder top --output json | jq '.[0].requests'; }
    seq 10000 | sed 's/.*/{"name": "c&"}/' >categories
    larder import Category categories >/dev/null
    { echo title,category.name; seq 10000 | sed 's/.*/t&,c&/'; } >in.csv
    before=$(requests)
    assert_status 0 larder import Article in.csv
    seq 10000 | sed 's/.*/{"title": "u&", "category": {"name": "c&"}}/' >in
    assert_status 0 larder import Article in
    assert_status 0 larder import Article in --create-related
    assert_equal 10000 "$(larder count Category --where 'articles.@count == 3')"
    [ $(($(requests) - before)) -le 60 ]
}

@test "--create-related creates each missing object once, with the objects that name it" {
    seq 1 3000 | sed 's/.*/{"title": "t&", "category": {"name": "c7"}, "collection": null}/' >in
    echo '{"title": "last", "category.name": "other"}' >>in
    assert_status 0 larder import Article in --create-related
    assert_equal 3001 "$output"
    assert_equal $'c7\t3000\nother\t1' "$(larder fetch Category --select name,articles.@count --sort name)"
    # Two transactions of 2,000 lines at most, and each creates a category.
    assert_equal 2 "$(larder history --output jsonl | wc -l)"
    printf '{"title": "%s", "category.name": "new"}\n' a b >bad
    echo '{"title": "c", "wordCount": -1}' >>bad
    assert_status 65 larder import Article bad --create-related
    assert_contains "$stderr" 'bad, line 3: Article.wordCount'
    assert_equal 0 "$(larder count Category --where 'name == "new"')"
    larder insert Article title=x category.name=new --create-related >uri
    assert_contains "$(cat uri)" /Article/p
    assert_status 0 larder update "$(cat uri)" category.name=newer --create-related
    assert_status 0 larder update Article --where 'title == "t1"' category.name=newest --create-related
    assert_equal 1 "$(larder count Article --where 'category.name == "newest"')"
}

@test "two imports at once can create the same related objects" {
    seq 20000 | awk '{print "{\"title\": \"t" $1 "\", \"category\": {\"name\": \"c" int($1 / 4) "\"}}"}' >in
    larder import Article in --create-related >first 2>&1 &
    assert_status 0 larder import Article in --create-related
    wait $!
    assert_equal 20000 "$(cat first)"
    assert_equal 40000 "$(larder count Article --where 'category != nil')"
    assert_equal 5001 "$(larder count Category)"
}

@test "an error of the input of insert names its line" {
    assert_status 65 larder insert Article - --create-related <<<'{"title": "a", "category": {"name": "c"}}
{"title": "b", "wordCount": -1}'
    assert_contains "$stderr" 'standard input, line 2: Article.wordCount must not be less than 0'
}

@test "--create-related requires the required attributes, and does not change existing objects" {
    cat >library.json <<'END'
{"version": "1.0.0", "entities": [
  {"name": "Author", "attributes": [{"name": "name", "type": "string", "unique": true}, {"name": "born", "type": "int64"}],
   "relationships": [{"name": "country", "destination": "Country"}]},
  {"name": "Country", "attributes": [{"name": "code", "type": "string", "unique": true}, {"name": "area", "type": "double", "default": 0}]},
  {"name": "Book", "attributes": [{"name": "title", "type": "string"}], "relationships": [{"name": "author", "destination": "Author"}]}]}
END
    library() { larder "$@" --store library.store --schema library.json; }
    echo '{"title": "a", "author": {"name": "Ann"}}' >in
    assert_status 65 library import Book in --create-related
    assert_contains "$stderr" 'error[MISSING_VALUE]: in, line 1: Book.author: the new Author with name "Ann" requires a value of born'
    cat >in.csv <<'END'
title,author.name,author.born,author.country.code
a,Ann,1970,fr
b,Bob,1980,fr
c,Ann,1999,de
END
    assert_status 0 library import Book in.csv --create-related
    # Ann exists when the third line names her, so its other values have no effect.
    assert_equal $'a\t1970\tfr\nb\t1980\tfr\nc\t1970\tfr' \
        "$(library fetch Book --select title,author.born,author.country.code)"
    assert_equal 1 "$(library count Country)"
}

@test "values that may name several objects are an error that names the unique ones" {
    insert_articles
    assert_status 65 larder insert Article title=x collection.name=week
    assert_contains "$stderr" 'error[INVALID_CHANGE_SET]: Article.collection: name may be the same for several objects of ArticleCollection'
    assert_contains "$stderr" 'has no uniqueness constraint, so write the URI'
    assert_status 65 larder insert Category --json '{"name": "x", "articles": [{"title": "one"}]}'
    assert_contains "$stderr" 'to find an object of Article, give all of title, collection'
    assert_status 0 larder insert Category --json '{"name": "x", "articles": [{"title": "one", "collection": "'"$week"'"}]}'
    assert_equal 1 "$(larder count Article --where 'category.name == "x"')"
    assert_status 65 larder insert Article --json '{"title": "x", "category": {"nam": "tech"}}'
    assert_contains "$stderr" 'Category has no property "nam"'
    assert_status 65 larder insert Article title=x category.name=tech category="$tech"
    assert_contains "$stderr" 'Article.category is given both as category and by the values of its object'
    assert_status 65 larder insert Article title.name=x
    assert_contains "$stderr" 'Article.title is an attribute, so it has no properties'
    assert_status 65 larder insert Category name=y articles.title=one
    assert_contains "$stderr" 'Category.articles is a to-many relationship and takes a list'
    assert_status 65 larder insert Article --json '{"title": "x", "category": {"@entity": "Sample", "bool": true}}'
    assert_contains "$stderr" 'Article.category takes objects of Category, not of Sample'
    assert_status 65 larder insert Article --json "{\"title\": \"x\", \"category\": {\"@id\": \"$tech\"}}"
    assert_contains "$stderr" 'Article.category: the JSON object has no property'
    assert_status 65 larder insert Category --json '{"name": "y", "articles": {"title": "one"}}'
    assert_contains "$stderr" 'Category.articles is a to-many relationship and takes an array'
    assert_status 65 larder save - <<<'{"insert": {"@entity": "Article", "title": "x", "category": {"name": "tech"}}}'
}

@test "a list of related objects in a csv field has the separator of --list-separator" {
    insert_articles
    printf 'name,articles\nx,Article/p1 | Article/p2\ny,\n' >in.csv
    assert_status 65 larder import Category in.csv
    assert_contains "$stderr" '--list-separator'
    assert_status 0 larder import Category in.csv --list-separator ' | '
    assert_equal $'x\t2\ny\t0' "$(larder fetch Category --where 'name IN {"x", "y"}' --select name,articles.@count)"
    cat >tags.json <<'END'
{"version": "1.0.0", "entities": [
  {"name": "Tag", "attributes": [{"name": "name", "type": "string", "unique": true}]},
  {"name": "Page", "attributes": [{"name": "title", "type": "string"}],
   "relationships": [{"name": "tags", "destination": "Tag", "toMany": true, "ordered": true}]}]}
END
    printf 'title,tags.name\na,one;two\nb,two;one;three\nc,\n' >pages.csv
    pages() { larder "$@" --store pages.store --schema tags.json; }
    assert_status 0 pages import Page pages.csv --list-separator ';' --create-related
    assert_equal $'2\n3\n0' "$(pages fetch Page --select tags.@count)"
    assert_equal 3 "$(pages count Tag)"
    assert_status 0 pages import Page pages.csv --list-separator ';' --atomic
    printf 'title,tags.name\nd,one;two;one\n' >pages.csv
    assert_status 65 pages import Page pages.csv --list-separator ';'
    assert_contains "$stderr" 'line 2: Page.tags: the list names the Tag with name "one" more than once'
}

# tree: larder for a store of nodes with parents.
tree() { larder "$@" --store tree.store --schema tree.json; }

write_tree_schema() {
    cat >tree.json <<'END'
{"version": "1.0.0", "entities": [
  {"name": "Node", "attributes": [{"name": "name", "type": "string", "unique": true}],
   "relationships": [{"name": "parent", "destination": "Node", "inverse": "children"},
                     {"name": "children", "destination": "Node", "toMany": true, "inverse": "parent"}]}]}
END
}

@test "a line can name an object of an earlier line of the file" {
    write_tree_schema
    { echo name,parent.name; echo 1,; seq 2 5000 | sed 's/.*/&,&/' | awk -F, '{print $1 "," $1 - 1}'; } >in.csv
    assert_status 0 tree import Node in.csv
    assert_equal 5000 "$(tree count Node)"
    assert_equal 4998 "$(tree fetch Node --where 'name == "4999"' --select parent.name)"
    printf '{"name": "a", "parent": {"name": "b"}}\n{"name": "b"}\n' >in
    assert_status 4 tree import Node in
    assert_contains "$stderr" 'in, line 1: Node.parent: there is no Node with name "b"'
    assert_status 0 tree import Node in --create-related --upsert
    assert_equal b "$(tree fetch Node --where 'name == "a"' --select parent.name)"
    assert_equal 1 "$(tree count Node --where 'name == "b"')"
    # The rows before the first name are a stream, and those from it on are change sets.
    { seq 2100 | sed 's/.*/{"name": "x&"}/'; echo '{"name": "y", "parent": {"name": "x2100"}}'
        echo '{"name": "z", "parent": {"name": "nobody"}}'; } >in
    assert_status 4 tree import Node in
    assert_contains "$stderr" 'in, line 2102: Node.parent: there is no Node with name "nobody"'
    assert_contains "$stderr" 'the objects up to line 2100 were committed (2100 objects)'
    assert_equal 2100 "$(tree count Node --where 'name BEGINSWITH "x"')"
    { seq 3 | sed 's/.*/{"name": "v&"}/'; echo '{"name": "w", "parent": {"name": "v3"}}'; } >in
    assert_status 0 tree import Node in --ids
    assert_equal 4 "$(wc -l <<<"$output")"
    assert_equal v3 "$(tree fetch Node --where 'name == "w"' --select parent.name)"
    assert_status 0 tree insert Node - <<<'{"name": "c"}
{"name": "d", "parent": {"name": "c"}}'
    printf '{"name": "e"}\n{"name": "f", "parent": {"name": "e"}}\n' >in
    assert_status 4 tree import Node in --atomic
    assert_equal 0 "$(tree count Node --where 'name == "e"')"
}

@test "options that cannot be combined with related objects are usage errors" {
    : >in
    assert_status 64 larder import Article in --atomic --create-related
    assert_contains "$stderr" '--atomic and --create-related cannot be combined'
    assert_status 64 larder insert Article title=x --create-related --idempotency-key k
    assert_status 64 larder update Article --all title=x --create-related --idempotency-key k
    assert_status 64 larder import Article in --header title
    assert_contains "$stderr" '--header requires --format csv or --format tsv'
}

@test "--map names the properties of columns, and leaves columns out" {
    printf 'Titre,Mots,a=b,Notes\nx,7,tech,\ny,8,arts,n\n' >in.csv
    assert_status 0 larder import Article in.csv --map Titre=title --map Mots=wordCount \
        --map a=b=category.name --map Notes= --create-related
    assert_equal $'x\t7\ttech\ny\t8\tarts' "$(larder fetch Article --select title,wordCount,category.name)"
    assert_status 65 larder import Article in.csv --map Titre=title
    assert_contains "$stderr" 'in.csv, line 1: Article has no property "Mots"'
    assert_contains "$stderr" "pass --map 'Mots=PROPERTY', or --map 'Mots=' to leave the column out"
    printf 'Title\nx\n' >capital.csv
    assert_status 65 larder import Article capital.csv
    assert_contains "$stderr" "did you mean \"title\"? pass --map 'Title=PROPERTY'"
    assert_status 65 larder import Article in.csv --map Titel=title
    assert_contains "$stderr" 'there is no column "Titel"'
    assert_contains "$stderr" 'did you mean "Titre"?'
    assert_status 65 larder import Article in.csv --map Titre=title --map Mots=title
    assert_contains "$stderr" 'more than one column has values of title'
    assert_status 64 larder import Article in.csv --map Titre
    assert_status 64 larder import Article in.csv --map a=title --map a=wordCount
}

@test "--header, --delimiter and --format tsv read files of other programs" {
    printf '\xef\xbb\xbfx;ignored;7\r\n"a;\r\n""b""";;8\r\n\r\n' >in.csv
    assert_status 0 larder import Article in.csv --header title,,wordCount --delimiter ';'
    assert_equal $'x\t7\na;\\r\\n"b"\t8' "$(larder fetch Article --select title,wordCount)"
    printf 'title\twordCount\n"t\t1"\t1\nt2\t2' >in.tsv
    assert_status 0 larder import Article in.tsv
    assert_status 0 larder import Article - --format csv --delimiter tab <in.tsv
    assert_equal 4 "$(larder count Article --where 'title BEGINSWITH "t"')"
    printf 'title;wordCount\nx;1\n' >semicolons.csv
    assert_status 65 larder import Article semicolons.csv
    assert_contains "$stderr" "hint: for this file, pass --delimiter ';'"
    printf 'title,wordCount\nx,1,2\n' >long.csv
    assert_status 65 larder import Article long.csv
    assert_contains "$stderr" 'line 2: the record has 3 fields, the header 2'
    printf '\xff\xfet\0' >utf16.csv
    assert_status 65 larder import Article utf16.csv
    assert_contains "$stderr" 'iconv'
    printf 'title\nx\xe9\n' >latin1.csv
    assert_status 65 larder import Article latin1.csv
    assert_contains "$stderr" 'latin1.csv, line 2: field 1 is not valid UTF-8'
    printf 'title\na\rb\n' >return.csv
    assert_status 65 larder import Article return.csv
    assert_contains "$stderr" 'line 2: a carriage return without a line feed'
    printf 'title,wordCount\n,1\n' >required.csv
    assert_status 65 larder import Article required.csv
    assert_contains "$stderr" 'an empty field is nil, and "" is the empty string'
    assert_status 64 larder import Article in.csv --header ,
    assert_status 64 larder import Article in.csv --delimiter '""'
    assert_status 64 larder import Article in.csv --list-separator ''
}

@test "--date-format reads dates that are not in ISO 8601" {
    # Each line has a format, a date in it, and the date in ISO 8601; - if it is not accepted.
    while IFS='|' read -r format text expected; do
        printf 'date\n"%s"\n' "$text" >in.csv
        larder delete Sample --all >/dev/null
        if [ "$expected" = - ]; then
            assert_status 65 larder import Sample in.csv --date-format "$format"
            assert_contains "$stderr" 'line 2: Sample.date: expected a date in the form of --date-format'
        else
            assert_status 0 larder import Sample in.csv --date-format "$format"
            assert_equal "$expected" "$(larder fetch Sample --select date)"
        fi
    done <<'END'
%d.%m.%Y|31.01.2026|2026-01-31T00:00:00Z
%d.%m.%Y|1.2.2026|2026-02-01T00:00:00Z
%d.%m.%Y|29.02.2025|-
%d.%m.%Y|1.2.26|-
%d.%m.%Y|1.2.2026 |-
%m/%d/%Y %I:%M %p|1/31/2026 12:05 AM|2026-01-31T00:05:00Z
%m/%d/%Y %I:%M %p|1/31/2026 12:05 pm|2026-01-31T12:05:00Z
%m/%d/%Y %I:%M %p|1/31/2026 13:05 PM|-
%Y%m%d%H%M%S|20260131081502|2026-01-31T08:15:02Z
%Y%m%d|2026131|-
%F %T%z|2026-01-31 08:15:02.25+02:00|2026-01-31T06:15:02.25Z
%d %b %Y|5 Mar 2026|2026-03-05T00:00:00Z
%B %d, %Y|march 5, 2026|2026-03-05T00:00:00Z
%B %d, %Y|mar 5, 2026|-
%s|86400|1970-01-02T00:00:00Z
%d%%%m%%%Y|1%2%2026|2026-02-01T00:00:00Z
END
    for format in '%d.%m.%y' '%d.%m' '%Y-%m-%b-%d' '%Y-%m-%d %I' '%Y-%m-%d %M' '%Q%s' '%Y-%m-%d %' '%Y-%Y-%m-%d'; do
        assert_status 64 larder import Sample in.csv --date-format "$format"
        assert_contains "$stderr" '--date-format'
    done
    printf 'date\n31.01.2026\n' >in.csv
    assert_status 65 larder import Sample in.csv
    assert_contains "$stderr" "pass --date-format, such as '%d.%m.%Y'"
}

@test "numbers, dates and booleans of csv are those of key=value" {
    while read -r column texts; do
        larder delete Sample --all >/dev/null
        echo "$column" >valid.csv
        for text in $texts; do
            if larder insert Sample "$column=$text" >/dev/null 2>&1; then
                printf '"%s"\n' "$text" >>valid.csv
            else
                printf '%s\n"%s"\n' "$column" "$text" >invalid.csv
                assert_status 65 larder import Sample invalid.csv
                assert_contains "$stderr" "invalid.csv, line 2: Sample.$column: expected"
            fi
        done
        larder fetch Sample --select "$column" >expected
        larder delete Sample --all >/dev/null
        assert_status 0 larder import Sample valid.csv
        larder fetch Sample --select "$column" | diff expected -
    done <<'END'
int64 0 -0 -7 007 +7 - 1.5 123456789012345678 9223372036854775807 9223372036854775808 1_0 0x10
int16 32767 32768 1e3
double 0 -0 -1.50 .5 5. 0.1 1e3 1E-2 0.30000000000000004 9007199254740993 9007199254740.993 inf nan 1,5
float 0.1 16777217 1e39
decimal 0 0.00 -0.0 -0.5 00.5 12.340 -5.00 1e3 +1 1. .5 100000000000000000000000000000000000000.5 1,5
date 2026-01-31 2026-02-30 2026-01-31T08:15:00Z 2026-01-31T08:15:00.250+02:00 1999-12-31T23:59Z
bool true FALSE yes 1 2
END
    assert_status 65 larder insert Sample double=1,5
    assert_contains "$stderr" 'hint: write a decimal point instead of the comma'
    assert_status 65 larder insert Sample int64=1,234,567
    assert_contains "$stderr" 'hint: leave out the separators of thousands'
}

@test "random records are the same after an import" {
    seed=${SEED:-$RANDOM}
    echo "seed $seed"
    /usr/bin/python3 - "$seed" <<'END'
import csv, json, random, sys
source = random.Random(int(sys.argv[1]))
texts = ["", "a", '"', '""', ",", "\n", "\r\n", "é", "日本", "\\", " ", "x" * 70000]
with open("in.csv", "w", newline="") as file, open("expected", "w") as expected:
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator=source.choice(["\n", "\r\n"]))
    writer.writerow(["string", "int64"])
    for number in range(3000):
        count = source.choice([0, 1, 2, 5]) if number % 50 else 9
        text = "".join(source.choice(texts if number % 50 == 0 else texts[:-1]) for _ in range(count))
        writer.writerow([text, number])
        expected.write(json.dumps({"string": text, "int64": number}) + "\n")
END
    assert_status 0 larder import Sample in.csv
    assert_equal 3000 "$output"
    larder fetch Sample --select string,int64 --sort int64 --output jsonl | jq -cS . >found
    jq -cS . expected | cmp - found
}

@test "a record that is too long or has too many fields is rejected" {
    { printf 'string\n"'; head -c $((16 << 20)) /dev/zero | tr '\0' x; } >in.csv
    assert_status 5 larder import Sample in.csv
    assert_contains "$stderr" 'in.csv, line 2: the record is longer than the maximum of 16777216 bytes'
    { echo string; head -c 100000 /dev/zero | tr '\0' ,; } >in.csv
    assert_status 65 larder import Sample in.csv
    assert_contains "$stderr" 'line 2: the record has more than the maximum of 100000 fields'
}

@test "every command of the documents works when it is pasted" {
    run --separate-stderr "$BATS_TEST_DIRNAME/../Python/check_documents"
    printf '%s\n' "$output" "$stderr"
    [ "$status" = 0 ]
    [[ "$output" =~ ([0-9]+)\ commands ]]
    [ "${BASH_REMATCH[1]}" -ge 60 ]
}

@test "a sample of a document that its source does not have is a failure of check_documents" {
    mkdir -p Tests/Python Sources
    cp "$BATS_TEST_DIRNAME/../Python/check_documents" Tests/Python
    printf 'let a = 1\n\n    let b = 2\nlet c = 3\n' >Sources/a.swift
    printf '<!-- from Sources/a.swift -->\n```swift\nlet a = 1\nlet b = 2\n…\nlet c = 3\n```\n' >good.md
    printf '<!-- from Sources/a.swift -->\n```swift\nlet a = 1\nlet c = 3\n```\n' >bad.md
    assert_status 0 Tests/Python/check_documents good.md
    assert_status 1 Tests/Python/check_documents bad.md
    assert_contains "$output" $'bad.md:2: Sources/a.swift lacks\nlet a = 1\nlet c = 3'
}
