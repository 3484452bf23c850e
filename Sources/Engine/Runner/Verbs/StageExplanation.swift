import Captures
import Core
import SystemPackage

/// Why a stage of a capture would or would not run, with everything that was compared.
public struct StageExplanation: Sendable, Encodable {
  /// A value then and now; `nil`: there was none, there is none, or it is not known yet.
  public struct Comparison: Sendable, Encodable, Hashable {
    public var name: String
    public var recorded: String?
    public var planned: String?
    public var changed: Bool

    init(_ name: String, _ recorded: String?, _ planned: String?, changed: Bool? = nil) {
      self.name = name
      self.recorded = recorded
      self.planned = planned
      self.changed = changed ?? (recorded != planned)
    }
  }

  /// Something that the stage reads.
  public struct Input: Sendable, Encodable, Hashable {
    public enum Kind: String, Sendable, Encodable {
      case capture, artifact, external
    }

    public var kind: Kind
    /// Part of the capture, port, or parameter.
    public var name: String
    /// The file, or the stage whose artifact it is.
    public var source: String
    public var recorded: String?
    public var planned: String?
    public var changed: Bool
    /// An artifact that will be made anew first.
    public var isRebuilt = false
  }

  public struct Outputs: Sendable, Encodable, Hashable {
    public var count: Int
    public var bytes: Int64
    public var missing: [String] = []
    public var altered: [String] = []
    /// Removed after use.
    public var removed = false
  }

  public var schema = 1
  public var capture: String
  public var stage: String
  public var uses: String
  public var pipeline: String
  public var state: StageState
  public var action: PlannedJob.Action
  public var reason: Reason?
  public var details: [String]
  public var parameters: [Comparison]
  public var versions: [Comparison]
  public var inputs: [Input]
  public var fingerprint: Comparison
  /// `nil`: nothing is published.
  public var outputs: Outputs?
  /// Message and time of the last attempt, where it failed.
  public var failure: Failure?
  public var notes: [String]
  /// What all this is compared with.
  var comparedWith = ComparisonNotion.askedFor
  /// How the stage stands compared with what was asked for; `nil`: that is what it is compared with.
  public var askedFor: Asked?

  /// How the stage stands compared with what was asked for.
  public struct Asked: Sendable, Encodable, Hashable {
    /// Pipelines of all requests, with the settings in force; without secrets.
    public var pipeline: String
    public var state: StageState
    public var reason: Reason?
    public var details: String?
    /// Whether a run by this command line would do something else than what was asked for needs.
    public var differs: Bool
  }
}

/// How all stages of a capture stand, and why.
public struct CaptureExplanation: Sendable, Encodable {
  public var schema = 1
  public var capture: String
  public var pipeline: String
  public var comparedWith: ComparisonNotion
  public var stages: [StageStatus]
  public var notes: [String]

  /// - Parameter inner: whether steps inside of stages are among them.
  public init(_ examined: ExaminedCapture, _ comparedWith: ComparisonNotion, inner: Bool) {
    capture = examined.layout.name
    pipeline = comparedWith == .askedFor ? examined.askedWords : examined.pipelineWords
    self.comparedWith = comparedWith
    stages = examined.states.filter { inner || $0.isShown }
    notes = examined.notes
  }
}

/// What results are compared with.
public enum ComparisonNotion: String, Sendable, Encodable {
  /// What was asked for of a capture (`ExaminedCapture.asked`): how it stands.
  case askedFor = "asked-for"
  /// What a run by this command line would ask for: what it would do.
  case commandLine = "command-line"
}

