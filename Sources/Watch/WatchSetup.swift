import Output
import Runner
import Storage
import SystemPackage

/// What a watcher is asked to do.
public struct WatchSetup: Sendable {
  /// Without links.
  public var staging: FilePath
  public var output: FilePath
  public var settings = WatchSettings()
  /// Ends when what was ready at the beginning is processed.
  public var isOnce = false
  /// `nil`: always.
  public var window: TimeWindow?
  /// When the night is reported; `nil` with `isOnce`.
  public var reportAt: DailyTime?
  /// For `/bin/sh -c`.
  public var notify: String?
  public var metrics: FilePath?
  public var version: String
  /// This program's own file, and what to call it with to write pages and JSON.
  public var program: FilePath

  public init(staging: FilePath, output: FilePath, version: String, program: FilePath) {
    self.staging = staging
    self.output = output
    self.version = version
    self.program = program
  }
}
