@testable import Captures
@testable import Engine
@testable import Core

/// A capture and what is published of it, made of values: what the planner is told.
struct Situation {
  var pipeline: PipelineDefinition
  var facts: [String: StageFacts] = [:]

  /// Everything of the usual pipeline is built and up to date.
  init(_ text: String = usualPipeline) throws {
    pipeline = try EngineTests.pipeline(text)
    for stage in pipeline.stages {
      facts[stage.name] = StageFacts(
        applicability: .applies, captureInputs: stage.inputs.isEmpty ? Self.inputs(stage.name) : nil
      )
      try publish(stage.name)
    }
  }

  static func inputs(_ part: String) -> CaptureInputs {
    CaptureInputs(
      family: .scannet, readerVersion: 1, files: [part: [Digest(of: "\(part) of the capture")]])
  }

  /// Builds `stage` from what is there now; `content` makes its output digest, `beside` are more files.
  mutating func publish(
    _ name: String, content: String? = nil, beside: [OutputEntry] = []
  ) throws {
    guard let stage = pipeline[name], let own = facts[name] else { return }
    var artifacts: [String: Digest] = [:]
    for input in stage.inputs {
      artifacts[input.port] = facts[input.stage]?.published.map {
        pipeline.port(of: input, in: stage).digest(of: $0.record)
      }
    }
    let record = try ArtifactRecord(
      stage: name,
      ingredients: Planner(pipeline).fingerprintInputs(of: stage, own, artifacts: artifacts),
      recorded: ["workedOut": .integer(1)],
      outputs: [OutputEntry(path: "out", bytes: 1, sha256: Digest(of: content ?? name))] + beside,
      started: "", finished: "", seconds: 1, cpuSeconds: 1, peakMemoryBytes: 1, frames: 1,
      warnings: [])
    facts[name]?.published = PublishedArtifact(record: record, state: .intact)
  }

  /// Nothing is built.
  mutating func clear() {
    for name in facts.keys { facts[name]?.published = nil }
  }

  mutating func set(_ setting: String) throws {
    guard let setting = ParameterSetting(setting) else { return }
    pipeline = try pipeline.setting(setting)
  }

  mutating func state(_ name: String, _ state: PublishedArtifact.State) {
    facts[name]?.published?.state = state
  }

  mutating func change(_ name: String) {
    facts[name]?.captureInputs?.files[name] = [Digest(of: "other \(name)")]
  }

  mutating func doesNotApply(_ names: String...) {
    for name in names {
      facts[name]?.applicability = .notApplicable("no \(name) here")
      facts[name]?.published = nil
    }
  }

  /// `STAGE ACTION REASON`, in pipeline order; what is up to date is left out.
  func plan(_ selection: Selection = Selection()) -> [String] {
    jobs(selection).filter { $0.action != .upToDate }.map {
      "\($0.stage) \($0.action.rawValue)" + ($0.reason.map { " \($0.rawValue)" } ?? "")
    }
  }

  func jobs(_ selection: Selection = Selection()) -> [PlannedJob] {
    Planner(pipeline, selection: selection).plan(facts)
  }
}

extension Selection {
  static func only(_ stage: String) -> Selection {
    var selection = Selection()
    selection.only = [stage]
    return selection
  }

  static func until(_ stage: String) -> Selection {
    var selection = Selection()
    selection.until = [stage]
    return selection
  }

  static func forced(_ stages: String...) -> Selection {
    var selection = Selection()
    selection.forced = Set(stages)
    return selection
  }

  static var all: Selection {
    var selection = Selection()
    selection.forceAll = true
    return selection
  }

  func only(_ stage: String) -> Selection {
    var selection = self
    selection.only = [stage]
    return selection
  }
}
