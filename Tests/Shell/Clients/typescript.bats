load ../helper

root=$(realpath "$BATS_TEST_DIRNAME/../../..")
page=$root/docs/typescript.md

# The package is built once in a copy, with its tests.
setup_file() {
    cp -R "$BATS_TEST_DIRNAME/../../../Clients/typescript" "$BATS_FILE_TMPDIR/larder"
    cd "$BATS_FILE_TMPDIR/larder"
    rm -rf build dist
    tsc
    tsc --project tests
}

setup() {
    enter_scratch
    package=$BATS_FILE_TMPDIR/larder
}

# Runs a file of the package's tests, none of which may be skipped.
run_tests() {
    (cd "$package" && TOP=$root node --test "build/tests/$1.test.js" >"$scratch/tests") || {
        grep -A 20 -E '^ *(not ok|✖)' tests
        return 1
    }
    grep -qE '(#|ℹ) pass [1-9]' tests
    grep -qE '(#|ℹ) skipped 0' tests
}

# A folder of a user whose program requires the package.
enter_program() {
    mkdir -p program/node_modules
    ln -s "$package" program/node_modules/larder
    cd program
    echo '{ "type": "module" }' >package.json
    cat >tsconfig.json <<'END'
{ "compilerOptions": { "strict": true, "exactOptionalPropertyTypes": true, "target": "ES2022",
                       "module": "Node16", "lib": ["ES2022", "DOM"], "types": [] } }
END
}

@test "the generated messages of the TypeScript client are current" {
    assert_status 0 "$root/Clients/typescript/generate" --check
    assert_equal "" "$output$stderr"
    assert_status 64 "$root/Clients/typescript/generate" --chekc
    mkdir Clients
    cp -R "$root/Proto" .
    cp -R "$root/Clients/typescript" Clients
    echo '// A comment.' >>Clients/typescript/src/messages.ts
    assert_status 1 Clients/typescript/generate --check
    assert_contains "$stderr" "is stale; run Clients/typescript/generate"
    Clients/typescript/generate
    assert_status 0 Clients/typescript/generate --check
}

