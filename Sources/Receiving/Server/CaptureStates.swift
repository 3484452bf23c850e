/// What the watcher has made of a capture, for the page.
public struct WatchedState: Codable, Hashable, Sendable {
  /// In the words of `watch`: `queued`, `running`, `done`, …
  public var state: String
  /// Why it failed, or what it waits for; empty without one.
  public var note: String
  /// Whether there is a report.
  var hasReport: Bool

  public init(state: String, note: String = "", hasReport: Bool = false) {
    self.state = state
    self.note = note
    self.hasReport = hasReport
  }
}

/// Looks up what the watcher has made of captures. Calls may wait for the disk.
public protocol CaptureStates: Sendable {
  /// By the name of the folder in STAGING.
  func states(of folders: [String]) -> [String: WatchedState]
  /// The report of a capture, a page; `nil` if there is none.
  func report(of folder: String) -> [UInt8]?
}

/// No watcher.
public struct NoCaptureStates: CaptureStates {
  public init() {}
  public func states(of folders: [String]) -> [String: WatchedState] { [:] }
  public func report(of folder: String) -> [UInt8]? { nil }
}
