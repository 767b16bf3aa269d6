load helper

# larder backup and larder restore.

backups() { find "$scratch" -name '*.backup' -o -name '.larder*' | sort; }

@test "a backup of a served store is a file that restore makes a store of" {
    insert_articles
    assert_status 0 larder backup a.backup --output json
    assert_equal a.backup "$(jq -r '.[0].file' <<<"$output")"
    assert_equal "$(stat -c %s a.backup)" "$(jq '.[0].bytes' <<<"$output")"
    assert_equal "$(larder history token)" \
        "$(jq -r '.[0].store' <<<"$output")-e$(larder history token | sed 's/.*-e//;s/-n.*//'
        )-n$(jq '.[0].transaction' <<<"$output")"
    assert_equal 600 "$(stat -c %a a.backup)"
    larder export Article --select title,wordCount >before
    larder delete "$tech" >/dev/null
    assert_status 0 larder restore a.backup --to b.store --output json
    assert_equal b.store "$(jq -r '.[0].file' <<<"$output")"
    assert_status 0 larder check --store b.store
    assert_equal "" "$output"
    assert_equal "$(cat before)" "$(larder export Article --select title,wordCount --store b.store \
        2>/dev/null)"
    assert_status 0 larder get "$tech" --store b.store
    assert_equal "$scratch/a.backup" "$(backups)"
}

@test "a backup of a file without a server is the same" {
    stop_daemon
    assert_status 0 larder insert Category name=a --store test.store
    assert_status 0 larder backup --store test.store a.backup --output csv
    assert_contains "$output" "file,bytes,transaction,store"
    assert_status 0 larder restore a.backup --to b.store
    assert_equal 1 "$(larder count Category --store b.store 2>/dev/null)"
}

@test "a backup of a store in memory is a store on disk" {
    larderd --in-memory --schema "$schema" --socket "$scratch/m" 2>>log 3>&- &
    memory=$!
    larder ping --wait --timeout 300s --socket "$scratch/m" >/dev/null
    larder insert Category name=a --socket "$scratch/m" >/dev/null
    assert_status 0 larder backup --socket "$scratch/m" a.backup
    kill "$memory"
    wait "$memory" || true
    assert_status 0 larder restore a.backup --to b.store
    assert_equal 1 "$(larder count Category --store b.store)"
}

@test "an existing file is never replaced, by a backup or by restore" {
    echo kept >a.backup
    assert_status 5 larder backup a.backup
    assert_contains "$stderr" "error[FILE_EXISTS]: a.backup exists already"
    assert_equal kept "$(cat a.backup)"
    larder backup b.backup >/dev/null
    assert_status 5 larder restore b.backup --to a.backup
    assert_equal kept "$(cat a.backup)"
    touch c.store-wal
    assert_status 5 larder restore b.backup --to c.store
    [ ! -e c.store ]
    assert_equal "$scratch/a.backup
$scratch/b.backup" "$(backups)"
}

@test "a damaged backup is refused, whichever byte it is, and leaves nothing" {
    insert_articles
    larder backup a.backup >/dev/null
    size=$(stat -c %s a.backup)
    for offset in 17 500 5000 $((size / 2)) $((size - 100)) $((size - 1)); do
        cp a.backup damaged
        printf '\xA5' | dd of=damaged bs=1 seek="$offset" conv=notrunc status=none
        cmp -s a.backup damaged && printf '\x5A' |
            dd of=damaged bs=1 seek="$offset" conv=notrunc status=none
        assert_status 74 larder restore damaged --to b.store
        assert_contains "$stderr" "damaged"
        [ ! -e b.store ]
    done
    head -c 5000 a.backup >damaged
    assert_status 74 larder restore damaged --to b.store
    assert_contains "$stderr" "error[STORAGE_FAILED]: damaged is damaged or incomplete"
    head -c 5000 /dev/urandom >damaged
    assert_status 74 larder restore damaged --to b.store
    assert_contains "$stderr" "error[NOT_A_STORE]"
    assert_status 74 larder restore test.store --to b.store
    assert_contains "$stderr" "error[STORE_IN_USE]"
    assert_status 74 larder restore missing --to b.store
    [ ! -e b.store ]
    assert_equal "$scratch/a.backup" "$(backups)"
}

@test "a restored store accepts tokens of transactions in the backup, and no later ones" {
    insert_articles
    larder backup a.backup >/dev/null
    old=$(larder history token)
    larder insert Category name=later >/dev/null
    lost=$(larder history token)
    larder restore a.backup --to b.store >/dev/null
    larder insert Category name=other --store b.store >/dev/null 2>&1
    assert_status 0 larder history show --after "$old" --store b.store --output jsonl
    assert_equal 1 "$(wc -l <<<"$output")"
    assert_status 4 larder history show --after "$lost" --store b.store
    assert_contains "$stderr" "error[TOKEN_EXPIRED]"
    assert_contains "$stderr" "restored from a backup"
}

