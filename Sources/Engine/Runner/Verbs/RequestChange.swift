import Captures
import Core

/// A setting of a run that is another one than that with which results were made, and how many captures are made
/// again because of it.
public struct SettingChange: Hashable, Sendable, Encodable {
  /// The parameter as `--set` names it: `depth.range`.
  var parameter: String
  /// `nil`: it was not set, and the stage did as it does by default.
  var was: String?
  /// `nil`: it is not set now.
  public var now: String?
  public var captures: Int

  /// Frames of the results that are replaced.
  var frames = 0

  /// `depth.range was 0.3m..4.0m, is default: replaces 60 frames in 1 capture`.
  var words: String {
    "\(parameter) was \(was ?? "default"), is \(now ?? "default"): replaces "
      + (frames > 0 ? "\(Plural.text(frames, "frame")) in " : "")
      + Plural.text(captures, "capture")
  }
}

/// A stage that is made again because `clean` removed its artifact and a run by hand asks for it.
public struct CleanedStage: Hashable, Sendable, Encodable {
  var stage: String
  var captures = 0
  var bytes: Int64 = 0

  var words: String {
    "\(stage) was cleaned: made again for \(Plural.text(captures, "capture")), \(ByteCount.text(bytes))"
  }
}

/// What a run makes again only because its settings differ from those of the run before, and what it asks for that
/// was not asked for.
public struct RequestChange: Sendable {
  /// The settings in the order of their first appearance.
  public private(set) var settings: [SettingChange] = []
  /// Captures of which something is made again because of a setting.
  public private(set) var captures = 0

  public init() {}

  public private(set) var cleaned: [CleanedStage] = []
  /// Settings of earlier runs that hold, with the number of captures, in the order of first appearance.
  private(set) var held: [(setting: ParameterSetting, captures: Int)] = []

  public var isNone: Bool { settings.isEmpty && cleaned.isEmpty }

  /// A line for each stage and each setting, at most five of these; empty: nothing is made again.
  public var lines: [String] { cleaned.map(\.words) + Self.some(settings.map(\.words)) }

  /// A line for each setting of an earlier run that holds, at most five.
  public var heldLines: [String] {
    Self.some(
      held.map { setting, captures in
        "\(setting.text) holds from an earlier run in \(Plural.text(captures, "capture")); "
          + "\(setting.stage).\(setting.parameter)=default takes it back"
      })
  }

  private static func some(_ lines: [String]) -> [String] {
    lines.prefix(5) + (lines.count > 5 ? ["and \(lines.count - 5) more settings"] : [])
  }

  mutating func hold(_ settings: [ParameterSetting]) {
    for setting in settings {
      if let index = held.firstIndex(where: { $0.setting == setting }) {
        held[index].captures += 1
      } else {
        held.append((setting, 1))
      }
    }
  }

  /// Takes in the settings that a plan would make stages again for, and what was cleaned.
  mutating func take(_ plan: CapturePlan, of pipeline: PipelineDefinition) {
    var found: Set<String> = []
    for job in plan.jobs where job.action == .run {
      if job.isCleaned { takeCleaned(job) }
      guard job.reason == .parameters else { continue }
      for change in job.details.compactMap(ParameterChange.init) {
        let set = pipeline[job.stage].map { pipeline.settingName(of: $0, change.parameter) }
        let name = "\(set?.stage ?? job.stage).\(set?.parameter ?? change.parameter)"
        let (was, now) = Self.shown(change, of: pipeline[job.stage])
        guard was != now, found.insert(name).inserted else { continue }
        let index =
          settings.firstIndex { $0.parameter == name && $0.was == was && $0.now == now }
          ?? settings.endIndex
        if index == settings.endIndex {
          settings.append(SettingChange(parameter: name, was: was, now: now, captures: 0))
        }
        settings[index].captures += 1
        settings[index].frames += job.frames
      }
    }
    if !found.isEmpty { captures += 1 }
  }

  private mutating func takeCleaned(_ job: PlannedJob) {
    let index = cleaned.firstIndex { $0.stage == job.stage } ?? cleaned.endIndex
    if index == cleaned.endIndex { cleaned.append(CleanedStage(stage: job.stage)) }
    cleaned[index].captures += 1
    cleaned[index].bytes &+= job.bytes
  }

  /// A parameter with its values then and now, as `Decision` tells of it: `range: none -> 1m..2m`.
  private struct ParameterChange {
    var parameter: String
    var was: String
    var now: String

    init?(_ details: String) {
      guard let colon = details.firstRange(of: ": "),
        let arrow = details[colon.upperBound...].firstRange(of: " -> ")
      else { return nil }
      parameter = String(details[..<colon.lowerBound])
      was = String(details[colon.upperBound..<arrow.lowerBound])
      now = String(details[arrow.upperBound...])
    }
  }

  /// The values, `nil` where one is that of the stage by default. Secrets are not shown.
  private static func shown(
    _ change: ParameterChange, of stage: StageDefinition?
  ) -> (was: String?, now: String?) {
    guard let description = stage?.kind.parameters.first(where: { $0.name == change.parameter })
    else { return (change.was, change.now) }
    if description.isSecret { return ("another one", "given anew") }
    let usual = [(description.standard?.json ?? .null).plainText, "default"]
    return (
      usual.contains(change.was) ? nil : change.was, usual.contains(change.now) ? nil : change.now
    )
  }
}

extension BatchRun {
  /// The pipeline as it was given; `nil`: as no text.
  public var request: PipelineSource? { asking.source }

  /// What a run would make again only because its settings differ from those of the run before, what of it was cleaned,
  /// and which of those settings hold; and what it needs, as `RunNeeds` words it. Captures whose files are as they were
  /// at their last run are planned, and those of which something was cleaned. Of others, which would have to be opened,
  /// all stages count.
  public func outlook(_ targets: [CaptureTarget]) -> (change: RequestChange, needs: String?) {
    var change = RequestChange()
    var work: [(capture: Recognition, stages: [String])] = []
    let all = Array(options.selection.stages(of: pipeline))
    var next = targets.makeIterator()
    try? inBlocks(targets, { prospect($0, $1) }) { (plan, held) in
      guard let target = next.next(), target.refusal == nil else { return }
      change.hold(held)
      if let plan { change.take(plan, of: asking.pipeline) }
      let stages = plan?.jobs.filter { $0.action == .run }.map(\.stage) ?? all
      if !stages.isEmpty { work.append((target.recognition, stages)) }
    }
    if work.isEmpty { return (change, nil) }
    var needs = RunNeeds(pipeline, root: options.output, cores: options.cores)
    for item in work { needs.add(item.capture, item.stages) }
    return (change, needs.line)
  }

  /// The plan of a capture, if it can be told without opening it or something of it was cleaned, and the settings of
  /// earlier runs that hold.
  private func prospect(
    _ target: CaptureTarget, _ pool: ParameterPool
  ) -> (plan: CapturePlan?, held: [ParameterSetting]) {
    let known = KnownCapture.ifCurrent(
      target.recognition, target.layout, registry: registry, pool: pool,
      comparison: .recentStamps)
    guard target.refusal == nil,
      let noted = known?.requests(pool) ?? CaptureCache(of: target.layout)?.requests
    else { return (nil, []) }
    let joined = asking.joined(to: noted)
    let isPlanned = known != nil || joined.requests.cleaned != noted.cleaned
    return (isPlanned ? plan(target, pool) : nil, joined.requests == noted ? [] : joined.held)
  }
}
