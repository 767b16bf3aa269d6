load helper

# A schema with derived attributes: each category counts its articles.
setup() {
    enter_scratch
    cat >derived.json <<'END'
{ "version": "1.0.0",
  "entities": [
    { "name": "Article",
      "attributes": [
        { "name": "title", "type": "string" },
        { "name": "wordCount", "type": "int64", "default": 0 },
        { "name": "searchTitle", "type": "string", "derived": "canonical:(title)", "indexed": true },
        { "name": "categoryName", "type": "string", "derived": "category.name", "optional": true },
        { "name": "saved", "type": "date", "derived": "now()" } ],
      "relationships": [
        { "name": "category", "destination": "Category", "inverse": "articles" } ] },
    { "name": "Category",
      "attributes": [
        { "name": "name", "type": "string" },
        { "name": "articleCount", "type": "int64", "derived": "articles.@count" },
        { "name": "wordTotal", "type": "int64", "derived": "articles.@sum.wordCount", "indexed": true } ],
      "relationships": [
        { "name": "articles", "destination": "Article", "toMany": true, "inverse": "category",
          "deleteRule": "cascade" } ] } ] }
END
    schema=derived.json start_daemon
}

@test "each save updates derived attributes, and queries can use them like other attributes" {
    tech=$(larder insert Category name=tech)
    art=$(larder insert Category name=art)
    one=$(larder insert Article title=Été wordCount=10 category="$tech")
    larder insert Article title=Two wordCount=5 category="$tech" >/dev/null
    assert_equal 'ete|tech' "$(larder get "$one" --output jsonl | jq -r '.searchTitle + "|" + .categoryName')"
    assert_equal 'tech|2|15' "$(larder get "$tech" --output jsonl | jq -r '[.name,.articleCount,.wordTotal] | join("|")')"
    larder update "$one" wordCount=20 category="$art" >/dev/null
    assert_equal $'art\t20\ntech\t5' "$(larder fetch Category --select name,wordTotal --sort wordTotal:desc)"
    assert_equal 1 "$(larder count Article --where 'categoryName == "art" AND searchTitle == "ete"')"
    larder update "$art" name=arts >/dev/null
    assert_equal arts "$(larder get "$one" --output jsonl | jq -r .categoryName)"
    assert_equal 1 "$(larder get "$tech" --output jsonl | jq '.["@version"]')"
    larder delete "$tech" >/dev/null
    assert_equal 1 "$(larder count Article)"
    assert_status 0 larder check
    larder explain Article --where 'searchTitle == "ete"' | grep -q _index.Article
}

@test "a value for a derived attribute is rejected with its rule" {
    assert_status 65 larder insert Category name=a articleCount=3
    assert_contains "$stderr" "error[VALIDATION_FAILED]: Category.articleCount is derived and cannot be set"
    uri=$(larder insert Category name=a)
    assert_status 65 larder update "$uri" wordTotal:=null --output json
    assert_equal '["Category","wordTotal","derived"]' \
        "$(jq -c '.details[0] | [.entity, .properties[0], .rule]' <<<"$stderr")"
    echo '{"name": "b", "wordTotal": 1}' >in
    assert_status 65 larder import Category in
    assert_contains "$stderr" "in, line 1"
    assert_equal 1 "$(larder count Category)"
}

@test "export omits derived attributes, so that its output can be imported" {
    uri=$(larder insert Category name=tech)
    larder insert Article title=Été wordCount=10 >/dev/null
    larder export Category >categories
    assert_equal 'name' "$(jq -r 'keys[] | select(startswith("@") | not)' categories)"
    larder export Article --output csv >articles.csv
    larder import Category categories --store copy.store --schema derived.json >/dev/null
    larder import Article articles.csv --store copy.store >/dev/null
    assert_equal $'Été\tete' "$(larder fetch Article --select title,searchTitle --store copy.store)"
    larder export Category --select name,wordTotal >chosen
    assert_equal '{"name":"tech","wordTotal":0}' "$(jq -c . chosen)"
}

@test "schema show includes derivations; errors in them have a path and a column" {
    larder schema show --output json >shown.json
    assert_status 0 larder schema check shown.json
    assert_equal 'articles.@sum.wordCount' \
        "$(jq -r '.entities[1].attributes[2].derived' shown.json)"
    sed 's/articles.@sum.wordCount/articles.@sum.words/' derived.json >wrong.json
    assert_status 65 larder schema check wrong.json
    assert_contains "$stderr" 'entities[1].attributes[2].derived: derivation, column 1: Article has no property "words"'
    stop_daemon
    sed 's/canonical:(title)/title/' derived.json >other.json
    assert_status 65 larder count Article --store test.store --schema other.json
    assert_contains "$stderr" 'Article.searchTitle: derived is "canonical:(title)" in the store, "title" in the file'
}

@test "check finds an incorrect derived value" {
    uri=$(larder insert Category name=tech)
    stop_daemon
    sqlite3 test.store 'UPDATE Category SET wordTotal = 9'
    assert_status 74 larder check --store test.store
    assert_contains "$output$stderr" "Category.wordTotal"
    assert_contains "$output$stderr" "$uri"
}

@test "a derived attribute joins texts, and follows names and the order of a list" {
    cat >books.json <<'END'
{ "version": "1.0.0", "entities": [
  { "name": "Book",
    "attributes": [ { "name": "tagNames", "type": "string", "derived": "join(tags.name, \", \")",
                      "optional": true, "indexed": true } ],
    "relationships": [ { "name": "tags", "destination": "Tag", "toMany": true, "ordered": true,
                         "inverse": "books" } ] },
  { "name": "Tag",
    "attributes": [ { "name": "name", "type": "string" } ],
    "relationships": [ { "name": "books", "destination": "Book", "toMany": true, "inverse": "tags" } ] } ] }
END
    use() { larder "$@" --store books.store --schema books.json >/dev/null; }
    has() { assert_equal "$1" "$(larder fetch Book --select tagNames --store books.store)"; }
    for name in a b c; do use insert Tag name=$name; done
    use insert Book 'tags:=["Tag/p2", "Tag/p1"]'
    has 'b, a'
    use update Book/p1 'tags:={"@add": ["Tag/p3"]}'
    has 'b, a, c'
    use update Book/p1 'tags:={"@move": {"objects": ["Tag/p3"], "end": "first"}}'
    has 'c, b, a'
    use update Tag/p1 name=z
    has 'c, b, z'
    use delete Tag/p2
    has 'c, z'
    use update Tag/p3 'books:=[]'
    has z
    use check
}
