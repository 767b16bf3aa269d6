load ../helper

# larder service: what it writes, and what it refuses. The test of the packages starts services
# with systemd (Deep/install.bats).

setup() {
    enter_scratch
    unset LARDER_SOCKET
    mkdir -p root/lib/systemd
    cp -R "$BATS_TEST_DIRNAME/../../../Packaging/systemd/system" root/lib/systemd
}

# files: the files and links that the commands have written below the root.
files() { (cd root && find . ! -type d ! -path './lib/*' | sort); }

@test "service create writes schema, settings and links to units, and service remove removes them" {
    run larder service create school --schema "$schema" --group staff --keep-backups 3 --root root
    assert_equal $'school\t/run/larder/school.sock\troot/var/lib/larder/school.store' "$output"
    assert_equal './etc/larder/school.json
./etc/larder/school.toml
./etc/systemd/system/larder-backup@school.service.d/larder-service.conf
./etc/systemd/system/larder@school.socket.d/larder-service.conf
./etc/systemd/system/sockets.target.wants/larder@school.socket
./etc/systemd/system/timers.target.wants/larder-backup@school.timer' "$(files)"
    larder schema diff root/etc/larder/school.json "$schema" --output plain >differences
    run ! grep -q ^change differences
    assert_equal 644 "$(stat -c %a root/etc/larder/school.json)"
    grep -v '^#' root/etc/larder/school.toml >settings
    assert_equal 'store = "/var/lib/larder/school.store"
schema = "/etc/larder/school.json"' "$(cat settings)"
    assert_equal 644 "$(stat -c %a root/etc/larder/school.toml)"
    grep -qx SocketGroup=staff root/etc/systemd/system/larder@school.socket.d/larder-service.conf
    grep -qx Environment=KEEP=3 \
        root/etc/systemd/system/larder-backup@school.service.d/larder-service.conf
    assert_equal $'school\t\t\t\t/run/larder/school.sock' "$(larder service list --root root)"
    mkdir -p root/var/lib/larder
    echo data >root/var/lib/larder/school.store
    run larder service remove school --root root
    assert_equal root/var/lib/larder/school.store "$output"
    assert_equal './var/lib/larder/school.store' "$(files)"
    [ ! -e root/etc/systemd/system/larder@school.socket.d ]
    assert_equal '' "$(larder service list --root root)"
}

@test "service create and service remove print their steps with --dry-run, and change nothing" {
    run larder service create school --schema "$schema" --group users --dry-run
    assert_equal 0 "$status"
    assert_equal $'create folder\t/etc/larder
write\t/etc/larder/school.json
write\t/etc/larder/school.toml
create folder\t/etc/systemd/system/larder@school.socket.d
write\t/etc/systemd/system/larder@school.socket.d/larder-service.conf
run\tsystemctl daemon-reload
run\tsystemctl enable --now larder@school.socket' "$output"
    HOME=$scratch XDG_RUNTIME_DIR=$scratch/run run larder service create notes --schema "$schema" \
        --user --dry-run
    assert_contains "$output" "write"$'\t'"$scratch/.config/larder/notes.json"
    assert_contains "$output" "systemctl --user enable --now larder@notes.socket"
    larder service create school --schema "$schema" --root root
    files >before
    run larder service remove school --delete-store --root root --dry-run
    assert_contains "$output" $'remove\troot/var/lib/larder/school.store'
    assert_contains "$output" $'run\tsystemctl --root=root disable larder@school.socket'
    assert_equal "$(cat before)" "$(files)"
}

@test "service create refuses names, schemas and groups that cannot be, and changes nothing" {
    for name in '' ../etc a/b a.b -a _a 'a b' 'a%i' é "$(printf 'a%.0s' {1..49})"; do
        assert_status 64 larder service create --schema "$schema" --root root -- "$name"
    done
    larder service create "$(printf 'a%.0s' {1..48})" --schema "$schema" --root root --dry-run
    assert_status 74 larder service create school --schema missing.json --root root
    echo '{"version": "1.0.0", "entities": [{"name": "A", "parent": "B"}]}' >wrong.json
    assert_status 65 larder service create school --schema wrong.json --root root
    assert_contains "$stderr" 'entities[0].parent'
    # A schema that is consistent, and of which no store can be made.
    echo '{"version": "1.0.0", "entities": [{"name": "A", "attributes": [
        {"name": "a", "type": "string", "pattern": "("}]}]}' >pattern.json
    assert_status 65 larder service create school --schema pattern.json --root root
    assert_status 65 larder service create school --root root
    assert_contains "$stderr" 'hint: pass --schema FILE'
    assert_status 64 larder service create school --schema "$schema" --group no-such --dry-run
    assert_contains "$stderr" 'there is no group no-such'
    for group in 'a b' $'a\nb' '' -a "$(printf 'a%.0s' {1..40})"; do
        assert_status 64 larder service create school --schema "$schema" --root root "--group=$group"
    done
    for options in '--keep-backups 0' '--keep-backups 10001' '--user --root root' \
        '--user --group users'; do
        # shellcheck disable=SC2086
        assert_status 64 larder service create school --schema "$schema" $options
    done
    assert_equal '' "$(files)"
    [ ! -e root/etc ]
}

