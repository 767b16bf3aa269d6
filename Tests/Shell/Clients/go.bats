load ../helper

root=$(realpath "$BATS_TEST_DIRNAME/../../..")
# Debian's sources of protobuf are a module, so that nothing is fetched.
protobuf=google.golang.org/protobuf
debian=/usr/share/gocode/src/$protobuf

setup_file() {
    # The settings of the user who runs the tests do not apply.
    export GOENV=off GOPROXY=off GOFLAGS= GO111MODULE=on
    cp -R "$BATS_TEST_DIRNAME/../../../Clients/go" "$BATS_FILE_TMPDIR/larder"
}

# Enters a scratch folder with a module of its own that requires the client.
setup() {
    enter_scratch
    module=$BATS_FILE_TMPDIR/larder
    mkdir program
    cat >program/go.mod <<END
module example.org/program

go 1.19
END
    (cd program && use_client)
}

# Requires the client in the module of the folder, as docs/go.md says for Debian.
use_client() {
    block sh 2 | sed "s#/path/to/larder/Clients/go#$module#" >install
    grep -q "$module" install
    bash -e install
}

# Runs the go command in the module of the client. Its go.mod is not changed.
in_module() {
    (
        cd "$module"
        cp go.mod "$scratch/client.mod"
        go mod edit "-replace=$protobuf=$debian" "$scratch/client.mod"
        go "$1" "-modfile=$scratch/client.mod" "${@:2}"
    )
}

