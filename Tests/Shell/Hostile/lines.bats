# How lines of input are read: blank ones, their numbers and their columns.

load ../helper

# blank_lines COUNT LINE: the line so many times.
blank_lines() { yes "$2" | head -n "$1"; }

@test "fifty million empty lines are read in the time of their bytes, and lines keep their numbers" {
    { blank_lines 50000000 ''; echo '{"int64": 1}'; echo '  {"nothing": 2}'; } >lines
    # A text of each line would take longer than the limit of the command.
    assert_status 65 timeout 300 larder import Sample lines
    assert_contains "$stderr" 'lines, line 50000002: '
    # Only the end of the file follows.
    head -n 50000001 lines >filled
    assert_status 0 timeout 300 larder import Sample filled
}

@test "lines of white space are skipped, also across chunks, and columns count white space before a text" {
    {
        blank_lines 300000 $' \t \r'
        echo '{"int64": 7}'
        blank_lines 300000 $'\r'
        printf '   {"int64": 8'
    } >lines
    assert_status 65 larder import Sample lines
    assert_contains "$stderr" 'lines, line 600002: JSON, line 1, column '
    printf '}' >>lines
    assert_status 0 larder import Sample lines
    assert_equal $'7\n8' "$(larder fetch Sample --select int64 --sort int64)"
}

@test "blank lines of a change set and after a dump are skipped, a text after a dump is not" {
    { blank_lines 1000000 ''; echo '{"insert": {"@entity": "Sample", "int64": 3}}'; blank_lines 1000000 ' '; } >changes
    assert_status 0 larder save changes
    larder dump store.dump
    { cat store.dump; blank_lines 1000000 ''; } >long.dump
    assert_status 0 larder load long.dump --store loaded.store
    count=$(wc -l <long.dump)
    echo '{}' >>long.dump
    assert_status 65 larder load long.dump --store again.store
    assert_contains "$stderr" "long.dump, line $((count + 1)): "
}
