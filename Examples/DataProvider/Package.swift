// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "DataProvider",
    products: [.library(name: "DataProvider", targets: ["DataProvider"])],
    dependencies: [.package(name: "larder", path: "../..")],
    targets: [
        .target(
            name: "DataProvider", dependencies: [.product(name: "SwiftData", package: "larder")]),
        .executableTarget(name: "items", dependencies: ["DataProvider"], path: "Sources/ItemTool"),
        .testTarget(name: "DataProviderTests", dependencies: ["DataProvider", "items"]),
    ]
)