@test "service create refuses a name that is taken, and serves a store that exists" {
    larder service create school --schema "$schema" --root root
    assert_status 5 larder service create school --schema "$schema" --root root
    assert_contains "$stderr" 'root/etc/larder/school.toml exists already'
    mkdir -p root/var/lib/larder
    larder insert Category name=arts --store root/var/lib/larder/old.store --schema "$schema"
    assert_status 5 larder service create old --schema "$schema" --root root
    assert_contains "$stderr" 'hint: choose another name, or leave out --schema'
    larder service create old --root root
    larder schema diff root/etc/larder/old.json "$schema" --output plain >differences
    run ! grep -q ^change differences
    # A link may lead to a file of another user.
    mv root/var/lib/larder/old.store elsewhere
    ln -s "$scratch/elsewhere" root/var/lib/larder/linked.store
    cp "$schema" root/etc/larder/linked.json
    [ "$(id -u)" = 0 ] || skip "only root changes the owner of a file"
    assert_status 74 larder service create linked --root root
    assert_equal "$(id -u)" "$(stat -c %u elsewhere)"
}

@test "service create --policy installs a policy that fits, and service remove removes it" {
    cat >tasks.policy <<'END'
{ "roles": [ { "name": "clerk", "users": ["games"], "entities": { "Article": { "read": "wordCount > 1" } } } ] }
END
    sed 's/wordCount/wordCuont/' tasks.policy >wrong.policy
    assert_status 65 larder service create school --schema "$schema" --policy wrong.policy --root root
    assert_contains "$stderr" 'wrong.policy: the policy has'
    assert_contains "$stderr" 'roles[0].entities.Article.read:'
    assert_status 74 larder service create school --schema "$schema" --policy missing --root root
    assert_equal '' "$(files)"
    larder service create school --schema "$schema" --policy tasks.policy --root root
    cmp tasks.policy root/etc/larder/school.policy
    # The server may not change its own policy.
    assert_equal 644 "$(stat -c %a root/etc/larder/school.policy)"
    grep -qx 'policy = "/etc/larder/school.policy"' root/etc/larder/school.toml
    larder service remove school --root root
    assert_equal '' "$(files)"
    # A store that exists has a schema, and a policy that exists is not replaced.
    mkdir -p root/var/lib/larder
    larder insert Category name=arts --store root/var/lib/larder/old.store --schema "$schema"
    assert_status 65 larder service create old --policy wrong.policy --root root
    larder service create old --policy tasks.policy --root root
    assert_status 5 larder service create old --root root
    assert_contains "$stderr" 'root/etc/larder/old.toml exists already'
    rm root/etc/larder/old.json root/etc/larder/old.toml
    assert_status 5 larder service create old --policy tasks.policy --root root
    assert_contains "$stderr" 'root/etc/larder/old.policy exists already'
    HOME=$scratch XDG_RUNTIME_DIR=$scratch/run run larder service create notes --schema "$schema" \
        --policy tasks.policy --user --dry-run
    assert_contains "$output" "write"$'\t'"$scratch/.config/larder/notes.policy"
}

@test "a failure of systemctl undoes what service create has done" {
    rm root/lib/systemd/system/larder-backup@.timer
    assert_status 74 larder service create school --schema "$schema" --group staff \
        --keep-backups 3 --root root
    assert_contains "$stderr" 'systemctl --root=root enable larder@school.socket larder-backup@school.timer failed'
    assert_contains "$stderr" 'hint: install the units'
    assert_equal '' "$(files)"
    assert_status 74 env PATH="$BUILT_PROGRAMS" larder service create school --schema "$schema" --root root
    assert_contains "$stderr" 'cannot run systemctl'
    assert_equal '' "$(files)"
}

@test "a service of the system needs root, and systemd" {
    chmod 755 . "$BUILT_PROGRAMS"
    as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    [ "$(id -u)" = 0 ] || as_nobody=()
    assert_status 5 "${as_nobody[@]}" larder service create school --schema "$schema"
    assert_contains "$stderr" 'hint: run the command with sudo, or pass --user'
    HOME=$scratch XDG_RUNTIME_DIR=$scratch assert_status 69 larder service create school \
        --schema "$schema" --user
    assert_contains "$stderr" "systemd does not run here: there is no $scratch/systemd"
    HOME='' assert_status 74 larder service create school --schema "$schema" --user
    assert_contains "$stderr" 'HOME does not name a folder'
}

@test "service remove refuses an unknown name, and deletes a store only with --delete-store" {
    assert_status 4 larder service remove school --root root
    larder service create school --schema "$schema" --root root
    assert_status 4 larder service remove scholl --root root
    assert_contains "$stderr" 'did you mean "school"?'
    mkdir -p root/var/lib/larder
    touch root/var/lib/larder/school.store{,-wal} root/var/lib/larder/school-2.store
    assert_equal '' "$(larder service remove school --delete-store --root root)"
    assert_equal ./var/lib/larder/school-2.store "$(files)"
}
