// swift-tools-version: 6.2
import PackageDescription

/// Every target is Swift 6 with warnings as errors. What a target may import is checked by
/// `Tests/RepositoryTests`; the reasons stand in `docs/architecture.md`.
let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let nio = "https://github.com/apple/swift-nio.git"
let log = "https://github.com/apple/swift-log.git"
let lifecycle = "https://github.com/swift-server/swift-service-lifecycle.git"
let argumentParser = "https://github.com/apple/swift-argument-parser.git"

let package = Package(
    name: "larder",
    products: [
        .library(name: "LarderClient", targets: ["LarderClient", "LarderModel"]),
        .executable(name: "larderd", targets: ["LarderDaemon"]),
        .executable(name: "larder", targets: ["LarderCLI"]),
    ],
    dependencies: [
        .package(url: nio, from: "2.80.0"),
        .package(url: log, from: "1.6.0"),
        .package(url: lifecycle, from: "2.6.0"),
        .package(url: argumentParser, from: "1.5.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CProtobufC", pkgConfig: "libprotobuf-c",
            providers: [.apt(["libprotobuf-c-dev"])]),
        .systemLibrary(
            name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CStat"),
        .target(name: "CLarderProto", dependencies: ["CProtobufC"]),

        .target(name: "LarderModel", swiftSettings: strict),
        .target(
            name: "LarderFiles", dependencies: ["LarderModel", "CStat"], swiftSettings: strict),
        .target(
            name: "LarderWire", dependencies: ["LarderModel", "CLarderProto"],
            swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]),
        .target(
            name: "LarderStore",
            dependencies: ["LarderModel", "LarderFiles", "CSQLite", "CPCRE2", "CStat"],
            swiftSettings: strict),
        .target(
            name: "LarderServer",
            dependencies: [
                "CMalloc", "LarderModel", "LarderWire",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .target(
            name: "LarderClient", dependencies: ["LarderModel", "LarderFiles", "LarderWire"],
            swiftSettings: strict),
        .target(
            name: "LarderPrograms", dependencies: ["LarderModel"], swiftSettings: strict),
        .executableTarget(
            name: "LarderDaemon",
            dependencies: [
                "LarderModel", "LarderPrograms", "LarderServer", "LarderStore",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),
        .executableTarget(
            name: "LarderCLI",
            dependencies: [
                "LarderModel", "LarderFiles", "LarderClient", "LarderPrograms", "LarderServer",
                "LarderStore",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),

        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        .target(
            name: "QueryFuzzing", dependencies: ["LarderStore", "LarderModel", "TestSupport"],
            path: "Tests/QueryFuzzing", swiftSettings: strict),
        .executableTarget(
            name: "FuzzQueries", dependencies: ["QueryFuzzing", "LarderModel", "TestSupport"],
            path: "Tests/FuzzQueries", swiftSettings: strict),
        .target(
            name: "InputFuzzing",
            dependencies: [
                "LarderModel", "LarderWire", "LarderStore", "QueryFuzzing", "TestSupport",
            ], path: "Tests/InputFuzzing", exclude: ["Corpus", "Dictionaries"],
            swiftSettings: strict),
        .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
        .executableTarget(
            name: "FuzzInputs", dependencies: ["InputFuzzing", "CLibFuzzer"],
            path: "Tests/FuzzInputs", swiftSettings: strict),
        .testTarget(
            name: "LarderModelTests", dependencies: ["LarderModel", "TestSupport"],
            exclude: ["Scripts"], swiftSettings: strict),
        .testTarget(
            name: "LarderFilesTests", dependencies: ["LarderFiles", "LarderModel"],
            swiftSettings: strict),
        .testTarget(
            name: "LarderWireTests",
            dependencies: ["LarderWire", "LarderModel", "CLarderProto", "TestSupport"],
            exclude: ["Corpus"], swiftSettings: strict),
        .testTarget(
            name: "LarderStoreTests",
            dependencies: ["LarderStore", "LarderModel", "QueryFuzzing", "TestSupport"],
            exclude: ["Scripts"], swiftSettings: strict),
        .testTarget(
            name: "LarderServerTests",
            dependencies: [
                "LarderServer", "LarderWire", "LarderModel", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ], swiftSettings: strict),
        .testTarget(
            name: "LarderClientTests",
            dependencies: ["LarderClient", "LarderWire", "LarderModel", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: ["LarderClient", "LarderModel", "QueryFuzzing", "TestSupport"],
            exclude: ["Scripts"], swiftSettings: strict),
        .testTarget(
            name: "InputTests", dependencies: ["InputFuzzing", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "RepositoryTests", exclude: ["Phrases.text"], swiftSettings: strict),
    ]
)
