import Media
import Core

/// What a depth or confidence file contains, counted by inflating it once.
///
/// These files have no index, header or size, so that counting is the only way. Constant memory
/// (one frame, two if repeats are searched); time of one inflation.
struct MultiScanStreamSurvey: Sendable {
  /// What to search in the frames besides counting them.
  struct Search: OptionSet, Sendable {
    let rawValue: Int
    /// Frames at the end that equal the previous one.
    static let trailingRepeats = Search(rawValue: 1)
    /// Frames with the compressor defect of the stereo mode.
    static let stereoDefect = Search(rawValue: 2)
  }

  var format: DeflateFormat
  /// Number of whole frames.
  var frames = 0
  /// Number of consecutive streams.
  var streams: Int
  /// Whether the last stream has no end mark.
  var isCut: Bool
  /// Whether all streams are complete but bytes of an incomplete frame are left.
  var hasTrailingData: Bool
  var trailingRepeats = 0
  /// Number of streams whose checksum does not match their content.
  var wrongChecksums: Int
  /// Number of inflated bytes.
  var bytes = 0
  var framesWithStereoDefect = 0

  init(_ file: MappedFile, frameBytes: Int, lookingFor search: Search = []) {
    let inflated = MultiScanInflatedFile(file, frameBytes: frameBytes)
    var rest = 0
    if frameBytes <= Self.mostBytes(inflatedFrom: file.count) {
      var frame = [UInt8](repeating: 0, count: frameBytes)
      var previous: [UInt8] = []
      while true {
        rest = Self.read(inflated, into: &frame)
        if rest < frameBytes { break }
        if search.contains(.stereoDefect), MultiScanStereoDefect.isIn(frame) {
          framesWithStereoDefect += 1
        }
        if search.contains(.trailingRepeats) {
          trailingRepeats = frames > 0 && frame == previous ? trailingRepeats + 1 : 0
          if previous.isEmpty { previous = frame } else { swap(&frame, &previous) }
        }
        frames += 1
      }
    } else {
      // No frame fits so few bytes: no buffer of that size is allocated.
      var scratch = [UInt8](repeating: 0, count: 65_536)
      var count = 0
      repeat {
        count = Self.read(inflated, into: &scratch)
        rest += count
      } while count == scratch.count
    }
    format = inflated.format
    streams = inflated.streams
    isCut = inflated.isCut
    wrongChecksums = inflated.wrongChecksums
    bytes = frames * frameBytes + rest
    hasTrailingData = !isCut && (rest > 0 || inflated.hasStrayBytes)
  }

  /// DEFLATE gives at most 258 bytes for two bits; 1032 : 1 is zlib's own figure for the limit.
  private static func mostBytes(inflatedFrom bytes: Int) -> Int {
    bytes.multipliedReportingOverflow(by: 1032).overflow ? .max : bytes * 1032
  }

  private static func read(_ inflated: MultiScanInflatedFile, into buffer: inout [UInt8]) -> Int {
    var span = buffer.mutableSpan
    var bytes = span.mutableBytes
    return inflated.read(into: &bytes)
  }
}
