/// How hard a PNG writer tries. The pixels are the same for all.
public enum PNGCompression: String, CaseIterable, Sendable {
  /// Predicted bytes go straight through a Huffman code; where a video's conversion has repeated the
  /// chroma of a row in the next one, every second row is written as repetitions of pixels. A
  /// twentieth of the time of the usual writers, and mostly smaller.
  case fast
  /// A quick search for repetitions in all rows, for captures that are kept: a fifth smaller, twice the
  /// time.
  case compact
  /// A thorough search, for archives; some ten times the time of `compact`.
  case archive
}
