load ../helper
load machine

# The packages, made of the programs in LARDER_BIN_DIR, and a Debian system in which they are
# installed, used, upgraded and removed.

setup_file() {
    [ "$(id -u)" = 0 ] || { echo "these tests need root" >&2 && return 1; }
    cd "$BATS_TEST_DIRNAME/../../.."
    # The helper has exported the path, and has removed the variable that larder does not know.
    scripts/package --programs "$BUILT_PROGRAMS" --output "$BATS_FILE_TMPDIR/packages"
    cd "$BATS_FILE_TMPDIR/packages"
    # The version before, for an upgrade.
    mkdir former
    dpkg-deb -R larder_*.deb former/tree
    sed -i 's/^Version: .*/Version: 0.0.1/' former/tree/DEBIAN/control
    dpkg-deb -Zgzip -z1 -b former/tree former/larder_0.0.1.deb >/dev/null
    rm -r former/tree
}

setup() {
    enter_scratch
    unset LARDER_SOCKET
    packages=$BATS_FILE_TMPDIR/packages
    package=$(basename "$packages"/larder_*.deb)
    machine='' machine_parent=''
    cat >one.json <<'JSON'
{"version": "1.0.0", "entities": [{"name": "Student", "attributes": [{"name": "name", "type": "string"}]}]}
JSON
    sed 's/1.0.0/2.0.0/; s/"string"}/"string"}, {"name": "born", "type": "int64", "optional": true}/' \
        one.json >two.json
}

teardown() {
    if [ -n "$machine" ] && [ -z "${BATS_TEST_COMPLETED-}" ]; then
        in_machine journalctl --no-pager --lines 60 || true
    fi
    stop_machine
    leave_scratch
}

# enter_machine: starts a Debian system with the users ann and bob, and the group staff.
enter_machine() {
    make_machine "$BATS_TEST_DIRNAME/../../../.build/test-debian.tar" "$scratch/root"
    cp one.json two.json root/srv
    start_machine "$scratch/root" "$packages"
    in_machine useradd --create-home ann
    in_machine useradd --create-home bob
    in_machine usermod --append --groups staff ann
    in_machine apt-get update -qq
}

# install_package FILE…: installs packages with what they depend on.
install_package() {
    in_machine apt-get install -qq -y --no-install-recommends --allow-downgrades \
        "${@/#//packages/}" >apt.log 2>&1 || { cat apt.log && return 1; }
}

property() { in_machine systemctl show --value --property "$1" "$2"; }

@test "the packages have no error or warning of lintian that is not explained" {
    assert_status 0 lintian --fail-on error,warning --allow-root "$packages"/*.changes
    assert_equal '' "$output"
}

@test "the package of the programs has at most 20 MB, and installed 65 MB" {
    file=$packages/$package
    [ "$(stat -c %s "$file")" -le 20000000 ]
    [ "$(dpkg-deb -f "$file" Installed-Size)" -le 63476 ]
    echo "# $(stat -c %s "$file") bytes, installed $(dpkg-deb -f "$file" Installed-Size) KiB" >&3
}

@test "the manual has a page for each command, without warnings of mandoc and man" {
    dpkg-deb -x "$packages/$package" tree
    gunzip -r tree/usr/share/man
    for page in larder.1 larder-fetch.1 larder-history-show.1 larder-service-create.1 larderd.8 \
        larder-schema.1 larder-schema.5 larder-query.7 larder.7; do
        [ -s tree/usr/share/man/man*/"$page" ]
    done
    for page in tree/usr/share/man/man*/*; do
        # Words without a space may be longer than a line.
        mandoc -Tlint -Wstyle "$page" | grep -v 'longer than 80 bytes\|referenced manual' >>lint || true
        LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings --encoding UTF-8 --local-file "$page" \
            2>>lint >/dev/null
        # Every page that another one refers to exists.
        sed -n 's/^\.Xr \([^ ]*\) \([1-8]\).*/\1.\2/p' "$page" | while read -r other; do
            [ -e tree/usr/share/man/man"${other##*.}/$other" ] || echo "$page: $other" >>lint
        done
    done
    assert_equal '' "$(cat lint)"
}

