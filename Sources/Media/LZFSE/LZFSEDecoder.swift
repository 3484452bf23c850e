/// Decodes the blocks of one stream one after the other.
struct LZFSEDecoder {
  private let input: UnsafeRawBufferPointer
  private let output: UnsafeMutableRawBufferPointer
  private var at = 0
  private var produced = 0
  /// Made for the first entropy-coded block, used again for the following ones.
  private var workspace: LZFSEWorkspace?

  init(input: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer) {
    self.input = input
    self.output = output
  }

  mutating func decode() throws(LZFSEError) {
    while true {
      let start = at
      guard let block = LZFSEBlock(rawValue: try number(at: start)) else {
        throw LZFSEError(byteOffset: start, what: "no block of an LZFSE stream")
      }
      switch block {
      case .end:
        guard produced == output.count else {
          throw LZFSEError(
            byteOffset: start,
            what: "the stream ends after \(produced) of \(output.count) bytes")
        }
        return
      case .raw: try decodeRaw(start)
      case .lzvn: try decodeLZVN(start)
      case .plainTables: try decodeCoded(start, LZFSEHeader(plain: input, at: start))
      case .packedTables: try decodeCoded(start, LZFSEHeader(packed: input, at: start))
      }
    }
  }

  private func number(at offset: Int) throws(LZFSEError) -> UInt32 {
    guard input.count - offset >= 4 else {
      throw LZFSEError(byteOffset: offset, what: "the stream ends inside a block")
    }
    return UInt32(littleEndian: input.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The output of a block that states its size.
  private func target(for rawCount: UInt32, of start: Int) throws(LZFSEError)
    -> UnsafeMutableRawBufferPointer
  {
    guard Int(rawCount) <= output.count - produced else {
      throw LZFSEError(byteOffset: start, what: "the stream holds more than \(output.count) bytes")
    }
    return UnsafeMutableRawBufferPointer(rebasing: output[..<(produced + Int(rawCount))])
  }

  private func payload(_ count: Int, at offset: Int) throws(LZFSEError) -> UnsafeRawBufferPointer {
    guard count <= input.count - offset else {
      throw LZFSEError(byteOffset: input.count, what: "the stream ends inside a block")
    }
    return UnsafeRawBufferPointer(rebasing: input[offset..<(offset + count)])
  }

  private mutating func decodeRaw(_ start: Int) throws(LZFSEError) {
    let rawCount = try number(at: start + 4)
    let target = try target(for: rawCount, of: start)
    let bytes = try payload(Int(rawCount), at: start + 8)
    UnsafeMutableRawBufferPointer(rebasing: target[produced...]).copyMemory(from: bytes)
    produced += bytes.count
    at = start + 8 + bytes.count
  }

  private mutating func decodeLZVN(_ start: Int) throws(LZFSEError) {
    let target = try target(for: try number(at: start + 4), of: start)
    let bytes = try payload(Int(try number(at: start + 8)), at: start + 12)
    if let wrong = decodeLZVNBlock(bytes, into: target, from: produced) {
      throw LZFSEError(byteOffset: start + 12 + wrong, what: "an LZVN block is damaged")
    }
    produced = target.count
    at = start + 12 + bytes.count
  }

  private mutating func decodeCoded(
    _ start: Int, _ header: LZFSEHeader?
  ) throws(LZFSEError) {
    guard let header else {
      throw LZFSEError(byteOffset: start, what: "the header of a block is cut or damaged")
    }
    let target = try target(for: header.rawCount, of: start)
    let begin = start + header.count
    _ = try payload(header.payloadCount, at: begin)
    let workspace = self.workspace ?? LZFSEWorkspace()
    self.workspace = workspace
    guard workspace.decode(header, input, at: begin, into: target, from: produced) else {
      throw LZFSEError(byteOffset: start, what: "a block is damaged")
    }
    produced = target.count
    at = begin + header.payloadCount
  }
}
