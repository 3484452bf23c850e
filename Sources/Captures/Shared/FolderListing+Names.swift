import Core

extension FolderListing {
  /// Whether a listed file has 0 bytes. A side file that is empty says as much as none: families count it as absent and
  /// say that it is empty (`missing-file`, `imu-missing`), but for streams that an app writes while it records, and for
  /// one file per frame (`empty-record`). Cost: a few system calls.
  func isEmpty(_ name: String) -> Bool { stamp(of: name)?.bytes == 0 }

  /// Names of files that begin with `prefix`, in order. Cost: a binary search.
  func files(withPrefix prefix: String) -> ArraySlice<String> {
    var range = files.indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range =
        files[middle] < prefix ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return files[range.lowerBound...].prefix { $0.hasPrefix(prefix) }
  }
}
