/// Decodes an LZVN block, which must fill the rest of `output` exactly.
///
/// - Parameters:
///   - input: the payload, with its end mark.
///   - output: everything decoded so far, and memory for this block; matches may lie in earlier blocks.
///   - produced: how much of `output` was decoded before.
/// - Returns: where the payload is wrong, in bytes from its start; `nil` when all is well.
func decodeLZVNBlock(
  _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
  from produced: Int
) -> Int? {
  guard let source = input.baseAddress, let start = output.baseAddress else { return 0 }
  let end = input.count
  let outputEnd = output.count
  var at = 0
  var out = produced
  var distance = 0
  while at < end {
    let code = Int(source.load(fromByteOffset: at, as: UInt8.self))
    let codeAt = at
    var literals = code >> 6
    var length = ((code >> 3) & 7) &+ 3
    let codeCount: Int
    // Each form of a code, by its leading bits.
    switch code {
    case 0x06:
      return out == outputEnd ? nil : codeAt
    case 0x0e, 0x16:
      at &+= 1
      continue
    case 0xf0: (literals, codeCount) = (0, 2)
    case 0xf1...0xff: (literals, length, codeCount) = (0, code & 15, 1)
    case 0xe0: (length, codeCount) = (0, 2)
    case 0xe1...0xef: (literals, length, codeCount) = (code & 15, 0, 1)
    case 0x70...0x7f, 0xd0...0xdf: return codeAt
    case 0xa0...0xbf: (literals, codeCount) = ((code >> 3) & 3, 3)
    default:
      switch code & 7 {
      case 7: codeCount = 3
      case 6:
        guard code >= 0x40 else { return codeAt }
        codeCount = 1
      default: codeCount = 2
      }
    }
    guard codeCount <= end &- at else { return codeAt }
    switch code {
    case 0xf0: length = Int(source.load(fromByteOffset: at &+ 1, as: UInt8.self)) &+ 16
    case 0xe0: literals = Int(source.load(fromByteOffset: at &+ 1, as: UInt8.self)) &+ 16
    case 0xe1...0xff: break
    case 0xa0...0xbf:
      let more = Int(
        UInt16(littleEndian: source.loadUnaligned(fromByteOffset: at &+ 1, as: UInt16.self)))
      length = ((code & 7) << 2 | (more & 3)) &+ 3
      distance = more >> 2
    default:
      switch codeCount {
      case 3:
        distance = Int(
          UInt16(littleEndian: source.loadUnaligned(fromByteOffset: at &+ 1, as: UInt16.self)))
      case 2:
        distance =
          (code & 7) << 8 | Int(source.load(fromByteOffset: at &+ 1, as: UInt8.self))
      default: break
      }
    }
    at &+= codeCount
    guard literals <= end &- at, literals &+ length <= outputEnd &- out else { return codeAt }
    guard length == 0 || (distance > 0 && distance <= out &+ literals) else { return codeAt }
    (start + out).copyMemory(from: source + at, byteCount: literals)
    at &+= literals
    out &+= literals
    if length > 0 {
      copyLZFSEMatch(
        start + out, distance: distance, length: length,
        mayOverrun: outputEnd &- out &- length >= 64)
      out &+= length
    }
  }
  return end
}
