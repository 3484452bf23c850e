import Core
import Engine

/// Sends events about array tasks and the progress of a run. Makes no decisions.
final class ClusterReporter {
  private let context: ClusterContext
  private let startSeconds: Double
  private var lastText = ""
  private var isSaidFull = false

  /// - Parameter startSeconds: monotonic time of the run's start.
  init(_ context: ClusterContext, startSeconds: Double) {
    self.context = context
    self.startSeconds = startSeconds
  }

  func started(_ number: Int, _ begin: ArrayTaskBegin) {
    var event = RunEvent(.elementStarted, time: context.clock.wallText())
    event.element = number
    event.job = begin.job
    event.node = begin.host
    context.events.send(event)
  }

  func ended(_ element: LiveElement, _ task: TaskID, _ ending: ArrayTaskDecision.Ending) {
    var event = RunEvent(.elementEnded, time: context.clock.wallText())
    event.element = element.number
    event.job = task.text
    event.node = element.node
    switch ending {
    case .ended: event.message = element.end?.way.rawValue ?? "over"
    case .lost(let why):
      event.kind = .elementLost
      event.message = why
    case .broken(let how): event.message = how.text(on: element.nodeName)
    }
    context.events.send(event)
  }

  func retried(_ capture: String, of facts: ArrayTaskFacts, _ why: String) {
    var event = RunEvent(.elementRetried, time: context.clock.wallText(), capture: capture)
    event.element = facts.number
    event.job = facts.task.text
    event.node = facts.node
    event.message = "\(capture): \(why)"
    context.events.send(event)
  }

  func locksNotShared(_ number: Int, node: String?) {
    var event = RunEvent(.locksNotShared, time: context.clock.wallText())
    event.element = number
    event.node = node
    event.message =
      "locks-not-shared: a lock that this process holds could be taken on "
      + "\(node ?? "a node"); the file system of \(context.plan.options.output) does not share locks "
      + "between machines. Each capture is given to one element only, so this run is safe; do not "
      + "run another scanmill on this output at the same time, or mount it with shared locks "
      + "(Lustre: flock)"
    context.events.send(event)
  }

  /// Reports once that the site accepts fewer tasks than the run has.
  func full(_ words: String) {
    guard !isSaidFull else { return }
    isSaidFull = true
    var event = RunEvent(.waiting, time: context.clock.wallText())
    event.message =
      "the site takes no more elements now (\(words.onOneLine)): smaller arrays, as there is room"
    context.events.send(event)
  }

  /// Sends the state of the run in one line, if it has changed.
  ///
  /// - Parameters:
  ///   - held: number of captures that wait for other runs.
  ///   - reason: why tasks are pending; `nil` if unknown or if none is.
  func progress(
    _ elements: LiveElements, _ outcomes: CaptureOutcomes, held: Int, reason: String?,
    atSeconds now: Double
  ) {
    var text = ClusterText()
    text.elements = elements.endedCount + elements.count
    text.ended = elements.endedCount
    text.unsubmitted = elements.unsubmittedCount
    text.running = elements.all.count { $0.begin != nil }
    text.waiting = elements.count - text.unsubmitted - text.running
    text.reason = reason
    text.captures = context.targets.count
    text.failed = outcomes.failedCount
    text.done = outcomes.endedCount - text.failed + elements.all.reduce(0) { $0 + $1.lines.count }
    text.held = held
    let left = elements.secondsLeft
    if elements.secondsDone > 0, left > 0 {
      text.secondsLeft = (now - startSeconds) * left / elements.secondsDone
    }
    guard text.line != lastText else { return }
    lastText = text.line
    var event = RunEvent(.cluster, time: context.clock.wallText())
    event.message = text.line
    event.done = outcomes.endedCount
    event.total = context.targets.count
    context.events.send(event)
  }
}

extension LiveElement {
  /// The node on which it ran; `nil` if unknown.
  var node: String? { begin?.host ?? view?.node }

  /// The node as text for messages.
  var nodeName: String { node ?? "the node" }
}

/// The state of a run on a batch system, as one line.
struct ClusterText {
  var elements = 0
  var ended = 0
  var running = 0
  var waiting = 0
  /// Number of array tasks that are not submitted yet.
  var unsubmitted = 0
  /// Number of captures that array tasks of other runs work on.
  var held = 0
  var captures = 0
  var done = 0
  var failed = 0
  var reason: String?
  var secondsLeft: Double?

  var line: String {
    var parts = ["\(ended)/\(elements) elements"]
    if running > 0 { parts.append("\(running) running") }
    if waiting > 0 { parts.append("\(waiting) waiting" + (reason.map { " (\($0))" } ?? "")) }
    if unsubmitted > 0 { parts.append("\(unsubmitted) not submitted yet") }
    var text = parts.joined(separator: ", ")
    text += " · \(done)/\(captures) captures done, \(failed) failed"
    if held > 0 { text += ", \(held) held by another run" }
    if let secondsLeft, secondsLeft > 0 { text += " · \(DurationText.estimated(secondsLeft)) left" }
    return text
  }
}

extension Double {
  func clamped(to range: ClosedRange<Double>) -> Double {
    Swift.min(range.upperBound, Swift.max(range.lowerBound, self))
  }
}
