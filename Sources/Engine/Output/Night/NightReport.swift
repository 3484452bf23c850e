import Captures
import Core
import SystemPackage

/// The object of `report --json`: what the night made of the captures. Also what the page of the
/// night is made from.
public struct NightReport: Sendable, Encodable, Hashable {
  public var schema = 1
  /// Ids of the runs, oldest first.
  public internal(set) var runs: [String] = []
  /// The beginning in UTC (ISO 8601).
  public var from: String
  public var to: String
  /// When it was made; `to` of a report about runs that ended long ago is earlier.
  public var made: String
  public var totals = NightTotals()
  /// Captures; those that need a person come first.
  public var captures: [CaptureRow] = []
  public var unrecognized: [RunReport.Unrecognized] = []
  public var program: ProgramIdentity
  public var host: String
  public var pipeline: String
  public var free: FreeSpace
  /// Whether a watcher runs, and what it looks at; `nil`: none ever has on this output.
  public var watch: Watch?
  /// The last 14 nights before this one, oldest first; a night without any run is not among them.
  public var nights: [Night] = []
  /// The devices by their last upload, newest first.
  public var devices: [Device] = []
  /// What is different from the night before; `nil`: nothing ran before.
  public var changes: NightChanges?
  /// When a watcher will be done; `nil`: none is at work.
  public var forecast: NightForecast?
  /// What happened when: one entry per attempt at a capture, and one per time the watcher held back, by start.
  public var timeline: [Span] = []

  /// Captures whose results have left the output, by id; `nil`: none.
  public var retired: [Retired]?

  public struct Retired: Sendable, Codable, Hashable {
    public var id: String
    /// `nil`: not known.
    public var path: String?
    public var mark: CaptureMark
  }

  public struct FreeSpace: Sendable, Codable, Hashable {
    public var bytes: Int64
    /// `nil`: the file system counts none.
    public var inodes: Int64?
    /// Size of the whole file system.
    public var totalBytes: Int64?
    /// While less is free the watcher starts nothing new.
    public var reserveBytes: Int64 = 0
  }

  public struct Watch: Sendable, Codable, Hashable {
    public var alive: Bool
    public var staging: String?
    public var lastLook: String?
    /// Why STAGING cannot be looked at.
    public var trouble: String?
    /// Why nothing new is started: outside of the hours, the disk is full, the output cannot be written.
    public var holds: String?
    /// Kind of `holds`: `window`, `disk`, `staging`, `output`.
    public var holdsFor: String?
    /// Whether the watcher did not end in good order.
    public var killed: Bool?
    /// When it ended in good order (UTC, ISO 8601); `nil`: it lives, or was killed.
    public var ended: String?
    /// At the latest after so many seconds it writes the page of the night again; `nil`: it does not.
    public var renewsPageSeconds: Int?

    /// Whether a capture lies in its folder, as far as both places are known.
    func looksAt(_ path: String?) -> Bool {
      guard let staging, let path else { return true }
      return FilePath(path).starts(with: FilePath(staging))
    }
  }

  public struct Night: Sendable, Codable, Hashable {
    /// The local day on which it began: `2026-11-20`.
    public var date: String
    public var captures = 0
    public var failed = 0
    /// In which anything ran.
    public var hours = 0.0
    /// Bytes that its runs have added to what lies in the output.
    public var bytes: Int64 = 0
  }

  /// This night, of which anything ran for so many hours.
  public func night(of date: String, hours: Double) -> Night {
    Night(
      date: date, captures: captures.count { $0.outcome != nil },
      failed: captures.count { $0.outcome?.hasFailed == true }, hours: hours, bytes: totals.bytes)
  }

  public struct Device: Sendable, Codable, Hashable {
    public var device: String
    public var captures: Int
    /// When its last capture came in (UTC, ISO 8601).
    public var lastUpload: String
    /// Files of its captures that are here, and that complete uploads of them have.
    public var receivedFiles = 0
    public var expectedFiles = 0
    /// How many of its captures are complete and verified: safe to delete on the device.
    public var safe = 0
    /// Captures that are not safe to delete, and why.
    public var notSafe: [NotSafe] = []
    /// How the quality of its captures has changed over nights; `nil`: too few were judged.
    public var quality: [QualityTrend]?

