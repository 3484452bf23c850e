/// What lies in a stream of one file per picture.
struct PictureFilesPlan {
  var edits: [Int: PictureEdit] = [:]
  var isAbsent = false
  /// Whether a file bears a number that no recording has.
  var hasFarNumber = false

  /// The number of that file.
  static let farNumber = 99_999_999

  /// Whether a file is written for the frame, readable or not.
  func hasFile(_ frame: Int) -> Bool { !isAbsent && edits[frame] != .absent }

  func isReadable(_ frame: Int) -> Bool { !isAbsent && edits[frame] == nil }

  /// Number of files, readable or not; `nil` without the stream. The far number does not count.
  func fileCount(frames: some Sequence<Int>) -> Int? {
    isAbsent ? nil : frames.count(where: hasFile)
  }

  /// Adds what a reader must say about damaged files.
  func count(in warnings: inout WarningTally, of stream: String) {
    guard !isAbsent else { return }
    func count(_ kinds: PictureEdit...) -> Int { edits.values.count { kinds.contains($0) } }
    warnings.add("empty-record", of: stream, count(.empty))
    warnings.add("corrupt-record", of: stream, count(.cut, .otherKind) + (hasFarNumber ? 1 : 0))
    warnings.add("size-mismatch", of: stream, count(.otherSize))
  }
}
