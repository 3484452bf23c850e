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

  struct Result {
    var status: Int32
    var output: String
    var errors: String

    /// Standard output as JSON.
    func json() throws -> [String: Any] {
      try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }
  }

  /// Runs to the end.
  static func run(
    _ arguments: [String], in folder: FilePath? = nil, environment: [String: String]? = nil
  ) throws -> Result {
    try start(arguments, in: folder, environment: environment).finish()
  }

  /// Starts without waiting. `environment`: `nil` for that of the tests.
  static func start(
    _ arguments: [String], in folder: FilePath? = nil, environment: [String: String]? = nil
  ) throws -> Running {
    try Running(path, arguments, in: folder, environment: environment)
  }
}

/// A program at work.
final class Running {
  let process = Process()
  private let output: FilePath
  private let errors: FilePath
  private let folder: TemporaryFolder

  init(
    _ program: FilePath, _ arguments: [String], in workFolder: FilePath?,
    environment: [String: String]? = nil
  ) throws {
    // Files, not pipes: nothing blocks however much is written.
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
    process.standardOutput = handles[0]
    process.standardError = handles[1]
    try process.run()
    // The program has its own; thousands of ours would add up, for Foundation keeps them.
    for handle in handles { try handle.close() }
  }

  func finish() throws -> Program.Result {
    process.waitForEnd()
    let status =
      process.terminationReason == .exit
      ? process.terminationStatus : -process.terminationStatus
    return Program.Result(
      status: status, output: try String(contentsOfFile: output.string, encoding: .utf8),
      errors: try String(contentsOfFile: errors.string, encoding: .utf8))
  }
}
