import Captures
@testable import Engine
import Core

/// The planner with facts in memory.
struct PurePlanning {
  let captures: Int

  /// Seven stages: three read the capture, the others artifacts.
  private static let pipeline = """
    schema: 1
    stages:
      color: {uses: read}
      frames: {uses: read}
      imu: {uses: read}
      depth: {uses: make, needs: [frames]}
      aligned: {uses: make, needs: [frames]}
      tables: {uses: collect, optional: {depth: depth, color: color}}
      page: {uses: collect, optional: {aligned: aligned}}
    """

  func report(times: Int) {
    guard
      let pipeline = try? PipelineReader.read(
        Self.pipeline, file: "benchmark.yaml",
        registry: StageRegistry([ReadCapture.self, MakeFiles.self, CollectFiles.self])),
      let known = facts(pipeline, isKnownSound: true),
      let unknown = facts(pipeline, isKnownSound: false)
    else {
      print("the benchmark's own pipeline cannot be read")
      return
    }
    let planner = Planner(pipeline)
    for (facts, name) in [(known, "from the index"), (unknown, "fingerprints computed")] {
      measure(
        "planner, \(captures) captures × \(pipeline.stages.count) stages, \(name), one core",
        times: times
      ) {
        var upToDate = 0
        for facts in facts {
          upToDate += planner.plan(facts).count { $0.action == .upToDate }
        }
        return "\(upToDate) up to date"
      }
    }
  }

  /// Every capture with values of its own, as if each had been read from disk.
  private func facts(
    _ pipeline: PipelineDefinition, isKnownSound: Bool
  ) -> [[String: StageFacts]]? {
    let planner = Planner(pipeline)
    return try? (0..<captures).map { capture in
      var all: [String: StageFacts] = [:]
      for stage in pipeline.stages {
        var facts = StageFacts(applicability: .applies)
        if stage.inputs.isEmpty {
          facts.captureInputs = CaptureInputs(
            family: .scannet, readerVersion: 1,
            files: ["color": [Digest(of: "\(capture)")], "depth": [Digest(of: "\(capture) b")]])
        }
        var artifacts: [String: Digest] = [:]
        for input in stage.inputs {
          artifacts[input.port] = all[input.stage]?.published?.record.outputDigest
        }
        let record = try ArtifactRecord(
          stage: stage.name,
          ingredients: planner.fingerprintInputs(of: stage, facts, artifacts: artifacts),
          recorded: [:],
          outputs: [
            OutputEntry(path: "out", bytes: 1, sha256: Digest(of: "\(capture) \(stage.name)"))
          ],
          started: "", finished: "", seconds: 1, cpuSeconds: 1, peakMemoryBytes: 1, frames: 1,
          warnings: [])
        facts.published = PublishedArtifact(
          record: record, state: .intact, isKnownSound: isKnownSound)
        all[stage.name] = facts
      }
      return all
    }
  }
}

/// Stages that only have a face.
protocol FakeStage: Stage {}

extension FakeStage {
  static var version: Int { 1 }
  static var sentence: String { "Pretends." }
  static var ports: [Port] { [] }
  static var parameters: [ParameterDescription] {
    ["every", "first", "last", "quality", "compression", "window", "range", "mode"].map {
      ParameterDescription($0, .integer(0...100), default: .integer(1), "A number.")
    }
  }
  static var content: ArtifactContent { .files }
  static var reads: Set<CapturePart> { [] }
  static func applicability(_ parameters: ParameterValues, _ capture: CaptureSummary)
    -> Applicability
  { .applies }
  static func run(_ context: StageContext) throws -> StageResult { StageResult(frames: 0) }
}

enum ReadCapture: FakeStage {
  static let name = "read"
}

enum MakeFiles: FakeStage {
  static let name = "make"
  static let ports = [Port("files", .files, isRequired: true, "files")]
}

enum CollectFiles: FakeStage {
  static let name = "collect"
  static let ports = [
    Port("depth", .files, isRequired: false, "files"),
    Port("color", .files, isRequired: false, "files"),
    Port("aligned", .files, isRequired: false, "files"),
  ]
}
