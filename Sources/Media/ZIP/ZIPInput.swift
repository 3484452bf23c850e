import Core

/// The bytes of an archive, by position: a file that is mapped, read, or in memory.
public protocol ZIPInput {
  /// Size in bytes.
  var count: Int { get }
  /// The bytes of `range`; fewer where the input ends.
  func bytes(in range: Range<Int>) -> [UInt8]
}

extension MappedFile: ZIPInput {
  public func bytes(in range: Range<Int>) -> [UInt8] {
    withBytes(in: range) { span in span.withUnsafeBytes { [UInt8]($0) } }
  }
}

extension InputFile: ZIPInput {
  /// What cannot be read is missing.
  public func bytes(in range: Range<Int>) -> [UInt8] {
    (try? bytes(at: range.lowerBound, count: range.count)) ?? []
  }
}
