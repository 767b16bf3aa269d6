# Files beside a store that are not what belongs there: each is an error that names it, at once, and
# the store is as it was.

load ../helper

setup() {
    enter_scratch
    larder insert Category name=tech --store test.store --schema "$schema" >/dev/null
}

# Makes one of each type of file at a path.
make_pipe() { mkfifo "$1"; }
make_folder() { mkdir "$1"; }
make_link() { ln -s "$scratch/elsewhere" "$1"; }
make_socket() {
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$1"
}

# assert_named PATH TEXT COMMAND…: the command fails in time, with an error that names the file.
assert_named() {
    local path=$1 text=$2
    shift 2
    assert_status 74 timeout 300 "$@"
    assert_contains "$stderr" "error[STORAGE_FAILED]: $path is $text, and "
    assert_contains "$stderr" "hint: "
    [ ! -e elsewhere ]
}

@test "another type of file in place of the owner file, the log or the journal is an error, and nothing waits" {
    for kind in 'pipe/a named pipe' 'folder/a folder' 'link/a symbolic link' 'socket/a socket'; do
        for name in test.store.owner test.store-wal test.store-journal; do
            "make_${kind%%/*}" "$name"
            assert_named "$scratch/$name" "${kind#*/}" larder count Category --store "$scratch/test.store"
            assert_named "$scratch/$name" "${kind#*/}" larderd --store "$scratch/test.store" --socket s
            rm -r "$name"
        done
    done
    assert_equal 1 "$(larder count Category --store test.store)"
}

@test "another type of file in place of a file of an archive is an error" {
    mkdir archive
    for kind in 'pipe/a named pipe' 'folder/a folder'; do
        "make_${kind%%/*}" archive/larder-archive.lock
        assert_named "archive/larder-archive.lock" "${kind#*/}" \
            larderd --store test.store --socket s --archive archive
        rm -r archive/larder-archive.lock
    done
    mkfifo archive/larder-000001-0000000000-1.base
    assert_status 74 timeout 300 larder archive check archive
    assert_contains "$output" 'archive/larder-000001-0000000000-1.base is a named pipe, and '
}

@test "the owner file is its user's alone, and after a kill nobody else can keep the store" {
    start_daemon
    assert_equal 600 "$(stat -c %a test.store.owner)"
    kill -KILL "$daemon"
    wait "$daemon" || true
    daemon=
    assert_equal 600 "$(stat -c %a test.store.owner)"
    # As former versions left it. A stranger may read it, and takes every lock that this allows.
    chmod 644 test.store.owner
    mkfifo held
    python3 - >held 3>&- <<'END' &
import fcntl, signal, struct
file = open("test.store.owner")
fcntl.flock(file, fcntl.LOCK_EX)
fcntl.lockf(file, fcntl.LOCK_SH)
other = open("test.store.owner")
fcntl.fcntl(other, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))
print("locked", flush=True)
signal.pause()
END
    stranger=$!
    read -r -t 300 _ <held
    assert_status 0 larder count Category --store test.store
    start_daemon
    assert_equal 600 "$(stat -c %a test.store.owner)"
    assert_status 74 larder count Category --store test.store
    assert_contains "$stderr" "held by larderd (process $daemon)"
    kill "$stranger"
    stop_daemon
}

@test "who may connect to the socket may read the owner file" {
    larderd --store test.store --socket "$LARDER_SOCKET" --mode 660 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    assert_equal 640 "$(stat -c %a test.store.owner)"
    stop_daemon
    [ ! -e test.store.owner ]
}

@test "files of another user next to the store are errors that name the user, and nothing is lost" {
    [ "$(id -u)" = 0 ] || skip "only root can make files of another user"
    chmod 755 "$scratch"
    mkdir shared
    chmod 777 shared
    setpriv --reuid 65534 --regid 65534 --clear-groups \
        larder insert Category name=arts --store shared/test.store --schema "$schema" >/dev/null
    # The log of a root's larderd that was killed.
    touch shared/test.store-wal
    chmod 600 shared/test.store-wal
    as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups timeout 300 "$@"; }
    assert_status 5 as_nobody larder count Category --store shared/test.store
    assert_contains "$stderr" "shared/test.store-wal may not be opened; it belongs to user 0"
    assert_contains "$stderr" 'hint: it may have saves'
    rm shared/test.store-wal
    # SQLite's lock decides if the owner file cannot be used.
    touch shared/test.store.owner
    chmod 600 shared/test.store.owner
    assert_equal 1 "$(as_nobody larder count Category --store shared/test.store)"
    [ -e shared/test.store.owner ]
}

@test "an owner file with another name is not emptied" {
    echo kept >other
    ln other test.store.owner
    assert_status 74 larder count Category --store test.store
    assert_contains "$stderr" "test.store.owner has another name (a hard link)"
    assert_equal kept "$(cat other)"
}
