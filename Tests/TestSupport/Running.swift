import Foundation
import SystemPackage
import Testing

/// A program of any kind at work: the one that is tested, those of others, scripts. The one place of the tests that
/// starts processes and reads what they print.
public final class Running {
  public let process = Process()
  private let output: FilePath
  private let errors: FilePath
  private let folder: TemporaryFolder

  /// How a program ended and what it printed.
  public struct Result: Sendable {
    /// The exit code; of one that a signal ended, minus the number of the signal.
    public var status: Int32
    public var outputBytes: [UInt8]
    /// Empty where the errors were merged into the output.
    public var errors: String

    public var output: String { String(decoding: outputBytes, as: UTF8.self) }

    /// Fails the test where it did not succeed, with what it says.
    @discardableResult
    public func succeeds(at location: SourceLocation = #_sourceLocation) -> Result {
      #expect(status == 0, "\(errors)", sourceLocation: location)
      return self
    }

    /// Standard output as JSON.
    public func json() throws -> [String: Any] {
      try Data(outputBytes).json()
    }
  }

  /// Starts it, with nothing to read.
  ///
  /// - Parameters:
  ///   - workFolder: that it works in; `nil` for that of the tests.
  ///   - environment: `nil` for that of the tests.
  ///   - mergesErrors: whether its errors stand in its output, where they were printed.
  public init(
    _ program: FilePath, _ arguments: [String], in workFolder: FilePath? = nil,
    environment: [String: String]? = nil, mergesErrors: Bool = false
  ) throws {
    Self.hearHangups
    // Files, not pipes: nothing blocks however much is written, and what it leaves running does not keep us waiting.
    folder = try TemporaryFolder()
    output = folder.path.appending("stdout")
    errors = folder.path.appending("stderr")
    for file in [output, errors] {
      #expect(FileManager.default.createFile(atPath: file.string, contents: nil))
    }
    process.executableURL = URL(filePath: program.string)
    process.arguments = arguments
    if let environment { process.environment = environment }
    if let workFolder { process.currentDirectoryURL = URL(filePath: workFolder.string) }
    let handles = try [output, errors].map {
      try FileHandle(forWritingTo: URL(filePath: $0.string))
    }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handles[0]
    process.standardError = handles[mergesErrors ? 0 : 1]
    try process.run()
    // The program has its own; thousands of ours would add up, for Foundation keeps them.
    for handle in handles { try handle.close() }
  }

  /// Waits for its end, and not for ever.
  public func finish() throws -> Result {
    process.waitForEnd()
    let status =
      process.terminationReason == .exit
      ? process.terminationStatus : -process.terminationStatus
    return Result(
      status: status, outputBytes: Array(try output.data()),
      errors: try errors.text())
  }

  /// Tests that were started with `nohup` ignore hang-ups, and so would everything that they start. A signal that is
  /// caught is heard again by a program that is executed.
  private static let hearHangups: Void = {
    guard let before = signal(SIGHUP, { _ in }), unsafeBitCast(before, to: Int.self) != 1 else {
      return
    }
    signal(SIGHUP, before)
  }()

  /// What it has printed to standard output until now.
  public func outputSoFar() throws -> String {
    String(decoding: try output.data(), as: UTF8.self)
  }

  /// What it has printed to standard error until now.
  public func errorsSoFar() throws -> String {
    String(decoding: try errors.data(), as: UTF8.self)
  }

  /// Kills it, and nothing that it has started, as soon as `moment` has come.
  ///
  /// - Returns: whether it was at work then; it may have ended before.
  public func kill(when moment: () throws -> Bool) throws -> Bool {
    try Waiting.until("the moment of a kill") {
      // The run loop of this thread hears of its end.
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
      return try !process.isRunning || moment()
    }
    let isAtWork = process.isRunning
    Foundation.kill(process.processIdentifier, SIGKILL)
    _ = try finish()
    return isAtWork
  }

  /// Ends it by force, with all that it has started.
  public func kill() throws {
    ProcessTree.kill(from: process.processIdentifier)
    _ = try finish()
  }
}