    public struct NotSafe: Sendable, Codable, Hashable {
      public var id: String
      public var reasons: [String]
    }

    /// Whether all of them are.
    public var isSafe: Bool { captures > 0 && safe == captures }
  }

  public struct Span: Sendable, Codable, Hashable {
    /// `nil`: the watcher held back.
    public var capture: String?
    /// The outcome of an attempt, or what was waited for: `window`, `disk`, `staging`.
    public var kind: String
    /// The beginning in UTC (ISO 8601).
    public var from: String
    public var to: String
    /// The run of an attempt.
    public var run: String?
  }

  init(
    from: String, to: String, program: ProgramIdentity, host: String, pipeline: String,
    free: FreeSpace
  ) {
    self.from = from
    self.to = to
    made = to
    self.program = program
    self.host = host
    self.pipeline = pipeline
    self.free = free
  }
}

/// The captures of an output in numbers: `captures` is the sum of all that follow up to `marked`, and the sum of
/// `states`.
public struct NightTotals: Sendable, Codable, Hashable {
  public var captures = 0
  /// Done, without a need for a person.
  public var ready = 0
  /// Needing a person, whatever their state.
  public var needsPerson = 0
  public var arriving = 0
  public var running = 0
  public var queued = 0
  /// Not done, and left alone because of a mark.
  public var marked = 0
  /// How many of those that need a person wait because the last run was interrupted.
  public var interrupted = 0
  /// How many of those that need a person wait because the last run left them out.
  public var skipped = 0
  /// How many captures are in each state, whether they need a person or not.
  public var states = Dictionary(
    uniqueKeysWithValues: CaptureState.ofCaptures.map { ($0.rawValue, 0) })
  /// Captures that were judged to be of poor quality and are not marked, whatever their state; `nil`: none.
  public var poor: Int?
  /// Uploads that went within the last day before anything of them was done, not among `captures`; `nil`: none.
  public var disappeared: Int?
  /// Number of unrecognized folders; they are not among `captures`.
  public var unrecognized = 0
  public var frames = 0
  /// What lies in the output.
  public var bytes: Int64 = 0
  /// The CPU time of the stages of the runs of a report; `nil`: it is about what lies there, not about runs.
  public var cpuSeconds: Double?
  /// How long the runs of a report took; `nil` as above.
  public var seconds: Double?

  public init() {}

  /// Counts captures with what the last run made of them.
  public init(counting captures: [CaptureRow], unrecognized: Int) {
    self.unrecognized = unrecognized
    // Captures are large: none is copied.
    for index in captures.indices {
      add(
        captures[index].state, needsPerson: captures[index].needsPerson, mark: captures[index].mark)
    }
    func left(_ outcome: RunOutcome) -> Int {
      captures.indices.count {
        captures[$0].isLeft && captures[$0].needsPerson && captures[$0].outcome == outcome
      }
    }
    (interrupted, skipped) = (left(.interrupted), left(.skipped))
    let bad = captures.indices.count { captures[$0].isPoor }
    if bad > 0 { poor = bad }
  }

  /// Counts a capture.
  public mutating func add(
    _ state: CaptureState, needsPerson isNeedy: Bool, mark: CaptureMark?, count: Int = 1
  ) {
    captures += count
    states[state.rawValue, default: 0] += count
    if isNeedy {
      needsPerson += count
    } else if state == .done {
      ready += count
    } else if mark?.isCurrent == true, state != .arriving, state != .running,
      state != .queued || mark?.isLeftAlone == true
    {
      marked += count
    } else {
      switch state {
      case .arriving: arriving += count
      case .running: running += count
      default: queued += count
      }
    }
  }

  public subscript(state: CaptureState) -> Int { states[state.rawValue] ?? 0 }