extension StageExplanation {
  /// The explanation, told to be of what this command line asks for, beside what was asked for.
  public func ofCommandLine(
    _ examined: ExaminedCapture, besides asked: ExaminedCapture
  ) -> StageExplanation {
    var result = self
    result.comparedWith = .commandLine
    result.pipeline = examined.pipelineWords
    result.notes += asked.notes.filter { !notes.contains($0) }
    let status = asked.states.first { $0.stage == stage }
    let state = status?.state ?? .notRequested
    let isSame =
      switch action {
      case .upToDate: state == .done
      case .run: [.stale, .missing, .failed].contains(state) && status?.reason == reason
      case .blocked: state == .blocked || state == .obstructed
      case .notApplicable: state == .notApplicable
      }
    result.askedFor = Asked(
      pipeline: asked.askedWords, state: state,
      reason: status?.reason, details: status?.details, differs: !isSame)
    return result
  }
}

extension PipelineSource {
  /// `exports.yaml, --until export-tum, depth.range=1m..2m`: how the pipeline was asked for, without secrets.
  public var words: String {
    words(
      (settings + (settingsOfOthers ?? [])).filter { !$0.value.contains("sha256:") }.map(\.text))
  }

  /// The words with other settings than those of the request.
  func words(_ settings: [String]) -> String {
    let named = limits.map { $0.only + $0.until } ?? []
    let added = (addition?.stages ?? []).filter { !named.contains($0) }
    let limits =
      (limits?.limitWords ?? [])
      + (added.isEmpty ? [] : ["--export " + added.joined(separator: ",")])
    return ([name] + limits + settings).joined(separator: ", ")
  }
}

extension StageExplanation {
  /// Compares one stage. Input files are digested, also where the plan needs no digest.
  ///
  /// `nil` when the pipeline has no such stage.
  public init?(of name: String, in capture: ExaminedCapture) {
    guard let stage = capture.pipeline[name] else { return nil }
    let planner = capture.planner
    // A stage that was not asked for tells what a run would do that asks for it.
    var jobs = planner.plan(capture.facts)
    if !jobs.contains(where: { $0.stage == name }) {
      jobs = Planner(capture.pipeline).plan(capture.facts)
    }
    guard let job = jobs.first(where: { $0.stage == name }) else { return nil }
    var notes = capture.notes
    var facts = capture.facts[name] ?? StageFacts(applicability: .applies)
    if let collector = capture.collector {
      do {
        facts = try collector.facts(of: stage, forPlan: false)
      } catch {
        notes.append("an input cannot be read: \(error)")
      }
    }
    let record = facts.published?.record
    self.capture = capture.layout.name
    self.stage = name
    uses = stage.kind.name
    pipeline = capture.askedWords
    action = job.action
    reason = job.reason
    details = job.details
    let status = capture.states.first { $0.stage == name }
    state = status?.state ?? .missing
    if let text = status?.details, state == .blocked, details.isEmpty { details = [text] }

    let upstream = Self.upstream(stage, jobs, capture)
    let planned = planner.fingerprintInputs(
      of: stage, facts, artifacts: upstream.compactMapValues(\.self))
    parameters = Self.parameters(stage, record, planned)
    versions =
      [
        Comparison(
          "stage", record.map { "\($0.uses) \($0.version)" }, "\(planned.uses) \(planned.version)"),
        Comparison(
          "reader", record?.inputs.capture?.reader, planned.inputs.capture?.reader),
      ].filter { $0.recorded != nil || $0.planned != nil }
      + Self.libraries(record, planned)
    inputs = Self.inputs(stage, capture, record, planned, upstream)
    // Known only when every input is what it will be.
    let isKnown = upstream.values.allSatisfy { $0 != nil }
    let fingerprint = isKnown ? try? planned.fingerprint().hex : nil
    self.fingerprint = Comparison(
      "fingerprint", record?.fingerprint.hex, fingerprint,
      changed: record?.fingerprint.hex != fingerprint)
    outputs = facts.published.map(Self.outputs)
    failure = Failure(of: name, capture.layout).map { note in
      Failure(message: note.text, time: note.time)
    }
    self.notes = notes
  }

