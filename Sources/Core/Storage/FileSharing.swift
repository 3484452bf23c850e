/// A method to put an unchanged file of one artifact into another.
public enum FileSharing: String, Hashable, Sendable, CaseIterable {
  /// Shares the blocks until either file is written.
  case clone
  /// A second name of the same file. Writing to one in place changes the other.
  case link
  /// Copies the bytes.
  case copy
}
