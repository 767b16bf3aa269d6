// swift-tools-version: 6.2
import PackageDescription

/// The program `larder-browse`, and what other pages of this repository share with it: escaped HTML
/// with a stylesheet, and a browser for tests. `docs/decisions/0057-pages.md` has the reasons.
let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let client = Target.Dependency.product(name: "LarderClient", package: "larder")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")

let package = Package(
    name: "Browser",
    products: [
        .executable(name: "larder-browse", targets: ["larder-browse"]),
        .library(name: "HTMLPages", targets: ["HTMLPages"]),
        .library(name: "Chromium", targets: ["Chromium"]),
    ],
    dependencies: [
        .package(name: "larder", path: "..", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.0.0",
            traits: []),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        .target(name: "HTMLPages", swiftSettings: strict),
        .target(name: "Chromium", swiftSettings: strict),
        .target(
            name: "BrowserViews", dependencies: ["HTMLPages", client], swiftSettings: strict),
        .target(
            name: "BrowserWeb",
            dependencies: [
                "BrowserViews", "HTMLPages", client, hummingbird,
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .executableTarget(
            name: "larder-browse",
            dependencies: [
                "BrowserWeb", client, hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources/LarderBrowse", swiftSettings: strict),
        .testTarget(
            name: "HTMLPagesTests", dependencies: ["HTMLPages"], swiftSettings: strict),
        .testTarget(
            name: "BrowserViewsTests", dependencies: ["BrowserViews", "HTMLPages", client],
            swiftSettings: strict),
        .testTarget(
            name: "BrowserWebTests",
            dependencies: [
                "BrowserWeb", "BrowserViews", "Chromium", "larder-browse", client, hummingbird,
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ], swiftSettings: strict),
    ]
)
