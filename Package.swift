// swift-tools-version: 6.2
import PackageDescription

/// The program that is installed (`make install`, `make deb`) is built apart, and no test looks into it.
let isToBeInstalled = Context.environment["SCANMILL_INSTALLED"] != nil

/// `make demo` and `make build` leave out the server, so that its packages, twenty of them, are not fetched, and what
/// tests need to look inside of modules.
let isProgramAlone = Context.environment["SCANMILL_PROGRAM_ALONE"] != nil

/// Rules of the project: Swift 6 mode, every warning is an error, every module that a file uses is imported by that file.
let house: [SwiftSetting] =
  [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
  ]
  // One configuration for the program and its tests: `make test` builds nothing twice.
  + (isToBeInstalled || isProgramAlone
    ? [] : [.unsafeFlags(["-enable-testing"], .when(configuration: .release))])

/// Of what mostly waits and prints: in release builds compiled without optimization, which takes a fifth of the time.
/// Not in the program that is installed.
let unhurried: [SwiftSetting] =
  isToBeInstalled
  ? []
  : [.unsafeFlags(["-Onone", "-assert-config", "Release"], .when(configuration: .release))]

let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")

/// For scanmill-receive only, and what it needs: nothing of it is linked into scanmill.
let networkPackages: [Package.Dependency] = [
  .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
  .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
  .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
  .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
]

/// What `Receiving` is built on: the server's core, without its router and without TLS.
let network: [Target.Dependency] = [
  .product(name: "HummingbirdCore", package: "hummingbird"),
  .product(name: "HTTPTypes", package: "swift-http-types"),
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
  .product(name: "NIOHTTP1", package: "swift-nio"),
  .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
]

/// A module: a target that may import only the modules below it.
func module(
  _ name: String, _ dependencies: [Target.Dependency], more: [SwiftSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, exclude: ["README.md"], swiftSettings: house + more)
}

/// The tests of a module, next to it by name.
func tests(
  _ module: String, _ dependencies: [Target.Dependency], more: [SwiftSetting] = []
) -> Target {
  .testTarget(
    name: "\(module)Tests", dependencies: ["TestSupport"] + dependencies,
    swiftSettings: house + more)
}

/// A C library of the system, found through pkg-config, installed with apt.
func system(_ name: String, pkgConfig: String, apt: String...) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt(apt)])
}

