import Output
import Runner

/// The elements of a run that nothing has been decided about yet, by number, and how much of the work is done. Every
/// part of a run reads them; they change when something is heard, submitted or decided.
final class LiveElements {
  private var elements: [Int: LiveElement] = [:]
  /// How many were decided about.
  private(set) var endedCount = 0
  /// Seconds of work that those were expected to take.
  private(set) var secondsDone = 0.0

  subscript(number: Int) -> LiveElement? { elements[number] }

  var isEmpty: Bool { elements.isEmpty }
  var count: Int { elements.count }
  var all: some Collection<LiveElement> { elements.values }
  /// Ascending.
  var numbers: [Int] { elements.keys.sorted() }

  /// How many have been submitted.
  var submittedCount: Int { elements.values.count { $0.task != nil } }
  /// How many wait to be submitted.
  var unsubmittedCount: Int { elements.values.count { $0.task == nil } }
  /// Ids of the arrays of those that have been submitted, each once, in alphabetical order.
  var jobs: [String] { Set(elements.values.compactMap { $0.task?.job }).sorted() }
  /// Those that wait in the queue, as far as is known.
  var waiting: [LiveElement] {
    elements.values.filter { $0.begin == nil && $0.view?.state == .pending }
  }
  /// Seconds of work that are expected of them.
  var secondsLeft: Double { elements.values.reduce(0) { $0 + $1.expectedSeconds } }

  func add(_ new: [LiveElement]) {
    for element in new { elements[element.number] = element }
  }

  /// Those of a run that another process began.
  func resume(_ known: [LiveElement], endedCount: Int) {
    add(known)
    self.endedCount = endedCount
  }

  /// Changes one that is here; does nothing else.
  func update(_ number: Int, _ change: (inout LiveElement) -> Void) {
    guard var element = elements[number] else { return }
    change(&element)
    elements[number] = element
  }

  /// It has been decided about.
  func settle(_ number: Int) {
    guard let element = elements.removeValue(forKey: number) else { return }
    endedCount += 1
    secondsDone += element.expectedSeconds
  }

  /// It is given up without having worked.
  func drop(_ number: Int) { elements[number] = nil }

  func dropAll() { elements = [:] }
}
