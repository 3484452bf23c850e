// swift-tools-version: 6.2
import PackageDescription

// Measures single loops of the program. A package of its own: nobody who builds or tests the program
// builds it.

let house: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// The rooms of the program.
let rooms: Target.Dependency = .product(name: "Rooms", package: "scanmill")

let package = Package(
  name: "scanmill-benchmarks",
  dependencies: [.package(name: "scanmill", path: "..")],
  targets: [
    .executableTarget(name: "KernelBenchmark", dependencies: [rooms], swiftSettings: house)
  ],
  swiftLanguageModes: [.v6]
)
