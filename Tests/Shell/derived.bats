load helper

# A schema of its own: articles that their category counts.
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

@test "derived attributes follow each save, and are asked like any attribute" {
    tech=$(larder insert Category name=tech)
    art=$(larder insert Category name=art)
    one=$(larder insert Article title=Été wordCount=10 category="$tech")
    larder insert Article title=Two wordCount=5 category="$tech" >/dev/null
    same 'ete|tech' "$(larder get "$one" --output jsonl | jq -r '.searchTitle + "|" + .categoryName')"
    same 'tech|2|15' "$(larder get "$tech" --output jsonl | jq -r '[.name,.articleCount,.wordTotal] | join("|")')"
    larder update "$one" wordCount=20 category="$art" >/dev/null
    same $'art\t20\ntech\t5' "$(larder fetch Category --select name,wordTotal --sort wordTotal:desc)"
    same 1 "$(larder count Article --where 'categoryName == "art" AND searchTitle == "ete"')"
    larder update "$art" name=arts >/dev/null
    same arts "$(larder get "$one" --output jsonl | jq -r .categoryName)"
    same 1 "$(larder get "$tech" --output jsonl | jq '.["@version"]')"
    larder delete "$tech" >/dev/null
    same 1 "$(larder count Article)"
    expect 0 larder check
    larder explain Article --where 'searchTitle == "ete"' | grep -q _index.Article
}

@test "a value that is given for a derived attribute is refused, with its rule" {
    expect 65 larder insert Category name=a articleCount=3
    holds "$stderr" "error[VALIDATION_FAILED]: Category.articleCount is derived and cannot be set"
    uri=$(larder insert Category name=a)
    expect 65 larder update "$uri" wordTotal:=null --output json
    same '["Category","wordTotal","derived"]' \
        "$(jq -c '.details[0] | [.entity, .properties[0], .rule]' <<<"$stderr")"
    echo '{"name": "b", "wordTotal": 1}' >in
    expect 65 larder import Category in
    holds "$stderr" "in, line 1"
    same 1 "$(larder count Category)"
}

@test "an export leaves derived attributes out, so that its lines import" {
    uri=$(larder insert Category name=tech)
    larder insert Article title=Été wordCount=10 >/dev/null
    larder export Category >categories
    same 'name' "$(jq -r 'keys[] | select(startswith("@") | not)' categories)"
    larder export Article --output csv >articles.csv
    larder import Category categories --store copy.store --schema derived.json >/dev/null
    larder import Article articles.csv --store copy.store >/dev/null
    same $'Été\tete' "$(larder fetch Article --select title,searchTitle --store copy.store)"
    larder export Category --select name,wordTotal >chosen
    same '{"name":"tech","wordTotal":0}' "$(jq -c . chosen)"
}

@test "the schema shows derivations, and faults of them have a place and a column" {
    larder schema show >shown.json
    expect 0 larder schema check shown.json
    same 'articles.@sum.wordCount' \
        "$(jq -r '.entities[1].attributes[2].derived' shown.json)"
    sed 's/articles.@sum.wordCount/articles.@sum.words/' derived.json >wrong.json
    expect 65 larder schema check wrong.json
    holds "$stderr" 'entities[1].attributes[2].derived: derivation, column 1: Article has no property "words"'
    stop_daemon
    sed 's/canonical:(title)/title/' derived.json >other.json
    expect 65 larder count Article --store test.store --schema other.json
    holds "$stderr" 'Article.searchTitle: derived is "canonical:(title)" in the store, "title" in the file'
}

@test "a planted fault in a derived attribute is found by check" {
    uri=$(larder insert Category name=tech)
    stop_daemon
    sqlite3 test.store 'UPDATE Category SET wordTotal = 9'
    expect 74 larder check --store test.store
    holds "$output$stderr" "Category.wordTotal"
    holds "$output$stderr" "$uri"
}
