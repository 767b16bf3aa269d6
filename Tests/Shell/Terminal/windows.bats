# Output on terminals of all sizes, colours and the pager.

load ../helper

setup() {
    enter_scratch
    start_daemon
    insert_articles
    larder insert Category name='東京の本とカテゴリの長い名前、そしてもっと長い名前' >/dev/null
    larder insert Category name=$'combining e\u0301a\u0308 and a long name that no narrow window has room for' >/dev/null
    export TERM=xterm
    unset PAGER LESS NO_COLOR
}

terminal() { "$fixtures/terminal" "$@"; }

commands=('fetch Article' 'fetch Category' 'fetch Article --select title,wordCount' 'get Article/p1 Category/p1'
    'fetch Category --output vertical' 'fetch Category --output table' 'history' 'history --last 1' 'schema show'
    'ping' 'stats' 'aggregate Article --group-by category.name count sum:wordCount'
    'top --count 1' 'top --count 1 --output vertical')

@test "no command prints a line that is wider than the window" {
    export PAGER=
    for command in "${commands[@]}"; do
        # shellcheck disable=SC2086 # Several words on purpose.
        terminal --widest 1,2,20,40,80,200,10000 50 larder $command >widths
        assert_equal 7 "$(wc -l <widths)"
        while read -r columns widest; do
            # A wide character needs two columns.
            [ "$widest" -le "$((columns == 1 ? 2 : columns))" ] || {
                echo "larder $command: $widest of $columns columns"
                return 1
            }
        done <widths
    done
}

@test "a wide window has the whole table, a narrower one texts that end with …, a narrow one lines of values" {
    export PAGER= NO_COLOR=1
    terminal 10000 50 larder fetch Category --select '@id,name,note=lowercase(name)' >wide
    grep -q 'that no narrow window has room for  combining' wide
    ! grep -q … wide
    terminal 60 50 larder fetch Category --select '@id,name,note=lowercase(name)' >table
    assert_equal 1 "$(grep -c '^@id  ' table)"
    grep -q '^Category/p5  combining .*…  combining .*…$' table
    grep -q '^Category/p4  東京.*…  ' table
    terminal 20 50 larder fetch Category --select '@id,name,note=lowercase(name)' >vertical
    assert_equal 5 "$(grep -c '^@id   Category/p' vertical)"
    # Nothing is lost.
    assert_contains "$(tr -d '\n ' <vertical)" '東京の本とカテゴリの長い名前、そしてもっと長い名前'
    # One row that does not fit.
    terminal 60 50 larder get Article/p1 >one
    grep -q '^title  *one$' one
    terminal 10000 50 larder get Article/p1 | grep -q '^@id  .*title  '
}

@test "vertical output has a name and a value per line, in a pipe, too" {
    assert_equal "title      one"$'\n'"wordCount  10"$'\n\n'"title      two"$'\n'"wordCount  20" \
        "$(larder fetch Article --select title,wordCount --limit 2 --output vertical)"
    assert_equal "name  a\\nb" "$(larder insert Category name=$'a\nb' >/dev/null
        larder fetch Category --where 'name BEGINSWITH "a\n"' --select name --output vertical)"
    assert_equal 6 "$(LARDER_OUTPUT=vertical larder count Category)"
}

@test "output in a pipe does not depend on the window, PAGER or colours" {
    for command in "${commands[@]:0:6}" 'schema show' 'fetch Nothing'; do
        # shellcheck disable=SC2086 # Several words on purpose.
        larder $command >plain 2>plain.errors || true
        terminal 20 3 sh -c "PAGER='touch started; cat' larder $command 2>errors | cat >piped" >/dev/null
        cmp plain piped
        cmp plain.errors errors
    done
    [ ! -e started ]
    ! grep -q $'\e' plain.errors
}

