# larder shell and larder edit: lines of a person on a terminal, and lines of a file.

load ../helper

setup() {
    enter_scratch
    export XDG_STATE_HOME=$scratch/state HOME=$scratch TERM=xterm
    start_daemon
    insert_articles
}

# converse: types a script at `larder shell`, and prints what the terminal shows.
converse() { "$fixtures/conversation" 100 40 larder shell "$@"; }

shell() { larder shell "$@"; }

@test "a person types commands with completion, over several lines, and leaves" {
    converse >shown <<'END'
< larder> 
> fet\t
< ch 
> Artic\t --where wordC\t
< ount
>  > 15 AND ti\t
< tle
>  != "three" --sort ti\t --ids\n
< Article/p2
> fetch Article --where (title == "one"\n
< ...>
> OR title == "two") --select wordCount\n
< 20
> sch\t
< ema 
> sh\t\n
< Category
> exit\n
END
    assert_contains "$(cat shown)" 'Type help for help. Entities: '
}

@test "completion knows paths, keywords, functions, keys, columns, options and files" {
    : >a-file.json
    converse >shown <<'END'
< larder> 
> count Article --where category.na\t
< me
>  == "te\t
< ch"
>  AND lowerc\t
< ase(
> title) begi\t
< nswith
>  "t"\n
< larder> 
> insert Article wordC\t
< ount=
> 7 tit\t
< le=
> seven categ\t
< ory
> .na\t
< me=
> tech\n
< Article/p
> aggregate Article countD\t
< istinct:
> wordC\t
< ount
>  --gro\t
< up-by
> \n
< larder> 
> import Article a-f\t
< ile.json
> \x03
< larder> 
> \\x\n
< vertical
> fetch Article --where title == "seven" --select title,word\t
< Count
> \n
< wordCount  7
< larder
> \x04
END
}

@test "completion knows the values of attributes that have few of them" {
    larder insert Category - <<'END' >/dev/null
{"name": "team work"}
{"name": "say \"hi\""}
{"name": "'quoted'"}
END
    seq 25 | sed 's/.*/{"name": "n&"}/' | larder import Category - >/dev/null
    converse >shown <<'END'
< larder> 
> count Category --where name == "tea\t
< m work"
> \n
< 1
< larder> 
> count Article --where category.name IN {"empty", 'tec\t
< h'
> }\n
< 3
< larder> 
> count Category --where name ==[c] "n\t24\t
< G"
> \n
< 1
< larder> 
> count Category --where name == "sa\t
> y \\\"hi\\\""\n
< 1
< larder> 
> insert Article title=eight category.name=ar\t
< ts
> \n
< larder> 
> \x04
END
    assert_equal arts "$(larder fetch Article --where 'title == "eight"' --select category.name)"
}

