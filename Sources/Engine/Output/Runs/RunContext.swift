import Core
import FoundationEssentials
import SystemPackage

/// Who runs what, where and with which build: the part of `run.json` that is known when a run starts.
public struct RunContext: Sendable, Codable {
  public struct Host: Sendable, Codable, Hashable {
    public var name: String
    var os: String
    var cpu: String
    public var cores: Int
    var memoryBytes: Int64

    public init(name: String, os: String, cpu: String, cores: Int, memoryBytes: Int64) {
      self.name = name
      self.os = os
      self.cpu = cpu
      self.cores = cores
      self.memoryBytes = memoryBytes
    }
  }

  /// The pipeline as it was given, before settings of the command line.
  public struct Pipeline: Sendable, Codable {
    public var name: String
    /// `nil` for one that comes with the program.
    public var path: String?
    /// Path of the file as it was given; the copy beside `run.json` leaves secrets out.
    public var sha256: Digest

    public func encode(to encoder: any Encoder) throws {
      let members: JSONObject = ["name": name, "path": path, "sha256": sha256]
      try members.encode(to: encoder)
    }
  }

  public var program: ProgramIdentity
  var host: Host
  var user: String
  /// The command line without values of secrets.
  var commandLine: [String]
  var workingDirectory: String
  public var pipeline: Pipeline

  /// - Parameters:
  ///   - name: of the pipeline, as it was given.
  ///   - path: of its file; `nil` for one that comes with the program.
  public init(
    program: ProgramIdentity, host: Host, user: String, commandLine: [String],
    pipeline name: String, path: String?, text: String
  ) {
    (self.program, self.host, self.user, self.commandLine) = (program, host, user, commandLine)
    workingDirectory = FileManager.default.currentDirectoryPath
    pipeline = Pipeline(name: name, path: path, sha256: Digest(of: text))
  }
}

/// The object of `run.json`: that of `run --json`, who ran it, and when.
struct RunRecord: Encodable {
  var report: RunReport
  var context: RunContext?
  var started: String
  /// `nil` while the run goes on; there is no exit code then.
  var finished: String?
  var seconds: Double

  private enum Key: CodingKey {
    case exit, started, finished, seconds
  }

  func encode(to encoder: any Encoder) throws {
    try report.encode(to: encoder)
    try context?.encode(to: encoder)
    var object = encoder.container(keyedBy: Key.self)
    if finished == nil { try object.encodeNil(forKey: .exit) }
    try object.encode(started, forKey: .started)
    try object.encode(finished, forKey: .finished)
    try object.encode(seconds, forKey: .seconds)
  }
}
