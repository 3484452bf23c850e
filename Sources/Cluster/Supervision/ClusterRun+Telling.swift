import Output
import Pipeline
import Runner
import Storage

extension ClusterRun {
  func tell(_ ending: ArrayTaskDecision.Ending, of element: LiveElement, _ task: TaskID) {
    var event = RunEvent(.elementEnded, time: clock.wallText())
    event.element = element.number
    event.job = task.text
    event.node = element.begin?.host ?? element.view?.node
    switch ending {
    case .ended: event.message = element.end?.way.rawValue ?? "over"
    case .lost(let why):
      event.kind = .elementLost
      event.message = why
      if let node = event.node { losses[node, default: 0] += 1 }
    case .broken(let how):
      event.message = how.text(on: event.node ?? "the node")
      breakdowns.append((how, event.node ?? "the node"))
    }
    events.send(event)
  }

  func tellLocksNotShared(_ number: Int) {
    var event = RunEvent(.locksNotShared, time: clock.wallText())
    event.element = number
    event.node = elements[number]?.begin?.host
    event.message =
      "locks-not-shared: a lock that this process holds could be taken on "
      + "\(event.node ?? "a node"); the file system of \(plan.options.output) does not share locks "
      + "between machines. Each capture is given to one element only, so this run is safe; do not "
      + "run another scanmill on this output at the same time, or mount it with shared locks "
      + "(Lustre: flock)"
    events.send(event)
  }

  func tell(_ now: Double) {
    var text = ClusterText()
    text.elements = elementsEnded + elements.count
    text.ended = elementsEnded
    text.unsubmitted = elements.values.count { $0.task == nil }
    text.running = elements.values.count { $0.begin != nil }
    text.waiting = elements.count - text.unsubmitted - text.running
    text.reason = waitingReason
    text.captures = targets.count
    text.failed = ended.values.count { !$0 }
    text.done = ended.count - text.failed + elements.values.reduce(0) { $0 + $1.lines.count }
    text.held = others.held.count
    let left = elements.keys.reduce(0.0) { $0 + (expectedSeconds[$1] ?? 0) }
    if workSecondsDone > 0, left > 0 {
      text.secondsLeft = (now - startSeconds) * left / workSecondsDone
    }
    guard text.line != lastText else { return }
    lastText = text.line
    var event = RunEvent(.cluster, time: clock.wallText())
    event.message = text.line
    event.done = ended.count
    event.total = targets.count
    events.send(event)
  }

  /// The last lines of an element's own log.
  func log(of task: TaskID) -> [String] { LogFile.tail(of: files.log(task), lines: 5) }
}