@test "headings, errors and hints have colours, but not with NO_COLOR, TERM=dumb or without TERM" {
    assert_contains "$(terminal 80 24 larder fetch Article --limit 1 --select title)" $'\e[1mtitle\e[0m'
    run terminal 80 24 larder fetch Artcle
    assert_equal 4 "$status"
    assert_contains "$output" $'\e[1;31merror[UNKNOWN_ENTITY]:\e[0m '
    assert_contains "$output" $'\e[36mhint:\e[0m '
    for variables in NO_COLOR=1 TERM=dumb TERM= '-u TERM'; do
        # shellcheck disable=SC2086 # Several words on purpose.
        run terminal 80 24 env $variables larder fetch Artcle
        assert_contains "$output" 'error[UNKNOWN_ENTITY]: '
        [[ "$output" != *$'\e'* ]]
        # shellcheck disable=SC2086
        run terminal 80 3 env $variables PAGER=cat larder fetch Article
        assert_equal 0 "$status"
        [[ "$output" != *$'\e'* ]]
    done
    # An empty NO_COLOR switches nothing off.
    assert_contains "$(NO_COLOR='' terminal 80 24 larder fetch Article --limit 1)" $'\e[1m'
}

@test "output that is longer than the window is shown by PAGER, other output is not" {
    export PAGER='tee paged >/dev/null'
    run terminal 80 50 larder fetch Article --select title
    assert_equal 0 "$status"
    [ ! -e paged ]
    assert_contains "$output" three
    run terminal 80 5 larder fetch Article --select title
    assert_equal 0 "$status"
    assert_equal "" "$output"
    assert_equal 8 "$(wc -l <paged)"
    # Lines that the window wraps count as several.
    rm paged
    terminal 20 8 larder fetch Article --limit 2 --output jsonl >/dev/null
    assert_equal 2 "$(wc -l <paged)"
    # An error comes after the output.
    rm paged
    run terminal 80 3 larder get Article/p1 Article/p2 Article/p99
    assert_equal 4 "$status"
    assert_contains "$output" OBJECT_NOT_FOUND
    # Without PAGER it is less, which ends at once if it has nothing to scroll.
    unset PAGER
    LESS= PATH=$PATH:. terminal 80 100 larder fetch Article --select title | grep -q three
}

@test "a user who leaves the pager ends the command, and a large result is shown whole" {
    seq 1 30000 | sed 's/.*/{"name": "category &"}/' | larder import Category - >/dev/null
    PAGER='head -n 1' run terminal 80 24 larder fetch Category --select name
    assert_equal 0 "$status"
    assert_contains "$output" name
    PAGER='cat >paged' run terminal 80 24 larder fetch Category --select name
    assert_equal 0 "$status"
    assert_equal 30007 "$(wc -l <paged)"
}

@test "a pager that does not exist is a warning, and the output is printed" {
    for pager in nowhere /nowhere/pager 'nowhere -R'; do
        PAGER=$pager run terminal 80 5 larder fetch Article --select title
        assert_equal 0 "$status"
        assert_contains "$output" "the pager $pager of PAGER was not found"
        assert_contains "$output" six
    done
    PAGER='true && exit 127' run terminal 80 5 larder fetch Article --select title
    assert_equal 0 "$status"
    assert_contains "$output" 'could not be run'
}

@test "decimals are printed as they are stored, with their points below one another" {
    for value in 1 12.5 3.125; do larder insert Sample decimal=$value >/dev/null; done
    NO_COLOR=1 terminal 80 24 larder fetch Sample --select decimal,@version >table
    assert_equal ' 1    |12.5  | 3.125' "$(tail -n +3 table | cut -c2-7 | paste -sd'|')"
    assert_equal 1,12.5,3.125 "$(larder fetch Sample --select decimal | paste -sd,)"
}

@test "a long command shows its progress with the part that is done on a terminal" {
    seq 1 60000 | sed 's/.*/{"name": "category &"}/' | larder import Category - >/dev/null
    terminal 80 24 sh -c 'larder export Category >rows' >progress
    grep -q $'\e\[Kexported [0-9]* objects, [0-9]*/s, [0-9]* %' progress
    assert_equal 60005 "$(wc -l <rows)"
    terminal 80 24 larder dump dump >progress
    grep -q 'dumped [0-9]* objects, [0-9]*/s, [0-9]* %' progress
    terminal 20 24 larder load dump --store copy.store >progress
    # The line is never wider than the window.
    assert_equal "" "$(tr '\r' '\n' <progress | sed $'s/\e\\[K//' | grep -E '^loaded.{15}' || true)"
    terminal 80 24 larder load dump --store copy2.store >progress
    grep -q 'loaded [0-9]* objects, [0-9]*/s, [0-9]* %' progress
    terminal 80 24 larder backup backup >progress
    grep -q 'backed up [0-9]* MiB, [0-9]* MiB/s, [0-9]* %' progress
    terminal 80 24 larder restore backup --to restored.store >progress
    grep -q 'restored [0-9]* MiB, [0-9]* MiB/s, [0-9]* %' progress
    seq 1 60000 | sed 's/.*/{"name": "category &"}/' >file.jsonl
    terminal 80 24 larder import Category file.jsonl --store new.store --schema "$schema" >progress
    grep -q 'imported [0-9]* objects, [0-9]*/s, [0-9]* %' progress
    terminal 80 24 larder schema infer file.jsonl >progress
    grep -q 'read [0-9]* objects, [0-9]*/s, [0-9]* %' progress
    [ -z "$(larder dump dump2 2>&1 >/dev/null)" ]
}

