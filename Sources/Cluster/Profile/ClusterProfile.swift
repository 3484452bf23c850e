import Core
import Engine
import SystemPackage
import Yams

/// The settings of a profile file, all optional. Options of the command line take precedence, key
/// by key.
public struct ClusterProfile: Hashable, Sendable, Codable {
  public enum Executor: String, Hashable, Sendable, Codable, CaseIterable {
    case local, slurm
  }

  /// Where files of stages with `keep: false` are.
  public enum Scratch: String, Hashable, Sendable, Codable, CaseIterable {
    /// In the output, like all others.
    case none
    /// On the node's own disk.
    case intermediates
  }

  public var executor: Executor?
  var partition: String?
  var account: String?
  var qos: String?
  /// Per array task.
  var cpus: Int?
  /// Request of the first attempt.
  var memoryBytes: Int64?
  /// Upper limit when the memory is increased for a retry.
  var maxMemoryBytes: Int64?
  /// Per capture.
  var timeSeconds: Int?
  /// Upper limit of the time of an array task.
  var maxTimeSeconds: Int?
  public var group: GroupLimit?
  var maxRunning: Int?
  var maxQueued: Int?
  var pollSeconds: Double?
  var patienceSeconds: Double?
  public var scratch: Scratch?
  @CodedOptionalPath public var program: FilePath? = nil
  var setup: [String] = []
  var extra: [String] = []

  public init() {}
}

/// The size of an array task.
public enum GroupLimit: Hashable, Sendable, Codable {
  case captures(Int)
  case seconds(Double)

  /// Larger numbers are typing errors.
  static let mostCaptures = 1_000_000

  /// Parses a number of captures (`20`) or a duration (`10m`). `nil` for other texts, numbers below
  /// 1 or above `mostCaptures`, and durations below 1 s.
  public init?(_ text: String) {
    if let count = Int(text) {
      guard (1...Self.mostCaptures).contains(count) else { return nil }
      self = .captures(count)
    } else {
      guard let nanoseconds = DurationSyntax.nanoseconds(text), nanoseconds >= 1_000_000_000 else {
        return nil
      }
      self = .seconds(Double(nanoseconds) / 1e9)
    }
  }
}

/// Converts a profile file to a `ClusterProfile` and reports all of its errors at once.
public struct ProfileReader {
  private var diagnostics: DiagnosticList
  private var profile = ClusterProfile()
  /// Positions of the values in the file, by key.
  private var marks: [String: Mark] = [:]

  static let topKeys = ["schema", "executor", "slurm"]
  static let slurmKeys = [
    "partition", "account", "qos", "cpus", "memory", "maxMemory", "time", "maxTime", "group",
    "maxRunning", "maxQueued", "poll", "patience", "scratch", "program", "setup", "extra",
  ]

  /// Reads `text`. `file` is its name in messages.
  public static func read(_ text: String, file: String) throws(PipelineError) -> ClusterProfile {
    // Some editors add a byte order mark.
    let text =
      text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    var reader = ProfileReader(diagnostics: DiagnosticList(file: file, text: text))
    reader.read(text)
    try reader.diagnostics.check()
    return reader.profile
  }

  private mutating func read(_ text: String) {
    guard
      let (root, top) = diagnostics.map(
        of: text, "a profile", with: "'schema', 'executor' and 'slurm'")
    else { return }
    var hasSchema = false
    for (key, value) in top {
      switch key.string ?? "" {
      case "schema":
        hasSchema = true
        if value.string != "1" { diagnostics.add(value.mark, "schema is 1 in this version") }
      case "executor": profile.executor = choice(value, "executor")
      case "slurm":
        // All keys are optional, so the map may be empty.
        if let map = value.mapping {
          for (key, value) in map { setSlurm(key, value) }
        } else if value.scalar?.string.isEmpty != true {
          diagnostics.add(value.mark, "slurm is a map")
        }
      default: diagnostics.unknown(key, among: Self.topKeys, what: "key")
      }
    }
    if !hasSchema { diagnostics.add(root.mark, "'schema: 1' is missing") }
    compare()
  }

