import CPlatform
import Core
import Engine
import SystemPackage

/// What a watcher is asked to do.
public struct WatchSetup: Sendable {
  /// The path of STAGING without links.
  public var staging: FilePath
  public var output: FilePath
  public var settings = WatchSettings()
  /// Ends when what was ready at the beginning is processed.
  public var isOnce = false
  /// Whether a look with `isOnce` also ends with 1 if a capture needs a person.
  public var needsPersonIsFailure = false
  /// Logs nothing unless something failed.
  public var isQuiet = false
  /// `nil`: always.
  public var window: TimeWindow?
  /// When the night is reported; `nil` with `isOnce`.
  public var reportAt: DailyTime?
  /// When everything should be done; `nil`: there is no deadline.
  public var due: DailyTime?
  /// How many pages of earlier nights stay; 0: none is kept.
  public var keptNights = WatchSetup.usualKeptNights
  /// While something changes the page of the night is written at most this often; while nothing does, after three
  /// times as long.
  public var pageSeconds = 300.0
  /// For `/bin/sh -c`.
  public var notify: String?
  public var metrics: FilePath?
  public var version: String
  /// This program's own file, and what to call it with to write pages and JSON.
  public var program: FilePath

  public static let usualKeptNights = 30

  /// At the latest after so many seconds the page is written again; `nil`: at the end only.
  var renewsPageSeconds: Int? { isOnce ? nil : max(1, Int((pageSeconds * 3).rounded(.up))) }

  /// What is free for results now; `nil` where it cannot be told.
  var free: FreeSpaceRule? { FreeSpaceRule.free(of: output, reserve: settings.reserveBytes) }

  public init(staging: FilePath, output: FilePath, version: String, program: FilePath) {
    self.staging = staging
    self.output = output
    self.version = version
    self.program = program
  }
}

/// What `--nice` does to a worker: it takes what others leave over, and goes first when memory is short.
public enum Niceness {
  /// Lowers this process: nice 19, I/O class idle, OOM score 1000. To be called at the start of a worker;
  /// threads and programs that it starts inherit it. What the machine does not allow is left out.
  public static func lower() { scanmill_lower_priority() }
}