@test "control-c drops a line and ends a command, and not the shell" {
    converse >shown <<'END'
< larder> 
> fetch Articl\x03
< larder> 
> fetch Article --where (title\n
< ...>
> \x03
< larder> 
> !printf 'st%s\\n' arted; exec larder watch Article\n
< started
> \x03
< larder> 
> count Article\n
< 6
< larder
> \x04
END
}

@test "the history is for its user only, and has each command once" {
    converse >shown <<'END'
< larder> 
> count Article\n
< 6
> count Article\n
< 6
>  ping --timeout 1s\n
< larder> 
> fetch Article --where (title\n
< ...>
> == "one") --ids\n
< Article/p1
> \x1b[A\x1b[A\n
< 6
< larder
> \x04
END
    assert_equal 600 "$(stat -c %a state/larder/history)"
    assert_equal 'count Article
fetch Article --where (title == "one") --ids
count Article' "$(cat state/larder/history)"
    # A file that is no history, or cannot be written, is no reason to fail.
    rm state/larder/history && mkdir state/larder/history
    converse >shown <<<$'< larder> \n> \\x04'
    head -c 3000000 /dev/urandom >random && rmdir state/larder/history && mv random state/larder/history
    converse >shown <<<$'< larder> \n> count Article\\n\n< 6\n< larder\n> \\x04'
    [ "$(stat -c %s state/larder/history)" -lt 3000000 ]
}

@test "pending changes are saved in one transaction, and refer to each other" {
    token=$(larder history token)
    shell >out <<'END'
begin
insert Category name=new
insert Article title=seven wordCount=7 category=t:1
update Article/p1 wordCount=11
update Article --where title == "two" --set wordCount=wordCount * 2
delete Article --where title == "three"
undo
count Article
pending
save
count Article
END
    assert_equal 'pending: line 1, t:1
pending: line 2, t:2
pending: line 3
pending: line 4
pending: line 5
dropped: delete Article --where title == "three"
6
1  insert Category name=new  (t:1)
2  insert Article title=seven wordCount=7 category=t:1  (t:2)
3  update Article/p1 wordCount=11
4  update Article --where title == "two" --set wordCount=wordCount * 2' "$(head -n 11 out)"
    assert_equal 7 "$(tail -n 1 out)"
    assert_equal $'new\t7' "$(larder fetch Article --where 'title == "seven"' --select category.name,wordCount)"
    assert_equal $'11\n40' "$(larder fetch Article --where 'title IN {"one", "two"}' --sort title --select wordCount)"
    assert_equal 1 "$(larder history show --after "$token" --output jsonl | wc -l)"
}

@test "pending changes that the store refuses stay, with the line in the error" {
    converse >shown <<'END'
< larder> 
> begin\n
< larder*> 
> insert Category name=other\n
< t:1
> insert Category name=tech\n
< t:2
> save\n
< pending, line 2: Category.name must be unique
< larder*> 
> undo\n
< dropped
< larder
> \x04
< type save or discard
< larder*> 
> save\n
< t:1
< larder> 
> \x04
END
    assert_equal 1 "$(larder count Category --where 'name == "other"')"
}

@test "lines that cannot be saved together are rejected at once" {
    for line in 'insert Category name=b --upsert' 'insert Category name=b --author me' \
        'insert Category name=b --idempotency-key k' 'insert Category nam=b' 'begin' 'save x y'; do
        run shell <<<$'begin\ninsert Category name=a\n'"$line"
        [[ "$status" =~ ^(64|65)$ ]] || { echo "$line: $status" && return 1; }
        assert_contains "$output" 'standard input, line 3: stopped'
    done
    for line in save discard undo pending; do assert_status 64 shell <<<"$line"; done
    run shell <<<$'begin\ninsert Category name=a'
    assert_equal 65 "$status"
    assert_contains "$output" 'the input ends with pending changes, which are not saved'
    assert_equal 0 "$(larder count Category --where 'name IN {"a", "b"}')"
}

@test "lines of a file end with the first that fails, and its status" {
    run shell <<'END'
# a comment

count Article \
  --where title == "one" OR (
     title == "two")
!printf '%s\n' "a b" && cat
count Artcle
count Article
END
    assert_equal 4 "$status"
    assert_equal '2
a b
error[UNKNOWN_ENTITY]: there is no entity "Artcle"
hint: did you mean "Article"?
standard input, line 7: stopped' "$output"
    assert_status 64 shell <<<'cuont Article'
    assert_contains "$stderr" 'did you mean "count"?'
    assert_status 64 shell <<<shell
    assert_status 64 shell <<<'timing maybe'
    assert_status 64 shell <<<'output xml'
    assert_status 3 shell <<<'!exit 3'
    { echo 'count "' && seq 1001; } >open
    run shell <open
    assert_equal 5 "$status"
    assert_contains "$output" 'look for an open quotation mark or bracket'
}

@test "a quoted value is one word, and the rest of a line follows it" {
    shell <<'END'
update Article --where 'title == "one"' wordCount=12 title="a \"b\" c"
insert Category name='it''s \ ok'
insert Category name=a\ b
END
    assert_equal $'a "b" c\t12' "$(larder fetch Article/p1 --select title,wordCount 2>/dev/null ||
        larder fetch Article --where 'wordCount == 12' --select title,wordCount)"
    assert_equal 'its \\ ok' "$(larder fetch Category --where 'name BEGINSWITH "its"' --select name)"
    assert_equal 1 "$(larder count Category --where 'name == "a b"')"
}

@test "a shell works on a file without a server, and with formats and times" {
    stop_daemon
    unset LARDER_SOCKET
    shell --store test.store --timeout 20s >out 2>errors <<'END'
output jsonl
timing on
fetch Article --where title == "one" --select title
begin
insert Category name=fresh
save
count Category --where name == "fresh"
schema show Category --output json
END
    assert_contains "$(cat out)" '{"title":"one"}'
    grep -q '^time: [0-9.]* ms$' errors
    assert_equal 1 "$(larder count Category --where 'name == "fresh"' --store test.store)"
    assert_status 69 shell --socket "$scratch/none" <<<ping
}

@test "an object is changed in an editor" {
    # Other tests have temporary folders of their own.
    mkdir temporary
    export TMPDIR=$scratch/temporary
    EDITOR='sed -i s/\"one\"/\"first\"/' larder edit Article/p1
    assert_equal 1 "$(larder count Article --where 'title == "first"')"
    version=$(larder fetch Article --where 'title == "first"' --select @version)
    for editor in true 'truncate -s 0'; do
        EDITOR=$editor assert_status 0 larder edit Article/p1
        assert_contains "$stderr" 'nothing was changed'
    done
    EDITOR=false assert_status 1 larder edit Article/p1
    assert_contains "$stderr" 'the editor false failed with status 1'
    EDITOR=no-such-editor assert_status 1 larder edit Article/p1
    EDITOR='rm -f' assert_status 74 larder edit Article/p1
    assert_contains "$stderr" 'object.json: No such file or directory'
    [[ $stderr != *'the text is in'* ]]
    assert_equal "" "$(ls temporary)"
    assert_equal "$version" "$(larder fetch Article --where 'title == "first"' --select @version)"
    EDITOR='sed -i s/wordCount/wrodCount/' assert_status 65 larder edit Article/p1
    path=$(sed -n 's/.*the text is in //p' <<<"$stderr")
    grep -q wrodCount "$path"
    assert_equal 600 "$(stat -c %a "$path")"
    rm -r "$(dirname "$path")"
    # Somebody else is faster.
    printf '#!/bin/sh\nlarder update Article/p1 wordCount=99 >/dev/null\nsed -i s/first/last/ "$1"\n' >slow
    chmod +x slow
    EDITOR=$scratch/slow assert_status 3 larder edit Article/p1
    assert_equal first "$(larder fetch Article --where 'wordCount == 99' --select title)"
    EDITOR=true assert_status 4 larder edit Article/p999
}

@test "the short forms of psql begin with a backslash" {
    printf '\\d\n' | larder shell >shown
    diff <(larder schema show) shown
    printf '\\x\n\\q\ncount Article\n' | larder shell >shown
    assert_equal 'output: vertical' "$(cat shown)"
    printf '\\?\n' | larder shell | grep -q 'Short forms:'
    # Elsewhere a backslash keeps the character after it.
    printf 'insert Category name=a\\ b\ncount Category --where name == "a b"\n' | larder shell >shown
    assert_equal 1 "$(tail -n 1 shown)"
    printf '\\\ncount Article\n' | larder shell >shown
    assert_equal 6 "$(cat shown)"
}
