// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Reports",
    dependencies: [
        .package(name: "larder", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
    ],
    targets: [
        .target(
            name: "Library", dependencies: [.product(name: "LarderData", package: "larder")]),
        .executableTarget(
            name: "reports",
            dependencies: [
                "Library",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources/ReportsTool"),
        .testTarget(name: "ReportsTests", dependencies: ["Library", "reports"]),
    ]
)
