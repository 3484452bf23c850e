import Engine
import Core

/// An array task that has not been decided about: its request, and what is known about it so far.
struct LiveElement {
  let number: Int
  let request: JobRequest
  /// In processing order.
  var captures: [ArrayTaskCapture]
  var task: TaskID?
  /// Whether this process submitted it.
  var isFresh = false
  /// Estimated seconds of work; 0 if unknown.
  var expectedSeconds = 0.0
  var submittedSeconds: Double?
  var begunSeconds: Double?
  var heardSeconds: Double?

  private(set) var begin: ArrayTaskBegin?
  private(set) var end: ArrayTaskEnd?
  private(set) var lines: [String: CaptureLine] = [:]
  private(set) var began: Set<String> = []
  private(set) var published: [String: Set<String>] = [:]

  private(set) var view: TaskView?
  private(set) var overSeconds: Double?
  private(set) var goneSeconds: Double?
  /// Names of captures whose artifacts have been visible.
  var seen: Set<String> = []

  /// Takes one line of its results.
  mutating func hear(_ line: ArrayTaskLine, atSeconds now: Double) {
    heardSeconds = now
    switch line {
    case .begin(let begin):
      self.begin = begin
      begunSeconds = begunSeconds ?? now
      // A task that started again has not ended.
      end = nil
      overSeconds = nil
    case .event(let event):
      guard let capture = event.capture else { return }
      if event.kind == .captureStarted { began.insert(capture) }
      if event.kind == .finished, event.outcome == .made, let stage = event.stage {
        published[capture, default: []].insert(stage)
      }
    case .capture(let line):
      // If the task was started again and found a lock, the earlier result is kept.
      if let known = lines[line.name], !known.outcome.isLocked, line.outcome.isLocked { return }
      lines[line.name] = line
    case .end(let end):
      self.end = end
      overSeconds = overSeconds ?? now
    }
  }

  /// Takes the batch system's state; `nil` if the task is unknown to it.
  ///
  /// - Parameter isQueue: whether the state comes from the queue itself, which is reliable for
  ///   missing and listed tasks. Records are not.
  mutating func see(_ view: TaskView?, isQueue: Bool, atSeconds now: Double) {
    guard let view else {
      if isQueue { goneSeconds = goneSeconds ?? now }
      return
    }
    // Records may lag and still list a started task as pending.
    if view.state == .pending, begin != nil { return }
    self.view = view
    switch view.state {
    case .pending, .running:
      // Records may list a task as running that the queue has lost.
      if isQueue { goneSeconds = nil }
    default:
      goneSeconds = nil
      overSeconds = overSeconds ?? now
    }
  }

  /// Whether a query of the batch system could give new information.
  ///
  /// - Parameter quietSeconds: how long a running task may write nothing before a query is useful.
  func isWorthAsking(quietSeconds: Double, atSeconds now: Double) -> Bool {
    guard task != nil else { return false }
    if end != nil { return true }
    guard let heardSeconds else { return true }
    return now - heardSeconds > quietSeconds
  }
}
