# The 99 notes of a newcomer and operator, of 2026-11-26: what works today. Each note has a step in
# newcomer.bash, or names a test or a section of a page. docs/test-results.md has the sums.

load ../helper

folder=$BATS_TEST_DIRNAME
list=$fixtures/newcomer.text

setup() {
    enter_scratch
    bash -ec 'source "$0"; library >library.json; books >books.jsonl' "$folder/newcomer.bash"
    larderd --store books.store --schema library.json --socket "$LARDER_SOCKET" 2>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    larder import Book books.jsonl --create-related >/dev/null
}

# Runs the steps of a section, and prints those that fail.
run_steps() {
    local failed=0 note kind
    while IFS=$'\t' read -r note _ kind _; do
        [[ $kind = step && $note = "$1"* ]] || continue
        mkdir "$note"
        (cd "$note" && bash -e "$folder/newcomer.bash" "$note") >"$note.out" 2>&1 3>&- || {
            failed=1
            echo "$note: $(cat "$note.out")"
        }
    done <"$list"
    return $failed
}

@test "each note of the newcomer has a step, a test or a section of a page that exists" {
    assert_equal "$(printf 'A%d\n' {1..56}; printf 'B%d\n' {1..26}; printf 'C%d\n' {1..7}
        printf 'D%d\n' {1..10})" "$(cut -f1 "$list")"
    while IFS=$'\t' read -r note today place name; do
        [[ $today = works || $today = awkward ]]
        case $place in
        step) grep -q "^step_$note()" "$folder/newcomer.bash" ;;
        *.bats) grep -qF "@test \"$(sed 's/"/\\"/g' <<<"$name")\" {" "$folder/../$place" ;;
        *.md) grep -qF -- "$name" "$folder/../../../$place" ;;
        *) false ;;
        esac || {
            echo "$note has no $place: $name"
            return 1
        }
    done <"$list"
}

@test "docs/test-results.md has the numbers of the list, and names what is awkward" {
    page=$folder/../../../docs/test-results.md
    for section in A B C D; do
        works=$(grep -c "^$section[0-9]*"$'\tworks' "$list")
        awkward=$(grep -c "^$section[0-9]*"$'\tawkward' "$list" || true)
        grep -q "^| $section .* | $works | $awkward | 0 |$" "$page"
    done
    while IFS=$'\t' read -r note _; do
        grep -q "^| $note |" "$page"
    done < <(grep -P '\tawkward\t' "$list")
}

@test "the steps of the first hour work" { run_steps A; }

@test "the steps of an operator work" { run_steps B; }

@test "the steps about the looks work" { run_steps C; }
