# Schemas of models that Xcode's editor has written.

load ../helper

setup() {
    enter_scratch
    model=$fixtures/../../../Examples/Journal/Sources/Journal/Resources/Journal.xcdatamodeld
}

@test "the schema of a model has its attributes, rules, constraints and indexes" {
    assert_status 0 larder schema from-xcdatamodel "$model"
    assert_equal 'warning: the fetch request Recent is no part of a schema; CoreData reads it' "$stderr"
    larder schema from-xcdatamodel "$model/" >schema.json 2>/dev/null
    property() { jq -c ".entities[] | select(.name == \"$1\") | $2" schema.json; }
    assert_equal '{"name":"mood","type":"int16","default":0,"minimum":0,"maximum":5}' \
        "$(property Entry '.attributes[] | select(.name == "mood")')"
    assert_equal '{"name":"text","type":"string","optional":true,"maxLength":5000,"originalName":"body"}' \
        "$(property Entry '.attributes[] | select(.name == "text")')"
    assert_equal '"2023-01-01T00:00:00Z"' \
        "$(property Entry '.attributes[] | select(.name == "created") | .default')"
    assert_equal '"pages.@count"' \
        "$(property Entry '.attributes[] | select(.name == "pageCount") | .derived')"
    assert_equal '' "$(property Entry '.attributes[] | select(.name == "draft")')"
    assert_equal '{"name":"pages","destination":"Page","toMany":true,"ordered":true,"inverse":"entry","deleteRule":"cascade"}' \
        "$(property Entry '.relationships[0]')"
    assert_equal '[["created"]]' "$(property Entry .indexes)"
    assert_equal '[["name"]]' "$(property Tag .unique)"
    uri=$(larder insert Entry text=walk mood=4 --store journal.store --schema schema.json)
    assert_equal 4 "$(larder get "$uri" --store journal.store --output jsonl | jq .mood)"
    assert_status 65 larder insert Entry mood=9 --store journal.store
}

@test "the current version of a model is read, or the one that is named" {
    assert_equal null "$(larder schema from-xcdatamodel "$model/Journal.xcdatamodel" |
        jq '.entities[] | select(.name == "Tag") | .unique')"
    cp -R "$model" copy.xcdatamodeld
    rm copy.xcdatamodeld/.xccurrentversion
    assert_status 74 larder schema from-xcdatamodel copy.xcdatamodeld
    assert_contains "$stderr" 'copy.xcdatamodel/contents does not exist'
    mv copy.xcdatamodeld Journal.xcdatamodeld
    assert_status 0 larder schema from-xcdatamodel Journal.xcdatamodeld
    echo '<plist><dict><key>_XCCurrentVersionName</key><string>../x</string></dict></plist>' \
        >Journal.xcdatamodeld/.xccurrentversion
    assert_status 65 larder schema from-xcdatamodel Journal.xcdatamodeld
    assert_contains "$stderr" '.xccurrentversion does not name a version'
}

# rejects STATUS TEXT XML: the model is rejected with a text.
rejects() {
    printf '%s' "$3" >model
    assert_status "$1" larder schema from-xcdatamodel model
    assert_contains "$stderr" "$2"
    assert_equal '' "$output"
}

@test "a file that is no model is rejected, with the line or the property" {
    entity() { echo "<model><entity name=\"A\">$1</entity></model>"; }
    rejects 65 'model: line 1, column 1' '{}'
    rejects 65 'line 1, column 1: no element found' ''
    rejects 65 'line 2' $'<model>\n<entity name="A"></model>'
    rejects 65 'its element is <plist>' '<plist/>'
    rejects 65 'the model has no entities' '<model/>'
    rejects 65 'an entity has no name' '<model><entity/></model>'
    rejects 65 'A.x has the type "Colour", which is not known' \
        "$(entity '<attribute name="x" attributeType="Colour"/>')"
    rejects 65 'A.x: defaultValueString' \
        "$(entity '<attribute name="x" attributeType="Integer 16" defaultValueString="70000"/>')"
    rejects 65 'A.x: defaultDateTimeInterval is nan' \
        "$(entity '<attribute name="x" attributeType="Date" defaultDateTimeInterval="nan"/>')"
    rejects 65 'A.x: maxValueString is -1' \
        "$(entity '<attribute name="x" attributeType="String" maxValueString="-1"/>')"
    rejects 65 'A.r has no destination' "$(entity '<relationship name="r"/>')"
    rejects 65 'A.r: maxCount is x' \
        "$(entity '<relationship name="r" toMany="YES" destinationEntity="A" maxCount="x"/>')"
    rejects 65 'destination' "$(entity '<relationship name="r" destinationEntity="B"/>')"
    rejects 65 'nested more than 64 deep' "$(printf '<a>%.0s' {1..100000})"
    rejects 65 'amplification' "$(
        echo '<!DOCTYPE a [<!ENTITY a0 "x">'
        for i in {1..11}; do
            echo "<!ENTITY a$i \"$(printf "&a$((i - 1));%.0s" {1..8})\">"
        done
        echo ']><model><entity name="&a11;"/></model>'
    )"
    printf '<model>\xff</model>' >model
    assert_status 65 larder schema from-xcdatamodel model
    assert_status 74 larder schema from-xcdatamodel none
    truncate -s 17M model
    assert_status 5 larder schema from-xcdatamodel model
}
