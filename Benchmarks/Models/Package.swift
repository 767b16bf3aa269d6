// swift-tools-version: 6.2
import PackageDescription

/// A program with models of SwiftData. It is a package of its own because the macros take minutes
/// to build in release.
let package = Package(
    name: "Models",
    dependencies: [.package(name: "larder", path: "../..")],
    targets: [
        .executableTarget(
            name: "models", dependencies: [.product(name: "SwiftData", package: "larder")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
