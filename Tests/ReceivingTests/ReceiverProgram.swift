import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

/// The built program, as `scanmill receive` starts it.
final class ReceiverProgram {
  static let path: FilePath = {
    #if DEBUG
      let configuration = "debug"
    #else
      let configuration = "release"
    #endif
    return Fixtures.projectRoot.appending(".build").appending(configuration)
      .appending("scanmill-receive")
  }()

  let running: Running
  let port: Int

  /// Starts it and waits for its address.
  ///
  /// - Parameter errors: where its log goes; `nil` for where the test can read it.
  init(_ staging: FilePath, _ options: [String] = [], errors: FilePath? = nil) throws {
    let words = [staging.string, "--listen", "127.0.0.1:0", "--reserve", "0"] + options
    let running =
      if let errors {
        try Running(
          "/bin/sh", ["-c", "exec \"$0\" \"$@\" 2>'\(errors)'", Self.path.string] + words)
      } else {
        try Running(Self.path, words)
      }
    self.running = running
    try Waiting.until("an address") {
      try !running.process.isRunning || running.outputSoFar().hasSuffix("/\n")
    }
    let line = try running.outputSoFar()
    let digits = line.split(separator: ":").last.map { $0.prefix { $0 != "/" } } ?? ""
    let errors = try running.errorsSoFar()
    port = try #require(Int(digits), "\(line) \(errors)")
    #expect(line == "listening on http://127.0.0.1:\(port)/\n")
  }

  static func run(_ arguments: [String]) throws -> Running.Result {
    try Running(path, arguments).finish()
  }
}
