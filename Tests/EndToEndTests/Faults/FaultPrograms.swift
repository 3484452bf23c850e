import Foundation
import SystemPackage
import TestSupport
import Testing

extension Program {
  /// How a program has ended, with all that it and a receiver beside it said.
  struct Outcome {
    var status: Int32
    var text: String
    /// The receiver ended otherwise than told to.
    var trouble = ""
    var isDone: Bool { status == 0 && trouble.isEmpty }
  }

  /// Runs to the end. One that hangs ends with 124.
  static func bounded(_ words: String...) throws -> Outcome {
    let result = try Running(
      "/usr/bin/timeout", ["-k", "5", "100", path.string] + words, in: nil
    ).finish()
    return Outcome(status: result.status, text: result.output + result.errors)
  }

  /// With a receiver on a folder, whose address `body` is given. One that does not listen has told why.
  static func receiving(
    into folder: FilePath, _ body: (String) throws -> Outcome
  ) throws -> Outcome {
    let receiver = try Running(
      path, ["receive", folder.string, "--listen", "127.0.0.1:0", "--reserve", "0"],
      in: nil)
    var address: String?
    _ = try Waiting.until("the receiver to listen or to end") {
      let said = try receiver.outputSoFar()
      address = said.firstMatch(of: #/listening on (http:\S+)\n/#).map { String($0.1) }
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
      return address != nil || !receiver.process.isRunning
    }
    guard let address else {
      let ended = try receiver.finish()
      return Outcome(status: ended.status, text: ended.errors)
    }
    var outcome = try body(address)
    kill(receiver.process.processIdentifier, SIGTERM)
    let ended = try receiver.finish()
    outcome.text += ended.errors
    if ended.status != 143 { outcome.trouble = "the receiver ended with \(ended.status)" }
    return outcome
  }
}
