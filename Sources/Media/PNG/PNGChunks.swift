import CDeflate

/// The parts of a PNG file around the compressed lines: signature, IHDR, optional cICP, one IDAT,
/// optional notes, IEND.
enum PNGChunks {
  /// Size of signature, IHDR, cICP if there is one, and the start of IDAT.
  static func bytesBeforeData(_ color: PNGColor?) -> Int { 8 + 25 + (color == nil ? 0 : 16) + 8 }

  /// Size of everything but the compressed lines and notes.
  static func overheadBytes(_ color: PNGColor?) -> Int { bytesBeforeData(color) + 4 + 12 }

  /// Completes a file whose compressed lines are at `bytesBeforeData`; returns its length. `file`
  /// must be large enough.
  static func finish(
    _ file: UnsafeMutableBufferPointer<UInt8>, _ format: PNGFormat, width: Int, height: Int,
    dataBytes: Int, color: PNGColor?, notes: [PNGText]
  ) -> Int {
    let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    var writer = BigEndianWriter(target: UnsafeMutableRawBufferPointer(file))
    writer.append(signature)
    // Compression, filter and interlace methods are 0.
    let start = writer.beginChunk("IHDR", dataBytes: 13)
    writer.append(UInt32(truncatingIfNeeded: width))
    writer.append(UInt32(truncatingIfNeeded: height))
    writer.append([format.bitDepth, format.colorType, 0, 0, 0])
    writer.endChunk(from: start)
    if let color {
      let start = writer.beginChunk("cICP", dataBytes: 4)
      // The matrix of RGB is 0, and its range is full.
      writer.append([color.primaries, color.transfer, 0, 1])
      writer.endChunk(from: start)
    }
    let data = writer.beginChunk("IDAT", dataBytes: dataBytes)
    writer.skip(dataBytes)
    writer.endChunk(from: data)
    for note in notes {
      let start = writer.beginChunk("tEXt", dataBytes: note.keyword.count + 1 + note.text.count)
      writer.append(note.keyword)
      writer.append([0])
      writer.append(note.text)
      writer.endChunk(from: start)
    }
    let end = writer.beginChunk("IEND", dataBytes: 0)
    writer.endChunk(from: end)
    return writer.offset
  }
}

/// Appends to memory whose size the caller has checked.
private struct BigEndianWriter {
  let target: UnsafeMutableRawBufferPointer
  private(set) var offset = 0

  mutating func append(_ value: UInt32) {
    target.storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
    offset += 4
  }

  mutating func append(_ bytes: [UInt8]) {
    for byte in bytes {
      target[offset] = byte
      offset += 1
    }
  }

  mutating func skip(_ count: Int) {
    offset += count
  }

  /// Begins a chunk; returns the start of the part that the checksum covers.
  mutating func beginChunk(_ type: StaticString, dataBytes: Int) -> Int {
    append(UInt32(truncatingIfNeeded: dataBytes))
    let start = offset
    type.withUTF8Buffer { append(Array($0)) }
    return start
  }

  mutating func endChunk(from start: Int) {
    append(libdeflate_crc32(0, target.baseAddress.map { $0 + start }, offset - start))
  }
}