  /// The disjoint numbers with their words, those that are 0 left out: `148 ready`, `27 need you`.
  public var parts: [(key: String, count: Int, words: String)] {
    [
      ("ready", ready, "ready"),
      ("needsPerson", needsPerson, Plural.word(needsPerson, "needs you", "need you")),
      ("arriving", arriving, "arriving"), ("running", running, "running"),
      ("queued", queued, "queued"), ("marked", marked, "marked"),
    ].filter { $0.1 > 0 }
  }

  /// `175 captures: 148 ready, 27 need you`, in the words of all views.
  public var line: String {
    let parts = parts.map { "\(NumberText.grouped($0.count)) \($0.words)" }.joined(separator: ", ")
    return
      (captures == 0
      ? "no captures" : "\(NumberText.grouped(captures)) \(Plural.word(captures, "capture"))")
      + (parts.isEmpty ? "" : ": " + parts)
      + (disappeared.map { " · \($0) disappeared" } ?? "")
      + (unrecognized > 0 ? " · \(unrecognized) unrecognized" : "")
  }
}

// Every key of the contract is there, `null` where nothing is known: scripts need not ask whether it is.

extension NightReport.FreeSpace {
  public func encode(to encoder: any Encoder) throws {
    let members: JSONObject = [
      "bytes": bytes, "inodes": inodes, "totalBytes": totalBytes, "reserveBytes": reserveBytes,
    ]
    try members.encode(to: encoder)
  }
}

extension NightReport.Watch {
  public func encode(to encoder: any Encoder) throws {
    let members: JSONObject = [
      "alive": alive, "staging": staging, "lastLook": lastLook, "trouble": trouble,
      "holds": holds, "holdsFor": holdsFor, "killed": killed, "ended": ended,
      "renewsPageSeconds": renewsPageSeconds,
    ]
    try members.encode(to: encoder)
  }
}

/// What the page of the night, the service manager and the log say first, in the same words.
extension NightTotals {
  /// `41 of 44 captures are ready. 2 need you, 1 is still arriving.`
  ///
  /// - Parameter nothingUrgent: nothing around the captures needs anybody either.
  public func sentence(nothingUrgent: Bool) -> String {
    var parts: [String] = []
    func add(_ count: Int, _ one: String, _ many: String) {
      if count > 0 { parts.append(Plural.text(count, one, many)) }
    }
    add(needsPerson, "needs you", "need you")
    add(marked, "is marked", "are marked")
    add(arriving, "is still arriving", "are still arriving")
    add(running, "is being processed", "are being processed")
    add(queued, "waits", "wait")
    add(unrecognized, "folder is not recognized", "folders are not recognized")
    if needsPerson == 0, unrecognized == 0, nothingUrgent {
      parts.insert(captures == 0 ? "nothing was received" : "nothing needs you", at: 0)
    }
    let rest = parts.joined(separator: ", ")
    let first = "\(ready) of \(captures) captures are ready."
    return rest.isEmpty ? first : first + " " + rest.prefix(1).uppercased() + rest.dropFirst() + "."
  }
}

/// What is different from the night before.
public struct NightChanges: Hashable, Sendable, Codable {
  /// The local day on which the night before began.
  public var date: String
  /// Captures that were first worked on in this night, and in the one before.
  public var received: Int
  public var receivedBefore: Int
  /// Ids of captures that had failed then and are ready now.
  public var repaired: [String] = []
  /// Captures that need a person now and did not then.
  public var newlyNeeding: [String] = []
  /// Captures that needed a person then and still do.
  public var stillNeeding: [String] = []
}

/// When a watcher will be done with what it knows of, from what earlier captures of the same family and size took.
public struct NightForecast: Hashable, Sendable, Codable {
  /// Captures that are queued or at work.
  public var captures: Int
  /// Size of the captures' files.
  public var bytes: Int64
  /// UTC, ISO 8601, to the minute; `nil`: nothing is left, or `reason` says why it cannot be told.
  public var doneAt: String?
  /// Whether earlier captures differ so much, or are so few, that the time is a rough one.
  public var isAbout = false
  /// Why it cannot be told: `no-history`, `held`.
  public var reason: String?
  /// When everything should be done tonight (UTC, ISO 8601); `nil`: not asked for.
  public var due: String?
  /// Whether the captures will not be done when they are due, or were not.
  public var dueMissed = false

