# A disk that the store itself has filled: objects can be deleted, and their space is used again.

load ../helper

setup() {
    enter_scratch
    mkdir disk
    mount -t tmpfs -o size=64m larder-test disk 2>/dev/null ||
        skip "mounting a file system is not permitted"
    cd disk
    start_daemon
}

# Inserts objects of a size in bytes until the disk is full. Writes their URIs to ../uris.
fill_with_objects_of() {
    python3 - "$1" >../object <<'END'
import base64, os, sys
print('{"data": "' + base64.b64encode(os.urandom(int(sys.argv[1]))).decode() + '"}')
END
    : >../uris
    while larder insert Sample - <../object >>../uris 2>../errors; do :; done
    assert_contains "$(cat ../errors)" 'error[STORAGE_FULL]: the disk of the store is full, apart from a reserve'
    (($(wc -l <../uris) > 5))
}

assert_usable() {
    assert_equal 0 "$(larder count Sample)"
    for _ in {1..5}; do larder insert Sample - <../object >/dev/null; done
    assert_equal 5 "$(larder count Sample)"
    larder check >/dev/null
    stop_daemon
    assert_equal ok "$(sqlite3 test.store 'PRAGMA integrity_check')"
}

@test "large objects can be deleted one by one from a full disk, and others use their space" {
    fill_with_objects_of 1000000
    while read -r uri; do larder delete "$uri" >/dev/null; done <../uris
    assert_usable
}

@test "all objects of a full disk can be deleted at once, also after a restart" {
    fill_with_objects_of 4000000
    # The log, which is removed, was space for some more.
    stop_daemon
    start_daemon
    while larder insert Sample - <../object >/dev/null 2>../errors; do :; done
    assert_contains "$(cat ../errors)" 'error[STORAGE_FULL]'
    larder delete Sample --where 'data != nil' >/dev/null
    assert_usable
}

@test "on a full disk, reads and deletions of the history work" {
    fill_with_objects_of 1000000
    assert_contains "$(cat ../errors)" 'hint: delete objects, or free disk space'
    larder export Sample | wc -l >../count
    assert_equal "$(wc -l <../uris)" "$(cat ../count)"
    larder check >/dev/null
    larder history delete --keep 1 >/dev/null
    while read -r uri; do larder delete "$uri" >/dev/null; done <../uris
    assert_usable
}

@test "many small objects fill a disk, and can be deleted from it" {
    text=$(printf '%01500d' 0)
    seq 1 60000 | sed "s/.*/{\"int64\": &, \"string\": \"$text\"}/" >../many
    assert_status 74 larder import Sample ../many
    assert_contains "$stderr" 'error[STORAGE_FULL]: the disk of the store is full, apart from a reserve'
    echo '{"int64": 1}' >../object
    larder delete Sample --where 'int64 >= 100' >/dev/null
    larder delete Sample --where 'int64 < 100' >/dev/null
    assert_usable
}
