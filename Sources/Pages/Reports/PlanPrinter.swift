import Core
import Engine

/// Prints plans: as JSON or at length one by one, else captures with the same plan together at the end. Keeps counts
/// only, and one entry per kind of plan.
public struct PlanPrinter {
  /// The printed form of a plan.
  public struct Page: Sendable {
    var bytes: [UInt8]
    var counts: PlanCounts
    var isUnreadable: Bool
    var id: String
    /// What is to be done, without the capture; empty: nothing.
    var group: String
    var removed: [RemovedResult]
  }

  private struct Group {
    var text: String
    var first: String
    var count: Int
  }

  public private(set) var counts = PlanCounts()
  /// Number of captures that cannot be opened.
  public private(set) var unreadable = 0
  private let json: Bool
  private let isVerbose: Bool
  private let inner: Set<String>
  private var groups: [Group] = []
  private var groupIndex: [String: Int] = [:]
  private let change: RequestChange
  private let write: ([UInt8]) -> Void
  /// Of captures of which something would go.
  private var removed: [[RemovedResult]] = []
  private var waiting: [UInt8] = []
  private var isFirst = true

  /// - Parameters:
  ///   - isVerbose: one by one, with every stage.
  ///   - inner: steps inside of stages, which are not told of otherwise.
  ///   - change: what the plans redo because settings have changed; included in JSON.
  public init(
    json: Bool, isVerbose: Bool = true, inner: Set<String> = [],
    change: RequestChange = RequestChange(), write: @escaping ([UInt8]) -> Void
  ) {
    self.isVerbose = isVerbose
    self.inner = inner
    self.change = change
    self.json = json
    self.write = write
  }

  /// Formats a plan. The expensive part; may be called by any thread.
  public var render: @Sendable (CapturePlan) throws -> Page {
    { [json, isVerbose, inner] plan in
      var told = plan
      if !isVerbose { told.jobs.removeAll { inner.contains($0.stage) } }
      let capture = PlannedCapture(told)
      return Page(
        bytes: json
          ? try JSONText.canonical(capture) : isVerbose ? Array(capture.text.utf8) : [],
        counts: PlanCounts(told), isUnreadable: plan.error != nil, id: plan.id,
        group: json || isVerbose ? "" : capture.group, removed: plan.removedResults)
    }
  }

  public mutating func print(_ page: Page) throws {
    counts.add(page.counts)
    if page.isUnreadable { unreadable += 1 }
    if !json, !page.removed.isEmpty { removed.append(page.removed) }
    guard json || isVerbose else {
      if let index = groupIndex[page.group] {
        groups[index].count += 1
      } else {
        groupIndex[page.group] = groups.count
        groups.append(Group(text: page.group, first: page.id, count: 1))
      }
      return
    }
    if json { waiting += isFirst ? try frame().head : [UInt8(ascii: ",")] }
    if json || !isFirst { waiting.append(UInt8(ascii: "\n")) }
    isFirst = false
    waiting += page.bytes
    if waiting.count > 1 << 16 { flush() }
  }

  /// Prints the end of the JSON object, or the counts.
  public mutating func finish() throws {
    if json {
      let frame = try frame()
      waiting += (isFirst ? frame.head : []) + frame.tail
    } else {
      for group in groups.filter({ !$0.text.isEmpty }) + groups.filter(\.text.isEmpty) {
        let who = group.count == 1 ? group.first.onOneLine : "\(group.count) captures"
        waiting += Array(
          (group.text.isEmpty ? "\(group.count) up to date\n" : "\(who): \(group.text)\n").utf8)
      }
      if !isFirst { waiting.append(UInt8(ascii: "\n")) }
      for line in RemovedResult.lines(removed) {
        waiting += Array("would be removed: \(line)\n".utf8)
      }
      waiting += Array(counts.text.utf8)
    }
    waiting.append(UInt8(ascii: "\n"))
    flush()
  }

  private mutating func flush() {
    write(waiting)
    waiting.removeAll(keepingCapacity: true)
  }

  /// The JSON object without captures, split where they are inserted. It tells with what plans are compared: the
  /// request of this command line, whatever earlier requests were.
  private func frame() throws -> (head: [UInt8], tail: [UInt8]) {
    let document: JSONObject = [
      "schema": 1, "captures": [String](), "comparedWith": ComparisonNotion.commandLine,
      "settings": change.isNone ? nil : change.settings,
    ]
    let empty = try JSONText.canonical(document.withoutNulls)
    let end = empty.firstIndex(of: UInt8(ascii: "]")) ?? empty.endIndex
    return (Array(empty[..<end]), Array(empty[end...]))
  }
}
