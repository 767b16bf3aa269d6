load ../helper

setup() {
    [ "$(id -u)" = 0 ] || skip "it becomes other users"
    enter_scratch
    # Other users must reach the socket.
    chmod 755 "$scratch"
    cat >tasks.json <<'END'
{ "version": "1.0.0",
  "entities": [
    { "name": "List",
      "attributes": [ { "name": "owner", "type": "string" }, { "name": "name", "type": "string" } ],
      "relationships": [ { "name": "tasks", "destination": "Task", "toMany": true, "inverse": "list", "deleteRule": "cascade" } ] },
    { "name": "Task",
      "attributes": [ { "name": "title", "type": "string", "unique": true },
                      { "name": "cost", "type": "int64", "default": 0 },
                      { "name": "note", "type": "string", "optional": true } ],
      "relationships": [ { "name": "list", "destination": "List", "inverse": "tasks" } ] } ] }
END
    cat >tasks.policy <<'END'
{ "roles": [
  { "name": "backup", "users": ["games"], "rights": ["backup"] , "entities": { "*": { "read": true } } },
  { "name": "clerk", "users": ["daemon", "2"],
    "entities": {
      "List": { "read": "owner == $user", "insert": "owner == $user", "update": "owner == $user",
                "delete": "owner == $user", "watch": true, "history": true, "frozen": ["owner"] },
      "Task": { "read": "list.owner == $user", "insert": "list.owner == $user",
                "update": "list.owner == $user", "delete": "list.owner == $user",
                "watch": true, "history": true, "hidden": ["cost"] } } } ] }
END
    serve --policy tasks.policy
}

# serve ARGUMENT…: starts a server with a socket for everybody.
serve() {
    larderd --store tasks.store --schema tasks.json --socket "$LARDER_SOCKET" --mode 0666 "$@" \
        2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
}

# as USER COMMAND…: runs a command as another user.
as() {
    local user=$1
    shift
    setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"
}

