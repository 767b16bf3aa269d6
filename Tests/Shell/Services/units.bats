load ../helper

# The systemd units, as far as they can be tested without a running systemd.

setup() {
    enter_scratch
    units=$BATS_TEST_DIRNAME/../../../Packaging/systemd
    service=$units/system/larder@.service
}

# setting NAME [UNIT]: the values of a setting of larder@.service, or another unit, one per line.
setting() { sed -n "s/^$1=//p" "${2:-$service}"; }

# serve_workload COMMAND…: runs `COMMAND larderd` as its socket unit would, with reads, saves, an
# import and a check, until it has been idle for two seconds.
serve_workload() {
    systemd-socket-activate -l "$LARDER_SOCKET" "$@" "$(command -v larderd)" \
        --store test.store --schema "$schema" --idle-exit 2 2>log 3>&- &
    daemon=$!
    until [ -S "$LARDER_SOCKET" ]; do kill -0 "$daemon"; done
    larder ping --wait --timeout 60s
    insert_articles
    seq 1 5000 | sed 's/.*/{"title": "t&", "wordCount": &}/' >in
    larder import Article in --atomic --timeout 60s
    larder count Article --where 'title MATCHES "t.*9"' --timeout 60s
    larder fetch Article --sort 'title:localized' --timeout 60s >/dev/null
    larder aggregate Article --group-by wordCount count --timeout 60s >/dev/null
    larder check --timeout 60s
    wait "$daemon"
}

# call_names FILTER…: the system calls of filter sets, with the sets that these contain.
call_names() {
    local name
    for name in "$@"; do
        case $name in
            @*)
                # shellcheck disable=SC2046
                call_names $(systemd-analyze syscall-filter "$name" | sed -n 's/^    \([@a-z0-9_-]*\)$/\1/p')
                ;;
            *) echo "$name" ;;
        esac
    done
}

# write_allowed_calls: writes the system calls that the service may make to the file `allowed`. A
# line with ~ removes calls from those of the lines before.
write_allowed_calls() {
    : >allowed
    local line
    while read -r line; do
        # shellcheck disable=SC2086
        call_names ${line#\~} | sort -u >named
        case $line in
            \~*) comm -23 allowed named >result ;;
            *) sort -u allowed named >result ;;
        esac
        mv result allowed
    done < <(setting SystemCallFilter)
}

@test "systemd finds no error in the units" {
    for manager in system user; do
        mkdir "$manager"
        for unit in "$units/$manager"/*; do
            sed "s|/usr/bin/larder|$BUILT_PROGRAMS/larder|; /^User=\|^Group=\|^Socket[UG].*=/d" \
                "$unit" >"$manager/$(basename "${unit/@/@test}")"
        done
        run systemd-analyze "--$manager" verify --man=no --recursive-errors=no \
            "$scratch/$manager"/*
        [[ $output != *larder* ]] || { echo "$output"; false; }
    done
}

@test "systemd rates the exposure of the services at 0.5 at most, of 10" {
    for unit in "$units"/system/*.service; do
        systemd-analyze security --offline=true --no-pager --threshold=5 "$unit"
    done
}

@test "users are not mapped, because peers would then be one user" {
    assert_equal '' "$(setting PrivateUsers)"
}

@test "the store is in the state directory, and the service and the socket fit together" {
    socket=$units/system/larder@.socket
    assert_equal "/usr/bin/larderd --config /etc/larder/%i.toml" "$(setting ExecStart)"
    mkdir -p root/lib/systemd
    cp -R "$units/system" root/lib/systemd
    larder service create school --schema "$schema" --root root
    grep -qx "store = \"/var/lib/$(setting StateDirectory)/school.store\"" root/etc/larder/school.toml
    assert_contains "$(setting Requires)" larder@%i.socket
    run ! grep -e '--socket' "$service"
    assert_equal "$(setting Group)" "$(setting SocketGroup "$socket")"
    assert_equal 0660 "$(setting SocketMode "$socket")"
    # The backup uses the same socket, as a user who may, and writes to the folder of tmpfiles.d.
    backup=$units/system/larder-backup@.service
    assert_contains "$(sed -n '/^ExecStart=/,/[^\\]$/p' "$backup")" \
        "--socket $(setting ListenStream "$socket") "
    assert_equal "$(setting SocketUser "$socket")" "$(setting User "$backup")"
    grep -q "^d $(setting ReadWritePaths "$backup") 0700 larder larder" "$units/tmpfiles.conf"
}

@test "a reload of the services makes the server read its policy again" {
    for manager in system user; do
        assert_equal '/bin/kill -HUP $MAINPID' \
            "$(setting ExecReload "$units/$manager/larder@.service")"
    done
}

@test "the server makes no system call that the service forbids, and writes to its folder only" {
    # With -D the tracer is another process, so that larderd is the one that systemd has started.
    serve_workload strace -D -f -q -o calls
    until grep -q "^$daemon .*+++ exited" calls; do :; done
    write_allowed_calls
    grep -qx fdatasync allowed
    run ! grep -qx chown allowed
    sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' calls | sort -u >made
    # Only if it runs as root, SQLite gives new files to the owner of the store.
    if [ "$(id -u)" = 0 ]; then sed -i '/^fchown$/d' made; fi
    grep -qx fdatasync made
    comm -23 made allowed >outside
    assert_equal '' "$(cat outside)"
    # MemoryDenyWriteExecute
    run ! grep -E '(mmap|mprotect)\(.*PROT_WRITE\|PROT_EXEC|mprotect\(.*PROT_EXEC' calls
    # RestrictAddressFamilies
    run ! grep -E ' (socket|socketpair)\([^A]*AF_[^U]' calls
    # ProtectSystem: relative paths are in the scratch folder.
    grep -E ' open(at)?\(.*(O_WRONLY|O_RDWR|O_CREAT)' calls | grep -v ENOENT >written
    sed -n 's/^[^"]*"\([^"]*\)".*/\1/p' written | sort -u >paths
    grep -q test.store-wal paths
    run grep -vE "^($scratch/|[^/]|\./|/dev/null$|/tmp/|/var/tmp/)" paths
    assert_equal '' "$output"
}

@test "the server works with the system call filter" {
    write_allowed_calls
    cat >filtered.py <<'END'
import ctypes, os, sys
seccomp = ctypes.CDLL("libseccomp.so.2")
seccomp.seccomp_init.restype = ctypes.c_void_p
# SCMP_ACT_ERRNO(EPERM), SCMP_ACT_ALLOW
rules = ctypes.c_void_p(seccomp.seccomp_init(0x00050001))
for name in open("allowed").read().split():
    number = seccomp.seccomp_syscall_resolve_name(name.encode())
    if number >= 0:
        assert seccomp.seccomp_rule_add(rules, 0x7FFF0000, number, 0) == 0
# PR_SET_NO_NEW_PRIVS
assert ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0
assert seccomp.seccomp_load(rules) == 0
try:
    os.chown("allowed", 0, 0)
    sys.exit("the filter has no effect")
except PermissionError:
    os.execv(sys.argv[1], sys.argv[1:])
END
    serve_workload python3 filtered.py
    run ! grep -e warning -e error log
}
