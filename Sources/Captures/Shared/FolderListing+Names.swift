import Storage

extension FolderListing {
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
