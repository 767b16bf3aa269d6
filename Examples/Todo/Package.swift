// swift-tools-version: 6.2
import PackageDescription

let larder = Target.Dependency.product(name: "LarderData", package: "larder")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")

let package = Package(
    name: "Todo",
    dependencies: [
        .package(name: "larder", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.0.0",
            traits: []),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        .target(name: "TodoValues", dependencies: [larder]),
        .target(name: "TodoViews", dependencies: ["TodoValues"]),
        .target(name: "TodoStore", dependencies: ["TodoValues", larder]),
        .target(
            name: "TodoWeb",
            dependencies: [
                "TodoValues", "TodoViews", hummingbird,
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(
            name: "todo",
            dependencies: [
                "TodoValues", "TodoStore", "TodoWeb", hummingbird,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources/TodoApp"),
        .testTarget(name: "TodoViewsTests", dependencies: ["TodoViews", "TodoValues"]),
        .testTarget(name: "TodoStoreTests", dependencies: ["TodoStore", "TodoValues"]),
        .testTarget(name: "TodoWebTests", dependencies: ["TodoWeb", "TodoStore", "todo"]),
    ]
)
