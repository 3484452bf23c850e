import CLZ4

/// LZ4 blocks without frame header, size or checksum.
public enum LZ4Block {
  /// Why a block does not decode to exactly the requested number of bytes.
  public enum Failure: Error, Equatable {
    /// The block ends inside a sequence, or a match begins before the start of the output.
    case invalid(inputOffset: Int)
    /// The data exceed the output.
    case tooLong(inputOffset: Int)
    /// The block is valid but does not fill the output.
    case short(produced: Int)
  }

  /// Decodes `block`, which must fill `output` exactly and must be consumed completely.
  ///
  /// Unlike `LZ4_decompress_safe` this does not require the encoder's rules about the end of a
  /// block (the last 5 bytes literals, no match in the last 12): Apple's encoder does not follow
  /// them, and decoding does not need them. After an error the content of the output is undefined.
  public static func decode(_ block: RawSpan, into output: inout MutableRawSpan) throws(Failure) {
    let produced = try block.withUnsafeBytes { (block) throws(Failure) in
      try output.withUnsafeMutableBytes { (output) throws(Failure) in
        try decodeLZ4(block, into: output)
      }
    }
    guard produced == output.byteCount else { throw .short(produced: produced) }
  }

  /// Encodes `bytes` with liblz4; for synthetic captures. `nil` above about 2 GB.
  public static func encode(_ bytes: RawSpan) -> [UInt8]? {
    guard bytes.byteCount <= Int(LZ4_MAX_INPUT_SIZE) else { return nil }
    let bound = Int(LZ4_compressBound(Int32(bytes.byteCount)))
    var block = [UInt8](repeating: 0, count: bound)
    let count = bytes.withUnsafeBytes { bytes in
      block.withUnsafeMutableBytes { block in
        LZ4_compress_default(
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
          block.baseAddress?.assumingMemoryBound(to: CChar.self),
          Int32(bytes.count), Int32(bound))
      }
    }
    guard count > 0 else { return nil }
    block.removeLast(bound - Int(count))
    return block
  }
}

/// Decodes sequences until the input is consumed; returns how many bytes were written.
///
/// Every read and write is checked against both buffers first. Copies may write up to 16 bytes too
/// many inside the output buffer, where later output overwrites them.
private func decodeLZ4(
  _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
) throws(LZ4Block.Failure) -> Int {
  guard let inputStart = input.baseAddress, let start = output.baseAddress else {
    if input.isEmpty { return 0 }
    throw .tooLong(inputOffset: 0)
  }
  let inputEnd = input.count
  let end = output.count
  var at = 0
  var out = 0

  while at < inputEnd {
    let token = Int(inputStart.load(fromByteOffset: at, as: UInt8.self))
    at &+= 1

    // Most sequences are short and far from both ends: at most 14 literals, 2 bytes of distance and a
    // match of at most 18 fit into these margins, so three wide copies need no further check.
    if token < 15 << 4, token & 15 < 15, inputEnd &- at >= 32, end &- out >= 64 {
      copy16(from: inputStart + at, to: start + out)
      let literals = token >> 4
      let distance = Int(
        UInt16(
          littleEndian: inputStart.loadUnaligned(
            fromByteOffset: at &+ literals, as: UInt16.self)))
      let target = start + (out &+ literals)
      if distance <= out &+ literals, copyShortMatch(target, distance: distance) {
        at &+= literals &+ 2
        out &+= literals &+ (token & 15) &+ 4
        continue
      }
    }

    var literals = token >> 4
    if literals == 15, !addLength(&literals, inputStart, &at, inputEnd) {
      throw .invalid(inputOffset: at)
    }
    guard literals <= inputEnd &- at else { throw .invalid(inputOffset: at) }
    guard literals <= end &- out else { throw .tooLong(inputOffset: at) }
    copyLiterals(
      from: inputStart + at, to: start + out, count: literals,
      available: min(inputEnd &- at, end &- out))
    at &+= literals
    out &+= literals
    if at == inputEnd { break }

    guard inputEnd &- at >= 2 else { throw .invalid(inputOffset: at) }
    let distance = Int(
      UInt16(littleEndian: inputStart.loadUnaligned(fromByteOffset: at, as: UInt16.self)))
    at &+= 2
    guard distance > 0, distance <= out else { throw .invalid(inputOffset: at &- 2) }
    var length = token & 15
    if length == 15, !addLength(&length, inputStart, &at, inputEnd) {
      throw .invalid(inputOffset: at)
    }
    length &+= 4
    guard length <= end &- out else { throw .tooLong(inputOffset: at) }
    copyMatch(start + out, distance: distance, length: length, available: end &- out)
    out &+= length
  }
  return out
}