@test "restore --new-identity gives the store a UUID of its own" {
    uri=$(larder insert Category name=a)
    larder backup a.backup >/dev/null
    assert_status 0 larder restore a.backup --to b.store --new-identity
    assert_status 4 larder get "$uri" --store b.store
    assert_contains "$stderr" "error[FOREIGN_IDENTIFIER]"
    refute_warning=$(larder count Category --store b.store 2>&1)
    assert_equal 1 "$refute_warning"
}

@test "a killed client or server leaves no file with the name of the backup" {
    for number in $(seq 400); do
        printf '{"name": "%s %0800d"}\n' "$number" 0
    done | larder import Category - >/dev/null
    for victim in client server; do
        larder backup a.backup >/dev/null 2>&1 &
        client=$!
        if [ "$victim" = client ]; then
            kill -KILL "$client" 2>/dev/null || true
        else
            kill -KILL "$daemon"
            wait "$daemon" || true
            start_daemon
        fi
        wait "$client" || true
        # It may have been complete before the kill.
        if [ -e a.backup ]; then
            assert_status 0 larder restore a.backup --to "$victim.store"
            rm a.backup
        fi
        assert_equal "" "$(backups)"
        assert_status 0 larder backup a.backup
        rm a.backup
    done
}

@test "a full disk on the client's side is an error that leaves nothing" {
    for number in $(seq 400); do
        printf '{"name": "%s %0800d"}\n' "$number" 0
    done | larder import Category - >/dev/null
    # The limit applies to this client only, and is a multiple of 1,024 bytes.
    assert_status 74 bash -c 'trap "" XFSZ; ulimit -f 100; exec larder backup a.backup'
    assert_contains "$stderr" "error[STORAGE_FULL]: there is no room for a.backup"
    assert_equal "" "$(backups)"
    assert_status 0 larder backup a.backup
}

@test "a full disk on the server's side is an error, and the store is served as before" {
    for number in $(seq 400); do
        printf '{"name": "%s %0800d"}\n' "$number" 0
    done | larder import Category - >/dev/null
    stop_daemon
    # The limit applies to each file of the server, and is a multiple of 1,024 bytes.
    (
        trap "" XFSZ
        ulimit -f 200
        exec larderd --store test.store --socket "$LARDER_SOCKET" 2>>log 3>&-
    ) &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    assert_status 74 larder backup a.backup
    assert_contains "$stderr" "error[STORAGE_FULL]"
    assert_equal "" "$(backups)"
    assert_equal 400 "$(larder count Category)"
    assert_status 0 larder insert Category name=new
}

@test "backup --folder names the file by store and time, and --keep deletes the oldest of the store" {
    mkdir copies
    # Other files: another store, other names, and a name that only begins like one.
    touch copies/{t-20200101T000000Z,s-2-20200101T000000Z,s-20200101T00000Z,s-2020010aT000000Z}.backup \
        copies/s-20200101T000000Z.backup.old copies/notes
    ls copies >others
    assert_status 0 larder backup --folder copies
    first=$(cut -f 1 <<<"$output")
    [[ $first =~ ^copies/s-20[0-9]{6}T[0-9]{6}Z\.backup$ ]]
    touch copies/s-{20200101T000000Z,20210101T000000Z,20220101T000000Z}.backup
    rm "$first"
    # The clock was set back: the new backup is not deleted, although later ones are kept.
    touch copies/s-99990101T000000Z.backup
    assert_status 0 larder backup --folder copies --keep 3
    second=$(cut -f 1 <<<"$output")
    assert_equal "$(sort <(cat others) - <<<"$(basename "$second")
s-20220101T000000Z.backup
s-99990101T000000Z.backup")" "$(ls copies | sort)"
    # The names have the second.
    until [ ! -e "copies/s-$(date -u +%Y%m%dT%H%M%SZ).backup" ]; do :; done
    assert_status 0 larder backup --folder copies --keep 1
    assert_equal "$(($(wc -l <others) + 1))" "$(ls copies | wc -l)"
    # Without a server, the name is that of the file.
    stop_daemon
    assert_status 0 larder backup --folder copies --store test.store
    [[ $output == copies/test-20*Z.backup* ]]
}

@test "backup --folder deletes nothing unless the new backup is complete" {
    mkdir copies
    touch copies/s-20200101T000000Z.backup
    for options in '' 'a.backup --folder copies' 'a.backup --keep 1' '--folder copies --keep 0'; do
        # shellcheck disable=SC2086
        assert_status 64 larder backup $options
    done
    assert_status 74 larder backup --folder missing --keep 1
    kill -KILL "$daemon"
    assert_status 69 larder backup --folder copies --keep 1
    assert_equal s-20200101T000000Z.backup "$(ls copies)"
}
