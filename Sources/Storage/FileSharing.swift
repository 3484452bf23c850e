/// How a file that does not change gets from one artifact into another.
public enum FileSharing: String, Hashable, Sendable, CaseIterable {
  /// The same blocks, copied when either file is written.
  case clone
  /// A second name of the same file: what writes into one of them in place changes the other.
  case link
  /// A copy of the bytes.
  case copy
}
