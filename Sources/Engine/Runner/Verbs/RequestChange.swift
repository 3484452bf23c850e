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
  /// The stage whose results these are, where that is one other than that of the parameter.
  var follower: String?
  /// Stages whose results are replaced because they were made from these, in the order of the pipeline; `nil`: none.
  var follows: [String]?
  /// `50ms → 20ms`.
  var values: String

  private enum CodingKeys: CodingKey { case parameter, was, now, captures, frames, follows }

  /// `depth.range 300mm..4m → default: replaces 60 frames in 1 capture; aligned and tables follow`.
  var words: String {
    "\(parameter) \(values): replaces "
      + (frames > 0
        ? Plural.text(frames, "frame") + (follower.map { " of \($0)" } ?? "") + " in " : "")
      + Plural.text(captures, "capture") + (follows.map(Self.following) ?? "")
  }

  private static func following(_ stages: [String]) -> String {
    let shown =
      stages.count > 6 ? stages.prefix(5) + ["\(stages.count - 5) more stages"] : stages[...]
    return "; \(StageWords.list(Array(shown))) \(stages.count == 1 ? "follows" : "follow")"
  }

  /// Takes in the stages of a plan that are made again because `stage` is.
  fileprivate mutating func addFollowers(
    of stage: StageDefinition, in plan: CapturePlan, _ pipeline: PipelineDefinition
  ) {
    let own = stage.partOf ?? stage.name
    for job in plan.jobs where job.action == .run && job.replacesResult {
      let name = pipeline[job.stage]?.partOf ?? job.stage
      let takesPart =
        pipeline.ancestors(of: job.stage).contains(stage.name)
        || job.details.contains { $0.hasPrefix("\(parameter): ") }
      guard takesPart, name != own, follows?.contains(name) != true else { continue }
      follows = (follows ?? []) + [name]
    }
  }
}

extension PlannedJob {
  /// Whether it makes a result again because of settings, its own or those of stages before it.
  fileprivate var replacesResult: Bool { reason == .parameters || reason == .inputRebuilt }
}

extension CapturePlan {
  /// Bytes of the results that are made again because `clean` removed them, by stage.
  fileprivate var cleanedBytes: [String: Int64] {
    Dictionary(jobs.filter { $0.isCleaned && $0.bytes > 0 }.map { ($0.stage, $0.bytes) }) { $1 }
  }

  /// Bytes of the results that others take the place of.
  fileprivate var replacedBytes: Int64 {
    jobs.filter { $0.action == .run && !$0.isCleaned }.reduce(0) { $0 &+ $1.bytes }
  }
}

/// A stage that is made again because `clean` removed its artifact and a run by hand asks for it.
public struct CleanedStage: Hashable, Sendable, Encodable {
  var stage: String
  /// When `clean` last removed one (UTC, ISO 8601).
  var cleaned: String
  var captures = 0
  var bytes: Int64 = 0

