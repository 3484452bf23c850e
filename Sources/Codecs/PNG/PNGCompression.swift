/// How hard a PNG writer tries. The pixels are the same for all.
public enum PNGCompression: String, CaseIterable, Sendable {
  /// Predicted bytes go straight through a Huffman code; where most predicted pixels are gray, as in videos,
  /// these are repetitions of earlier ones. The way is chosen for each picture by its estimated size and
  /// time. A tenth of the time of the usual writers or less, and smaller.
  case fast
  /// A search for repetitions of pixels of all colors, for captures that are kept: a tenth smaller, two to
  /// three times the time.
  case compact
  /// A thorough search, for archives; some ten times the time of `compact`.
  case archive
}
