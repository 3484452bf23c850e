// swift-tools-version: 6.2
import PackageDescription

// Measures single loops of the program. A package of its own: nobody who builds or tests the program
// builds it.

let house: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// A program that uses modules of the project.
func benchmark(
  _ name: String, exclude: [String] = [], modules: [String] = ["Modules"]
) -> Target {
  .executableTarget(
    name: name,
    dependencies: modules.map { .product(name: $0, package: "scanmill") } + [
      .product(name: "SystemPackage", package: "swift-system")
    ],
    exclude: exclude, swiftSettings: house)
}

let package = Package(
  name: "scanmill-benchmarks",
  dependencies: [
    .package(name: "scanmill", path: ".."),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
  ],
  targets: [
    benchmark("KernelBenchmark"),
    benchmark("AlignmentBenchmark", exclude: ["README.md"]),
    benchmark("PlanningBenchmark"),
    benchmark("CodecBenchmark"),
    benchmark("CodecFuzz"),
    benchmark("RecognitionBenchmark"),
    benchmark("ReceiveFuzz", modules: ["Modules", "ServerModules"]),
  ],
  swiftLanguageModes: [.v6]
)
