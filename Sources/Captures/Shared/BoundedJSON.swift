import FoundationEssentials
import Storage
import SystemPackage

/// Decodes JSON from untrusted files. The decoder is recursive, so the nesting depth is checked
/// first.
enum BoundedJSON {
  /// Decodes a whole file; `path` is for messages.
  ///
  /// Throws `FileError` if brackets are nested too deeply, else the errors of the decoder. Cost in
  /// addition to decoding: a pass over the bytes.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: some Collection<UInt8>, of path: FilePath,
    _ decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try InputLimits.depthOfJSON.check(depth(of: bytes), of: path)
    return try decoder.decode(type, from: Data(bytes))
  }

  /// The same for a part of a text; `nil` if it cannot be decoded.
  static func value<Value: Decodable>(
    _ type: Value.Type, in bytes: some Collection<UInt8>, _ decoder: JSONDecoder = JSONDecoder()
  ) -> Value? {
    guard depth(of: bytes) <= InputLimits.depthOfJSON.most else { return nil }
    return try? decoder.decode(type, from: Data(bytes))
  }

  /// Greatest nesting of brackets and braces outside strings; stops counting above the limit.
  static func depth(of bytes: some Collection<UInt8>) -> Int {
    bytes.withContiguousStorageIfAvailable { deepest(in: $0) } ?? deepest(in: bytes)
  }

  private static func deepest(in bytes: some Sequence<UInt8>) -> Int {
    var scan = DepthScan()
    for byte in bytes where !scan.take(byte) { break }
    return scan.deepest
  }

  private struct DepthScan {
    private(set) var deepest = 0
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// Takes the next byte; `false` when the result is known.
    mutating func take(_ byte: UInt8) -> Bool {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        return true
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        deepest = max(deepest, depth)
        return deepest <= InputLimits.depthOfJSON.most
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
      return true
    }
  }
}
