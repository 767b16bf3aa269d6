load helper

library=$fixtures/library.schema.json
tests=$BATS_TEST_DIRNAME/..
samples=("$library" "$fixtures/schema.json" "$tests/Python/school.schema.json"
    "$tests/Model/model.schema.json" "$tests/Siege/siege.schema.json"
    "$tests/Crash/crash.schema.json")

setup() { enter_scratch; }

show() { larder schema show --schema "$library" "$@"; }

@test "a schema is shown alike by a server, from a store file and from a schema file" {
    start_daemon
    for format in table plain json dot mermaid python swift typescript go; do
        larder schema show --output $format >served
        larder schema show --output $format --schema "$schema" >read
        cmp served read
    done
    stop_daemon
    larder schema show --output go --store test.store | cmp - served
    # --schema together with --store is the schema that the store must have.
    assert_status 65 larder schema show --store test.store --schema "$library"
    assert_contains "$stderr" "error[SCHEMA_MISMATCH]"
}

@test "each format of the sample schema is as in the fixture" {
    for format in table plain json dot mermaid swift python go typescript; do
        show --output $format | diff "$fixtures/library.$format.text" -
    done
    show | diff "$fixtures/library.plain.text" -
}

@test "the json format is a schema file that is equal to the original" {
    for sample in "${samples[@]}"; do
        larder schema show --schema "$sample" --output json >written
        assert_status 0 larder schema check written
        larder schema show --schema written --output json | cmp - written
        for format in plain swift python go typescript; do
            cmp <(larder schema show --schema "$sample" --output $format) \
                <(larder schema show --schema written --output $format)
        done
    done
}

@test "one entity is shown with its relationships; an unknown one is an error with a hint" {
    assert_equal $'Author\tAuthor\tentity\t\t\t\t' "$(show Author | head -1)"
    assert_equal 3 "$(show Author | wc -l)"
    assert_equal '["books"]' "$(show Author --output json | jq -c '.relationships | map(.name)')"
    show Author --output dot >author.dot
    assert_equal 1 "$(grep -c label=.Author author.dot)"
    assert_equal 1 "$(grep -c -- '->' author.dot)"
    assert_equal 2 "$(show Disc --output mermaid | grep -c Disc)"
    assert_status 4 larder schema show --schema "$library" Autor
    assert_contains "$stderr" 'did you mean "Author"?'
}

@test "errors of schema show are those of other commands" {
    assert_status 64 larder schema show --schema "$library" --output csv
    assert_status 64 larder schema show --schema "$library" --socket "$LARDER_SOCKET"
    assert_status 74 larder schema show --schema nowhere.json
    echo '{"version": "1.0.0", "entities": [{"nam": "A"}]}' >bad.json
    assert_status 65 larder schema show --schema bad.json
    assert_contains "$stderr" 'entities[0].nam: unknown key; did you mean "name"?'
    unset LARDER_SOCKET
    assert_status 64 larder schema show
}

@test "the Swift models of every sample compile" {
    for sample in "${samples[@]}"; do
        larder schema show --schema "$sample" --output swift >models.swift
        "$fixtures/check_swift_models" models.swift
    done
}

# check_records FILE: imports a module with records as the package `larder` does, and reads the names
# and types of their fields.
check_records() {
    [ -d "$BATS_FILE_TMPDIR/python" ] ||
        "$tests/../Clients/build" "$BATS_FILE_TMPDIR" python
    PYTHONPATH=$BATS_FILE_TMPDIR/python:. /usr/bin/python3 -B - "$1" <<'END'
import importlib, sys
import larder
from larder.records import properties
module = importlib.import_module(sys.argv[1].removesuffix(".py"))
for name, found in vars(module).items():
    if isinstance(found, type) and issubclass(found, larder.Record):
        listed = [each.name + " (derived)" * each.is_derived + " (json)" * each.is_json
                  for each in properties(found)]
        print(larder.records.entity_name(found), *listed, sep="\t")
END
}

@test "the Python records of every sample have the properties of their entities" {
    for sample in "${samples[@]}"; do
        larder schema show --schema "$sample" --output python >models.py
        check_records models.py >found
        jq -r '.entities as $all | def lineage: . as $e | if .parent == null then [$e] else
            ($all[] | select(.name == $e.parent) | lineage) + [$e] end;
            $all[] | [.name] + [lineage[] | (.attributes // [] | .[]
                | .name + (if .derived then " (derived)" else "" end)
                + (if .type == "json" then " (json)" else "" end)),
            (.relationships // [] | .[].name)] | @tsv' "$sample" >expected
        diff <(sort expected) <(sort found)
    done
}

@test "the Python record of one entity is written with its parents" {
    show Book --output python >models.py
    assert_equal $'class Medium(larder.Record):\nclass Book(Medium):' "$(grep ^class models.py)"
    check_records models.py >/dev/null
}

# Prints a schema whose entities and attributes have the names in the arguments.
schema_of_names() {
    jq -n --args '{version: "1.0.0", entities: [$ARGS.positional | to_entries[] | .value as $name
        | {name: $name,
           attributes: [$ARGS.positional[] | {name: ., type: "string", optional: true}],
           relationships: [{name: "r", destination: $name, toMany: true, inverse: "s"},
                           {name: "s", destination: $name, inverse: "r"}],
           indexes: [[$name]]}]}' "$@"
}

