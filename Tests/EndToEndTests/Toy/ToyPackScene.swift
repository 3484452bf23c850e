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

/// Captures that are one file each, and an output, in a folder of their own.
struct ToyPackScene {
  static let registry = CaptureRegistry([ToyPackReader.self])
  static let width = 8
  static let height = 6

  let folder: TemporaryFolder
  let input: FilePath
  let output: FilePath

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending("in"))
    input = try PathSafety.resolve(folder.path.appending("in"))
    output = folder.path.appending("out")
  }

  /// The bytes of a pack; every pixel says which frame of which capture it is.
  static func pack(_ number: Int, frames: Int = 3) -> [UInt8] {
    Array("TOYPACK\n\(width) \(height) \(frames)\n".utf8)
      + (0..<frames).flatMap { frame in
        [UInt16](repeating: millimeters(number, frame), count: width * height)
      }.littleEndianBytes + Array("END\n".utf8)
  }

  static func millimeters(_ number: Int, _ frame: Int) -> UInt16 {
    UInt16(1000 * number + frame)
  }

  @discardableResult
  func write(_ bytes: [UInt8], _ name: String) throws -> FilePath {
    let path = input.pushing(FilePath(name))
    try FileSystem.makeFolder(path.removingLastComponent())
    try path.write(bytes)
    return path
  }

  func batch() throws -> BatchRun {
    var options = RunOptions(output: output, cores: 2)
    options.pipelineSource = ToyStages.source
    return BatchRun(
      registry: Self.registry, pipeline: try ToyStages.source.definition(ToyStages.registry),
      options: options)
  }

  private struct Silence: EventSink {
    func send(_ event: RunEvent) {}
  }

  /// Runs what lies at the paths, in this process.
  func run(_ paths: [FilePath]) throws -> RunReport {
    let batch = try batch()
    let findings = paths.map { batch.finder().find($0) }
    return batch.run(
      batch.targets(findings), declined: findings.flatMap(\.failures), run: RunID.new().text,
      events: Silence(), cancellation: Cancellation())
  }

  /// `watch --once` on the input, with workers of the toy program.
  @discardableResult
  func watch(patienceSeconds: Double = 0) throws -> Int {
    let program = Program.path.removingLastComponent().appending("toymill")
    var setup = WatchSetup(staging: input, output: output, version: "1", program: program)
    setup.isOnce = true
    setup.settings.settleSeconds = 0.1
    setup.settings.pollSeconds = 0.1
    setup.settings.patienceSeconds = patienceSeconds
    let host = RunContext.Host(name: "here", os: "", cpu: "", cores: 2, memoryBytes: 1 << 30)
    let watcher = try Watcher(
      setup, clock: .system, log: Logger(label: "toy") { _ in SwiftLogNoOpLogHandler() },
      interruption: Interruption()
    ) {
      WatchWork(
        Supervisor(
          try batch(), source: ToyStages.source, program: program, arguments: ["worker"]),
        context: RunContext(
          program: ProgramIdentity(version: "1", commit: nil, libraries: [:]), host: host, user: "",
          commandLine: [], pipeline: "toy", path: nil, text: "toy"),
        pipelineText: ToyStages.source.text)
    }
    return watcher.watch()
  }

  /// What lies in the output folder of a capture, or `nil` where there is none.
  func millimeters(_ id: String, frame: Int) throws -> UInt16 {
    let path = OutputLayout(root: output, name: id).artifact("depth")
      .appending(FrameFileName.name(frame))
    return try PNGReader.depth(at: path).millimeters[0]
  }

  var results: [String] {
    ((try? FileSystem.names(in: output)) ?? []).filter { !$0.hasPrefix(".") && $0 != "runs" }
      .sorted()
  }

  /// What the watcher noted: states by id.
  var waiting: [String: String] {
    let waiting = WatchRecord(ofOutput: output)?.waiting ?? []
    return Dictionary(waiting.map { ($0.id, "\($0.state)") }) { first, _ in first }
  }
}
