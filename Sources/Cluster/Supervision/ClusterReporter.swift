import Core
import Engine

/// Sends events about array tasks and the progress of a run. Makes no decisions.
final class ClusterReporter {
  private let context: ClusterContext
  private let startSeconds: Double
  private var lastText = ""
  private var isSaidFull = false

  /// Made at the start of the run.
  init(_ context: ClusterContext) {
    self.context = context
    startSeconds = context.clock.monotonicSeconds()
  }

  private func send(
    _ kind: RunEvent.Kind, capture: String? = nil, element: Int? = nil, job: String? = nil,
    node: String? = nil, _ message: String? = nil
  ) {
    context.events.send(kind, context.clock, capture: capture) {
      ($0.element, $0.job, $0.node, $0.message) = (element, job, node, message)
    }
  }

  func started(_ number: Int, _ begin: ArrayTaskBegin) {
    send(.elementStarted, element: number, job: begin.job, node: begin.host)
  }

  func ended(_ element: LiveElement, _ task: TaskID, _ ending: ArrayTaskDecision.Ending) {
    let (kind, message): (RunEvent.Kind, String) =
      switch ending {
      case .ended: (.elementEnded, element.end?.way.rawValue ?? "over")
      case .lost(let why): (.elementLost, why)
      case .broken(let how): (.elementEnded, how.text(on: element.nodeName))
      }
    send(kind, element: element.number, job: task.text, node: element.node, message)
  }

  func retried(_ capture: String, of element: LiveElement, _ task: TaskID, _ why: String) {
    send(
      .elementRetried, capture: capture, element: element.number, job: task.text,
      node: element.node, "\(capture): \(why)")
  }

  func locksNotShared(_ number: Int, node: String?) {
    send(
      .locksNotShared, element: number, node: node,
      "locks-not-shared: a lock that this process holds could be taken on "
        + "\(node ?? "a node"); the file system of \(context.plan.options.output) does not share "
        + "locks between machines. Each capture is given to one element only, so this run is safe; "
        + "do not run another scanmill on this output at the same time, or mount it with shared "
        + "locks (Lustre: flock)")
  }

  /// Reports once that the site accepts fewer tasks than the run has.
  func full(_ words: String) {
    guard !isSaidFull else { return }
    isSaidFull = true
    send(
      .waiting,
      "the site takes no more elements now (\(words.onOneLine)): smaller arrays, as there is room")
  }

  /// Sends the state of the run in one line, if it has changed.
  ///
  /// - Parameters:
  ///   - held: number of captures that wait for other runs.
  ///   - reason: why tasks are pending; `nil` if unknown or if none is.
  func progress(
    _ outcomes: CaptureOutcomes, held: Int, reason: String?, atSeconds now: Double
  ) {
    let elements = context.elements
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
    context.events.send(.cluster, context.clock) {
      $0.message = text.line
      ($0.done, $0.total) = (outcomes.endedCount, context.targets.count)
    }
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