let package = Package(
  name: "scanmill",
  products: [
    .executable(name: "scanmill", targets: ["scanmill"]),
    // Started by `scanmill receive`, installed beside it; a product of its own because of what its libraries cost to
    // build.
    .executable(name: "scanmill-receive", targets: ["scanmill-receive"]),
    // Started by `scanmill send`.
    .executable(name: "scanmill-send", targets: ["scanmill-send"]),
    // For the nested package Benchmarks only; nothing of it is stable.
    .`library`(
      name: "Modules",
      targets: ["Captures", "Codecs", "Geometry", "Parallel", "Pipeline", "Processing", "Storage"]),
    .`library`(name: "ServerModules", targets: ["Receiving"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ] + (isProgramAlone ? [] : networkPackages),
  targets: [
    .plugin(name: "CommitStamp", capability: .buildTool(), path: "Sources/CommitStamp"),

    system("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
    system("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    system("CPNG", pkgConfig: "libpng", apt: "libpng-dev"),
    system("CLZ4", pkgConfig: "liblz4", apt: "liblz4-dev"),
    system("CZstd", pkgConfig: "libzstd", apt: "libzstd-dev"),
    system("CDeflate", pkgConfig: "libdeflate", apt: "libdeflate-dev"),
    system("CJPEG", pkgConfig: "libturbojpeg", apt: "libturbojpeg0-dev"),
    system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
    system("CXML2", pkgConfig: "libxml-2.0", apt: "libxml2-dev"),
    // Not linked: loaded when the first of its functions is called. Needs libavcodec-dev, libavformat-dev,
    // libavutil-dev and libswscale-dev.
    .target(
      name: "CFFmpeg", exclude: ["README.md"],
      linkerSettings: [.linkedLibrary("dl"), .linkedLibrary("pthread")]),
    // Loaded in the same way, when it is first used. Needs libzimg-dev.
    .target(
      name: "CZimg", exclude: ["README.md"],
      linkerSettings: [.linkedLibrary("dl"), .linkedLibrary("pthread")]),
    // For scanmill-send only. Needs libcurl4-openssl-dev.
    .target(
      name: "CCurl", exclude: ["README.md"], linkerSettings: [.linkedLibrary("curl")]),
    .target(name: "CPlatform", dependencies: ["CPNG"], exclude: ["README.md"]),
    .target(name: "CRendering", exclude: ["README.md"]),

    module("Geometry", []),
    module("Parallel", []),
    module("Storage", ["CCrypto", "CPlatform", systemPackage]),
    module("PageMarkup", ["Storage"]),
    module("Processes", ["CPlatform", "Parallel", "Storage", systemPackage]),
    module(
      "Benchmarking", ["Captures", "Codecs", "Geometry", "Processes", "Storage", systemPackage],
      more: unhurried),
    module(
      "Codecs",
      [
        "CZlib", "CPNG", "CLZ4", "CZstd", "CDeflate", "CJPEG", "CFFmpeg", "CZimg", "CPlatform",
        "Geometry", "Storage", systemPackage,
      ]),
    module("Captures", ["Geometry", "Parallel", "Storage", "Codecs", yams, systemPackage]),
    module("Processing", ["Geometry", "Parallel"]),
    module(
      "Pipeline", ["Captures", "Geometry", "Parallel", "Storage", yams, systemPackage],
      more: unhurried),
    module(
      "Stages",
      [
        "Captures", "Codecs", "Geometry", "Parallel", "Pipeline", "Processes", "Processing",
        "Storage", systemPackage,
      ]),
    module(
      "Exports",
      [
        "CXML2", "Captures", "Codecs", "Geometry", "Parallel", "Pipeline", "Processing", "Stages",
        "Storage", systemPackage, yams,
      ]),
    module("Output", ["Captures", "Geometry", "Pipeline", "Storage", systemPackage]),
    module(
      "Runner",
      [
        "Captures", "Output", "Parallel", "Pipeline", "Processes", "Storage", systemPackage,
      ],
      more: unhurried),
    module(
      "Cluster",
      [
        "Captures", "Output", "Parallel", "Pipeline", "Processes", "Runner", "Storage", yams,
        systemPackage,
      ],
      more: unhurried),
    module(
      "Reports",
      ["Captures", "Geometry", "Output", "Pipeline", "Runner", "Storage", logging, systemPackage],
      more: unhurried),
    module(
      "Watch",
      [
        "CPlatform", "Captures", "Output", "Parallel", "Pipeline", "Processes", "Reports", "Runner",
        "Storage", logging, systemPackage,
      ],
      more: unhurried),
    module(
      "Catalog",
      [
        "CSQLite", "Captures", "Output", "Parallel", "Pipeline", "Reports", "Runner", "Storage",
        systemPackage,
      ],
      more: unhurried),
    module(
      "Pages",
      [
        "Captures", "Codecs", "Geometry", "Output", "PageMarkup", "Parallel", "Pipeline",
        "Processing", "Reports", "Storage", systemPackage,
      ],
      more: unhurried),
    module("ReceiveArguments", [argumentParser]),
    module("Receiving", ["Captures", "PageMarkup", "Storage", logging, systemPackage] + network),
    .executableTarget(
      name: "scanmill-receive",
      dependencies: [
        "Captures", "Output", "Pipeline", "Processes", "ReceiveArguments", "Receiving", "Storage",
        argumentParser, systemPackage,
      ],
      exclude: ["README.md"], swiftSettings: house),
    module("SendArguments", [argumentParser]),
    .executableTarget(
      name: "scanmill-send",
      dependencies: [
        "CCurl", "Captures", "Processes", "SendArguments", "Storage", argumentParser, systemPackage,
      ],
      exclude: ["README.md"], swiftSettings: house),
    module(
      "SyntheticCaptures",
      ["CRendering", "Codecs", "Geometry", "Parallel", "Storage", systemPackage]),
    .executableTarget(
      name: "scanmill",
      dependencies: [
        "Benchmarking", "Captures", "Catalog", "Cluster", "Codecs", "Exports", "Output", "Pages",
        "Parallel", "Pipeline", "Processes", "ReceiveArguments", "Reports", "Runner",
        "SendArguments", "Stages", "Storage", "SyntheticCaptures", "Watch", argumentParser, logging,
        systemPackage,
      ],
      exclude: ["README.md"],
      // Symbolic link to the pipelines/ folder: what comes with the program is part of it.
      resources: [
        .embedInCode("Pipelines/default.yaml"), .embedInCode("Pipelines/preview.yaml"),
        .embedInCode("Pipelines/depth-only.yaml"), .embedInCode("Pipelines/color-only.yaml"),
        .embedInCode("Pipelines/vi-slam.yaml"), .embedInCode("Pipelines/point-cloud.yaml"),
        .embedInCode("Pipelines/benchmark.yaml"), .embedInCode("Pipelines/exports.yaml"),
        .embedInCode("Pipelines/quality.yaml"),
        .embedInCode("Pipelines/time-offset.yaml"),
      ],
      swiftSettings: house + unhurried, plugins: ["CommitStamp"]),

    .target(
      name: "TestSupport", dependencies: ["Codecs", "Geometry", "Storage", systemPackage],
      path: "Tests/TestSupport", swiftSettings: house),
    .target(
      name: "StageSupport",
      dependencies: [
        "TestSupport", "Captures", "Codecs", "Geometry", "Parallel", "Pipeline", "Storage",
        systemPackage,
      ],
      path: "Tests/StageSupport", swiftSettings: house),
    // A family that no module knows, and the program that works on its captures.
    .target(
      name: "ToyFamily",
      dependencies: [
        "Captures", "Exports", "Geometry", "Pipeline", "Stages", "Storage", systemPackage,
      ],
      path: "Tests/ToyFamily", swiftSettings: house),
    .executableTarget(
      name: "toymill", dependencies: ["Captures", "Runner", "ToyFamily"], path: "Tests/ToyProgram",
      swiftSettings: house),
    // A file system that fails as a test says (FaultyDisk of EndToEndTests).
    .executableTarget(name: "faultydisk", path: "Tests/FaultyDisk"),
    tests("Geometry", ["Geometry"]),
    tests("Parallel", ["Parallel"]),
    tests("Storage", ["Storage", systemPackage]),
    tests("Processes", ["Processes", "Storage", systemPackage]),
    tests(
      "Benchmarking",
      ["Benchmarking", "Captures", "Parallel", "Processes", "Storage", systemPackage]),
    tests("Codecs", ["Codecs", "Geometry", "Parallel", "Storage", systemPackage]),
    tests(
      "Captures",
      [
        "Captures", "Codecs", "Geometry", "Parallel", "Processing", "Storage", "SyntheticCaptures",
        systemPackage,
      ],
      more: unhurried),
    tests(
      "Processing",
      ["Processing", "Geometry", "Codecs", "Parallel", "SyntheticCaptures", systemPackage]),
    tests(
      "Pipeline", ["Pipeline", "StageSupport", "Captures", "Storage", systemPackage],
      more: unhurried),
    tests(
      "Stages",
      [
        "Stages", "StageSupport", "Pipeline", "Captures", "Codecs", "Geometry", "Parallel",
        "Processing", "Storage",
        "SyntheticCaptures", systemPackage,
      ],
      more: unhurried),
    tests(
      "Exports",
      [
        "Exports", "Stages", "StageSupport", "Pipeline", "Captures", "Codecs", "Geometry",
        "Parallel",
        "Processing", "Storage", "SyntheticCaptures", systemPackage,
      ],
      more: unhurried),
    tests("Output", ["Output", "Pipeline", "Captures", "Storage", systemPackage], more: unhurried),
    tests(
      "Runner",
      ["Runner", "Output", "Pipeline", "Processes", "Captures", "Storage", systemPackage],
      more: unhurried),
    tests(
      "Cluster",
      [
        "Cluster", "Runner", "Output", "Pipeline", "Processes", "Captures", "Storage",
        systemPackage,
      ],
      more: unhurried),
    tests(
      "Reports",
      [
        "Reports", "StageSupport", "Runner", "Output", "Pipeline", "Captures", "Geometry",
        "Storage", "SyntheticCaptures", systemPackage,
      ],
      more: unhurried),
    tests(
      "Watch",
      [
        "Watch", "Output", "Reports", "Runner", "Pipeline", "Processes", "Captures", "Storage",
        logging,
        systemPackage,
      ],
      more: unhurried),
    tests(
      "Catalog",
      [
        "CSQLite", "Catalog", "Output", "Reports", "Runner", "Pipeline", "Captures", "Storage",
        systemPackage,
      ],
      more: unhurried),
    tests(
      "Pages",
      [
        "Pages", "PageMarkup", "Output", "Reports", "Runner", "Pipeline", "Captures", "Codecs",
        "Geometry",
        "Storage", "SyntheticCaptures", systemPackage,
      ],
      more: unhurried),
    tests(
      "Receiving",
      ["Receiving", "scanmill-receive", "scanmill-send", "Captures", "Storage", systemPackage],
      more: unhurried),
    tests(
      "SyntheticCaptures",
      ["Captures", "SyntheticCaptures", "Codecs", "Geometry", "Storage", systemPackage]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "TestSupport", "ToyFamily", "scanmill", "toymill", "CPlatform", "Captures", "Codecs",
        "Geometry", "Output", "Pages", "Parallel", "Pipeline", "Runner", "Stages", "Storage",
        "SyntheticCaptures", "Watch", logging, systemPackage,
      ],
      swiftSettings: house + unhurried),
  ],
  swiftLanguageModes: [.v6]
)

if isProgramAlone {
  package.products.removeAll { ["scanmill-receive", "ServerModules"].contains($0.name) }
  package.targets.removeAll {
    ["Receiving", "scanmill-receive", "ReceivingTests"].contains($0.name)
  }
}
