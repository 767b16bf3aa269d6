// swift-tools-version: 6.2
import PackageDescription

/// Our own side and the harness: needs nothing but Larder itself, so that every test run builds it.
/// The peers are programs of their own below `Peers`, which only `scripts/bench` builds.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "larder", path: "..")],
    targets: [
        .executableTarget(
            name: "Bench", dependencies: [.product(name: "LarderClient", package: "larder")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
