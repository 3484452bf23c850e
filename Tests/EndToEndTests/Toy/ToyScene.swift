@testable import Captures
@testable import Media
import Foundation
@testable import Core
@testable import Engine
import Logging
import SystemPackage
import TestSupport
import ToyFamily
@testable import Watch

/// Captures of the toy family and an output, in a folder of their own.
struct ToyScene {
  static let frames = 6
  static let registry = CaptureRegistry([ToyReader.self])
  static let colorSize = (width: 16, height: 12)
  static let depthSize = (width: 8, height: 6)
  static let stepNanoseconds: Int64 = 100_000_000

  let folder: TemporaryFolder
  var input: FilePath { folder.path.appending("in") }
  var output: FilePath { folder.path.appending("out") }

  /// With one capture of six frames, `toy-1`. The step before the last frame is three times the others.
  init() throws {
    folder = try TemporaryFolder()
    let capture = input.appending("toy-1")
    try FileManager.default.createDirectory(
      atPath: capture.string, withIntermediateDirectories: true)
    func write(_ bytes: [UInt8], _ name: String) throws {
      try capture.appending(name).write(bytes)
    }
    let (color, depth) = (Self.colorSize, Self.depthSize)
    try write(
      Array(
        """
        {"colorWidth": \(color.width), "colorHeight": \(color.height), "depthWidth": \(depth.width),
         "depthHeight": \(depth.height), "focalLength": 14}
        """.utf8), "toy.json")
    var writer = PNGWriter()
    for frame in 0..<Self.frames {
      let picture = ColorImage(
        width: color.width, height: color.height,
        rgb: (0..<color.width * color.height * 3).map { UInt8(($0 * 7 + frame) % 256) })
      try write(try writer.encode(picture), "color-\(frame).png")
    }
    let millimeters = (0..<Self.frames).flatMap { frame in
      (0..<depth.width * depth.height).map { _ in Self.millimeters(frame) }
    }
    try write(millimeters.littleEndianBytes, "depth.u16")
    let rows = (0..<Self.frames).map { "\(Self.time($0)),\(Double($0) / 10),0,0,0" }
    try write(Array(rows.joined(separator: "\n").utf8), "frames.csv")
    let samples = (0..<80).flatMap { index in
      (0..<2).map { "\(1_000_000_000 + index * 10_000_000),0.1,0.2,\(index % 20),\($0)" }
    }
    try write(Array(samples.joined(separator: "\n").utf8), "motion.csv")
  }

  /// Every pixel of a frame, so that its place in the output says which frame it is.
  static func millimeters(_ frame: Int) -> UInt16 { UInt16(1000 + 100 * frame) }

  static func time(_ frame: Int) -> Int64 {
    1_000_000_000 + Int64(frame < frames - 1 ? frame : frames + 1) * stepNanoseconds
  }

  static func batch(
    into output: FilePath, _ registry: CaptureRegistry = ToyScene.registry
  ) throws -> BatchRun {
    var options = RunOptions(output: output, cores: 2)
    options.pipelineSource = ToyStages.source
    return BatchRun(
      registry: registry, pipeline: try ToyStages.source.definition(ToyStages.registry),
      options: options)
  }

  /// `watch --once`, with workers of the toy program.
  static func watch(
    _ staging: FilePath, into output: FilePath, _ registry: CaptureRegistry = ToyScene.registry,
    patienceSeconds: Double = 0
  ) throws -> Int {
    let program = Program.path.removingLastComponent().appending("toymill")
    var setup = WatchSetup(staging: staging, output: output, version: "1", program: program)
    setup.isOnce = true
    setup.settings.settleSeconds = 0.1
    setup.settings.pollSeconds = 0.1
    setup.settings.patienceSeconds = patienceSeconds
    let host = RunContext.Host(name: "here", os: "", cpu: "", cores: 2, memoryBytes: 1 << 30)
    let work = {
      WatchWork(
        Supervisor(
          try batch(into: output, registry), source: ToyStages.source, program: program,
          arguments: ["worker"]),
        context: RunContext(
          program: ProgramIdentity(version: "1", commit: nil, libraries: [:]), host: host, user: "",
          commandLine: [], pipeline: "toy", path: nil, text: "toy"),
        pipelineText: ToyStages.source.text)
    }
    let watcher = try Watcher(
      setup, clock: .system, log: Logger(label: "toy") { _ in SwiftLogNoOpLogHandler() },
      interruption: Interruption(), makeWork: work)
    return watcher.watch()
  }
}