# Inserts a list with two tasks for each of the users daemon and bin, as root.
insert_lists() {
    mapfile -t inserted < <(larder save - <<'END'
{"insert": {"@id": "t:a", "@entity": "List", "owner": "daemon", "name": "a"}}
{"insert": {"@id": "t:b", "@entity": "List", "owner": "bin", "name": "b"}}
{"insert": {"@entity": "Task", "title": "a1", "cost": 1, "list": "t:a"}}
{"insert": {"@entity": "Task", "title": "a2", "cost": 2, "list": "t:a"}}
{"insert": {"@entity": "Task", "title": "b1", "cost": 4, "list": "t:b"}}
{"insert": {"@entity": "Task", "title": "b2", "cost": 8, "list": "t:b"}}
END
    )
    assert_equal 6 ${#inserted[@]}
    list_a=${inserted[0]} list_b=${inserted[1]} a1=${inserted[2]} b1=${inserted[4]}
}

@test "a user sees the objects for which the rules of the role hold, and root sees all" {
    insert_lists
    assert_equal 4 "$(larder count Task)"
    assert_equal "a1 a2" "$(as daemon larder fetch Task --select title --sort title | xargs)"
    assert_equal "b1 b2" "$(as bin larder fetch Task --select title --sort title | xargs)"
    assert_equal 2 "$(as bin larder count Task)"
    assert_equal "b	2" "$(as bin larder fetch List --select 'name,n=tasks.@count')"
    assert_equal "b	2" "$(as bin larder aggregate Task --group-by list.name count)"
    assert_equal 0 "$(as bin larder count Task --where 'list.owner != "bin"')"
    assert_status 0 as bin larder get "$b1" --output json
    assert_contains "$output" '"title":"b1"'
    assert_status 4 as bin larder get "$a1"
    assert_contains "$stderr" "the object $a1 does not exist"
}

@test "a hidden property does not exist for the user" {
    insert_lists
    assert_status 65 as bin larder fetch Task --where 'cost > 1'
    assert_contains "$stderr" 'Task has no property "cost"'
    assert_status 65 as bin larder fetch Task --sort cost
    assert_status 65 as bin larder aggregate Task sum:cost
    assert_status 65 as bin larder update "$b1" cost=1
    assert_contains "$stderr" 'Task has no property "cost"'
    as bin larder get "$b1" --output json >one
    ! grep -q cost one
    as bin larder schema show --output json >schema
    ! grep -q cost schema
    assert_contains "$(larder schema show --output json)" cost
}

@test "a user changes only what the rules permit, before and after the change" {
    insert_lists
    as bin larder update "$b1" title=new
    assert_equal new "$(larder get "$b1" --output json | jq -r '.[0].title')"
    assert_status 4 as bin larder update "$a1" title=x
    assert_status 4 as bin larder delete "$a1"
    assert_status 5 as bin larder insert List owner=daemon name=x
    assert_contains "$stderr" "the role clerk may not insert objects of List with these values"
    assert_status 5 as bin larder update "$list_b" owner=daemon
    assert_contains "$stderr" "the role clerk may not change List.owner of an object that exists"
    # Neither by a reference to what the user does not see, nor from the other side.
    assert_status 4 as bin larder update "$b1" "list=$list_a"
    assert_status 4 as bin larder update "$list_b" "tasks:=[\"$a1\"]"
    assert_status 5 as bin larder insert Task title=y
    # By predicate.
    as bin larder update Task --where 'TRUEPREDICATE' note=seen
    assert_equal 2 "$(larder count Task --where 'note == "seen"')"
    as bin larder delete Task --where 'title != ""'
    assert_equal "a1 a2" "$(larder fetch Task --select title --sort title | xargs)"
    # The object with the same unique value is not named.
    assert_status 65 as bin larder insert Task title=a1 "list=$list_b"
    assert_contains "$stderr" "an object that this user may not see has the same"
}

@test "a user gets the changes of the objects that the user sees" {
    insert_lists
    local token
    token=$(as daemon larder history token)
    as bin larder update "$b1" note=hidden
    as daemon larder update "$a1" note=shown
    as daemon larder watch Task --after "$token" --count 1 --timeout 300s >seen
    assert_contains "$(cat seen)" "$a1"
    as bin larder history --output jsonl >history
    assert_contains "$(cat history)" "$b1"
    ! grep -q "${a1##*/}\"" history
}

@test "an observed query follows the rules, also when another object decides" {
    insert_lists
    as bin larder watch Task --until 'note == "go"' --timeout 300s 3>&- &
    watcher=$!
    larder update "$a1" note=go
    assert_equal 0 "$(as bin larder count Task --where 'note == "go"')"
    kill -0 "$watcher"
    larder update "$list_a" owner=bin
    wait "$watcher"
    assert_equal 1 "$(as bin larder count Task --where 'note == "go"')"
    assert_status 5 as games larder watch Task --until 'title == "x"' --timeout 300s
    assert_contains "$stderr" "the role backup may not observe Task"
}

@test "a role without a right to the store is refused" {
    insert_lists
    mkdir -m 777 out
    for command in "stats" "check" "backup out/x.backup" "explain Task" "history delete --before 2099-01-01"; do
        # The arguments are words.
        # shellcheck disable=SC2086
        assert_status 5 as bin larder $command
        assert_contains "$stderr" "the role clerk may not"
    done
    # A user sees its own connections only.
    larder watch Task --until 'title == "never"' --timeout 300s 3>&- &
    watcher=$!
    until [ "$(larder top --output json | jq '.[0].connections | length')" = 2 ]; do
        kill -0 "$watcher"
    done
    assert_equal 1 "$(as bin larder top --output json | jq '.[0].connections | length')"
    kill "$watcher"
    wait "$watcher" || true
    assert_status 5 as nobody larder count Task
    assert_contains "$stderr" "user nobody (65534) has no role in the policy of this store"
    as games larder backup out/x.backup
}

@test "SIGHUP reads the policy again, and one with errors changes nothing" {
    insert_lists
    sed 's/list.owner == $user"/list.owner == $usr"/' tasks.policy >broken
    cp tasks.policy good
    cp broken tasks.policy
    kill -HUP "$daemon"
    until grep -q "the policy stays as it was" log; do kill -0 "$daemon"; done
    assert_contains "$(cat log)" 'there is no variable $usr'
    assert_equal 2 "$(as bin larder count Task)"
    sed 's/"users": \["daemon", "2"\]/"users": ["daemon"]/' good >tasks.policy
    kill -HUP "$daemon"
    until grep -q "the policy was read again" log; do kill -0 "$daemon"; done
    assert_status 5 as bin larder count Task
    assert_equal 2 "$(as daemon larder count Task)"
}

@test "a socket with the role read is for reading" {
    stop_daemon
    larderd --store tasks.store --schema tasks.json --socket "$LARDER_SOCKET" \
        --socket "$scratch/r:read" --mode 0666 2>>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 300s >/dev/null
    insert_lists
    assert_equal 4 "$(LARDER_SOCKET=$scratch/r as nobody larder count Task)"
    LARDER_SOCKET=$scratch/r assert_status 5 larder insert List owner=x name=y
    assert_contains "$stderr" "the role read may not insert objects of List"
    LARDER_SOCKET=$scratch/r assert_status 5 larder stats
    stop_daemon
    assert_status 64 larderd --store tasks.store --socket "$LARDER_SOCKET:writer"
    assert_contains "$stderr" "there is no role writer"
}

@test "a policy that does not fit the schema is refused with its lines, and nothing starts" {
    cat >bad.policy <<'END'
{ "roles": [
  { "name": "a", "users": ["x"], "right": [],
    "entities": {
      "Taks": { "read": true },
      "Task": { "read": "lst.owner == $user", "hiden": [] } } },
  { "name": "a", "users": ["y"], "entities": { "List": { "insert": true } } } ] }
END
    assert_status 65 larder policy check bad.policy --schema tasks.json
    assert_contains "$stderr" 'line 2: roles[0].right: unknown key'
    assert_contains "$stderr" 'line 5: roles[0].entities.Task.hiden: unknown key; did you mean "hidden"?'
    assert_contains "$stderr" 'line 6: roles[1].name: another role has this name'
    assert_contains "$stderr" 'roles[1].entities.List.insert: requires `read`'
    sed -i 's/, "right": \[\]//; s/, "hiden": \[\]//; s/{ "name": "a", "users": \["y"\].*/{ "name": "b", "users": ["y"], "entities": {} } ] }/' bad.policy
    assert_status 65 larder policy check bad.policy --schema tasks.json
    assert_contains "$stderr" 'line 4: roles[0].entities.Taks: there is no entity Taks; did you mean "Task"?'
    assert_contains "$stderr" 'roles[0].entities.Task.read:'
    stop_daemon
    assert_status 65 larderd --store other.store --schema tasks.json --socket "$LARDER_SOCKET" --policy bad.policy
    assert_contains "$stderr" "bad.policy: the policy has"
    [ ! -e "$LARDER_SOCKET" ]
}

@test "larder policy test shows the rules of a user and what the user sees" {
    insert_lists
    stop_daemon
    assert_status 0 larder policy check tasks.policy --schema tasks.json
    assert_contains "$output" "clerk	user daemon, user 2"
    assert_status 0 larder policy test tasks.policy --store tasks.store --as bin Task
    assert_equal 'clerk	Task	list.owner == "bin"	list.owner == "bin"	list.owner == "bin"	list.owner == "bin"	2	4' "$output"
    assert_status 0 larder policy test tasks.policy --store tasks.store --as bin Task --where 'title == "a1"'
    assert_contains "$output" "	0	1"
    assert_status 5 larder policy test tasks.policy --store tasks.store --as nobody
    assert_status 65 larder policy test tasks.policy --store tasks.store --as nobody-at-all
}
