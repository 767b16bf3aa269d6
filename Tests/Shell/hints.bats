# What the command line says to those who write SQL, Swift or another program's options.

load helper

setup() {
    enter_scratch
    start_daemon
    insert_articles
}

# assert_hint HINT COMMAND…: the command fails without changing anything, and prints the hint.
assert_hint() {
    local hint=$1
    shift
    run --separate-stderr "$@"
    [ "$status" = 64 ] || [ "$status" = 65 ] || { echo "status $status: $output $stderr" && return 1; }
    assert_equal "" "$output"
    assert_contains "$stderr" "$hint"
}

@test "a pattern with SQL's wildcards is legal, and a warning on standard error says what LIKE has" {
    assert_status 0 larder count Article --where 'title LIKE "%o%"'
    assert_equal 0 "$output"
    assert_equal 'warning: predicate, column 12: `%` and `_` are no wildcards of LIKE
  title LIKE "%o%"
             ^
hint: `*` matches any number of characters, `?` one; or write CONTAINS or BEGINSWITH' "$stderr"
    assert_status 0 larder count Article --where 'title LIKE %@' --arg '%o%'
    assert_contains "$stderr" 'warning: predicate, column 12:'
    assert_status 0 larder history Article --where 'title LIKE "%o%"'
    assert_contains "$stderr" 'warning: predicate, column 12:'
    assert_status 0 larder count Article --where 'title LIKE "*50%*"'
    assert_equal "" "$stderr"
}

@test "a warning is a JSON object if errors are" {
    assert_status 0 larder fetch Article --where 'title LIKE "%o%"' --output jsonl
    assert_equal '["WARNING",12,0]' "$(jq -c '[.code, .column, .status]' <<<"$stderr")"
}

@test "a placeholder in quotation marks is text, with a warning" {
    assert_status 0 larder count Article --where 'title == "%@"'
    assert_equal 0 "$output"
    assert_contains "$stderr" 'warning: predicate, column 10: a placeholder in quotation marks is text'
    assert_status 0 larder update Article --where 'wordCount == 20' --set 'title="%@"'
    assert_contains "$stderr" 'warning: value of title, column 1: a placeholder'
    assert_equal '%@' "$(larder fetch Article --where 'wordCount == 20' --select title)"
}

@test "an object that is compared with text is compared by an attribute, a unique one first" {
    assert_hint 'hint: compare an attribute of the object: `category.name == …`' \
        larder count Article --where 'category == "tech"'
    assert_hint '`category.name == …`' larder count Article --where 'category == %@' --arg tech
    assert_hint '`articles.title == …`' larder count Category --where 'ANY articles == "one"'
    assert_hint 'an identifier looks like' \
        larder count Article --where 'category == "x-coredata://7"'
}

@test "a word without quotation marks is an unknown property, and the hint names quotation marks" {
    assert_hint 'hint: text is written in quotation marks' larder count Article --where 'title == Ann'
    assert_hint 'text is written in quotation marks' larder count Article --where 'title == Ann Lee'
    assert_hint 'text is written in quotation marks' larder count Article --where 'title IN {one, "two"}'
}

@test "a date without quotation marks is rejected" {
    assert_hint 'write a date in quotation marks' larder count Article --where 'published > 2024-01-01'
    assert_hint 'write a date in quotation marks' larder count Article --where 'published > 2024'
}

@test "a function of another language is named with ours" {
    hint_of() { assert_hint "hint: $1" larder count Article --where "$2"; }
    hint_of 'write `substring(s, start, count)`; the first character has the index 0' \
        'substr(title, 1, 2) == "o"'
    hint_of 'write `split(s, separator, index)`' 'SPLIT_PART(title, " ", 1) == "o"'
    hint_of 'write `trimStart`' 'ltrim(title) == "o"'
    hint_of 'write `padEnd`' 'rpad(title, 9) == "o"'
    hint_of 'write `startOf(d, "month")`' 'date_trunc("month", published) == published'
    hint_of 'write `distance(from, to, "day")`' 'datediff(published, now()) > 3'
    hint_of 'write `year(d)`, `month(d)`, `day(d)`' 'strftime("%Y", published) == "2026"'
    hint_of 'write `weekday(d)`, which is 1 for Monday' 'dayofweek(published) == 1'
    hint_of 'write `format(number, places)`' 'to_char(wordCount) == "1"'
    hint_of 'a number becomes text with `format(number, places)`' 'concat(title, wordCount) == "x"'
    hint_of 'write `concat(a, b)`' 'title + "x" == "onex"'
    hint_of '`||` is OR; write `concat(a, b)` to join texts' '(title || "x") == "onex"'
    hint_of 'did you mean "padStart"?' 'padStar(title, 3) == "o"'
}

