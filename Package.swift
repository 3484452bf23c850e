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
  // The interface of a module comes with its code: a job of its own would check every type twice, for a tenth of the time.
  + [.unsafeFlags(["-no-emit-module-separately-wmo"], .when(configuration: .release))]
  // One configuration for the program and its tests: `make test` builds nothing twice.
  + (isToBeInstalled || isProgramAlone
    ? [] : [.unsafeFlags(["-enable-testing"], .when(configuration: .release))])

/// Of what touches no pixel by itself (loops over pixels lie in Core, Media and Processing): in release builds compiled
/// without optimization, which takes a fifth of the time. Not in the program that is installed.
let unhurried: [SwiftSetting] =
  isToBeInstalled
  ? []
  : [.unsafeFlags(["-Onone", "-assert-config", "Release"], .when(configuration: .release))]

/// The linker of the toolchain takes half of the time of the system's.
let quickly: [LinkerSetting] = [
  .unsafeFlags(["-use-ld=lld"], .when(configuration: .release))
]

/// For programs that tests start thousands of times: with the runtime of Swift in them, as in those that are installed, they
/// start in two thirds of the time. No target of tests may depend on such a program, for it would be linked like it.
let withRuntime: [LinkerSetting] =
  isToBeInstalled
  ? []
  : quickly + [
    .unsafeFlags(
      ["-static-stdlib", "-Xlinker", "--start-group"]
        + [
          "Foundation", "FoundationInternationalization", "FoundationEssentials", "CoreFoundation",
          "_FoundationCShims", "_FoundationCollections", "_FoundationICU",
        ].map { "-l\($0)" } + ["-Xlinker", "--end-group", "-lstdc++"],
      .when(configuration: .release))
  ]

/// No library looks for functions in the program: without a table of its 20,000 to 45,000 names it starts in 85 to 92 % of
/// the time.
let withoutNames: [LinkerSetting] = [
  .unsafeFlags(["-Xlinker", "--no-export-dynamic"], .when(configuration: .release))
]

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