@test "a check and a restore of an archive show the bytes that they have read, in a pipe nothing" {
    mkdir archive
    seq 1 60000 | sed 's/.*/{"name": "category &"}/' >file.jsonl
    larderd --store archived.store --schema "$schema" --socket "$scratch/archived" \
        --archive archive 2>>log 3>&- &
    archiver=$!
    larder ping --wait --socket "$scratch/archived" >/dev/null
    larder import Category file.jsonl --socket "$scratch/archived" >/dev/null
    kill -TERM "$archiver"
    wait "$archiver"
    terminal 80 24 larder archive check archive >progress
    grep -q $'\e\[Kverified [0-9]* MiB, [0-9]* MiB/s, [0-9]* %' progress
    # Nothing remains of an intact archive.
    assert_equal "" "$(tr '\r' '\n' <progress | sed $'s/\e\\[K//' | grep -v '^verified' || true)"
    terminal 80 24 larder restore --archive archive --to restored.store >progress
    tr '\r' '\n' <progress | sed $'s/\e\\[K//' | grep -oE '^(verified|restored|checking)' | uniq >steps
    assert_equal $'verified\nrestored\nchecking' "$(cat steps)"
    assert_equal 60000 "$(larder count Category --store restored.store 2>/dev/null)"
    assert_equal "" "$(larder archive check archive 2>&1)"
    assert_equal "" "$(larder restore --archive archive --to piped.store 2>&1 >/dev/null)"
}

@test "check shows for how long it has run, and nothing of an intact store" {
    # The relay holds the reply back until there is a line to read.
    cat >relay.py <<'END'
import os, socket, threading
path = os.environ["LARDER_SOCKET"]
listener = socket.socket(socket.AF_UNIX)
listener.bind("relay")
listener.listen()
print("ready", flush=True)
client = listener.accept()[0]
server = socket.socket(socket.AF_UNIX)
server.connect(path)

def requests():
    while data := client.recv(65536):
        server.sendall(data)
    server.shutdown(socket.SHUT_WR)

threading.Thread(target=requests).start()
client.sendall(server.recv(65536))
reply = server.recv(65536)
with open("go") as go:
    go.read()
client.sendall(reply)
END
    mkfifo go
    python3 relay.py >started 2>&1 3>&- &
    relay=$!
    until grep -q ready started; do kill -0 "$relay"; done
    "$fixtures/conversation" 80 24 \
        bash -c 'larder check --socket relay & read -r; echo >go; wait $!' >shown <<'END'
< checking the store, 
> \n
END
    wait "$relay"
    assert_equal "" "$(tr '\r' '\n' <shown | sed $'s/\e\\[K//' | grep -vE '^$|^checking the store(, [0-9ms ]+)?$' || true)"
    assert_equal "" "$(larder check 2>&1)"
    assert_equal '[]' "$(larder check --output json)"
}

@test "help has its descriptions in a window that is narrower than its first column" {
    for columns in 1 26 40; do
        for command in 'fetch --help' --help 'help insert'; do
            # shellcheck disable=SC2086 # Several words on purpose.
            terminal "$columns" 24 larder $command >help
            assert_equal "" "$(awk 'length > 200' help)"
            assert_contains "$(tr -s ' \n' ' ' <help)" 'Show help information'
        done
        terminal "$columns" 24 larderd --help >help
        assert_contains "$(tr -s ' \n' ' ' <help)" 'Show help information'
    done
    COLUMNS=1 larder fetch --help | tr -s ' \n' ' ' | grep -q 'Show help information'
    run terminal 1 24 larder fetch
    assert_equal 64 "$status"
}
