import Engine

/// Reads new results of array tasks and passes them on: to `LiveElements`, and as events. The round
/// and `ElementCanceller` call it.
final class ResultListener {
  private let context: ClusterContext
  private let elements: LiveElements
  private let reporter: ClusterReporter
  private let reader: ResultReader
  /// The longest observed wait between submission and start.
  private(set) var queuedSeconds = 0.0

  init(_ context: ClusterContext, _ elements: LiveElements, _ reporter: ClusterReporter) {
    self.context = context
    self.elements = elements
    self.reporter = reporter
    reader = ResultReader(context.files)
  }

  /// Returns whether there were new lines. Cost: lists the results folder and reads the new parts
  /// of files.
  func hear(atSeconds now: Double) -> Bool {
    var hasNews = false
    for entry in reader.read(where: { elements[$0] != nil }) {
      hasNews = true
      let wasBegun = elements[entry.element]?.begin != nil
      elements.update(entry.element) { $0.hear(entry.line, atSeconds: now) }
      switch entry.line {
      case .event(let event): context.events.send(event)
      case .begin(let begin):
        reporter.started(entry.element, begin)
        if !wasBegun, let submitted = elements[entry.element]?.submittedSeconds {
          queuedSeconds = max(queuedSeconds, now - submitted)
        }
      case .end(let end):
        if end.tookHeldLock == true {
          reporter.locksNotShared(entry.element, node: elements[entry.element]?.begin?.host)
        }
      case .capture: break
      }
    }
    return hasNews
  }

  /// Reads results during a cancellation. Only events of the run are passed on as events.
  func hearLastWords() {
    for entry in reader.read(where: { elements[$0] != nil }) {
      elements.update(entry.element) {
        $0.hear(entry.line, atSeconds: context.clock.monotonicSeconds())
      }
      if case .event(let event) = entry.line { context.events.send(event) }
    }
  }
}
