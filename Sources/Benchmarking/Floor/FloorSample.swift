import FoundationEssentials

/// One part of the least that can be done, measured alone in a process of its own.
public enum FloorPart: String, Hashable, Sendable, Codable {
  /// Every picture of the video out of the decoder, one thread, nothing else.
  case decode
  /// The same, each picture turned into RGB as `color` does by default.
  case convert
  /// Every depth record decoded as the stage does.
  case depth
  /// Every confidence record.
  case confidence
  /// The files that a run wrote, read and written once more into a new folder.
  case copy
}

/// What one part took in one process: the work alone, without starting the program and opening the capture.
/// The object that the part's process prints.
public struct FloorSample: Hashable, Sendable, Codable {
  public var userSeconds: Double
  public var systemSeconds: Double
  public var wallSeconds: Double
  /// Pictures decoded or copied.
  public var pictures: Int
  /// Of all those pictures together.
  public var pixels: Int64
  /// Files and bytes written.
  public var files: Int
  public var bytes: Int64
  /// What kept a part of the input from being read; the sample is of the rest.
  public var problem: String?

  public init(
    userSeconds: Double, systemSeconds: Double, wallSeconds: Double, pictures: Int = 0,
    pixels: Int64 = 0, files: Int = 0, bytes: Int64 = 0, problem: String? = nil
  ) {
    self.userSeconds = userSeconds
    self.systemSeconds = systemSeconds
    self.wallSeconds = wallSeconds
    self.pictures = pictures
    self.pixels = pixels
    self.files = files
    self.bytes = bytes
    self.problem = problem
  }

  public init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(FloorSample.self, from: Data(json))
  }

  public var cpuSeconds: Double { userSeconds + systemSeconds }

  /// Times only.
  mutating func add(_ other: FloorSample) {
    userSeconds += other.userSeconds
    systemSeconds += other.systemSeconds
    wallSeconds += other.wallSeconds
  }
}