  private mutating func setSlurm(_ key: Node, _ value: Node) {
    let name = key.string ?? ""
    marks[name] = value.mark
    switch name {
    case "partition": profile.partition = siteName(value, name)
    case "account": profile.account = siteName(value, name)
    case "qos": profile.qos = siteName(value, name)
    case "cpus": profile.cpus = whole(value, name, 1...1024)
    case "memory": profile.memoryBytes = memory(value, name)
    case "maxMemory": profile.maxMemoryBytes = memory(value, name)
    case "time": profile.timeSeconds = seconds(value, name, Self.times).map { Int($0.rounded(.up)) }
    case "maxTime":
      profile.maxTimeSeconds = seconds(value, name, Self.times).map { Int($0.rounded(.up)) }
    case "group": profile.group = group(value)
    case "maxRunning": profile.maxRunning = whole(value, name, 1...1_000_000)
    case "maxQueued": profile.maxQueued = whole(value, name, 1...1_000_000)
    case "poll": profile.pollSeconds = seconds(value, name, Self.polls)
    case "patience": profile.patienceSeconds = seconds(value, name, Self.patiences)
    case "scratch": profile.scratch = choice(value, name)
    case "program": profile.program = program(value)
    case "setup": profile.setup = texts(value, name, "a list of lines for the shell").map(\.text)
    case "extra": profile.extra = extra(value)
    default: diagnostics.unknown(key, among: Self.slurmKeys, what: "key")
    }
  }

  /// Checks values that must be consistent with each other.
  private mutating func compare() {
    if let asked = profile.memoryBytes, let most = profile.maxMemoryBytes, most < asked {
      diagnostics.add(marks["maxMemory"], "maxMemory is at least memory")
    }
    if let asked = profile.timeSeconds, let most = profile.maxTimeSeconds, most < asked {
      diagnostics.add(marks["maxTime"], "maxTime is at least time")
    }
  }

  // MARK: Kinds of values

  /// A range of durations and its description.
  private typealias Durations = (seconds: ClosedRange<Double>, words: String)

  private static let day = 86_400.0
  private static let times: Durations = (seconds: 60...(365 * day), words: "1min to 365 days")
  private static let polls: Durations = (seconds: 1...3600, words: "1s to 1h")
  private static let patiences: Durations = (seconds: 1...(7 * day), words: "1s to 168h")
  /// About twice what a worker itself needs.
  private static let leastMemoryBytes: Int64 = 64_000_000
  private static let mostMemoryBytes: Int64 = 1_000_000_000_000_000

  private mutating func text(_ node: Node) -> String? {
    guard let scalar = node.scalar else {
      diagnostics.add(node.mark, "a single value is expected here")
      return nil
    }
    return scalar.string
  }