  /// `color was cleaned on 24 Nov 04:10: made again for 42 captures, 0.7 GB`.
  var words: String {
    "\(stage) was cleaned on \(NightClock.words(cleaned, now: 0)): made again for \(Plural.text(captures, "capture")), \(ByteCount.text(bytes))"
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
  private(set) var held: [(item: ParameterSetting, captures: Int)] = []
  /// Whether a capture is asked for something that it was not asked for: a command that is repeated tells of no setting
  /// that holds.
  private var hasNews = false
  /// What earlier runs asked for and this program does not know, with the number of captures.
  private var lost: [(item: LostRequest, captures: Int)] = []

  /// A line for each stage and each setting, at most five of these; empty: nothing is made again.
  public var lines: [String] { cleaned.map(\.words) + Self.some(settings.map(\.words)) }

  /// A line for each setting of an earlier run that holds, and for each that this program does not know; at most five of
  /// each.
  public var heldLines: [String] {
    Self.some(lost.map { $0.words(captures: $1) })
      + Self.some(
        (hasNews ? held : []).map { setting, captures in
          "\(setting.text) holds from an earlier run in \(Plural.text(captures, "capture")); "
            + "\(setting.stage).\(setting.parameter)=default takes it back"
        })
  }

  private static func some(_ lines: [String]) -> [String] {
    lines.prefix(5)
      + (lines.count > 5
        ? ["and \(lines.count - 5) more \(Plural.word(lines.count - 5, "setting"))"] : [])
  }

  /// - Parameter isNew: whether the capture is asked for something that it was not asked for.
  mutating func takeHeld(_ settings: [ParameterSetting], isNew: Bool) {
    hasNews = hasNews || isNew
    Self.count(settings, in: &held)
  }

  mutating func lose(_ requests: [LostRequest]) { Self.count(requests, in: &lost) }

  /// Counts what a capture has; what no capture before it had goes to the end.
  private static func count<Item: Equatable>(
    _ items: [Item], in counts: inout [(item: Item, captures: Int)]
  ) {
    for item in items {
      if let index = counts.firstIndex(where: { $0.item == item }) {
        counts[index].captures += 1
      } else {
        counts.append((item, 1))
      }
    }
  }

  /// Takes in the settings that a plan would make stages again for, and what was cleaned.
  ///
  /// - Parameter cleaned: when `clean` removed artifacts of the capture.
  mutating func take(
    _ plan: CapturePlan, of pipeline: PipelineDefinition, cleaned: [String: String]
  ) {
    var found: Set<String> = []
    for job in plan.jobs where job.action == .run {
      if job.isCleaned { takeCleaned(job, cleaned[job.stage] ?? "") }
      guard job.reason == .parameters else { continue }
      for var change in job.details.compactMap(ParameterChange.init) {
        // A parameter of another stage has that stage's name in front.
        let names = change.parameter.split(separator: ".").map(String.init)
        let stage = pipeline[names.count > 1 ? names[0] : job.stage]
        let owner = stage?.partOf ?? job.stage
        let parameter = stage?.kind.parameters.first { $0.name == names.last }
        // What the stage does not have any more can be set to nothing else: all of it is one change.
        let isGone = stage != nil && parameter == nil && change.now == "default"
        let name =
          isGone ? owner : names.count > 1 ? change.parameter : "\(owner).\(change.parameter)"
        if parameter?.isSecret == true { (change.was, change.now) = ("another one", "given anew") }
        let usual = ["default"] + (parameter?.standard.map { [$0.text] } ?? [])
        let was = isGone || usual.contains(change.was) ? nil : change.was
        let now = usual.contains(change.now) ? nil : change.now
        guard isGone || was != now, found.insert(name).inserted else { continue }
        let index =
          settings.firstIndex { $0.parameter == name && $0.was == was && $0.now == now }
          ?? settings.endIndex
        let maker = pipeline[job.stage]?.partOf ?? job.stage
        let follower = names.count > 1 && names[0] != maker ? maker : nil
        if index == settings.endIndex {
          settings.append(
            SettingChange(
              parameter: name, was: was, now: now, captures: 0, follower: follower,
              values: isGone
                ? "takes other parameters than before" : "\(change.was) → \(change.now)"))
        }
        if settings[index].follower != follower { settings[index].follower = nil }
        settings[index].captures += 1
        settings[index].frames += job.frames
        if let stage = pipeline[job.stage] {
          settings[index].addFollowers(of: stage, in: plan, pipeline)
        }
      }
    }
    if !found.isEmpty { captures += 1 }
  }

  private mutating func takeCleaned(_ job: PlannedJob, _ moment: String) {
    let index = cleaned.firstIndex { $0.stage == job.stage } ?? cleaned.endIndex
    if index == cleaned.endIndex { cleaned.append(CleanedStage(stage: job.stage, cleaned: moment)) }
    cleaned[index].cleaned = max(cleaned[index].cleaned, moment)
    cleaned[index].captures += 1
    cleaned[index].bytes &+= job.bytes
  }

  /// A parameter with its values then and now, as `Decision` tells of it: `range: default -> 1m..2m`.
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
}

extension BatchRun {
  /// The pipeline as it was given; `nil`: as no text.
  public var request: PipelineSource? { asking.source }

