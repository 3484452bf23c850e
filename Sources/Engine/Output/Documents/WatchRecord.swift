import Core
import SystemPackage

/// `DIR/.scanmill/watch.json`: what the watcher saw at its last look and what no artifact tells: the
/// captures that arrive, lack files or wait. Replaced when it changes and at least once a minute.
public struct WatchRecord: Hashable, Sendable, Codable {
  /// A capture of STAGING that is not done, not failed and not quarantined.
  public struct Waiting: Hashable, Sendable, Codable {
    /// The name of its folder in the output, which it may not have yet.
    public var id: String
    /// Empty: not recognized yet.
    public var family: String
    public var path: String
    /// `arriving`, `stalled-upload`, `incomplete`, `queued` or `running`; `failed` or `quarantined` only where the output
    /// has no folder to note it in.
    public var state: CaptureState
    /// Since when, for people (UTC, ISO 8601).
    var since: String
    /// Files that a complete upload would have.
    public var missing: [String]
    /// What a queued capture waits for: `worker`, `window`, `disk`, `lock`, `output`, `staging`, `mark`.
    public var waitsFor: String?
    /// The beginning of the names of its files, if the capture shares its folder with others.
    public var stem: String?
    /// How far its upload has come, where it has stalled.
    public var upload: UploadProgress?
    /// `true`: its place was gone before it was done; `state` is `failed`.
    public var gone: Bool?
    /// The id of the device that recorded the capture, if files are missing.
    public var device: String?
    /// The failure of a capture that has no folder in the output, so that it stands nowhere else.
    public var failure: Failure?
    /// Size of the capture's files, where it waits or is at work.
    public var bytes: Int64?
    /// Bytes of the disk that a capture is expected to write, where it waits for that.
    public var neededBytes: Int64?
    /// The id of the capture that had this one's id first, with other content.
    public var twinOf: String?

    public init(
      id: String, family: String, path: String, state: CaptureState, since: String,
      missing: [String] = [], waitsFor: String? = nil
    ) {
      self.id = id
      self.family = family
      self.path = path
      self.state = state
      self.since = since
      self.missing = missing
      self.waitsFor = waitsFor
    }
  }

  public var schema = 1
  /// The path of STAGING without links.
  public var staging: String
  /// The beginning in UTC (ISO 8601).
  public var started: String
  public var lastLook: String
  /// `nil`: STAGING can be looked at; else why not.
  public var stagingTrouble: String?
  /// Why nothing new is started; `nil`: nothing keeps it.
  public var holdsBecause: String?
  /// The waiting captures in the order of arrival.
  public var waiting: [Waiting]
  public var unrecognized: [RunReport.Unrecognized]
  /// When it ended in good order (UTC, ISO 8601); `nil`: it lives, or was killed.
  public var ended: String?
  /// At the latest after so many seconds the page of the night is written again; `nil`: at the end only.
  public var renewsPageSeconds: Int?
  /// Bytes of the output's disk that it leaves free; `nil`: not known.
  public var reserveBytes: Int64?
  /// Captures that were there.
  public var known = 0
  /// Uploads that went within the last day before anything of them was done, oldest first.
  public var disappeared: [Disappearance]? = nil
  /// How many went so since the first watcher on this output.
  public var disappearedTotal: Int? = nil
  /// When a capture was last done, in seconds since 1970.
  public var lastDoneSeconds: Double?
  /// When captures waited for something else than a worker; the last 200, oldest first.
  public var holds: [PauseReason] = []

  /// What captures took; the last 400, oldest first.
  public var costs: [Cost]?
  /// When it will be done with what is left.
  public var forecast: NightForecast?
  /// What all watchers of this output have counted.
  public var tally: Tally?

  /// The time and the disk that a capture took, from which those of others are estimated.
  public struct Cost: Hashable, Sendable, Codable {
    public var family: String
    /// Size of the capture's files.
    public var bytes: Int64
    public var seconds: Double
    /// How many were at work when it ended, itself included.
    public var atOnce: Int
    /// What all of its stages wrote; `nil`: some had nothing to do.
    public var written: Int64?
    /// Tells pipelines apart: with another one captures write more or less.
    public var pipeline: String?

    public init(family: String, bytes: Int64, seconds: Double, atOnce: Int) {
      self.family = family
      self.bytes = bytes
      self.seconds = seconds
      self.atOnce = atOnce
    }
  }

  /// Counters that go on when a watcher is started again.
  public struct Tally: Hashable, Sendable, Codable {
    /// Failed attempts by cause.
    public var failures: [String: Int] = [:]
    public var frames = 0
    public var bytesWritten: Int64 = 0
    public var cpuSeconds = 0.0
    /// Workers that were ended because they did not get on.
    public var workersStuck = 0

    public init() {}
  }

  public struct PauseReason: Hashable, Sendable, Codable {
    /// `window`, `disk`, `staging`, `output`.
    public var kind: String
    /// The beginning in UTC (ISO 8601).
    public var from: String
    /// `nil`: they still do.
    public var to: String?

    public init(kind: String, from: String, to: String? = nil) {
      self.kind = kind
      self.from = from
      self.to = to
    }
  }

  /// An upload that went before anything of it was done.
  public struct Disappearance: Hashable, Sendable, Codable {
    /// The name that its folder in the output would have had.
    public var id: String
    public var path: String
    /// When that was noticed (UTC, ISO 8601).
    public var time: String

    public init(id: String, path: String, time: String) {
      self.id = id
      self.path = path
      self.time = time
    }
  }

  public init(
    staging: String, started: String, lastLook: String, waiting: [Waiting] = [],
    unrecognized: [RunReport.Unrecognized] = []
  ) {
    self.staging = staging
    self.started = started
    self.lastLook = lastLook
    self.waiting = waiting
    self.unrecognized = unrecognized
  }

  /// What the last watcher noted; `nil`: there was none, or the note is damaged.
  public init?(ofOutput root: FilePath) {
    guard let record = NotesFile.read(WatchRecord.self, OutputNames.watch, ofOutput: root),
      record.schema == 1
    else { return nil }
    self = record
  }

  /// Whether a watcher lives on this output.
  static func isAlive(inOutput root: FilePath) -> Bool {
    FileLock.isHeld(at: root.appending(OutputNames.notes).appending(OutputNames.watchLock))
  }
}
