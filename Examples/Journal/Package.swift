// swift-tools-version: 6.2
import PackageDescription

// The command plugin of Larder writes Sources/Journal/ManagedAccessors.swift:
//   swift package managed-accessors
let package = Package(
    name: "Journal",
    dependencies: [.package(name: "larder", path: "../..")],
    targets: [
        .target(
            name: "Journal", dependencies: [.product(name: "CoreData", package: "larder")],
            resources: [.copy("Resources/Journal.xcdatamodeld")]),
        .testTarget(name: "JournalTests", dependencies: ["Journal"]),
    ]
)
