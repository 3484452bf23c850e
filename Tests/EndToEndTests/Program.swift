import Foundation
import SystemPackage
import TestSupport
import Testing

/// The built binary, run as a user runs it.
enum Program {
  /// Beside the test bundle, in the configuration that the tests were built in.
  static let path: FilePath = {
    #if DEBUG
      let configuration = "debug"
    #else
      let configuration = "release"
    #endif
    return Fixtures.projectRoot.appending(".build").appending(configuration).appending("scanmill")
  }()

  typealias Result = Running.Result

  /// Runs to the end.
  static func run(
    _ arguments: [String], in folder: FilePath? = nil, environment: [String: String]? = nil
  ) throws -> Result {
    try start(arguments, in: folder, environment: environment).finish()
  }

  static func run(
    _ words: Words, in folder: FilePath? = nil, environment: [String: String]? = nil
  ) throws -> Result {
    try run(words.list, in: folder, environment: environment)
  }

  /// Runs a line of a page, as people type it into a shell: with quotes, in which `scanmill` is the built binary.
  static func run(line: String, in folder: FilePath) throws -> Result {
    var environment = ProcessInfo.processInfo.environment
    environment["PATH"] =
      path.removingLastComponent().string + ":" + (environment["PATH"] ?? "/usr/bin:/bin")
    return try Running("/bin/sh", ["-c", line], in: folder, environment: environment).finish()
  }

  /// Starts without waiting. `environment`: `nil` for that of the tests.
  static func start(
    _ arguments: [String], in folder: FilePath? = nil, environment: [String: String]? = nil
  ) throws -> Running {
    try Running(path, arguments, in: folder, environment: environment)
  }

  /// Starts as user `nobody`.
  static func startUnprivileged(_ words: Words) throws -> Running {
    try Running(
      "/usr/bin/setpriv",
      ["--reuid=65534", "--regid=65534", "--clear-groups", path.string] + words.list)
  }

  static func start(
    _ words: Words, in folder: FilePath? = nil, environment: [String: String]? = nil
  ) throws -> Running {
    try start(words.list, in: folder, environment: environment)
  }
}

/// Words of a command line with blanks between them. What is interpolated stays within its word, whatever blanks it
/// has; a list is words of its own.
struct Words: ExpressibleByStringInterpolation {
  let list: [String]

  init(stringLiteral text: String) {
    list = text.split(separator: " ").map(String.init)
  }

  init(stringInterpolation text: StringInterpolation) { list = text.list }

  struct StringInterpolation: StringInterpolationProtocol {
    var list: [String] = []
    /// Whether what follows belongs to the last word.
    private var isOpen = false

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ text: String) {
      for (index, part) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated()
      {
        if index > 0 { isOpen = false }
        if !part.isEmpty { add(String(part)) }
      }
    }

    mutating func appendInterpolation(_ value: some CustomStringConvertible) { add("\(value)") }

    mutating func appendInterpolation(_ words: [String]) {
      list += words
      isOpen = false
    }

    private mutating func add(_ text: String) {
      if isOpen { list[list.count - 1] += text } else { list.append(text) }
      isOpen = true
    }
  }
}

/// Documents that list captures: of runs, `status`, `report` and others.
extension [String: Any] {
  /// The first capture of a document; fails the test where there is none.
  func capture() throws -> [String: Any] { try #require(objects("captures").first) }

  /// The captures of a document by their ids.
  func captures() throws -> [String: [String: Any]] {
    let list = try objects("captures").map { ($0["id"] as? String ?? "", $0) }
    return [String: [String: Any]](list, uniquingKeysWith: { first, _ in first })
  }
}

extension Running.Result {
  /// What was printed, with lines joined that were broken because of the width of the terminal.
  var unwrapped: String { output.replacing("\n      ", with: " ") }
}