# Each of the lines is a message of a type, encoded by the client: its name and hexadecimal bytes.
@test "the messages of the TypeScript client have the bytes that protobuf gives them" {
    cat >messages.mjs <<'END'
const at = process.argv[2];
const messages = await import(`${at}/src/messages.js`);
const { decode, encode } = { ...await import(`${at}/src/encoding.js`), ...await import(`${at}/src/decoding.js`) };
const { Random, newSeed, randomBytes } = await import(`${at}/tests/random.js`);
if (process.argv[3] === "write") {
    const seed = newSeed();
    const random = new Random(seed);
    const types = Object.values(messages).filter((each) => each.kind === "message");
    for (let count = 0; count < 5_000; count += 1) {
        const type = random.pick(types);
        const bytes = Buffer.from(randomBytes(type, random)).toString("hex");
        console.log(type.name, bytes || "-");
    }
} else {
    const { readFileSync } = await import("node:fs");
    for (const line of readFileSync(process.argv[3], "utf8").trim().split("\n")) {
        const [name, hex] = line.split(" ");
        const bytes = Buffer.from(hex === "-" ? "" : hex, "hex");
        const found = encode(messages[name], decode(messages[name], new Uint8Array(bytes)));
        console.log(name, Buffer.from(found).toString("hex") || "-");
    }
}
END
    cat >protobuf.py <<'END'
import importlib, pathlib, sys
sys.path.insert(0, sys.argv[1])
modules = [importlib.import_module(path.stem) for path in pathlib.Path(sys.argv[1]).glob("*_pb2.py")]
for line in sys.stdin:
    name, text = line.split()
    [kind] = {getattr(each, name) for each in modules if name in each.DESCRIPTOR.message_types_by_name}
    message = kind.FromString(bytes.fromhex("" if text == "-" else text))
    print(name, message.SerializeToString(deterministic=True).hex() or "-")
END
    mkdir python
    protoc --proto_path="$root/Proto" --python_out=python "$root"/Proto/*.proto
    node messages.mjs "$package/build" write >written
    head -1 written
    tail -n +2 written >sent
    /usr/bin/python3 protobuf.py python <sent >received
    diff sent received
    node messages.mjs "$package/build" received | diff received -
    [ "$(wc -l <sent)" = 5000 ]
}

@test "the TypeScript package needs no other package, and has the version of the programs" {
    assert_equal "null null" "$(jq -r '"\(.dependencies) \(.peerDependencies)"' "$package/package.json")"
    assert_contains "$(larderd --version)" "$(jq -r .version "$package/package.json")"
    # The declarations need only AbortSignal of the globals.
    enter_program
    echo 'import "larder"; declare global { interface AbortSignal {} }' >index.ts
    tsc --lib ES2022 --noEmit
}

# Debian's package of Node 18 has the types of Node.
@test "the TypeScript client compiles with the types of Node" {
    local types=/usr/share/nodejs/@types
    [ -d $types/node ] || skip "there are no types of Node"
    cp -R "$package/src" "$package/tsconfig.json" .
    rm src/node.d.ts
    tsc --typeRoots $types --types node --noEmit
}

@test "the codec, the values and the rows of the TypeScript client pass their tests" {
    run_tests coding
    run_tests values
    run_tests rows
}

@test "the TypeScript client reports violations of the protocol" {
    run_tests hostile
}

@test "the TypeScript client passes its tests with a server" {
    run_tests client
}

@test "the code of the page about TypeScript prints what the page shows" {
    run_tests page
}

@test "the interfaces that larder prints for TypeScript compile, and are the types of objects" {
    local tests=$root/Tests
    jq -n --args '{version: "1.0.0", entities: [{name: "Parent"}, ($ARGS.positional[] | . as $name
        | {name: $name, parent: "Parent",
           attributes: [$ARGS.positional[] | {name: ., type: "string", optional: true}],
           relationships: [{name: "r", destination: $name, toMany: true}]})]}' \
        any class constructor delete enum interface let name never null number object string \
        symbol undefined yield unknown Array Date Entities Entities_ Record Uint8Array larder \
        >words.json
    enter_program
    count=0
    for sample in ../words.json "$fixtures"/{library.schema,schema}.json \
        "$tests"/{Python/school,Model/model,Siege/siege,Crash/crash}.schema.json; do
        count=$((count + 1))
        larder schema show --schema "$sample" --output typescript >models$count.ts
    done
    cat >program.ts <<'END'
import { Decimal, Uuid, connect } from "larder";
import type { Book, Entities } from "./models2.js";

declare const process: { readonly argv: readonly string[] };
const client = await connect<Entities>(process.argv[2]);
const ann = await client.insert("Author", { name: "Ann" });
const id = await client.insert("Book", {
    isbn: "1", title: "Larder", added: new Date(1e12), number: Uuid.random(), authors: [ann] });
await client.insert("Loan", { due: new Date(0), fee: 4, medium: id });
await client.insert("Loan", { due: new Date(0), fee: new Decimal("0.50"), medium: id });
const [found] = await client.fetch("Book", { where: "isbn == %@", arguments: ["1"] });
const all = await client.fetch("Medium");
const whole = await client.get<Book>(id);
console.log(found?.title, found?.added.getTime(), whole?.authors?.[0]?.equals(ann),
    whole?.loans?.length, found?.loanCount, all[0]?.["@id"].equals(id));
await client.update<Book>(id, { isbn: null });
client.close();

// @ts-expect-error The entity is misspelt.
export const entity = () => client.fetch("Bok");
// @ts-expect-error The property is misspelt.
export const property = () => client.insert("Book", { titel: "x" });
// @ts-expect-error The value has another type.
export const value = () => client.insert("Book", { title: 5 });
// @ts-expect-error The attribute is of another entity.
export const other = () => found?.due;
END
    tsc
    larderd --in-memory --schema "$fixtures/library.schema.json" --socket library.sock 2>log 3>&- &
    daemon=$!
    larder ping --wait --timeout 60s --socket library.sock >/dev/null
    assert_equal "Larder 1000000000000 true 2 2 true" "$(node program.js library.sock)"
}

@test "npm installs the TypeScript package from a folder and from a file, without a network" {
    command -v npm >/dev/null || skip "npm is not installed"
    export HOME=$scratch npm_config_offline=true npm_config_audit=false npm_config_fund=false \
        npm_config_update_notifier=false
    mkdir source
    cp -R "$root/Clients/typescript" source/larder
    rm -rf source/larder/{build,dist}
    echo 'import { connect } from "larder"; await connect("nowhere");' >program.mjs
    mkdir folder file
    (cd folder && npm init --yes >/dev/null && npm install --silent ../source/larder)
    [ -s source/larder/dist/index.d.ts ]
    (cd source/larder && npm pack --silent >packed && tar -tzf "$(cat packed)" >listed)
    grep -q package/dist/index.js source/larder/listed
    [ "$(grep -vc '^package/\(dist/\|README.md\|package.json\)' source/larder/listed)" = 0 ]
    (cd file && npm init --yes >/dev/null && PATH=$(path_without tsc) npm install --silent \
        ../source/larder/*.tgz)
    rm -r source/larder/dist
    assert_status 1 env "PATH=$(path_without tsc)" npm install --prefix folder ./source/larder
    assert_contains "$stderr" "install tsc, the compiler of TypeScript (Debian: node-typescript)"
    (cd folder && npm install --silent ../source/larder)
    for name in folder file; do
        cp program.mjs $name
        assert_status 1 node $name/program.mjs
        assert_contains "$stderr" "ConnectionFailedError"
        assert_contains "$stderr" "no such file or directory"
    done
}

# path_without PROGRAM: a folder with the programs of npm, which has no PROGRAM.
path_without() {
    mkdir -p "$scratch/programs"
    for each in node npm sh; do
        ln -sf "$(command -v $each)" "$scratch/programs"
    done
    [ ! -e "$scratch/programs/$1" ]
    echo "$scratch/programs"
}
