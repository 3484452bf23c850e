/// Compression effort of a PNG writer. The pixels are the same for all.
public enum PNGCompression: String, CaseIterable, Sendable {
  /// Predicted bytes are Huffman-coded as literals; where most predicted pixels are gray, as in
  /// videos, as matches of earlier ones. The strategy is chosen per picture by estimated size and
  /// time. Takes a tenth of the time of usual writers or less, and gives smaller files.
  case fast
  /// Searches matches of pixels of all colors, for captures that are kept: a tenth smaller, two to
  /// three times the time.
  case compact
  /// Searches thoroughly, for archives: about ten times the time of `compact`.
  case archive
}