/// Adds the continuation bytes of a length: each 255 means that another byte follows. `false` at
/// the end of the input. Cannot overflow: a byte of input adds at most 255.
@inline(__always)
private func addLength(
  _ length: inout Int, _ input: UnsafeRawPointer, _ at: inout Int, _ end: Int
) -> Bool {
  while at < end {
    let byte = Int(input.load(fromByteOffset: at, as: UInt8.self))
    at &+= 1
    length &+= byte
    if byte != 255 { return true }
  }
  return false
}

/// `available` is the number of bytes that may be read and written at the two positions.
@inline(__always)
private func copyLiterals(
  from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, available: Int
) {
  guard available &- count >= 16 else {
    target.copyMemory(from: source, byteCount: count)
    return
  }
  var i = 0
  while i < count {
    copy16(from: source + i, to: target + i)
    i &+= 16
  }
}

/// Writes 24 bytes, of which a short match needs 4 to 18. `false` for the rare distances 0, 1 and
/// 3…7.
@inline(__always)
private func copyShortMatch(_ target: UnsafeMutableRawPointer, distance: Int) -> Bool {
  if distance >= 8 {
    copy8(from: target - distance, to: target)
    copy8(from: target + 8 - distance, to: target + 8)
    copy8(from: target + 16 - distance, to: target + 16)
    return true
  }
  // The previous 16-bit value again: by far the most frequent short distance in depth pictures.
  guard distance == 2 else { return false }
  let value = UInt64((target - 2).loadUnaligned(as: UInt16.self)) &* 0x0001_0001_0001_0001
  target.storeBytes(of: value, as: UInt64.self)
  (target + 8).storeBytes(of: value, as: UInt64.self)
  (target + 16).storeBytes(of: value, as: UInt64.self)
  return true
}

/// Copies bytes from `distance` bytes before `target`; source and target may overlap.
@inline(__always)
private func copyMatch(
  _ target: UnsafeMutableRawPointer, distance: Int, length: Int, available: Int
) {
  let source = target - distance
  if distance >= 16, available &- length >= 16 {
    var i = 0
    while i < length {
      copy16(from: UnsafeRawPointer(source) + i, to: target + i)
      i &+= 16
    }
  } else if distance == 2, available &- length >= 16 {
    let value = UInt64(source.loadUnaligned(as: UInt16.self)) &* 0x0001_0001_0001_0001
    var i = 0
    while i < length {
      (target + i).storeBytes(of: SIMD2(value, value), as: SIMD2<UInt64>.self)
      i &+= 16
    }
  } else if distance >= length {
    target.copyMemory(from: source, byteCount: length)
  } else {
    repeatPattern(target, distance: distance, length: length, available: available)
  }
}

/// Copies a match that overlaps its own output or is close to the end of the buffer.
private func repeatPattern(
  _ target: UnsafeMutableRawPointer, distance: Int, length: Int, available: Int
) {
  let source = target - distance
  // Byte by byte until eight bytes are written.
  var written = 0
  let lead = min(length, distance >= 8 ? 0 : 8)
  while written < lead {
    target.storeBytes(
      of: source.load(fromByteOffset: written, as: UInt8.self), toByteOffset: written,
      as: UInt8.self)
    written &+= 1
  }
  // A whole number of periods, at least eight bytes: reading that far back never reaches unwritten
  // bytes.
  let back = distance >= 8 ? distance : distance &* ((7 &+ distance) / distance)
  if length >= 64 {
    // In long runs the copied length doubles with each copy.
    var period = back
    while written < length {
      let count = min(period, length &- written)
      (target + written).copyMemory(from: target + written - period, byteCount: count)
      written &+= count
      if period < 1 << 16 { period &*= 2 }
    }
    return
  }
  while written < length, available &- written >= 8 {
    (target + written).storeBytes(
      of: (target + written - back).loadUnaligned(as: UInt64.self), as: UInt64.self)
    written &+= 8
  }
  while written < length {
    (target + written).storeBytes(
      of: (target + written - back).load(as: UInt8.self), as: UInt8.self)
    written &+= 1
  }
}

@inline(__always)
private func copy8(from source: UnsafeMutableRawPointer, to target: UnsafeMutableRawPointer) {
  target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
}

@inline(__always)
private func copy16(from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {
  target.storeBytes(
    of: source.loadUnaligned(as: SIMD2<UInt64>.self), as: SIMD2<UInt64>.self)
}
