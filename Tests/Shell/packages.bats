# A package that depends on Larder and imports its object layer, in a release build.

load helper

setup() { enter_scratch; }

repository=$BATS_TEST_DIRNAME/../..

@test "a program with SwiftData and LarderData is built in release, linked statically, and runs" {
    example=$repository/Examples/Reports
    programs=$("$repository/scripts/build-package" "$example" reports)
    reports=$programs/reports
    [[ $(ldd "$reports") != *libswift* ]]
    assert_equal "imported 24 articles" \
        "$("$reports" import "$example/Sample/articles.json" --store library.store)"
    assert_equal $'Linux\t6\t1017\nDatabases\t5\t1170' \
        "$("$reports" by-category --at-least 5 --store library.store | head -2)"
}