/// A module: a target that may import only the modules below it. Its program, if it has one, lies in its folder.
func module(
  _ name: String, _ dependencies: [Target.Dependency], hasProgram: Bool = false,
  more: [SwiftSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies,
    exclude: ["README.md"] + (hasProgram ? ["Program"] : []),
    swiftSettings: house + more)
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
    // Started by `scanmill synthesize`: for developers, so that whoever builds scanmill alone builds no renderer.
    .executable(name: "scanmill-synthesize", targets: ["scanmill-synthesize"]),
    // For the nested package Benchmarks only; nothing of it is stable.
    .`library`(
      name: "Modules",
      targets: ["Captures", "Core", "Engine", "Media", "Processing"]),
    .`library`(name: "ServerModules", targets: ["Receiving"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ] + (isProgramAlone ? [] : networkPackages),
  targets: [
    .plugin(name: "CommitStamp", capability: .buildTool(), path: "Sources/scanmill/CommitStamp"),

    system("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
    system("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    system("CPNG", pkgConfig: "libpng", apt: "libpng-dev"),
    system("CLZ4", pkgConfig: "liblz4", apt: "liblz4-dev"),
    system("CZstd", pkgConfig: "libzstd", apt: "libzstd-dev"),
    system("CDeflate", pkgConfig: "libdeflate", apt: "libdeflate-dev"),
    system("CJPEG", pkgConfig: "libturbojpeg", apt: "libturbojpeg0-dev"),
    // Not linked: loaded when the first of its functions is called. Needs libavcodec-dev, libavformat-dev,
    // libavutil-dev and libswscale-dev.
    .target(
      name: "CFFmpeg", exclude: ["README.md"],
      linkerSettings: [.linkedLibrary("dl"), .linkedLibrary("pthread")]),
    // Loaded in the same way, when it is first used. Needs libzimg-dev.
    .target(
      name: "CZimg", exclude: ["README.md"],
      linkerSettings: [.linkedLibrary("dl"), .linkedLibrary("pthread")]),
    // Loaded in the same way. Needs libhdf5-dev.
    .target(
      name: "CHDF5", exclude: ["README.md"],
      linkerSettings: [.linkedLibrary("dl"), .linkedLibrary("pthread")]),
    // For scanmill-send only. Needs libcurl4-openssl-dev.
    .target(
      name: "CCurl", exclude: ["README.md"], linkerSettings: [.linkedLibrary("curl")]),
    .target(name: "CPlatform", dependencies: ["CPNG"], exclude: ["README.md"]),
    .target(name: "CRendering", exclude: ["README.md"]),

    // Files, processes, threads, geometry and markup: what every module stands on.
    module("Core", ["CCrypto", "CPlatform", systemPackage]),
    module(
      "Media",
      [
        "CZlib", "CPNG", "CLZ4", "CZstd", "CDeflate", "CJPEG", "CFFmpeg", "CZimg", "CHDF5",
        "CPlatform", "Core", systemPackage,
      ]),
    module("Captures", ["Core", "Media", yams, systemPackage], more: unhurried),
    module("Processing", ["CPlatform", "Core"]),
    module("Engine", ["Captures", "Core", yams, systemPackage], more: unhurried),
    module(
      "Stages",
      ["Captures", "Core", "Engine", "Media", "Processing", systemPackage, yams],
      more: unhurried),
    module("Cluster", ["Captures", "Core", "Engine", yams, systemPackage], more: unhurried),
    module(
      "Pages", ["Captures", "Core", "Engine", "Media", "Processing", logging, systemPackage],
      more: unhurried),
    module(
      "Watch", ["CPlatform", "Captures", "Core", "Engine", "Pages", logging, systemPackage],
      more: unhurried),
    module(
      "Receiving", ["Captures", "Core", logging, systemPackage] + network, hasProgram: true,
      more: unhurried),
    module("Benchmarking", ["Captures", "Core", "Media", systemPackage], more: unhurried),
    module("Synthetic", ["CRendering", "Core", "Media", systemPackage], hasProgram: true),
    .executableTarget(
      name: "scanmill-receive",
      dependencies: ["Captures", "Core", "Engine", "Receiving", argumentParser, systemPackage],
      path: "Sources/Receiving/Program", exclude: ["README.md"], swiftSettings: house + unhurried),
    .executableTarget(
      name: "scanmill-send",
      dependencies: ["CCurl", "Captures", "Core", argumentParser, systemPackage],
      exclude: ["README.md"], swiftSettings: house + unhurried),
    .executableTarget(
      name: "scanmill-synthesize",
      dependencies: [
        "Captures", "Core", "Engine", "Media", "Pages", "Synthetic", argumentParser, systemPackage,
      ],
      path: "Sources/Synthetic/Program", exclude: ["README.md"], swiftSettings: house + unhurried,
      linkerSettings: withRuntime),
    .executableTarget(
      name: "scanmill",
      dependencies: [
        "Benchmarking", "Captures", "Cluster", "Core", "Engine", "Media", "Pages", "Stages",
        "Watch", argumentParser, logging, systemPackage,
      ],
      exclude: ["README.md", "CommitStamp"],
      // Symbolic link to the pipelines/ folder: what comes with the program is part of it.
      resources: [
        .embedInCode("Pipelines/default.yaml"), .embedInCode("Pipelines/preview.yaml"),
        .embedInCode("Pipelines/point-cloud.yaml"),
        .embedInCode("Pipelines/benchmark.yaml"), .embedInCode("Pipelines/exports.yaml"),
        .embedInCode("Pipelines/quality.yaml"), .embedInCode("Pipelines/mesh.yaml"),
        .embedInCode("Pipelines/preview-video.yaml"), .embedInCode("Pipelines/faces.yaml"),
        .embedInCode("Pipelines/time-offset.yaml"),
      ],
      swiftSettings: house + unhurried, linkerSettings: withRuntime + withoutNames,
      plugins: ["CommitStamp"]),

    .target(
      name: "TestSupport", dependencies: ["Core", "Media", systemPackage],
      path: "Tests/TestSupport", swiftSettings: house, linkerSettings: quickly),
    .target(
      name: "StageSupport",
      dependencies: ["TestSupport", "Captures", "Core", "Engine", "Media", systemPackage],
      path: "Tests/StageSupport", swiftSettings: house + unhurried),
    // A family that no module knows, and the program that works on its captures.
    .target(
      name: "ToyFamily", dependencies: ["Captures", "Core", "Engine", "Stages", systemPackage],
      path: "Tests/ToyFamily", swiftSettings: house + unhurried),
    .executableTarget(
      name: "toymill", dependencies: ["Captures", "Engine", "ToyFamily"], path: "Tests/ToyProgram",
      swiftSettings: house + unhurried, linkerSettings: withRuntime),
    // A file system that fails as a test says (FaultyDisk of EndToEndTests).
    .executableTarget(name: "faultydisk", path: "Tests/FaultyDisk"),
    tests("Core", ["Core", systemPackage], more: unhurried),
    tests("Media", ["Core", "Media", systemPackage], more: unhurried),
    tests(
      "Captures", ["Captures", "Core", "Media", "Processing", "Synthetic", systemPackage],
      more: unhurried),
    tests(
      "Processing", ["CPlatform", "Core", "Media", "Processing", "Synthetic", systemPackage],
      more: unhurried),
    tests(
      "Engine", ["Captures", "Core", "Engine", "StageSupport", systemPackage],
      more: unhurried),
    tests(
      "Stages",
      [
        "Captures", "Core", "Engine", "Media", "Processing", "StageSupport", "Stages", "Synthetic",
        systemPackage,
      ],
      more: unhurried),
    tests("Cluster", ["Captures", "Cluster", "Core", "Engine", systemPackage], more: unhurried),
    tests(
      "Pages",
      [
        "Captures", "Core", "Engine", "Media", "Pages", "Processing", "StageSupport", "Synthetic",
        systemPackage,
      ],
      more: unhurried),
    tests(
      "Watch", ["Captures", "Core", "Engine", "Pages", "Watch", logging, systemPackage],
      more: unhurried),
    tests(
      "Receiving",
      ["Captures", "Core", "Receiving", "scanmill-receive", "scanmill-send", systemPackage],
      more: unhurried),
    tests("Benchmarking", ["Benchmarking", "Core", "Media", systemPackage], more: unhurried),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "TestSupport", "ToyFamily", "CPlatform", "Captures", "Core",
        "Engine", "Media", "Pages", "Processing", "Stages", "Synthetic", "Watch", logging,
        systemPackage,
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
