import Output
import Pipeline
import Runner
import Storage

/// An element that has not been decided about: what was asked, and what has been heard of it so far.
struct LiveElement {
  let number: Int
  let request: JobRequest
  /// In the order in which it works on them.
  var captures: [ArrayTaskCapture]
  var task: TaskID?
  /// Whether this process has submitted it.
  var isFresh = false
  /// Seconds of work that it was expected to take; 0: unknown.
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
  private var overSeconds: Double?
  private var goneSeconds: Double?
  /// Captures whose artifacts have been seen.
  var seen: Set<String> = []

  init(number: Int, request: JobRequest, captures: [ArrayTaskCapture]) {
    self.number = number
    self.request = request
    self.captures = captures
  }

  /// Takes one line of its results.
  mutating func hear(_ line: ArrayTaskLine, atSeconds now: Double) {
    heardSeconds = now
    switch line {
    case .begin(let begin):
      self.begin = begin
      begunSeconds = begunSeconds ?? now
      // One that was begun again has not ended.
      end = nil
      overSeconds = nil
    case .event(let event):
      guard let capture = event.capture else { return }
      if event.kind == .captureStarted { began.insert(capture) }
      if event.kind == .finished, event.outcome == .ran, let stage = event.stage {
        published[capture, default: []].insert(stage)
      }
    case .capture(let line):
      // What was done is not undone by a second life of the element that found a lock.
      if let known = lines[line.name], !known.outcome.isLocked, line.outcome.isLocked { return }
      lines[line.name] = line
    case .end(let end):
      self.end = end
      overSeconds = overSeconds ?? now
    }
  }

  /// Takes what the batch system says. `nil`: it does not know it.
  ///
  /// - Parameter isQueue: whether the queue itself says it: what is not listed there has left it, and what
  ///   is, has not, whatever records say.
  mutating func see(_ view: TaskView?, isQueue: Bool, atSeconds now: Double) {
    guard let view else {
      if isQueue { goneSeconds = goneSeconds ?? now }
      return
    }
    // Records that lag may still call pending what has begun.
    if view.state == .pending, begin != nil { return }
    self.view = view
    switch view.state {
    case .pending, .running:
      // Records may go on to call running what the queue has lost.
      if isQueue { goneSeconds = nil }
    default:
      goneSeconds = nil
      overSeconds = overSeconds ?? now
    }
  }

  /// Whether asking the batch system could teach anything.
  ///
  /// - Parameter quietSeconds: how long no word of a running element is nothing unusual.
  func isWorthAsking(quietSeconds: Double, atSeconds now: Double) -> Bool {
    guard task != nil else { return false }
    if end != nil { return true }
    guard let heardSeconds else { return true }
    return now - heardSeconds > quietSeconds
  }

  func facts(_ task: TaskID, log: [String], atSeconds now: Double) -> ArrayTaskFacts {
    var facts = ArrayTaskFacts(
      number: number, task: task, request: request,
      captures: captures.map { capture in
        var facts = CaptureFacts(name: capture.name, history: capture.history)
        facts.outcome = lines[capture.name]?.outcome
        facts.isVisible = facts.outcome == nil || seen.contains(capture.name)
        facts.began = began.contains(capture.name)
        facts.published = published[capture.name] ?? []
        return facts
      })
    facts.begin = begin
    facts.end = end
    facts.view = view
    facts.secondsOver = overSeconds.map { now - $0 }
    facts.secondsGone = goneSeconds.map { now - $0 }
    facts.log = log
    return facts
  }
}
