load ../helper

client=$BATS_TEST_DIRNAME/../../../Clients/c
page=$BATS_TEST_DIRNAME/../../../docs/c.md

# The library is built once by gcc, with its tests and a second time with sanitizers, and installed.
setup_file() {
    export build=$BATS_FILE_TMPDIR/build sanitized=$BATS_FILE_TMPDIR/sanitized
    export prefix=$BATS_FILE_TMPDIR/prefix
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    make -s -j2 -C "$client" BUILD="$build" PREFIX="$prefix" all tests install
    make -s -j2 -C "$client" BUILD="$sanitized" tests \
        CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
}

setup() { enter_scratch; }

# start_with SCHEMA: starts a server with an empty store in memory.
start_with() {
    larderd --in-memory --schema "$1" --socket "$LARDER_SOCKET" 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
}

# The functions that the header declares, sorted.
declared() { grep -oE '\blarder_[a-z0-9_]+\(' "$client/larder.h" | tr -d '(' | sort -u; }

# block LANGUAGE: the first block of the page in a language; json is the one that is indented.
block() {
    case $1 in
    c) awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" ;;
    json) awk '/^<!-- file books.json -->$/ { inside = 1; next }
        inside && !/^    / { exit } inside' "$page" ;;
    esac
}

@test "the library in C passes its unit tests, with sanitizers and under valgrind" {
    "$sanitized/unit" "$RANDOM" 4000 >out || { cat out && false; }
    valgrind -q --leak-check=full --error-exitcode=9 "$build/unit" "$RANDOM" 400 >out ||
        { cat out && false; }
}

@test "each call of the library in C works with a server" {
    start_with "$client/tests/schema.json"
    "$sanitized/server" "$LARDER_SOCKET"
    stop_daemon
    start_with "$client/tests/schema.json"
    valgrind -q --leak-check=full --error-exitcode=9 "$build/server" "$LARDER_SOCKET"
}

@test "the example of the page on the library in C works, with the shared and the static library" {
    block c >books.c
    [ "$(wc -l <books.c)" -le 25 ]
    block json >books.json
    read -ra shared <<<"$(pkg-config --cflags --libs larder)"
    cc -Wall -Wextra -Werror -o books books.c "${shared[@]}" -Wl,-rpath,"$prefix/lib"
    read -ra static <<<"$(pkg-config --static --libs larder)"
    cc -o static books.c -I"$prefix/include" "${static[@]/#-llarder/-l:liblarder.a}"
    assert_contains "$(ldd books)" liblarder.so.1
    [[ "$(ldd static)" != *liblarder* ]]
    for program in books static; do
        start_with books.json
        assert_equal "fetched Larders
observed Larders
observed Pantries" "$("./$program" "$LARDER_SOCKET")"
        stop_daemon
    done
    assert_status 1 ./books nowhere
    assert_contains "$stderr" "error[CONNECTION_FAILED]: nowhere: No such file or directory"
}

@test "the library in C exports the functions of its header and nothing else" {
    declared >declared
    nm -D --defined-only "$prefix/lib/liblarder.so" | awk '$2 == "T" { print $3 }' |
        sed 's/@@.*//' | sort >exported
    diff declared exported
    nm --defined-only --extern-only "$prefix/lib/liblarder.a" | awk 'NF == 3 { print $3 }' |
        sort >exported
    diff declared exported
    assert_contains "$(readelf -d "$prefix/lib/liblarder.so")" "soname: [liblarder.so.1]"
    # Its page and its manual name each of them.
    while read -r name; do
        grep -qF "\`$name\`" "$page" || { echo "docs/c.md lacks $name" && false; }
        grep -qE "\b$name\b" "$client/larder.3" || { echo "larder.3 lacks $name" && false; }
    done <declared
}

@test "the header of the library in C is one of C and C++, and has the numbers of the protocol" {
    echo '#include <larder.h>' >header.c
    cp header.c header.cc
    for standard in c11 c17 gnu17; do
        gcc -std=$standard -pedantic -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only header.c
    done
    for standard in c++11 c++20; do
        g++ -std=$standard -pedantic -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only header.cc
    done
    [ "$(grep -c protobuf "$prefix/include/larder.h")" = 0 ]
    sed -nE 's/^ *LARDER_ERROR_([A-Z_]+) = ([0-9]+),?$/\1 \2/p' "$prefix/include/larder.h" |
        grep -v '^NONE ' >header
    sed -nE 's/^ *ERROR_CODE_([A-Z_]+) = ([1-9][0-9]*);$/\1 \2/p' \
        "$client/../../Proto/error.proto" >protocol
    diff header protocol
}

@test "a program in C++ uses the library in C" {
    cat >program.cc <<'END'
#include <larder.h>
#include <cstdio>
int main() {
    larder_error error{};
    larder_identifier identifier;
    return larder_identifier_parse("nonsense", &identifier, &error) ||
           larder_error_kind(&error) != LARDER_KIND_INVALID;
}
END
    read -ra flags <<<"$(pkg-config --cflags --libs larder)"
    g++ -Wall -Wextra -Werror -o program program.cc "${flags[@]}" -Wl,-rpath,"$prefix/lib"
    ./program
}

@test "clang compiles the library in C without a warning" {
    command -v clang >/dev/null || skip "clang is not installed"
    for source in "$client"/*.c; do
        clang -std=c17 -D_DEFAULT_SOURCE -Wall -Wextra -Werror -fsyntax-only -I"$client" \
            -I"$build/generated" "$source"
    done
}

@test "the manual of the library in C has no errors" {
    command -v groff >/dev/null || skip "groff is not installed"
    groff -man -ww -z -rLL=100n "$prefix/share/man/man3/larder.3" 2>warnings
    [ ! -s warnings ] || { cat warnings && false; }
}

@test "make uninstall removes what make install has installed in the library in C" {
    make -s -C "$client" BUILD="$build" PREFIX=/usr DESTDIR="$scratch/root" install
    assert_equal "include/larder.h
lib/liblarder.a
lib/liblarder.so
lib/liblarder.so.1
lib/liblarder.so.1.0.0
lib/pkgconfig/larder.pc
share/man/man3/larder.3" "$(cd root/usr && find . -not -type d | sed 's#./##' | sort)"
    make -s -C "$client" BUILD="$build" PREFIX=/usr DESTDIR="$scratch/root" uninstall
    assert_equal "" "$(find root -not -type d)"
}