# block LANGUAGE NUMBER: a block of docs/go.md.
block() {
    awk -v fence="\`\`\`$1" -v number="$2" '
        $0 == fence { inside = ++count == number; next }
        /^```/ { inside = 0 }
        inside' "$root/docs/go.md"
}

# Waits until a file contains a text, while a process runs.
wait_for() {
    until grep -q "$2" "$1"; do kill -0 "$3"; done
}

@test "the generated messages of the Go client are current" {
    assert_status 0 "$root/Clients/go/generate" --check
    assert_equal "" "$output$stderr"
    assert_status 64 "$root/Clients/go/generate" --chekc
    cp -R "$root/Proto" "$root/Clients" .
    echo '// A comment.' >>Clients/go/internal/larderv1/value.pb.go
    assert_status 1 Clients/go/generate --check
    assert_contains "$stderr" "is stale; run Clients/go/generate"
    Clients/go/generate
    assert_status 0 Clients/go/generate --check
}

@test "the sources of the Go client are formatted and pass go vet" {
    assert_equal "" "$(gofmt -l "$module")"
    in_module vet ./...
    # Only protobuf's messages are used outside of the standard library.
    assert_equal "$protobuf" "$(sed -n 's/^require \([^ ]*\) .*/\1/p' "$module/go.mod")"
}

@test "the tests of the Go client pass, and none is skipped" {
    in_module test -count=1 -v . >tests || {
        grep -A 20 -E '^ *--- FAIL|^panic' tests
        return 1
    }
    run grep -c -- '--- SKIP' tests
    assert_equal 0 "$output"
    [ "$(grep -c '^--- PASS' tests)" -gt 30 ]
    # Each run adds some thousand replies of a server that are not valid.
    in_module test -run NONE -fuzz FuzzReplies -fuzztime 2s . >fuzz
}

@test "the first program of the Go page runs in a module of a user" {
    block json 1 >books.json
    { block go 1; echo; block go 2; } >program/main.go
    [ "$(block go 2 | wc -l)" -le 25 ]
    assert_equal "" "$(gofmt -l program)"
    (cd program && go vet . && go build -o program .)
    larderd --in-memory --schema books.json --socket books.sock 2>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 60s --socket books.sock >/dev/null
    program/program >out 2>err 3>&- &
    local program=$!
    wait_for out "Larder 201 x-coredata:" "$program"
    larder update Book --all --set 'pages=pages * 2' --socket books.sock
    wait_for out "Larder 402 x-coredata:" "$program"
    stop_daemon
    kill "$program"
    wait "$program" || true
    assert_equal "" "$(cat err)"
}

# The words are names of Go's language, and of the structs' own fields and imports.
@test "the structs that larder prints for Go compile, and hold the objects of a store" {
    local tests=$root/Tests
    jq -n --args '{version: "1.0.0", entities: [{name: "Parent"}, ($ARGS.positional[] | . as $name
        | {name: $name, parent: "Parent",
           attributes: [$ARGS.positional[] | {name: ., type: "string", optional: true}],
           relationships: [{name: "r", destination: $name, toMany: true}]})]}' \
        break func interface select map chan package range type string error nil iD version \
        parent_ json time larder any >words.json
    mkdir program/models
    for sample in words.json "$fixtures"/{library.schema,schema}.json \
        "$tests"/{Python/school,Model/model,Siege/siege,Crash/crash}.schema.json; do
        larder schema show --schema "$sample" --output go >program/models/models.go
        assert_equal "" "$(gofmt -l program)"
        (cd program && go vet ./models)
    done
    larder schema show --schema "$fixtures/library.schema.json" --output go \
        >program/models/models.go
    cat >program/main.go <<'END'
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"example.org/program/models"

	"larder"
)

func must[Value any](value Value, err error) Value {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	store := must(larder.Connect(ctx, os.Args[1], larder.Options{}))
	isbn := "1"
	book := models.Book{Isbn: &isbn, Shelf: "A"}
	book.Title, book.Added, book.Number = "Larder", time.Unix(1e9, 5e8), larder.UUID{7}
	book.Authors = []larder.Identifier{must(store.Insert(ctx, "Author", models.Author{Name: "Ann"}))}
	id := must(store.Insert(ctx, "Book", book))
	must(store.Insert(ctx, "Loan", models.Loan{Due: time.Unix(2e9, 0), Fee: "0.50", Medium: id}))
	found := must(larder.FetchAs[models.Book](ctx, store, larder.From("Book")))[0]
	fmt.Println(found.Title, found.Added.Unix(), found.Number == book.Number, *found.Isbn,
		found.Authors[0] == book.Authors[0], found.LoanCount, found.Loans[0].Entity, found.Version)
	all := must(larder.FetchAs[models.Medium](ctx, store, larder.From("Medium")))
	fmt.Println(len(all), all[0].ID == id)
}
END
    larderd --in-memory --schema "$fixtures/library.schema.json" --socket library.sock 2>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 60s --socket library.sock >/dev/null
    assert_equal "Larder 1000000000 true 1 true 1 Loan 1
1 true" "$(cd program && go run . ../library.sock)"
}

# The blocks are parts of functions, whose variables the page does not declare.
@test "the other examples of the Go page compile" {
    {
        printf 'package main\n\nimport (\n\t"context"\n\t"errors"\n\t"log"\n\n\t"larder"\n)\n\n'
        printf 'func main() {}\n\nfunc save(ctx context.Context, store *larder.Client, '
        printf 'book larder.Identifier, version int64) (*larder.Saved, error) {\n'
        block go 3
        printf '\treturn saved, err\n}\n\nfunc react(err error, retry func() error) error {\n'
        block go 4
        printf '\treturn err\n}\n'
    } >program/main.go
    (cd program && go vet .)
    # There are no other blocks.
    assert_equal "" "$(block go 5)"
}

# The names in the table of calls, in the lists of clauses and in the text.
@test "each name of the package in the Go page exists" {
    cat "$module"/*.go >sources
    count=0
    for name in $(grep -o '`[A-Za-z.]*[A-Z][A-Za-z.]*' "$root/docs/go.md" | tr -d '`' |
        sed 's/^larder\.//; s/.*\.//' | sort -u); do
        case $name in
        Proto | DeadlineExceeded | Canceled | RawMessage | Time | Title) continue ;;
        esac
        grep -qw "$name" sources || {
            echo "$name does not exist"
            return 1
        }
        count=$((count + 1))
    done
    [ "$count" -gt 60 ]
}