  public init(captures: Int, bytes: Int64) { (self.captures, self.bytes) = (captures, bytes) }

  /// `Done by about 04:10; 38 captures, 6.2 GB to go.`, in local time; `nil`: nothing is left.
  public func words(now: Int64) -> String? {
    guard captures > 0 else { return nil }
    let rest = "\(Plural.text(captures, "capture")), \(ByteCount.text(bytes)) to go."
    if let doneAt {
      return "Done by \(isAbout ? "about " : "")\(NightClock.words(doneAt, now: now)); \(rest)"
    }
    switch reason {
    case "held": return "Work is held, so nobody can tell when it will be done; \(rest)"
    default:
      return
        "When it will be done cannot be told yet: no capture like these was timed before; \(rest)"
    }
  }

  /// `It will not be done by 07:00`; `nil`: nothing is wrong.
  public func dueWords(now: Int64) -> String? {
    guard dueMissed, let due else { return nil }
    let time = NightClock.words(due, now: now)
    let isPast = (UTCText.nanoseconds(due) ?? .max) <= now
    return isPast ? "It was due at \(time) and is not done" : "It will not be done by \(time)"
  }
}

/// One number of the quality of a device's captures, now and before: whether the device has become worse.
public struct QualityTrend: Sendable, Codable, Hashable {
  /// The name of a number in `CaptureQuality.judged`, of which more is worse.
  public var subject: String
  /// Captures of different families are not compared.
  public var family: String
  /// Median of the newest captures, in the unit of the subject.
  public var recent: Double
  /// How many these are.
  public var captures: Int
  /// Median of those before them.
  public var before: Double
  public var capturesBefore: Int
  public var isWorse: Bool

  /// Number of the newest captures that are compared…
  static let newest = 5
  /// … with at least and at most so many before them.
  static let fewestBefore = 5
  static let mostBefore = 40
  /// The median has become larger by at least this factor.
  private static let factor = 1.5
  /// Number of the newest captures that lie above three quarters of those before: one odd scene is no trend.
  private static let mostOfNewest = 4

  /// What is compared, and by how much at least its median has to rise: differences below it are those of scenes.
  static let subjects: [(subject: String, leastRise: Double)] = [
    ("depthDisagreement", 3), ("depthMissing", 0.1),
  ]

  /// `nil` for an unknown subject and for fewer than ten captures. Cost: two short sorts.
  ///
  /// - Parameter values: of the captures of one device and family, oldest first.
  init?(_ subject: String, family: String, values: [Double]) {
    guard let leastRise = Self.subjects.first(where: { $0.subject == subject })?.leastRise,
      values.count >= Self.newest + Self.fewestBefore
    else { return nil }
    let recent = values.suffix(Self.newest)
    let before = values.dropLast(Self.newest).suffix(Self.mostBefore).sorted()
    self.subject = subject
    self.family = family
    self.recent = Median.of(Array(recent))
    captures = recent.count
    self.before = Median.of(before)
    capturesBefore = before.count
    let usual = before[before.count * 3 / 4]
    isWorse =
      self.recent >= Self.factor * self.before && self.recent - self.before >= leastRise
      && recent.count(where: { $0 > usual }) >= Self.mostOfNewest
  }

  /// A capture of a device, as far as it counts here.
  public struct Sample: Sendable {
    var device: String
    public var family: String
    /// The time by which captures of a device are ordered.
    public var time: String
    public var id: String
    public var quality: CaptureQuality
  }

  /// The trends of a device's captures, in any order: by family, then by subject; empty with fewer than ten captures
  /// of each family.
  public static func all(of samples: [Sample]) -> [QualityTrend] {
    let groups = Dictionary(grouping: samples) { "\($0.family)\n\($0.device)" }
    return groups.keys.sorted().flatMap { key in
      let own = (groups[key] ?? []).sorted { ($0.time, $0.id) < ($1.time, $1.id) }
      return subjects.compactMap { subject, _ in
        QualityTrend(
          subject, family: own.first?.family ?? "",
          values: own.compactMap { $0.quality.judged[subject]?.value })
      }
    }
  }
}