  /// What a run would make again only because its settings differ from those of the run before, what of it was cleaned,
  /// and which of those settings hold; and what it needs, as `RunNeeds` words it. Captures whose files are as they were
  /// at their last run are planned, and those of which something was cleaned. Of one that has moved what is there counts
  /// as it is; of others all stages count, and `RunNeeds` opens some of them.
  ///
  /// - Parameter isElsewhere: whether machines of a cluster do the work.
  public func outlook(
    _ targets: [CaptureTarget], isElsewhere: Bool = false
  ) -> (change: RequestChange, needs: String?) {
    var change = RequestChange()
    var needs: RunNeeds?
    var next = targets.makeIterator()
    try? inBlocks(targets, { prospect($0, $1) }) { prospect in
      guard let target = next.next(), target.refusal == nil else { return }
      change.takeHeld(prospect.held, isNew: prospect.isNew)
      change.lose(prospect.lost)
      if let plan = prospect.plan {
        change.take(plan, of: prospect.pipeline, cleaned: prospect.cleaned)
      }
      if prospect.toMake.isEmpty { return }
      if needs == nil {
        needs = RunNeeds(
          prospect.pipeline, root: options.output, cores: options.cores, look: look,
          isElsewhere: isElsewhere)
      }
      let own = prospect.subsets.flatMap { planner in
        needs?.summary(like: target.recognition).map {
          planner.adapted(to: $0, known: ArtifactStore(target.layout).known)
        }
      }
      needs?.add(
        target.recognition,
        own.map { own in own.pipeline.stages.filter { own.selected.contains($0.name) } }
          ?? prospect.toMake,
        cleaned: prospect.plan?.cleanedBytes ?? [:], replaced: prospect.replacedBytes)
    }
    return (change, needs?.line)
  }

  /// What a run will do about a capture, as far as it can be told without opening it.
  private struct Prospect: Sendable {
    /// With all that it was asked for.
    var pipeline: PipelineDefinition
    var plan: CapturePlan?
    var toMake: [StageDefinition] = []
    /// The planner where nothing is known of the capture: exports of some frames are to be made, whose steps depend on
    /// what the capture has.
    var subsets: Planner?
    /// Settings of earlier runs of stages that apply.
    var held: [ParameterSetting] = []
    /// Whether it is asked for something that it was not asked for.
    var isNew = false
    /// What earlier runs asked for and this program does not know.
    var lost: [LostRequest] = []
    /// When `clean` removed artifacts, by stage.
    var cleaned: [String: String] = [:]
    /// Bytes of results that others take the place of; `nil`: not known.
    var replacedBytes: Int64? = 0
  }

  private func prospect(_ target: CaptureTarget, _ pool: ParameterPool) -> Prospect {
    guard target.refusal == nil else { return Prospect(pipeline: pipeline) }
    let known = known(target, pool, .recentStamps)
    let cache = known == nil ? CaptureCache(of: target.layout) : nil
    let noted = known?.requests(pool) ?? cache?.requests ?? Requests()
    let joined = asking.joined(to: noted)
    var result = Prospect(pipeline: joined.planner.pipeline)
    result.isNew = joined.requests != noted
    let summary = known?.collector.summary ?? cache?.summary
    result.held = joined.held.filter { setting in
      guard let stage = result.pipeline[setting.stage], let summary else { return true }
      return stage.applicability(summary) == .applies
    }
    result.lost = joined.lost
    result.cleaned = noted.cleaned
    result.replacedBytes = cache == nil ? 0 : nil
    var toMake = joined.planner.selected
    if known != nil || !joined.recalled.isEmpty {
      let plan = plan(target, pool, known)
      result.plan = plan
      result.replacedBytes = plan.replacedBytes
      toMake = Set(plan.jobs.filter { $0.action == .run }.map(\.stage))
    } else if let cache, !cache.isAbout(target.recognition),
      InputListing(target.recognition, nowNanoseconds: .max).map(cache.inputs.looksMoved) == true
    {
      result.replacedBytes = 0
      let store = ArtifactStore(target.layout)
      // An intermediate does not stay, and what reads it says whether it is needed.
      toMake = toMake.filter { name in
        guard let stage = result.pipeline[name], stage.keep else { return false }
        return stage.applicability(cache.summary) == .applies
          && store.record(name) == nil && store.empty(name) == nil
      }
    } else if result.pipeline.stages.contains(where: {
      toMake.contains($0.name) && $0.kind.isSubset($0.parameters)
    }) {
      result.subsets = joined.planner
    }
    result.toMake = result.pipeline.stages.filter { toMake.contains($0.name) }
    return result
  }
}
