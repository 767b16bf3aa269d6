# What reaches a terminal from values, names and servers of others.

load ../helper

setup() {
    enter_scratch
    command -v script >/dev/null || skip "script is not installed"
    start_daemon
    # An escape sequence that sets the title, BEL, C1, an override of the direction, a line
    # separator, a carriage return, and text that is shown as it is.
    hostile=$'a\e]0;owned\a b\u009b31m c\u202egpj d\u2028e\rf é 🏳️‍🌈'
    export hostile
    uri=$(larder insert Category name="$hostile")
}

# on_terminal COMMAND: runs it with a terminal as its standard output and error. Sets $output.
on_terminal() {
    run script -qec "$1" /dev/null
}

# assert_shown: $output has nothing that a terminal obeys, except line ends. The terminal makes a
# carriage return and a line feed of each line feed, also of one after a carriage return.
assert_shown() {
    python3 - "$output" <<'END'
import sys, unicodedata
for character in sys.argv[1].replace("\r\r\n", "\n").replace("\r\n", "\n").rstrip("\r"):
    kind = unicodedata.category(character)
    turns = unicodedata.bidirectional(character) in (
        "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    if character not in "\n\t" and (kind in ("Cc", "Zl", "Zp") or turns):
        sys.exit(f"the output has U+{ord(character):04X}: {sys.argv[1]!r}")
END
}

@test "no format lets a value control the terminal, and JSON stays valid" {
    for form in table vertical plain json jsonl csv; do
        on_terminal "larder fetch Category --select name --output $form"
        assert_equal 0 "$status"
        assert_shown
        assert_contains "$output" 'é 🏳️‍🌈'
        assert_contains "$output" '\u202egpj'
        if [ "$form" = jsonl ]; then
            assert_equal "$hostile" "$(tr -d '\r' <<<"$output" | jq -r .name)"
        fi
    done
    on_terminal "larder get '$uri'"
    assert_shown
    on_terminal "larder export Category 2>/dev/null"
    assert_shown
    on_terminal "larder dump 2>/dev/null"
    assert_shown
    on_terminal "larder history --output json"
    assert_shown
}

@test "files and pipes get the bytes of a value unchanged" {
    larder fetch Category --select name --output jsonl >rows
    assert_equal "$hostile" "$(jq -r .name rows)"
    larder fetch Category --select name --output csv >rows
    assert_contains "$(cat rows)" "$hostile"
    larder fetch Category --select name --output plain | cat >rows
    grep -q $'\u202egpj' rows
    larder dump | larder load - --store loaded.store
    assert_equal "$(larder fetch Category --select name --output json)" \
        "$(larder fetch Category --select name --output json --store loaded.store)"
}

@test "plans, errors, hints and the client's names control no terminal" {
    on_terminal 'larder explain Category --where "name == \"$hostile\""'
    assert_equal 0 "$status"
    assert_shown
    on_terminal 'larder explain Category --where "name == \"$hostile\"" --output json'
    assert_shown
    for command in 'larder fetch "$hostile"' 'larder count Category --where "$hostile == 1"' \
        'larder insert Category "$hostile=1"' 'larder get "$hostile"' 'larder "$hostile"' \
        'larder count Category --where "$hostile" --output json' 'larder ping --socket "/$hostile"' \
        'larder import Category "$hostile"' 'larderd --store "$hostile" --socket s2'; do
        on_terminal "$command"
        assert_shown
    done
    larder insert Category name=b --author "$hostile" >/dev/null
    on_terminal 'larder history'
    assert_shown
}

@test "columns of a table are aligned by what the terminal shows" {
    larder update "$uri" name=$'\u202ea' >/dev/null
    larder insert Category name=bbbbbbbbb >/dev/null
    on_terminal "larder fetch Category --select name,@version --output table"
    tr -d '\r' <<<"$output" >table
    # The last column has numbers, which are aligned to the right.
    assert_equal 1 "$(awk '{ print length }' table | sort -u | wc -l)"
    grep -q '^\\u202ea ' table
}
