import Engine

/// The array tasks of a run that have not been decided about, by number, and the progress of the
/// work. All parts of a run read them.
final class LiveElements {
  private var elements: [Int: LiveElement] = [:]
  /// Number of tasks that have been decided about.
  private(set) var endedCount = 0
  /// Estimated seconds of work of those tasks.
  private(set) var secondsDone = 0.0

  subscript(number: Int) -> LiveElement? { elements[number] }

  var isEmpty: Bool { elements.isEmpty }
  var count: Int { elements.count }
  var all: some Collection<LiveElement> { elements.values }
  /// Ascending.
  var numbers: [Int] { elements.keys.sorted() }

  /// Number of submitted tasks.
  var submittedCount: Int { elements.values.count { $0.task != nil } }
  /// Number of tasks that are not submitted yet.
  var unsubmittedCount: Int { elements.values.count { $0.task == nil } }
  /// IDs of the arrays of submitted tasks, each once, in alphabetical order.
  var jobs: [String] { Set(elements.values.compactMap { $0.task?.job }).sorted() }
  /// Tasks that are known to be pending.
  var waiting: [LiveElement] {
    elements.values.filter { $0.begin == nil && $0.view?.state == .pending }
  }
  /// Estimated seconds of work of all tasks that have not been decided about.
  var secondsLeft: Double { elements.values.reduce(0) { $0 + $1.expectedSeconds } }

  func add(_ new: [LiveElement]) {
    for element in new { elements[element.number] = element }
  }

  /// Restores the tasks of a run that another process began.
  func resume(_ known: [LiveElement], endedCount: Int) {
    add(known)
    self.endedCount = endedCount
  }

  /// Changes a task; does nothing if it does not exist.
  func update(_ number: Int, _ change: (inout LiveElement) -> Void) {
    guard var element = elements[number] else { return }
    change(&element)
    elements[number] = element
  }

  /// Removes a task that has been decided about.
  func settle(_ number: Int) {
    guard let element = elements.removeValue(forKey: number) else { return }
    endedCount += 1
    secondsDone += element.expectedSeconds
  }

  /// Removes a task that never started.
  func drop(_ number: Int) { elements[number] = nil }

  func dropAll() { elements = [:] }
}
