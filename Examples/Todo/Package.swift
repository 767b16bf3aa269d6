// swift-tools-version: 6.2
import PackageDescription

let larder = Target.Dependency.product(name: "LarderData", package: "larder")
/// Escaped HTML, a stylesheet, and a browser for tests, which the pages of this repository share.
let htmlPages = Target.Dependency.product(name: "HTMLPages", package: "Browser")
let chromium = Target.Dependency.product(name: "Chromium", package: "Browser")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")

let package = Package(
    name: "Todo",
    dependencies: [
        .package(name: "larder", path: "../.."),
        .package(path: "../../Browser"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.0.0",
            traits: []),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        .target(name: "TodoValues", dependencies: [larder]),
        .target(name: "TodoViews", dependencies: ["TodoValues", htmlPages]),
        .target(name: "TodoStore", dependencies: ["TodoValues", larder]),
        .target(
            name: "TodoWeb",
            dependencies: [
                "TodoValues", "TodoViews", htmlPages, hummingbird,
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(
            name: "todo",
            dependencies: [
                "TodoValues", "TodoStore", "TodoWeb", hummingbird,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources/TodoApp"),
        .testTarget(name: "TodoViewsTests", dependencies: ["TodoViews", "TodoValues", htmlPages]),
        .testTarget(name: "TodoStoreTests", dependencies: ["TodoStore", "TodoValues"]),
        .testTarget(
            name: "TodoWebTests", dependencies: ["TodoWeb", "TodoStore", "todo", chromium]),
    ]
)
