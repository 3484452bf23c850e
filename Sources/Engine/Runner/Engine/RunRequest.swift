import Core
import Synchronization
import SystemPackage

/// What a run asks for, put together with what each capture was asked for before.
package final class RunRequest: Sendable {
  /// What a run does about captures with one history.
  struct Joined {
    /// The requests in force, with everything that `clean` removed.
    var requests: Requests
    /// What `clean` removed of the stages that a run by hand names or reaches: made again where a capture has a use for
    /// them.
    var recalled: Set<String> = []
    /// The pipeline as requested, before it is adapted to a capture.
    var requested: RequestedPipeline
    var planner: Planner
    /// Settings of earlier requests that this one leaves in force.
    var held: [ParameterSetting] = []
    /// What earlier requests asked for and this program does not know.
    var lost: [LostRequest] = []
    /// Whether the requests ask for what was noted, in another order or with other words.
    var addsNothing = false

    /// The requests that a run records for a capture: a stage that is made again no longer counts as cleaned.
    ///
    /// - Parameter adapted: the planner of the capture. It leaves out inputs that the parameters or the capture have no
    ///   use for, which a limit such as `--until` reaches all the same.
    func requests(made adapted: Planner) -> Requests {
      var requests = requests
      requests.cleaned = requests.cleaned.filter {
        !recalled.contains($0.key) || !adapted.selected.contains($0.key)
      }
      return requests
    }
  }

  /// The pipeline as it was given, with secrets.
  let pipeline: PipelineDefinition
  let source: PipelineSource?
  private let selection: Selection
  /// Whether it makes again what `clean` removed.
  private let isByHand: Bool
  private let reader: RequestReader
  private let known = Mutex<[Requests: Joined]>([:])

  /// - Parameter registry: `nil`: only kinds of stages that the pipeline has are known.
  convenience init(
    _ pipeline: PipelineDefinition, _ options: RunOptions, _ registry: StageRegistry?
  ) {
    self.init(
      pipeline, options.pipelineSource, selection: options.selection, isByHand: options.isByHand,
      RequestReader(registry ?? StageRegistry(pipeline.stages.map(\.kind))))
  }

  init(
    _ pipeline: PipelineDefinition, _ source: PipelineSource?, selection: Selection = Selection(),
    isByHand: Bool = true, _ reader: RequestReader
  ) {
    self.pipeline = pipeline
    self.source = source
    self.selection = selection
    self.isByHand = isByHand
    self.reader = reader
  }

  /// - Parameter noted: what a capture was asked for so far.
  func joined(to noted: Requests) -> Joined {
    if let known = known.withLock({ $0[noted] }) { return known }
    let result = join(noted)
    known.withLock { $0[noted] = result }
    return result
  }

  /// The pipeline as it was given, whatever was asked for before.
  private func alone(_ requests: Requests) -> Joined {
    Joined(
      requests: requests,
      requested: RequestedPipeline(pipeline: pipeline, choice: StageChoice(selection)),
      planner: Planner(pipeline, selection: selection))
  }

  private func join(_ noted: Requests) -> Joined {
    guard let source else { return alone(noted) }
    // What counts no more is told once, by a run by hand.
    let lost = reader.lost(noted)
    let all = (isByHand ? noted.withoutLost(reader) : noted).adding(source, reader)
    guard var whole = reader.read(all, last: pipeline) else { return alone(all) }
    let addsNothing =
      all.cleaned == noted.cleaned && reader.read(noted)?.asksForSame(as: whole) == true
    var cleaned = Set(all.cleaned.keys)
    if isByHand {
      cleaned.subtract(
        selection.limits == nil
          ? Set(pipeline.stages.filter(\.keep).map(\.name)) : selection.stages(of: whole.pipeline))
    }
    if selection.limits != nil { whole.choice = StageChoice(selection) }
    let withoutSecrets = withoutSecrets(whole.pipeline)
    whole.choice.cleaned = cleaned.subtracting(withoutSecrets)
    whole.choice.without = cleaned.union(withoutSecrets)
    let own = source.settings + (source.settingsOfOthers ?? [])
    let chosen = whole.choice.stages(of: whole.pipeline)
    let stages = Dictionary(uniqueKeysWithValues: whole.pipeline.stages.map { ($0.name, $0) })
    return Joined(
      requests: all, recalled: Set(all.cleaned.keys).subtracting(cleaned), requested: whole,
      planner: Planner(whole.pipeline, selection: selection, choice: whole.choice),
      held: whole.settings.filter { setting in
        let owners = PipelineReader.owners(of: setting.parameter, in: setting.stage, stages)
        let isNamed = pipeline[setting.stage]?.parameters.named.contains(setting.parameter) == true
        return !isNamed && !chosen.isDisjoint(with: owners)
          && !own.contains { $0.isAboutSame(as: setting) }
      }, lost: lost, addsNothing: addsNothing)
  }

  /// Stages of earlier requests that cannot be made again unless their secrets are given anew: of these only digests are
  /// noted.
  private func withoutSecrets(_ whole: PipelineDefinition) -> [String] {
    whole.stages.filter { stage in
      let hidden = stage.kind.parameters.filter(\.isSecret).map(\.name)
      return hidden.contains { name in
        guard case .list(let texts)? = stage.parameters[name] else { return false }
        return pipeline[stage.name]?.parameters.named.contains(name) != true
          && texts.contains { $0.contains("sha256:") }
      }
    }.map(\.name)
  }
}

