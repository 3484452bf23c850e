/// The date in a folder's name.
enum FolderDate {
  private static let ranges = [2000...2099, 1...12, 1...31, 0...23, 0...59, 0...60]

  /// The local time, without zone, of a name such as `2026_01_13_14_47_59`: `2026-01-13T14:47:59`.
  /// `nil` for other names.
  static func recordedAt(_ name: String) -> String? {
    let parts = name.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == ranges.count, parts[0].utf8.count == 4,
      parts.dropFirst().allSatisfy({ $0.utf8.count == 2 })
    else { return nil }
    for (part, range) in zip(parts, ranges) {
      guard let number = NumberedFiles.number(part.utf8), range.contains(number) else { return nil }
    }
    return parts[..<3].joined(separator: "-") + "T" + parts[3...].joined(separator: ":")
  }
}
