# Packages that depend on Larder: with its object layer in a release build, and with the client alone.

load ../helper

setup() { enter_scratch; }

repository=$BATS_TEST_DIRNAME/../../..

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

@test "a package that uses the client alone resolves no other package" {
    root=$(cd "$repository" && pwd)
    mkdir -p "$BATS_TEST_TMPDIR/App/Sources/App"
    cd "$BATS_TEST_TMPDIR/App"
    cat >Package.swift <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "App", dependencies: [.package(name: "larder", path: "$root", traits: [])],
    targets: [
        .executableTarget(
            name: "App", dependencies: [.product(name: "LarderClient", package: "larder")])
    ])
END
    cat >Sources/App/main.swift <<'END'
import LarderClient
do {
    _ = try StoreClient.connect(to: "/nowhere")
} catch {
    print(error.code.name)
}
END
    swift build >build.log 2>&1 || { cat build.log; false; }
    [ "$(.build/debug/App)" = CONNECTION_FAILED ]
    # Nothing was fetched, and only the modules of the client were compiled.
    [ -z "$(ls .build/checkouts .build/repositories 2>/dev/null | grep -v :)" ]
    [ ! -e Package.resolved ]
    compiled=$(grep -oE 'Compiling Larder[A-Za-z]*' build.log | sort -u | sed 's/Compiling //')
    [ "$(echo $compiled)" = "LarderClient LarderFiles LarderModel LarderQuery LarderWire" ]
}
