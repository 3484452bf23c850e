import Core
/// One part of the least possible work, measured in a separate process.
public enum FloorPart: String, Hashable, Sendable, Codable {
  /// Decoding every picture of the video, in one thread, without anything else.
  case decode
  /// Decoding every picture and converting it to RGB, as `color` does by default.
  case convert
  /// Decoding every depth record as the stage does.
  case depth
  /// Decoding every confidence record.
  case confidence
  /// Copying the files that a run wrote into a new folder.
  case copy
}

/// The resources that one part used in one process, without starting the program and opening the
/// capture. The JSON object that the process prints.
public struct FloorSample: Hashable, Sendable, Codable {
  var userSeconds = 0.0
  var systemSeconds = 0.0
  var wallSeconds = 0.0
  /// Number of pictures decoded or copied.
  public var pictures = 0
  /// Sum over all those pictures.
  public var pixels: Int64 = 0
  /// Files and bytes written.
  public var files = 0
  public var bytes: Int64 = 0
  /// Why a part of the input could not be read; the sample covers the rest.
  var problem: String?

  public var cpuSeconds: Double { userSeconds + systemSeconds }

  /// Counts a picture. Sizes come from files, so additions must not trap.
  mutating func count(width: Int, height: Int) {
    pictures += 1
    let (product, isTooMany) = Int64(width).multipliedReportingOverflow(by: Int64(height))
    let (sum, overflow) = pixels.addingReportingOverflow(isTooMany ? .max : product)
    pixels = overflow ? .max : sum
  }

  /// Adds times only.
  mutating func add(_ other: FloorSample) {
    userSeconds += other.userSeconds
    systemSeconds += other.systemSeconds
    wallSeconds += other.wallSeconds
  }
}
