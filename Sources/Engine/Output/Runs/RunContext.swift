import Core
import FoundationEssentials
import Glibc
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

/// The id of a run: `20261122T013000-4711-9f8e7d6c-3a5b1f`, which sorts by time.
///
/// Behind the time: the process, where its number counts (`ProcessHome`), and a random part, so that runs
/// of several machines and containers into one output never share an id. Holds no dot.
public struct RunID: Hashable, Sendable {
  public let text: String
  package let process: Int32
  let home: String

  /// A new one that is not alive any more when this process has ended. Two calls never give the same, on
  /// no machine.
  ///
  /// - Parameter wallText: UTC, ISO 8601.
  init(wallText: String) {
    let time = wallText.filter { $0.isNumber || $0 == "T" }.prefix(15)
    let salt = UInt32.random(in: 0..<(1 << 24)).padded(6, radix: 16)
    process = getpid()
    home = ProcessHome.current
    text = "\(time)-\(process)-\(ProcessHome.current)-\(salt)"
  }

  /// Fails if the text is no id of ours.
  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    func isHex(_ text: String, _ count: Int) -> Bool {
      text.utf8.count == count && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
    let time = Array(parts[0].utf8)
    guard parts.count == 4, isHex(parts[2], 8), isHex(parts[3], 6),
      time.count == 15, time[8] == UInt8(ascii: "T"),
      (time[..<8] + time[9...]).allSatisfy(\.isDigit),
      parts[1].utf8.allSatisfy(\.isDigit), let process = Int32(parts[1])
    else { return nil }
    self.text = text
    self.process = process
    home = parts[2]
  }

  /// When it was made, by its own text, in nanoseconds since 1970; `nil` for a time that does not exist.
  package var madeNanoseconds: Int64? { Self.timeText(of: text).flatMap(UTCText.nanoseconds) }

  /// `20261122T013000-…` as `2026-11-22T01:30:00Z`; `nil` for what does not begin like an id.
  static func timeText(of id: String) -> String? {
    let digits = Array(id.utf8.prefix(15))
    guard digits.count == 15, digits[8] == UInt8(ascii: "T") else { return nil }
    let text = String(decoding: digits, as: UTF8.self)
    func part(_ from: Int, _ count: Int) -> Substring { text.dropFirst(from).prefix(count) }
    return
      "\(part(0, 4))-\(part(4, 2))-\(part(6, 2))T\(part(9, 2)):\(part(11, 2)):\(part(13, 2))Z"
  }

  /// Whether the process that made it may still be at work. One of another machine, container or boot cannot be asked:
  /// what it has not written to for a day is at work no more.
  package func mayGoOn(secondsSinceChange seconds: Int64) -> Bool { isAlive ?? (seconds < 86400) }

  /// Whether the process that made it still runs; `nil` where that cannot be told from here.
  package var isAlive: Bool? {
    home == ProcessHome.current ? ProcessHome.isAlive(process) : nil
  }
}
