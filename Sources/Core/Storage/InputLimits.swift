import SystemPackage

/// An upper limit for a number in an input file.
public struct InputLimit: Sendable, Hashable {
  /// The counted items: `tracks`, `bytes of a JSON file`.
  public let what: String
  public let most: Int
  /// The reason for the limit.
  let reason: String

  public init(_ what: String, most: Int, _ reason: String) {
    self.what = what
    self.most = most
    self.reason = reason
  }

  /// Throws an error with file, number and limit if `number` exceeds the limit.
  public func check(_ number: Int, of path: FilePath) throws(FileError) {
    if let problem = problem(number) {
      throw FileError(kind: .other, path: path, operation: "read", reason: problem)
    }
  }

  /// A message if `number` exceeds the limit; otherwise `nil`.
  public func problem(_ number: Int) -> String? {
    number <= most ? nil : "\(number) \(what), at most \(most) are read: \(reason)"
  }
}

/// All limits on input. A reader checks a number from a header, or a count so far, before it
/// allocates memory or does work in proportion to it.
///
/// Each limit is far above what the apps write, but low enough that kilobytes of input cannot cost
/// gigabytes of memory or minutes of time.
public enum InputLimits {
  // MARK: Pictures

  /// More than any camera has: 8K video has 33 million, a phone's panorama 63 million.
  public static let pixelsOfPicture = InputLimit(
    "pixels in a picture", most: 1 << 27, "three bytes of memory each")
  public static let sideOfPicture = InputLimit(
    "pixels along a picture's side", most: 32_768, "no camera has more")
  /// Each scan of a progressive JPEG costs a pass over the whole picture, even if it has two bytes.
  /// Encoders write about ten; libjpeg-turbo's own fuzzers stop at 500.
  public static let scansOfJPEG = InputLimit(
    "scans in a JPEG picture", most: 100, "each costs a pass over all pixels")
  /// Passes times pixels: 100 scans of a phone's picture, fewer of larger ones.
  public static let scannedPixelsOfJPEG = InputLimit(
    "pixels in all scans of a JPEG picture", most: 1 << 31, "each costs time")
  public static let bytesOfPicture = InputLimit(
    "bytes in a picture file", most: 1 << 29, "it is read as a whole")

  // MARK: Movies

  /// Phones write three to six: video, sound, metadata.
  public static let tracksOfMovie = InputLimit(
    "tracks in a movie", most: 64, "each costs a pass over all others")
  /// Every sample has at least one byte in the file. Without a limit, a table of a few bytes could
  /// claim any number.
  public static let samplesOfMovie = InputLimit(
    "samples in a track", most: 1 << 24, "78 hours at 60 pictures a second")
  /// Several copies of `moov` are in memory.
  public static let bytesOfMovieIndex = InputLimit(
    "bytes in a movie's index", most: 1 << 28, "it is held in memory")
  /// Every box of the index is visited.
  public static let boxesOfMovieIndex = InputLimit(
    "boxes in a movie's index", most: 1 << 16, "each is looked at")
  /// Apple's files have eight levels.
  public static let depthOfMovieIndex = InputLimit(
    "boxes inside each other", most: 32, "each takes memory on the stack")

  // MARK: Texts

  /// The tables of an hour are about 80 MB.
  public static let bytesOfJSON = InputLimit(
    "bytes in a JSON file", most: 1 << 27, "it is held in memory several times over")
  public static let bytesOfLine = InputLimit(
    "bytes in a line of JSON", most: 1 << 20, "a line describes a frame")
  public static let bytesOfDescription = InputLimit(
    "bytes in a capture's description", most: 1 << 26, "descriptions have some thousand")
  /// Decoders are recursive. Files of the apps have four levels.
  public static let depthOfJSON = InputLimit(
    "brackets inside each other", most: 64, "each takes memory on the stack")
  /// For calibrations and pipelines.
  public static let bytesOfSettings = InputLimit(
    "bytes in a settings file", most: 1 << 20, "a page of text is usual")
  static let depthOfYAML = InputLimit(
    "levels inside each other", most: 64, "each takes memory on the stack")
  /// Nested aliases can expand a kilobyte to gigabytes; nine levels of nine suffice.
  static let aliasesOfYAML = InputLimit(
    "aliases in a YAML file", most: 32, "a few are usual")

  // MARK: Records of scanmill

  /// A record lists every file of an artifact: a million files take about 150 MB.
  public static let bytesOfRecord = InputLimit(
    "bytes in a record", most: 1 << 29, "it is held in memory")

  // MARK: Tables

  /// Inertial sensors give 100 to 1000 records per second and sensor.
  public static let samplesOfIMU = InputLimit(
    "records in an IMU file", most: 1 << 22, "11 hours at 100 records a second")
  /// Rows of a text table have about 50 bytes.
  public static let bytesOfTable = InputLimit(
    "bytes in a table", most: 1 << 31, "11 hours at 1000 rows a second")
  public static let framesOfCapture = InputLimit(
    "frames in a capture", most: 1 << 22, "19 hours at 60 frames a second")
}

extension InputLimits {
  /// Why a YAML text must not be given to a recursive parser: brackets, sequences or indents are too deep, or there are so
  /// many aliases that it may expand without limit. `nil` if it can be parsed. Quotes are not
  /// considered, because settings files have few brackets in them.
  ///
  /// Cost: one pass over the bytes.
  public static func problem(inYAML text: String) -> String? {
    if let problem = bytesOfSettings.problem(text.utf8.count) { return problem }
    var brackets = 0
    var aliases = 0
    /// Number of blanks, dashes and question marks at the start of a line. Each pair may open a
    /// level.
    var head = 0
    var isHead = true
    var previous = UInt8(ascii: "\n")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        head = 0
        isHead = true
      case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "?"), UInt8(ascii: "\t"):
        if isHead { head += 1 }
      default:
        isHead = false
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "{"): brackets += 1
        case UInt8(ascii: "]"), UInt8(ascii: "}"): brackets = max(0, brackets - 1)
        case UInt8(ascii: "*") where " \n\t[,{-".utf8.contains(previous): aliases += 1
        default: break
        }
      }
      if let problem = depthOfYAML.problem(max(brackets, head / 2))
        ?? aliasesOfYAML.problem(aliases)
      {
        return problem
      }
      previous = byte
    }
    return nil
  }
}