@test "names that are keywords of a format are escaped" {
    schema_of_names as async await break case catch class continue default defer deinit do each \
        else enum extension false for func guard if import in init inout internal is let macro \
        nil operator package private protocol public repeat rethrows return self some static \
        struct subscript super switch throw throws true try type typealias var where while any \
        String Date Model Attribute Relationship Optional >swift.json
    larder schema show --schema swift.json --output swift >models.swift
    "$fixtures/check_swift_models" models.swift
    schema_of_names Any Protocol Self Type Void >capital.json
    larder schema show --schema capital.json --output swift >models.swift
    swiftc -frontend -parse models.swift
    schema_of_names None True and as assert class def del elif except finally from global lambda \
        nonlocal not or pass raise with yield match type self identifier version int str bool \
        float bytes list field dataclass larder datetime decimal json uuid class_ Record >python.json
    larder schema show --schema python.json --output python >models.py
    check_records models.py | cut -f 1 | sort >found
    diff <(jq -r '.entities[].name' python.json | sort) found
    schema_of_names node edge graph digraph subgraph strict >dot.json
    larder schema show --schema dot.json --output dot >diagram.dot
    [ "$(grep -cE '^  "[a-z]+" (\[|-> "[a-z]+" \[)' diagram.dot)" = 12 ]
    if command -v dot >/dev/null; then dot -Tplain diagram.dot | grep -c '^node' | grep -qx 6; fi
    schema_of_names link note click callback cssClass class style order >mermaid.json
    larder schema show --schema mermaid.json --output mermaid >diagram.mermaid
    assert_equal 'class `_link`["link"] {' "$(sed -n '3s/^  //p' diagram.mermaid)"
    assert_equal '`order` "0..1" -- "0..*" `order` : r / s' "$(tail -1 diagram.mermaid | sed 's/^  //')"
}

@test "Graphviz reads the diagram of every sample" {
    command -v dot >/dev/null || skip "Graphviz is not installed"
    for sample in "${samples[@]}"; do
        larder schema show --schema "$sample" --output dot >diagram.dot
        dot -Tplain diagram.dot >plain 2>problems
        assert_equal "" "$(cat problems)"
        assert_equal "$(jq '.entities | length' "$sample")" "$(grep -c '^node' plain)"
    done
}

@test "schema init writes a valid schema that matches the JSON Schema, and never over a file" {
    assert_status 0 larder schema init first.json
    assert_equal "" "$output$stderr"
    larder schema init | cmp - first.json
    larder schema init - | cmp - first.json
    assert_status 0 larder schema check first.json
    assert_status 0 larder count Book --store new.store --schema first.json
    echo mine >taken.json
    assert_status 5 larder schema init taken.json
    assert_contains "$stderr" "error[FILE_EXISTS]: taken.json exists already"
    assert_contains "$stderr" "hint: "
    assert_equal mine "$(cat taken.json)"
    ln -s nowhere.json link.json
    assert_status 5 larder schema init link.json
    assert_status 74 larder schema init missing/first.json
    assert_contains "$stderr" "the folder of missing/first.json does not exist"
    [ ! -e nowhere.json ]
}

@test "schema init leaves no file if it cannot write" {
    local status=0
    (ulimit -f 0; exec larder schema init short.json 2>/dev/null) || status=$?
    assert_equal 74 "$status"
    [ ! -e short.json ]
}

@test "the sample schemas match the JSON Schema for editors, and files with errors do not" {
    larder schema init first.json
    cat >validate.py <<'END'
import json, sys
import jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for path in sys.argv[2:]:
    problems = [f"{problem.json_path}: {problem.message}"
                for problem in validator.iter_errors(json.load(open(path)))]
    print(path, *problems, sep="\n  ")
    sys.exit(bool(problems)) if problems else None
END
    validate() { /usr/bin/python3 validate.py "$tests/../docs/schema.json" "$@"; }
    validate first.json "${samples[@]}"
    for change in 'del(.version)' '.version = "1.0"' '.entities = []' '.colour = 1' \
        'del(.entities[0].name)' '.entities[0].name = "a b"' '.entities[0].name = "sqlite_a"' \
        '.entities[0].abstract = 1' '.entities[0].unique = ["name"]' \
        '.entities[0].attributes[0].type = "text"' 'del(.entities[0].attributes[0].type)' \
        '.entities[0].attributes[0].optinal = true' '.entities[0].attributes[0].minLength = -1' \
        '.entities[0].attributes[0].originalName = ""' \
        '.entities[0].relationships[0].deleteRule = "delete"' \
        'del(.entities[0].relationships[0].destination)' \
        '.entities[0].relationships[0].toMany = "yes"' '.entities[0].hashModifier = 1'; do
        jq "$change" first.json >changed.json
        assert_status 65 larder schema check changed.json
        if validate changed.json; then
            echo "the JSON Schema accepts $change"
            return 1
        fi
    done
    jq '. + {"$schema": "schema.json"}' first.json >changed.json
    assert_status 0 larder schema check changed.json
    validate changed.json
}