  /// The digest that the stage would read at each port; `nil` where it will only be known then. Ports
  /// without artifact are absent.
  private static func upstream(
    _ stage: StageDefinition, _ jobs: [PlannedJob], _ capture: ExaminedCapture
  ) -> [String: Digest?] {
    var digests: [String: Digest?] = [:]
    for input in stage.inputs {
      switch jobs.first(where: { $0.stage == input.stage })?.action {
      case .upToDate:
        digests[input.port] = .some(
          capture.facts[input.stage]?.published?.believedRecord.map {
            capture.pipeline.port(of: input, in: stage).digest(of: $0)
          })
      case .run: digests[input.port] = .some(nil)
      case .blocked, .notApplicable, nil: break
      }
    }
    return digests
  }

  private static func parameters(
    _ stage: StageDefinition, _ record: ArtifactRecord?, _ planned: FingerprintInputs
  ) -> [Comparison] {
    (record?.parameters ?? [:]).beside(planned.parameters).map { name, old, new in
      Comparison(
        name, old.map { stage.text(of: name, recorded: $0) },
        new.map { stage.text(of: name, recorded: $0) }, changed: record != nil && old != new)
    }
  }

  /// Only those that count.
  private static func libraries(
    _ record: ArtifactRecord?, _ planned: FingerprintInputs
  ) -> [Comparison] {
    (record?.libraries ?? [:]).beside(planned.libraries).map { name, old, new in
      Comparison(
        name, record == nil ? nil : old ?? "not recorded", new,
        changed: record != nil && old != new)
    }
  }

  private static func inputs(
    _ stage: StageDefinition, _ capture: ExaminedCapture, _ record: ArtifactRecord?,
    _ planned: FingerprintInputs, _ upstream: [String: Digest?]
  ) -> [Input] {
    func input(
      _ kind: Input.Kind, _ name: String, _ source: String, _ old: String?, _ new: String?
    ) -> Input {
      Input(
        kind: kind, name: name, source: source, recorded: old, planned: new,
        changed: record != nil && old != new)
    }
    var found: [Input] = []
    let parts = (record?.inputs.capture?.files ?? [:]).beside(planned.inputs.capture?.files ?? [:])
    let paths = capture.collector?.summary.files ?? capture.cache?.summary.files ?? [:]
    var named = Dictionary(firstOf: paths.map { ($0.key.rawValue, $0.value) })
    if stage.kind.readsFolder(stage.parameters) {
      named[CaptureInputs.folderKey] =
        capture.collector?.folderListing()?.entries.map(\.name) ?? []
    }
    for (part, old, new) in parts {
      let (before, now) = (old ?? [], new ?? [])
      for index in 0..<max(before.count, now.count) {
        let files = named[part] ?? []
        found.append(
          input(
            .capture, part, files.indices.contains(index) ? files[index] : "?",
            before.indices.contains(index) ? before[index].hex : nil,
            now.indices.contains(index) ? now[index].hex : nil))
      }
    }
    for binding in stage.inputs {
      var item = input(
        .artifact, binding.port, binding.stage, record?.inputs.artifacts[binding.port]?.hex,
        upstream[binding.port]??.hex)
      item.isRebuilt = upstream[binding.port] == .some(.none)
      found.append(item)
    }
    let files =
      capture.collector.map { stage.kind.externalFiles(stage.parameters, $0.summary) } ?? [:]
    for (name, old, new) in (record?.inputs.external ?? [:]).beside(planned.inputs.external) {
      found.append(input(.external, name, files[name]?.shown ?? "?", old?.hex, new?.hex))
    }
    return found
  }

  private static func outputs(_ published: PublishedArtifact) -> Outputs {
    var outputs = Outputs(
      count: published.record.outputs.count, bytes: published.record.bytes)
    switch published.state {
    case .intact: break
    case .missing(let names): outputs.missing = names
    case .altered(let names): outputs.altered = names
    case .unsound: outputs.altered = [ArtifactRecord.fileName]
    case .removed: outputs.removed = true
    }
    return outputs
  }
}
