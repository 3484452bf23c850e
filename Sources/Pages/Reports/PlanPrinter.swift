import Engine

/// Prints plans one by one. Keeps only counts, whatever the number of captures.
public struct PlanPrinter {
  /// The printed form of a plan.
  public struct Page: Sendable {
    var bytes: [UInt8]
    var counts: PlanCounts
    var isUnreadable: Bool
  }

  public private(set) var counts = PlanCounts()
  /// Number of captures that cannot be opened.
  public private(set) var unreadable = 0
  private let json: Bool
  private let change: RequestChange
  private let write: ([UInt8]) -> Void
  private var waiting: [UInt8] = []
  private var isFirst = true

  /// - Parameter change: what the plans redo because settings have changed; included in JSON.
  public init(
    json: Bool, change: RequestChange = RequestChange(), write: @escaping ([UInt8]) -> Void
  ) {
    self.change = change
    self.json = json
    self.write = write
  }

  /// Formats a plan. The expensive part; may be called by any thread.
  public var render: @Sendable (CapturePlan) throws -> Page {
    { [json] plan in
      let capture = PlannedCapture(plan)
      return Page(
        bytes: json ? try JSONText.canonical(capture) : Array(capture.text.utf8),
        counts: PlanCounts(plan), isUnreadable: plan.error != nil)
    }
  }

  public mutating func print(_ page: Page) throws {
    counts.add(page.counts)
    if page.isUnreadable { unreadable += 1 }
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
      waiting += Array(((isFirst ? "" : "\n") + counts.text).utf8)
    }
    waiting.append(UInt8(ascii: "\n"))
    flush()
  }

  private mutating func flush() {
    write(waiting)
    waiting.removeAll(keepingCapacity: true)
  }

  /// The JSON object without captures, split where they are inserted.
  private func frame() throws -> (head: [UInt8], tail: [UInt8]) {
    let empty = try JSONText.canonical(PlanText([], change: change))
    let end = empty.firstIndex(of: UInt8(ascii: "]")) ?? empty.endIndex
    return (Array(empty[..<end]), Array(empty[end...]))
  }
}