@test "an unknown unit or time zone is named before an object is read" {
    assert_hint 'unknown unit of time "days"' \
        larder count Article --where 'startOf(published, "days") == published'
    assert_hint 'hint: did you mean "Europe/Berlin"?' \
        larder count Article --where 'hour(published, "Europe/Berln") == 3'
    assert_hint 'hint: did you mean "Europe/Berlin"?' \
        larder count Article --where 'hour(published, %@) == 3' --arg berlin
}

@test "a date without a time zone is rejected, and read as UTC with --utc or LARDER_UTC" {
    assert_hint 'larder reads dates without a time zone as UTC with --utc' \
        larder count Article --where 'published > "2024-01-01T00:00"'
    assert_hint 'with --utc' larder count Article --where 'published > %@' --arg 2024-01-01T00:00
    assert_hint 'with --utc' larder insert Article title=dated published=2024-01-01T10:00
    assert_status 0 larder insert Article title=dated published='2024-01-01 10:00' --utc
    assert_status 0 larder update Article --where 'published == "2024-01-01T10:00"' \
        published=2024-01-01T11:00 --utc
    export LARDER_UTC=true
    assert_equal 1 "$(larder count Article --where 'published == %@' --arg '2024-01-01T11:00:00')"
    assert_equal 1 "$(larder delete Article --where 'published == "2024-01-01T11:00"')"
    echo '{"updateAll": {"@entity": "Article", "@where": "published < %@", "@args": ["2024-01-01T11:00"]}}' >bulk.jsonl
    assert_status 0 larder save bulk.jsonl
    printf 'title,published\nimported,2024-01-01T12:00\n' >rows.csv
    assert_status 0 larder import Article rows.csv
    assert_equal 2024-01-01T12:00:00Z \
        "$(larder fetch Article --where 'title == "imported"' --select published)"
    LARDER_UTC=maybe assert_status 64 larder count Article
    assert_contains "$stderr" 'LARDER_UTC must be true or false'
    # The server has planned the same predicate.
    LARDER_UTC=no assert_hint 'with --utc' larder count Article --where 'published == "2024-01-01T11:00"'
}

@test "one statement divides a property into two" {
    assert_status 0 larder update Article --all --set 'title=concat(title, " x", format(wordCount, 0))'
    assert_status 0 larder update Article --where 'wordCount == 20' \
        --set 'title=split(title, " ", -1)' --set 'wordCount=length(split(title, " ", 0))'
    assert_equal 'x20' "$(larder fetch Article --where 'title BEGINSWITH "x"' --select title)"
}

@test "an update that would store a text that is too long changes nothing" {
    run --separate-stderr larder update Article --all --set 'title=padEnd(title, 20000000)'
    assert_equal 5 "$status"
    assert_contains "$stderr" 'error[RESOURCE_EXHAUSTED]: padEnd would return a text of more than 16 MiB'
    assert_equal 1 "$(larder count Article --where 'title == "one"')"
}

@test "functions are allowed in sort keys, columns, groups, aggregates and HAVING" {
    assert_equal $'six\t6-six\nfive\t5-five' "$(larder fetch Article --limit 2 \
        --sort 'substring(title, -1):desc' --sort 'padStart(title, 9, ":"):desc' \
        --where 'title IN {"one", "six", "five"}' \
        --select 'title,label=concat(format(wordCount / 10, 0), "-", title)')"
    assert_equal $'f\t45.5' "$(larder aggregate Article --group-by 'initial=substring(title, 0, 1)' \
        'mean=average:round(wordCount + 0.5, 1)' --having 'concat(initial, "!") == "f!"')"
}

@test "a name after a key path is a function or a collection operator" {
    assert_hint 'hint: write `articles.@count`' larder count Category --where 'articles.count > 1'
    assert_hint 'hint: write `length(title)`' larder count Article --where 'title.length > 1'
    assert_hint 'hint: write `lowercase`' larder count Article --where 'LOWER(title) == "x"'
    assert_hint 'over the objects of a query, it is a column' \
        larder count Article --where 'sum(wordCount) > 1'
}

@test "the caret is below the step of a key path that is wrong" {
    assert_hint 'error[UNKNOWN_PROPERTY]: predicate, column 10: Category has no property "nme"
  category.nme == "x"
           ^
hint: did you mean "name"?' larder count Article --where 'category.nme == "x"'
    assert_hint 'column 27:' \
        larder count Category --where 'SUBQUERY(articles, $a, $a.titel == 1).@count > 1'
    assert_hint 'column 10:' larder history Article --where 'category.nme == "x"'
    assert_hint 'selected column 2, column 10:' larder fetch Article --select 'title,category.nme'
}

