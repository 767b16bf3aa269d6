// swift-tools-version: 6.2
import PackageDescription

/// The harness and Larder's own side. It depends on Larder alone, so every test run can build it.
/// The peers are separate programs in `Peers`, which only `scripts/bench` builds.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "larder", path: "..")],
    targets: [
        .executableTarget(
            name: "Bench", dependencies: [.product(name: "LarderClient", package: "larder")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
