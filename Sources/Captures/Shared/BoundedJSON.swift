import FoundationEssentials
import Core
import SystemPackage

/// Decodes JSON from untrusted files. The decoder is recursive, so the nesting depth is checked
/// first.
package enum BoundedJSON {
  /// Decodes a whole file; `path` is for messages.
  ///
  /// Throws `FileError` if brackets are nested too deeply, else the errors of the decoder. Cost in
  /// addition to decoding: a pass over the bytes.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: some Collection<UInt8>, of path: FilePath,
    _ decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try InputLimits.depthOfJSON.check(depth(of: bytes), of: path)
    return try decoder.decode(type, from: Data(bytes))
  }

  /// Decodes a part of a text; `nil` if it cannot be decoded.
  static func value<Value: Decodable>(
    _ type: Value.Type, in bytes: some Collection<UInt8>, _ decoder: JSONDecoder = JSONDecoder()
  ) -> Value? {
    guard depth(of: bytes) <= InputLimits.depthOfJSON.most else { return nil }
    return try? decoder.decode(type, from: Data(bytes))
  }

  /// Greatest nesting of brackets and braces outside strings; stops counting above the limit.
  static func depth(of bytes: some Collection<UInt8>) -> Int {
    bytes.withContiguousStorageIfAvailable { deepest(in: UnsafeRawBufferPointer($0)) }
      ?? Array(bytes).withUnsafeBytes { deepest(in: $0) }
  }

  private static func deepest(in bytes: UnsafeRawBufferPointer) -> Int {
    var deepest = 0
    var depth = 0
    for token in JSONTokens(bytes) {
      switch token.kind {
      case .open:
        depth += 1
        deepest = max(deepest, depth)
        if deepest > InputLimits.depthOfJSON.most { return deepest }
      case .close: depth -= 1
      default: break
      }
    }
    return deepest
  }
}