/// How a run is carried out. Nothing in here changes the bytes of an artifact.
public struct RunOptions: Sendable, Codable {
  @CodedPath public var output: FilePath
  public var selection = Selection()
  /// Cores that may be busy at a time.
  public var cores: Int
  /// Compare outputs by digest as well.
  public var verify = false
  /// Whether a person started the run: it makes again what `clean` removed.
  public var isByHand = true
  /// A capture with any warning counts as failed.
  public var strict = false
  /// Wait for a capture that another run works on.
  public var waitsForLocks = true
  /// How long a capture that another run works on is waited for; then it is skipped. `nil`: for ever.
  /// Counts only where `waitsForLocks`.
  public var lockPatienceSeconds: Double?
  /// Stop after the first capture that failed.
  public var failFast = false
  /// Attempts beyond the first, for failures that a retry can cure; a stage's own number counts if
  /// it is larger.
  public var retries = 0
  /// How long a stage may show no sign of life before it is stopped, unless the pipeline says otherwise
  /// of it; `nil`: for ever.
  public var stallNanoseconds: Int64? = 600_000_000_000
  /// The pipeline as it was given: noted beside the results for `status` and `explain`.
  public var pipelineSource: PipelineSource?
  /// The most memory that all workers together may use; `nil` = what the machine has to give.
  public var memoryBytes: Int64?
  /// The id (a `RunID`) under which this attempt works in staging; `nil`: that of the run. Of two
  /// processes that carry out parts of one run, each has its own: neither takes what the other is writing
  /// for its own leftovers. Journals and logs stay under the run's id.
  public var attempt: String?
  /// A folder on a disk of this machine's own, absolute, for artifacts of stages with `keep: false` while they
  /// are in use; nothing is left in it. `nil`: they lie in the output as all others. Kept artifacts,
  /// fingerprints and records are the same.
  @CodedOptionalPath public var scratch: FilePath? = nil
  /// The job of a batch system that this process runs in, for people who ask who holds a lock:
  /// `job 123_45`.
  public var jobName: String?
  /// The build that records name.
  public var program: ProgramIdentity?

  /// The id that names in staging carry in `run`.
  func attempt(of run: String) -> String {
    // A name that is no run id would not be recognized as ours in staging.
    attempt.flatMap { RunID($0)?.text } ?? run
  }

  /// The output folder as it was when the run began, once it has.
  var outputPlace: OutputGuard?

  public init(output: FilePath, cores: Int) {
    self.output = output
    self.cores = cores
    EnclosedPaths.enclose(output, links: .none)
  }
}

/// The machine's clocks, behind values so that tests can set them.
public struct RunClock: Sendable {
  /// The time in UTC (ISO 8601 with milliseconds), for people: nothing is decided by it.
  public var wallText: @Sendable () -> String
  /// Seconds that only go forward.
  public var monotonicSeconds: @Sendable () -> Double
  /// Nanoseconds since 1970, to tell files that have only just changed.
  public var fileNanoseconds: @Sendable () -> Int64

  public init(
    wallText: @escaping @Sendable () -> String, monotonicSeconds: @escaping @Sendable () -> Double,
    fileNanoseconds: @escaping @Sendable () -> Int64 = FileStamp.nowNanoseconds
  ) {
    self.wallText = wallText
    self.monotonicSeconds = monotonicSeconds
    self.fileNanoseconds = fileNanoseconds
  }

  public static let system = RunClock(
    wallText: { UTCText.text(milliseconds: FileStamp.nowNanoseconds() / 1_000_000) },
    monotonicSeconds: MonotonicClock.seconds)
}