  private mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ node: Node, _ name: String
  ) -> Choice? where Choice.RawValue == String {
    guard let text = text(node) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    let known = Choice.allCases.map(\.rawValue)
    diagnostics.add(
      node.mark,
      "\(name) is \(known.joined(separator: " or "))" + NearestName.suggestion(text, among: known))
    return nil
  }

  private mutating func value<Value>(
    _ node: Node, _ problem: String, _ read: (String) -> Value?
  ) -> Value? {
    guard let text = text(node) else { return nil }
    let value = read(text)
    if value == nil { diagnostics.add(node.mark, problem) }
    return value
  }

  private mutating func whole(_ node: Node, _ name: String, _ range: ClosedRange<Int>) -> Int? {
    value(node, "\(name) is a whole number, \(range.lowerBound) to \(range.upperBound)") {
      Int($0).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  private mutating func memory(_ node: Node, _ name: String) -> Int64? {
    value(node, "\(name) is a size with its unit, such as 4GB, 64MB to 1000TB") {
      SizeText.bytes($0).flatMap {
        (Self.leastMemoryBytes...Self.mostMemoryBytes).contains($0) ? $0 : nil
      }
    }
  }

  private mutating func seconds(_ node: Node, _ name: String, _ range: Durations) -> Double? {
    value(node, "\(name) is a duration with its unit, such as 30min, \(range.words)") {
      DurationSyntax.nanoseconds($0).map { Double($0) / 1e9 }.flatMap {
        range.seconds.contains($0) ? $0 : nil
      }
    }
  }

  private mutating func group(_ node: Node) -> GroupLimit? {
    value(
      node,
      "group is a number of captures, 1 to \(GroupLimit.mostCaptures), or a duration "
        + "with its unit, such as 10min, at least 1s"
    ) { GroupLimit($0) }
  }

  /// A name that the site defines: one word that cannot be mistaken for an option.
  private mutating func siteName(_ node: Node, _ name: String) -> String? {
    value(node, "\(name) is one word that the site knows") { text in
      let isWord = text.unicodeScalars.allSatisfy {
        $0.value > 0x20 && $0.value != 0x7F && !$0.properties.isWhitespace
      }
      return isWord && !text.isEmpty && !text.hasPrefix("-") ? text : nil
    }
  }

  private mutating func program(_ node: Node) -> FilePath? {
    value(node, "program is a whole path, from '/' on, that every node sees") { text in
      text.hasPrefix("/") && text.utf8.count > 1 && !text.utf8.contains(0) ? FilePath(text) : nil
    }
  }

  private mutating func texts(
    _ node: Node, _ name: String, _ what: String
  ) -> [(text: String, mark: Mark?)] {
    guard let list = node.sequence else {
      diagnostics.add(node.mark, "\(name) is \(what)")
      return []
    }
    return list.compactMap { item in
      guard let text = text(item) else { return nil }
      if !text.isEmpty, !text.utf8.contains(0) { return (text, item.mark) }
      diagnostics.add(item.mark, "\(name) is \(what), none of them empty")
      return nil
    }
  }

  private mutating func extra(_ node: Node) -> [String] {
    let words = texts(node, "extra", "a list of options of sbatch")
    for (index, word) in words.enumerated() {
      if index == 0, !word.text.hasPrefix("-") {
        diagnostics.add(word.mark, "an option of sbatch begins with '-'")
      }
      if let remedy = Self.remedy(for: word.text) {
        diagnostics.add(word.mark, remedy)
      }
    }
    return words.map(\.text)
  }

  /// The profile key for the same setting.
  private static let keys: [String: String] = [
    "partition": "partition", "account": "account", "qos": "qos", "cpus-per-task": "cpus",
    "mem": "memory", "mem-per-cpu": "memory", "time": "time",
  ]

  /// Options of `sbatch` that a run must set itself: with other values it would not find its array tasks or misinterpret
  /// how they end.
  private static let fixed: Set<String> = [
    "array", "chdir", "comment", "dependency", "error", "export", "export-file", "help", "input",
    "job-name", "kill-on-invalid-dep", "nodes", "ntasks", "no-requeue", "open-mode", "output",
    "parsable", "requeue", "signal", "test-only", "usage", "version", "wait", "wrap",
  ]

  private static let letters: [Character: String] = [
    "a": "array", "A": "account", "c": "cpus-per-task", "d": "dependency", "D": "chdir",
    "e": "error", "h": "help", "i": "input", "J": "job-name", "n": "ntasks", "N": "nodes",
    "o": "output", "p": "partition", "q": "qos", "t": "time", "x": "exclude", "V": "version",
    "W": "wait",
  ]

  /// The error message for an entry of `extra`; `nil` if it is allowed.
  static func remedy(for word: String) -> String? {
    let name: String
    if word.hasPrefix("--") {
      name = String(word.dropFirst(2).prefix { $0 != "=" })
    } else if word.hasPrefix("-"), let letter = word.dropFirst().first {
      name = letters[letter] ?? ""
    } else {
      return nil
    }
    // Only this form can be merged with the nodes that the run itself avoids.
    if word == "--exclude" || name == "exclude" && !word.hasPrefix("--") {
      return "write it as --exclude=NODES"
    }
    if let key = keys[name] { return "--\(name) is set by the key '\(key)'" }
    return fixed.contains(name) ? "--\(name) is set by scanmill itself" : nil
  }
}
