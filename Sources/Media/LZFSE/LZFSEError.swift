/// Why an LZFSE stream cannot be decoded.
public struct LZFSEError: Error, Hashable, Sendable {
  /// Where in the input, in bytes from its start: the block or the code that is wrong.
  public var byteOffset: Int
  /// One phrase, as `the stream ends inside a block`.
  public var what: String
}
