import Core

/// Slurm's notation for one or more array tasks: `34_5`, `34_[2-9%2]`, `7_[1,3,7-9]`, `12`.
struct TaskKey: Hashable {
  var job: String
  /// `nil` for a job without an array.
  var indices: RangeSet<Int>?

  /// `nil` for other texts, such as steps (`34_5.batch`) and components of heterogeneous jobs
  /// (`12+0`).
  init?(_ text: some StringProtocol) {
    guard let (job, rest) = Self.split(text) else { return nil }
    self.job = job
    guard let rest else { return }
    let isList = rest.hasPrefix("[") && rest.hasSuffix("]")
    indices =
      isList
      ? Self.indices(rest.dropFirst().dropLast())
      : Self.index(rest).map { RangeSet($0..<$0 + 1) }
    if indices == nil { return nil }
  }

  /// Splits at the first `_` into job ID and indices.
  private static func split(_ text: some StringProtocol) -> (String, Substring?)? {
    let parts = String(text).split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
    guard let job = parts.first, isJob(job) else { return nil }
    return (String(job), parts.count > 1 ? parts[1] : nil)
  }

  /// Whether this is a job ID: 1 or more, at most 18 digits.
  static func isJob(_ text: some StringProtocol) -> Bool {
    let digits = text.utf8
    return (1...18).contains(digits.count) && digits.first != UInt8(ascii: "0")
      && digits.allSatisfy(\.isDigit)
  }

  /// Slurm's upper limit of `MaxArraySize`. It is larger than every index, so it also ends a list
  /// that Slurm has cut.
  static let mostIndices = 4_000_001

  private static func index(_ text: some StringProtocol) -> Int? {
    guard (1...7).contains(text.utf8.count),
      text.utf8.allSatisfy(\.isDigit),
      let index = Int(text), index < mostIndices
    else { return nil }
    return index
  }

  /// Parses `2-9%2`, `0-3`, `1,3,7-9`, `0-20:4`. Slurm cuts long lists with `...`: then every index
  /// from there on may be included.
  private static func indices(_ text: Substring) -> RangeSet<Int>? {
    let list = text.prefix { $0 != "%" }
    var found = RangeSet<Int>()
    var next = 0
    for piece in list.split(separator: ",", omittingEmptySubsequences: false) {
      if piece.hasSuffix("...") {
        let start = piece.dropLast(3).prefix { $0 != "-" }
        found.insert(contentsOf: (index(start) ?? next)..<mostIndices + 1)
        break
      }
      guard let more = range(piece) else { return nil }
      for range in more { found.insert(contentsOf: range) }
      next = more.last?.upperBound ?? next
    }
    return found.isEmpty ? nil : found
  }

  /// Parses `4` or `2-9`. Only `0-20:4` is expanded to single indices.
  private static func range(_ text: Substring) -> [Range<Int>]? {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first else { return nil }
    let ends = first.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let start = ends.first.flatMap({ index($0) }), let end = ends.last.flatMap({ index($0) }),
      start <= end
    else { return nil }
    guard parts.count == 2 else { return [start..<end + 1] }
    guard let step = index(parts[1]), step > 0 else { return nil }
    if step == 1 { return [start..<end + 1] }
    return stride(from: start, through: end, by: step).map { $0..<$0 + 1 }
  }
}

extension TaskTable {
  /// Adds the state of the tasks of `key`; later rows replace earlier ones.
  mutating func add(_ key: TaskKey, _ view: TaskView) {
    guard let indices = key.indices else {
      tasks[TaskID(job: key.job, index: nil)] = view
      return
    }
    if let one = indices.ranges.first, indices.ranges.count == 1, one.count == 1 {
      tasks[TaskID(job: key.job, index: one.lowerBound)] = view
    } else {
      folded.append(FoldedTasks(job: key.job, indices: indices, view: view))
    }
  }
}
