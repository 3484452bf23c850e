extension RawSpan {
  /// The little-endian integer at `offset`; `nil` if it is not within the bytes.
  @inlinable
  public func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, at offset: Int
  ) -> Value? {
    guard offset >= 0, offset <= byteCount - MemoryLayout<Value>.size else { return nil }
    return Value(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// The big-endian integer at `offset`; `nil` if it is not within the bytes.
  @inlinable
  public func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, at offset: Int
  ) -> Value? {
    guard offset >= 0, offset <= byteCount - MemoryLayout<Value>.size else { return nil }
    return Value(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// The little-endian `Double` at `offset`; `nil` if it is not within the bytes.
  @inlinable
  public func littleEndianDouble(at offset: Int) -> Double? {
    littleEndian(UInt64.self, at: offset).map(Double.init(bitPattern:))
  }

  /// The little-endian `Float` at `offset`; `nil` if it is not within the bytes.
  @inlinable
  public func littleEndianFloat(at offset: Int) -> Float? {
    littleEndian(UInt32.self, at: offset).map(Float.init(bitPattern:))
  }
}
