// swift-tools-version: 6.2
import PackageDescription

let coreData = Target.Dependency.product(name: "CoreData", package: "larder")
let swiftData = Target.Dependency.product(name: "SwiftData", package: "larder")
let swiftDataKit = Target.Dependency.product(name: "SwiftDataKit", package: "larder")

// The command plugin of Larder writes Sources/Desk/ManagedAccessors.swift:
//   swift package managed-accessors
let package = Package(
    name: "Magazine",
    dependencies: [.package(name: "larder", path: "../..")],
    targets: [
        .target(name: "Magazine", dependencies: [swiftData, swiftDataKit, coreData]),
        .target(name: "Desk", dependencies: [coreData]),
        .executableTarget(
            name: "magazine", dependencies: ["Magazine"], path: "Sources/MagazineTool"),
        .testTarget(name: "MagazineTests", dependencies: ["Magazine", "magazine"]),
        .testTarget(name: "DeskTests", dependencies: ["Desk"]),
    ]
)