@test "an integer that the type does not have is WRONG_TYPE, as text and as JSON" {
    local range='Sample.int32: expected a whole number from -2147483648 to 2147483647'
    assert_hint "error[WRONG_TYPE]: $range" larder insert Sample int32=3000000000
    assert_hint "error[WRONG_TYPE]: $range" larder insert Sample int32:=3000000000
    assert_hint "error[MALFORMED_VALUE]: $range" larder insert Sample int32=many
    assert_equal 0 "$(larder count Sample)"
}

@test "a column of an aggregate may be written as in SQL" {
    larder aggregate Article average:wordCount maximum:wordCount minimum:wordCount sum:wordCount \
        count count:published --output json | jq -c '.[0] | [.[]]' >expected
    larder aggregate Article avg:wordCount 'max(wordCount)' 'MIN(wordCount)' 'SUM((wordCount))' \
        'COUNT(*)' 'count(published)' --output json | jq -c '.[0] | [.[]]' | diff expected -
    assert_equal avg:wordCount \
        "$(larder aggregate Article avg:wordCount --output jsonl | jq -r 'keys[]')"
    assert_equal '{"n":3}' \
        "$(larder aggregate Article 'n=COUNT(*) where wordCount > 30' --output jsonl)"
    assert_hint 'the functions are count,' larder aggregate Article 'sum(wordCount) + sum(wordCount)'
    assert_hint 'write `sum:` and an expression' larder aggregate Article 'SUM()'
    assert_hint 'write `n=count`' larder aggregate Article 'count AS n'
    assert_hint 'the functions are count,' larder aggregate Article modus:wordCount
    assert_hint 'add a column to the aggregate' \
        larder aggregate Article count --having 'sum(articles) > 1'
}

@test "a sort key has one spelling, and keys are separated by commas" {
    assert_hint 'write `wordCount:desc`' larder fetch Article --sort -wordCount
    assert_hint 'write `wordCount:desc`' larder fetch Article --sort 'wordCount DESC'
    assert_hint 'write `wordCount:asc`' larder aggregate Article --group-by wordCount count --sort 'wordCount asc'
    assert_hint 'an expression is missing before --limit' larder fetch Article --sort --limit 5
    assert_equal $'six\nfive\nfour' "$(larder fetch Article --sort '(-wordCount),title' --select title --limit 3)"
    assert_equal $'three\ntwo\none\nfive\nfour\nsix' \
        "$(larder fetch Article --sort 'category.name:desc, wordCount:desc' --select title)"
    assert_equal $'\t1\narts\t2\ntech\t3' \
        "$(larder aggregate Article --group-by 'category.name, n=length(category.name)' count \
            --sort category.name | cut -f 1,3)"
}

@test "--select accepts columns in one spelling only" {
    assert_hint 'omit the option to print all attributes' larder fetch Article --select '*'
    assert_hint 'write `t=title`' larder fetch Article --select 'wordCount, title AS t'
    assert_hint 'write `month=month(published)`' \
        larder aggregate Article --group-by 'month(published) as month' count
}

@test "an unknown command or option has a suggestion" {
    assert_hint 'there is no command "select"
hint: did you mean "fetch"?' larder select Article --where 'wordCount > 1'
    assert_hint 'did you mean "fetch"?' larder fecth Article
    assert_hint 'hint: write fetch Article' larder 'select * from Article;'
    assert_equal 'hint: write fetch Article' "$(tail -n 1 <<<"$stderr")"
    assert_hint "hint: write fetch Article --select 'title, wordCount' --where PREDICATE --sort EXPRESSION,… --limit N" \
        larder SELECT title, wordCount FROM Article WHERE 'wordCount > 1' ORDER BY title LIMIT 3
    assert_hint 'hint: write count Article --where PREDICATE' \
        larder 'SELECT COUNT(*) FROM Article WHERE title IS NULL'
    assert_hint 'hint: write aggregate Article --group-by EXPRESSION,… COLUMN…' \
        larder 'select category, sum(wordCount) from Article group by category'
    assert_hint 'the commands are insert, get,' larder frobnicate
    assert_hint 'did you mean "show"?' larder schema shwo --schema x.json
    assert_hint 'write --sort EXPRESSION' larder fetch Article --order-by title
    assert_hint 'write --output json' larder fetch Article --json
    assert_hint 'write --where PREDICATE' larder count Article --filter 'wordCount > 1'
    assert_hint "Did you mean '--where'?" larder fetch Article --were 'wordCount > 1'
}

@test "an assignment has no spaces around its sign, and a predicate is one argument" {
    assert_hint 'write no space before the sign' larder insert Category 'name =x'
    assert_hint 'write no space before the sign' larder insert Category name = x
    assert_hint 'put an expression in quotation marks' larder count Article --where title == x
    assert_equal 3 "$(larder count Category)"
}
