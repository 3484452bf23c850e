/// How hard a PNG writer tries. The pixels are the same for all.
public enum PNGCompression: String, CaseIterable, Sendable {
  /// Our own writer: predicted bytes go straight through a Huffman code. For frames of a video, which
  /// are noise after prediction, this comes within a seventh of the smallest size at a twentieth of
  /// the time of the usual writers.
  case fast
  /// A quick search for repetitions on top, for captures that are kept.
  case compact
  /// A thorough search, for archives; some twenty times the time of `compact`.
  case archive
}
