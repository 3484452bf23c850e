import Foundation
import SystemPackage
import TestSupport

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
}

extension Running.Result {
  /// What was printed, with lines joined that were broken because of the width of the terminal.
  var unwrapped: String { output.replacing("\n      ", with: " ") }
}