@test "completions of bash, zsh and fish are valid and name commands and options" {
    dpkg-deb -x "$packages/$package" tree
    for program in larder larderd; do
        bash -n "tree/usr/share/bash-completion/completions/$program"
        grep -q -- '--schema' "tree/usr/share/bash-completion/completions/$program"
        grep -q "^#compdef $program" "tree/usr/share/zsh/vendor-completions/_$program"
        grep -q "complete -c '\?$program" "tree/usr/share/fish/vendor_completions.d/$program.fish"
    done
}

@test "a program in C is built with the package larder-dev, and runs with liblarder1" {
    for file in "$packages"/{larder-dev,liblarder1}_*.deb; do dpkg-deb -x "$file" tree; done
    library=$(dirname tree/usr/lib/*/liblarder.so)
    cat >main.c <<'END'
#include <larder.h>
// There is no server at this socket.
int main(void) {
    larder_error error;
    return larder_open("nowhere", NULL, &error) != NULL || error.code != LARDER_ERROR_CONNECTION_FAILED;
}
END
    # shellcheck disable=SC2046
    cc -o main main.c $(PKG_CONFIG_PATH=$library/pkgconfig PKG_CONFIG_SYSROOT_DIR=$scratch/tree \
        pkg-config --cflags --libs larder)
    LD_LIBRARY_PATH=$library ldd main | grep liblarder.so.1
    LD_LIBRARY_PATH=$library ./main
    protoc --proto_path=tree/usr/share/larder/proto --cpp_out=. \
        tree/usr/share/larder/proto/larder.proto
}

@test "a program in Python uses the package python3-larder" {
    dpkg-deb -x "$packages"/python3-larder_*.deb tree
    export LARDER_SOCKET=$scratch/s
    larderd --in-memory --schema one.json --socket "$LARDER_SOCKET" 2>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 60s >/dev/null
    cat >main.py <<'END'
import larder
client = larder.connect("s")
client.insert("Student", {"name": "Ann"})
print([row["name"] for row in client.fetch("Student")])
END
    PYTHONPATH=tree/usr/lib/python3/dist-packages run /usr/bin/python3 -B main.py
    assert_equal "['Ann']" "$output"
}

@test "from a bare Debian: install, create a service, permit a user, back up, upgrade, remove, purge" {
    enter_machine
    install_package former/larder_0.0.1.deb
    assert_equal 'larder:larder 700' "$(in_machine stat -c '%U:%G %a' /var/lib/larder)"

    # A store.
    run in_machine larder service create school --schema /srv/one.json --group staff --keep-backups 2
    assert_equal $'school\t/run/larder/school.sock\t/var/lib/larder/school.store' "$output"
    assert_equal 'larder:larder 600' \
        "$(in_machine stat -c '%U:%G %a' /var/lib/larder/school.store)"
    assert_equal 'larder:staff 660' "$(in_machine stat -c '%U:%G %a' /run/larder/school.sock)"
    assert_equal $'school\tactive\tactive\tstaff\t/run/larder/school.sock' \
        "$(in_machine larder service list)"
    in_machine systemd-analyze security --no-pager --threshold=5 larder@school.service >security

    # Users: a member of the group, and one who becomes a member.
    as ann larder insert Student name=Ann
    assert_status 5 as bob larder ping
    assert_contains "$stderr" 'error[PERMISSION_DENIED]'
    in_machine usermod --append --groups staff bob
    assert_equal 1 "$(as bob larder count Student)"

    # The first connection starts the server.
    in_machine systemctl stop larder@school.service
    assert_equal inactive "$(property ActiveState larder@school.service)"
    assert_equal 1 "$(as ann larder count Student)"
    assert_equal active "$(property ActiveState larder@school.service)"
    # A server that is killed is started again, and loses nothing.
    in_machine systemctl kill --signal=KILL larder@school.service
    assert_equal 1 "$(as ann larder count Student)"

    # Work, with all directives of the unit.
    seq 1 5000 | sed 's/.*/{"name": "student &"}/' >root/srv/students
    in_machine chmod 644 /srv/students
    as ann larder import Student /srv/students --atomic
    assert_equal 4556 "$(as ann larder count Student --where 'name MATCHES "student [1-5].*"')"
    as ann larder check

    # The timer makes backups and keeps two.
    assert_equal active "$(property ActiveState larder-backup@school.timer)"
    in_machine mkdir -p /run/systemd/system/larder-backup@school.timer.d
    printf '[Timer]\nOnCalendar=\nOnCalendar=*:*:*\nRandomizedDelaySec=0\nAccuracySec=1ms\n' |
        in_machine tee /run/systemd/system/larder-backup@school.timer.d/often.conf >/dev/null
    in_machine systemctl daemon-reload
    in_machine systemctl restart larder-backup@school.timer
    until [ "$(in_machine journalctl --unit larder-backup@school.service --grep Finished \
        --output cat 2>/dev/null | wc -l)" -ge 4 ]; do
        [ "$(property Result larder-backup@school.service)" = success ]
    done
    in_machine systemctl stop larder-backup@school.timer larder-backup@school.service
    in_machine sh -c 'ls /var/backups/larder' >backups
    assert_equal 2 "$(wc -l <backups)"
    assert_equal 600 "$(in_machine sh -c 'stat -c %a /var/backups/larder/*' | sort -u)"
    in_machine larder restore "/var/backups/larder/$(tail -n 1 backups)" --to /srv/drill.store
    assert_equal 5001 "$(in_machine larder count Student --store /srv/drill.store 2>/dev/null)"

    # A migration while it is served, and a restart with the schema file from before.
    in_machine larder migrate --schema /srv/two.json
    in_machine systemctl restart larder@school.service
    as ann larder insert Student name=Cid born=2003
    in_machine journalctl --unit larder@school.service --output cat |
        grep 'the schema file /etc/larder/school.json is ignored'

    # An upgrade with a client that follows the history.
    nsenter --target "$machine" --mount --pid --root --wd=/ setpriv --reuid ann --regid ann \
        --init-groups larder history --follow --socket /run/larder/school.sock --output jsonl \
        >follower.out 2>follower.err 3>&- &
    follower=$!
    as ann larder insert Student name=Dan
    until grep -q Student follower.out; do kill -0 "$follower"; done
    before=$(wc -l <follower.out)
    former=$(property MainPID larder@school.service)
    install_package "$package"
    [ "$(property MainPID larder@school.service)" != "$former" ]
    as ann larder insert Student name=Eve
    until [ "$(wc -l <follower.out)" -gt "$before" ]; do kill -0 "$follower"; done
    kill "$follower"
    run ! in_machine sh -c "ls -l /proc/$(property MainPID larder@school.service)/exe | grep deleted"

    # Removal stops the servers; a package that is installed again starts them.
    in_machine apt-get remove -qq -y larder >>apt.log 2>&1
    [ "$(property ActiveState larder@school.socket)" != active ]
    run ! in_machine sh -c 'cat /proc/[0-9]*/comm | grep larderd'
    in_machine test -e /var/lib/larder/school.store
    in_machine test ! -e /usr/bin/larderd
    install_package "$package"
    assert_equal 5004 "$(as ann larder count Student)"

    # The service is removed, and created again with the store that is there.
    run in_machine larder service remove school
    assert_equal /var/lib/larder/school.store "$output"
    in_machine test ! -e /run/larder/school.sock
    run in_machine systemctl list-units --all --no-legend 'larder*@school*'
    assert_equal '' "$output"
    in_machine larder service create school
    assert_equal 5004 "$(in_machine larder count Student)"

    # A purge leaves the data.
    in_machine apt-get purge -qq -y larder >>apt.log 2>&1
    in_machine test ! -e /etc/larder
    in_machine test -e /var/lib/larder/school.store
    run in_machine find /etc/systemd /var/lib/systemd -name '*larder*'
    assert_equal '' "$output"
}

@test "the archive is installed below a prefix of a Debian without libraries, and uninstalled" {
    mkdir archive
    tar -C archive --strip-components 1 -xJf "$packages"/larder-*.tar.xz
    for program in archive/bin/*; do
        objdump -p "$program" | sed -n 's/^ *NEEDED *//p' | sort >needed
        run ! grep -vx 'lib[cm]\.so\.6\|ld-linux-x86-64\.so\.2' needed
        newest=$(objdump -T "$program" | grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -n 1)
        assert_equal GLIBC_2.36 "$(printf '%s\n' GLIBC_2.36 "$newest" | sort -V | tail -n 1)"
    done
    enter_machine
    in_machine sh -c 'find /usr/local | sort' >before
    in_machine test ! -e /usr/lib/x86_64-linux-gnu/libsqlite3.so.0
    in_machine apt-get install -qq -y --no-install-recommends xz-utils >apt.log 2>&1
    in_machine sh -c 'cd /srv && tar -xJf /packages/larder-*.tar.xz && mv larder-* larder'
    in_machine /srv/larder/install
    in_machine larder service create school --schema /srv/one.json
    in_machine systemctl show --property FragmentPath larder@school.service |
        grep -x FragmentPath=/usr/local/lib/systemd/system/larder@.service
    in_machine larder insert Student name=Ann
    in_machine larder check
    assert_status 1 in_machine /srv/larder/install --uninstall
    assert_contains "$stderr" 'services are running'
    in_machine larder service remove school
    # The upgrade again, as for a new version.
    in_machine /srv/larder/install
    in_machine /srv/larder/install --uninstall
    in_machine sh -c 'find /usr/local | sort' >after
    diff before after
    in_machine test -e /var/lib/larder/school.store
    assert_status 66 in_machine /srv/larder/install --uninstall
    for options in --prefix '--prefix relative' --other; do
        # shellcheck disable=SC2086
        assert_status 64 in_machine /srv/larder/install $options
    done
}

@test "a service that cannot start is undone, and its log says why" {
    enter_machine
    install_package "$package"
    # The folder of the stores is a file.
    in_machine sh -c 'rmdir /var/lib/larder && touch /var/lib/larder'
    assert_status 69 in_machine larder service create school --schema /srv/one.json --timeout 20s ||
        [[ $status == 75 ]]
    assert_contains "$stderr" 'the server does not start, and the service was removed again'
    assert_contains "$stderr" 'hint: its log: journalctl --unit larder@school.service'
    in_machine test ! -e /etc/larder/school.json
    run in_machine systemctl list-units --all --no-legend 'larder*@school*'
    assert_equal '' "$output"
    in_machine sh -c 'rm /var/lib/larder && systemd-tmpfiles --create'
    in_machine larder service create school --schema /srv/one.json
    # One service more: each has its socket, and the default one is not clear any more.
    in_machine larder service create other --schema /srv/two.json
    in_machine larder insert Student name=Ann born=2001 --socket /run/larder/other.sock
    assert_equal 0 "$(in_machine larder count Student --socket /run/larder/school.sock)"
    assert_status 64 in_machine larder ping
    assert_status 5 as ann larder service create mine --schema /srv/one.json
    # A newer server, to which the running one gives way, and a second one on the file.
    assert_status 74 in_machine larder count Student --store /var/lib/larder/school.store
    assert_contains "$stderr" 'is held by larderd'
}

@test "a user has services without root" {
    enter_machine
    install_package "$package"
    in_machine loginctl enable-linger ann
    until in_machine systemctl is-active user@1000.service >/dev/null; do kill -0 "$machine"; done
    as ann larder service create notes --schema /srv/one.json --user --keep-backups 1
    assert_equal 600 "$(in_machine stat -c %a /home/ann/.local/share/larder/notes.store)"
    as ann larder insert Student name=Ann
    as ann systemctl --user start larder-backup@notes.service
    # The names have the second.
    started=$(date +%s)
    until [ "$(date +%s)" != "$started" ]; do :; done
    as ann systemctl --user start larder-backup@notes.service
    assert_equal 1 "$(in_machine sh -c 'ls /home/ann/.local/share/larder/backups' | wc -l)"
    assert_status 5 as bob larder ping --socket /run/user/1000/larder/notes.sock
    assert_equal $'notes\tactive\tactive\tann\t/run/user/1000/larder/notes.sock' \
        "$(as ann larder service list --user)"
    as ann larder service remove notes --user --delete-store
    in_machine test ! -e /home/ann/.local/share/larder/notes.store
    in_machine test ! -e /run/user/1000/larder/notes.sock
}
