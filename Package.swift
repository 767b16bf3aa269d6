// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// Every target is Swift 6 with warnings as errors. What a target may import is checked by
/// `Tests/RepositoryTests`; the reasons stand in `docs/architecture.md`.
let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let nio = "https://github.com/apple/swift-nio.git"
let log = "https://github.com/apple/swift-log.git"
let metrics = "https://github.com/apple/swift-metrics.git"
let lifecycle = "https://github.com/swift-server/swift-service-lifecycle.git"
let argumentParser = "https://github.com/apple/swift-argument-parser.git"
let syntax = "https://github.com/swiftlang/swift-syntax.git"

/// The parts that a package which uses Larder can leave out. With `traits: []` it resolves no other
/// package, and has `LarderClient` alone.
let server = TargetDependencyCondition.when(traits: ["Server"])
let records = TargetDependencyCondition.when(traits: ["Records"])
let objects = TargetDependencyCondition.when(traits: ["SwiftData"])

/// Without this trait, `LarderPostgres` has no connections, and nothing needs libpq.
let postgres = TargetDependencyCondition.when(traits: ["PostgreSQL"])

let package = Package(
    name: "larder",
    products: [
        .library(name: "LarderClient", targets: ["LarderClient", "LarderModel", "LarderQuery"]),
        .library(name: "LarderRecords", targets: ["LarderRecords"]),
        .library(name: "LarderTesting", targets: ["LarderTesting"]),
        .library(name: "SwiftData", targets: ["SwiftData"]),
        .library(name: "LarderData", targets: ["LarderData"]),
        .library(name: "CoreData", targets: ["CoreData"]),
        .library(name: "SwiftDataKit", targets: ["SwiftDataKit"]),
        .plugin(name: "ManagedAccessors", targets: ["ManagedAccessors"]),
        .executable(name: "larderd", targets: ["LarderDaemon"]),
        .executable(name: "larder", targets: ["LarderCLI"]),
    ],
    traits: [
        .default(enabledTraits: ["Server", "Records", "SwiftData"]),
        .trait(name: "Server", description: "larderd, larder and LarderTesting"),
        .trait(name: "Records", description: "LarderRecords, whose macros need swift-syntax"),
        .trait(
            name: "SwiftData", description: "SwiftData, whose macros need swift-syntax",
            enabledTraits: ["Server"]),
        .trait(name: "PostgreSQL", description: "stores in PostgreSQL, which need libpq"),
    ],
    dependencies: [
        .package(url: nio, from: "2.80.0"),
        .package(url: log, from: "1.6.0"),
        .package(url: metrics, from: "2.5.0"),
        .package(url: lifecycle, from: "2.6.0"),
        .package(url: argumentParser, from: "1.5.0"),
        .package(url: syntax, from: "603.0.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CProtobufC", pkgConfig: "libprotobuf-c",
            providers: [.apt(["libprotobuf-c-dev"])]),
        .systemLibrary(
            name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .systemLibrary(
            name: "CEdit", pkgConfig: "libedit", providers: [.apt(["libedit-dev"])]),
        .systemLibrary(
            name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "CLarderProto", dependencies: ["CProtobufC"]),

        .target(name: "CloudKitRules", swiftSettings: strict),
        .target(name: "LarderModel", dependencies: ["CloudKitRules"], swiftSettings: strict),
        .target(name: "LarderQuery", dependencies: ["LarderModel"], swiftSettings: strict),
        .target(
            name: "LarderFiles", dependencies: ["LarderModel", "CLinux"], swiftSettings: strict),
        .target(
            name: "LarderWire", dependencies: ["LarderModel", "LarderQuery", "CLarderProto"],
            swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]),
        .target(
            name: "LarderSQL", dependencies: ["LarderModel", "LarderQuery", "CPCRE2"],
            swiftSettings: strict),
        .target(
            name: "LarderStore",
            dependencies: [
                "LarderModel", "LarderQuery", "LarderFiles", "LarderSQL", "CSQLite", "CLinux",
            ],
            swiftSettings: strict),
        .target(
            name: "LarderPostgres",
            dependencies: [
                "LarderModel", "LarderQuery", "LarderSQL",
                .target(name: "CPQ", condition: postgres),
            ],
            swiftSettings: strict),
        .target(
            name: "LarderServer",
            dependencies: [
                "CLinux", "LarderModel", "LarderQuery", "LarderWire",
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOPosix", package: "swift-nio", condition: server),
                .product(name: "Logging", package: "swift-log", condition: server),
                .product(name: "CoreMetrics", package: "swift-metrics", condition: server),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: server),
            ], swiftSettings: strict),
        .target(
            name: "LarderClient",
            dependencies: ["LarderModel", "LarderQuery", "LarderFiles", "LarderWire"],
            swiftSettings: strict),
        .target(
            name: "LarderRecordExpansion",
            dependencies: [
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax", condition: records),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: records),
            ], swiftSettings: strict),
        .macro(
            name: "LarderRecordMacros",
            dependencies: [
                "LarderRecordExpansion",
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: records),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: records),
            ], swiftSettings: strict),
        .target(
            name: "LarderRecords", dependencies: ["LarderClient", "LarderRecordMacros"],
            swiftSettings: strict),
        .target(
            name: "LarderTesting",
            dependencies: [
                "LarderClient", "LarderModel", "LarderQuery", "LarderServer", "LarderStore",
                .product(name: "Logging", package: "swift-log", condition: server),
            ], swiftSettings: strict),
        .target(
            name: "LarderObjects",
            dependencies: [
                "LarderModel", "LarderQuery", "LarderFiles", "LarderClient", "LarderServer",
                "LarderStore",
                .product(name: "Logging", package: "swift-log", condition: server),
            ], swiftSettings: strict),
        .target(
            name: "XcodeModels",
            dependencies: ["CExpat", "LarderModel", "LarderQuery", "LarderPrograms"],
            swiftSettings: strict),
        .target(
            name: "CoreDataPredicates",
            dependencies: ["LarderModel", "LarderQuery", "LarderStore"],
            swiftSettings: strict),
        .target(
            name: "CoreData",
            dependencies: [
                "CoreDataPredicates", "LarderClient", "LarderModel", "LarderQuery", "LarderObjects",
                "XcodeModels",
            ],
            swiftSettings: strict),
        .plugin(
            name: "ManagedAccessors",
            capability: .command(
                intent: .custom(
                    verb: "managed-accessors",
                    description: "Writes the accessors of @NSManaged properties."),
                permissions: [
                    .writeToPackageDirectory(
                        reason: "It writes ManagedAccessors.swift into the folders of targets.")
                ])),
        .target(
            name: "SwiftDataExpansion",
            dependencies: [
                "CloudKitRules",
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax", condition: objects),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: objects),
            ], swiftSettings: strict),
        .macro(
            name: "SwiftDataMacros",
            dependencies: [
                "SwiftDataExpansion",
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: objects),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: objects),
            ], swiftSettings: strict),
        .target(
            name: "SwiftData",
            dependencies: [
                "CloudKitRules", "LarderModel", "LarderQuery", "LarderClient", "LarderObjects",
                "SwiftDataMacros",
            ],
            swiftSettings: strict),
        .target(
            name: "LarderData",
            dependencies: [
                "SwiftData", "SwiftDataMacros", "LarderObjects", "LarderClient", "LarderModel",
            ],
            swiftSettings: strict),
        .target(
            name: "SwiftDataKit",
            dependencies: ["SwiftData", "CoreData", "LarderObjects", "LarderModel"],
            swiftSettings: strict),
        .target(
            name: "LarderPrograms", dependencies: ["LarderModel", "LarderQuery"],
            swiftSettings: strict),
        .executableTarget(
            name: "LarderDaemon",
            dependencies: [
                "CLinux", "LarderModel", "LarderQuery", "LarderPrograms", "LarderServer",
                "LarderStore", .target(name: "LarderPostgres", condition: postgres),
                .product(name: "Logging", package: "swift-log", condition: server),
                .product(
                    name: "UnixSignals", package: "swift-service-lifecycle", condition: server),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: server),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: server),
            ], swiftSettings: strict),
        .executableTarget(
            name: "LarderCLI",
            dependencies: [
                "CEdit", "CLinux", "LarderModel", "LarderQuery", "LarderFiles", "LarderClient",
                "LarderPrograms", "LarderServer", "LarderStore", "XcodeModels",
                .product(name: "Logging", package: "swift-log", condition: server),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: server),
            ], swiftSettings: strict),

        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        .target(
            name: "QueryScripts", dependencies: ["LarderModel", "LarderQuery"],
            path: "Tests/QueryScripts", swiftSettings: strict),
        .target(
            name: "QueryFuzzing",
            dependencies: ["LarderStore", "LarderModel", "LarderQuery", "TestSupport"],
            path: "Tests/QueryFuzzing", swiftSettings: strict),
        .executableTarget(
            name: "FuzzQueries", dependencies: ["QueryFuzzing", "LarderModel", "TestSupport"],
            path: "Tests/FuzzQueries", swiftSettings: strict),
        .target(
            name: "InputFuzzing",
            dependencies: [
                "LarderModel", "LarderQuery", "LarderWire", "LarderStore", "LarderServer",
                "QueryFuzzing",
                "TestSupport",
                .product(name: "Logging", package: "swift-log", condition: server),
            ], path: "Tests/InputFuzzing", exclude: ["Corpus", "Dictionaries"],
            swiftSettings: strict),
        .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
        .executableTarget(
            name: "FuzzInputs", dependencies: ["InputFuzzing", "CLibFuzzer"],
            path: "Tests/FuzzInputs", swiftSettings: strict),
        .executableTarget(
            name: "FuzzRequests", dependencies: ["InputFuzzing", "TestSupport"],
            path: "Tests/FuzzRequests", swiftSettings: strict),
        .testTarget(
            name: "LarderModelTests", dependencies: ["LarderModel", "LarderQuery", "TestSupport"],
            exclude: ["Scripts"], swiftSettings: strict),
        .testTarget(
            name: "LarderQueryTests", dependencies: ["LarderModel", "LarderQuery", "TestSupport"],
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
            dependencies: [
                "LarderStore", "LarderSQL", "LarderModel", "LarderQuery", "CSQLite",
                "QueryFuzzing", "QueryScripts", "TestSupport",
            ],
            exclude: ["Scripts"], swiftSettings: strict),
        .testTarget(
            name: "LarderPostgresTests",
            dependencies: [
                "LarderPostgres", "LarderStore", "LarderSQL", "LarderModel", "LarderQuery",
                "QueryFuzzing", "QueryScripts", "TestSupport",
            ],
            exclude: ["postgres-server", "Refusals.text", "Statements.text"],
            swiftSettings: strict),
        .testTarget(
            name: "LarderServerTests",
            dependencies: [
                "LarderServer", "LarderWire", "LarderModel", "LarderQuery", "TestSupport",
                .product(name: "Logging", package: "swift-log", condition: server),
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: server),
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: server),
            ], swiftSettings: strict),
        .testTarget(
            name: "LarderClientTests",
            dependencies: [
                "LarderClient", "LarderWire", "LarderModel", "LarderQuery", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LarderRecordsTests",
            dependencies: [
                "LarderRecords", "LarderRecordExpansion", "LarderTesting",
                .product(
                    name: "SwiftSyntaxMacroExpansion", package: "swift-syntax", condition: records),
            ], swiftSettings: strict),
        .testTarget(
            name: "LarderTestingTests",
            dependencies: ["LarderTesting", "LarderModel", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "LarderObjectsTests",
            dependencies: [
                "LarderObjects", "LarderClient", "LarderModel", "LarderQuery", "LarderStore",
                "LarderTesting",
                "ObjectStoreProcess", "TestSupport",
            ], swiftSettings: strict),
        .executableTarget(
            name: "ObjectStoreProcess",
            dependencies: ["LarderObjects", "LarderModel", "LarderQuery"],
            path: "Tests/ObjectStoreProcess", swiftSettings: strict),
        .testTarget(
            name: "SwiftDataTests",
            dependencies: [
                "LarderModel", "LarderObjects", "ObjectStoreProcess", "SwiftData",
                "SwiftDataExpansion", "TestSupport",
                .product(
                    name: "SwiftSyntaxMacroExpansion", package: "swift-syntax", condition: objects),
            ], swiftSettings: strict),
        .testTarget(
            name: "CoreDataTests",
            dependencies: [
                "CoreData", "LarderModel", "LarderQuery", "LarderStore", "ObjectStoreProcess",
                "QueryFuzzing",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SwiftDataKitTests",
            dependencies: [
                "SwiftDataKit", "SwiftData", "CoreData", "ModelProcess", "TestSupport",
            ], swiftSettings: strict),
        .executableTarget(
            name: "ModelProcess", dependencies: ["SwiftData", "CoreData", "LarderModel"],
            path: "Tests/ModelProcess", swiftSettings: strict),
        .testTarget(name: "LarderDataTests", dependencies: ["LarderData"], swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "LarderClient", "LarderModel", "QueryFuzzing", "TestSupport",
            ],
            exclude: ["Scripts"], swiftSettings: strict),
        .testTarget(
            name: "InputTests", dependencies: ["InputFuzzing", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "RepositoryTests", exclude: ["Phrases.text"], swiftSettings: strict),
    ]
)
