import Core
import SystemPackage

/// The attributes of an OpenEXR file that tell where its lines lie.
struct EXRHeader {
  enum Kind: Int {
    case integer, half, float

    var bytes: Int { self == .half ? 2 : 4 }
  }

  enum Compression: Int {
    case none, runLengths, zlibLine, zlib

    /// Number of lines in a block.
    var lines: Int { self == .zlib ? 16 : 1 }

    /// The greatest number of bytes that a packed byte can hold.
    var mostRatio: Int {
      switch self {
      case .none: 1
      case .runLengths: 64
      case .zlibLine, .zlib: 1032
      }
    }
  }

  struct Channel {
    var name: String
    var kind: Kind
    /// Where its numbers start in a line, in bytes.
    var offset: Int
  }

  let width: Int
  let height: Int
  /// The row number of the first line.
  let firstLine: Int
  let compression: Compression
  let channel: Channel
  /// Bytes per line of all channels.
  let bytesPerLine: Int
  /// Where the table of blocks starts.
  let end: Int

  static let mostSide = 16_384
  private static let mostNameBytes = 31

  /// Flags of the version field, and why such a file is not read.
  private static let refused: [(flag: Int, what: String)] = [
    (0x200, "it is tiled"), (0x400, "it has long names"), (0x800, "it has deep pixels"),
    (0x1000, "it has several parts"),
  ]
  private static let compressions = [
    4: "PIZ", 5: "PXR24", 6: "B44", 7: "B44A", 8: "DWAA", 9: "DWAB", 10: "HTJ2K",
  ]

  init(_ bytes: [UInt8], file: FilePath?) throws(ImageError) {
    var reader = EXRFields(bytes: bytes, file: file)
    guard bytes.starts(with: [0x76, 0x2F, 0x31, 0x01]) else {
      throw reader.fault("it has no EXR mark")
    }
    reader.offset = 4
    let version = try reader.integer()
    guard version & 0xFF == 2 else { throw reader.fault("version \(version & 0xFF) is not known") }
    for (flag, what) in Self.refused where version & flag != 0 { throw reader.fault(what) }

    var channels: [(name: String, kind: Int)]?
    var window: [Int]?
    var packing: Int?
    while true {
      let name = try reader.text(most: Self.mostNameBytes)
      if name.isEmpty { break }
      _ = try reader.text(most: Self.mostNameBytes)
      let size = try reader.integer()
      let start = reader.offset
      guard size >= 0, size <= bytes.count - start else {
        throw reader.fault("its attribute \(name) is longer than the file")
      }
      switch name {
      case "channels": channels = try Self.channels(&reader, end: start + size)
      case "compression": packing = size == 1 ? Int(bytes[start]) : nil
      case "dataWindow":
        guard size == 16 else { break }
        var sides: [Int] = []
        for _ in 0..<4 { sides.append(try reader.integer()) }
        window = sides
      default: break
      }
      reader.offset = start + size
    }
    end = reader.offset
    guard let channels, let window, let packing else {
      throw reader.fault("channels, compression or dataWindow is missing")
    }
    guard let compression = Compression(rawValue: packing) else {
      throw reader.fault(
        "its compression \(Self.compressions[packing] ?? "\(packing)") is not read")
    }
    self.compression = compression
    firstLine = window[1]
    width = window[2] - window[0] + 1
    height = window[3] - window[1] + 1
    guard width > 0, height > 0, width <= Self.mostSide, height <= Self.mostSide else {
      throw reader.fault(
        "it has \(width)x\(height) pixels, at most \(Self.mostSide) along a side are read")
    }
    (channel, bytesPerLine) = try Self.choose(channels, width: width, reader)
    // Before memory is allocated: each block has a place in the table, a header and its bytes.
    let blocks = (height + compression.lines - 1) / compression.lines
    let packed = bytes.count - end - 16 * blocks
    guard packed >= 0, height * bytesPerLine / compression.mostRatio <= packed else {
      throw reader.fault("it claims \(width)x\(height) pixels, more than the file holds")
    }
  }

  private static func channels(
    _ reader: inout EXRFields, end: Int
  ) throws(ImageError) -> [(name: String, kind: Int)] {
    var channels: [(name: String, kind: Int)] = []
    while reader.offset < end {
      let name = try reader.text(most: mostNameBytes)
      if name.isEmpty { break }
      let kind = try reader.integer()
      _ = try reader.integer()
      let sampling = (try reader.integer(), try reader.integer())
      guard sampling == (1, 1) else {
        throw reader.fault("its channel \(name) has less than one number per pixel")
      }
      guard Kind(rawValue: kind) != nil else {
        throw reader.fault("its channel \(name) has numbers of unknown kind \(kind)")
      }
      channels.append((name, kind))
    }
    return channels
  }

  /// The channel with the depth, and the length of a line.
  private static func choose(
    _ channels: [(name: String, kind: Int)], width: Int, _ reader: EXRFields
  ) throws(ImageError) -> (Channel, Int) {
    var offset = 0
    var found: [Channel] = []
    // Writers sort them; lines hold them in this order.
    for (name, kind) in channels.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    ) {
      guard let kind = Kind(rawValue: kind) else { continue }
      found.append(Channel(name: name, kind: kind, offset: offset))
      offset += width * kind.bytes
    }
    let named = ["R", "Y", "Z"].lazy.compactMap { name in found.first { $0.name == name } }.first
    guard let channel = named ?? (found.count == 1 ? found.first : nil) else {
      let names = found.map(\.name).joined(separator: ", ")
      throw reader.fault("none of its channels is depth (\(names.isEmpty ? "it has none" : names))")
    }
    guard channel.kind != .integer else {
      throw reader.fault("its channel \(channel.name) holds integers")
    }
    return (channel, offset)
  }
}

/// Reads the fields of a header one after the other.
struct EXRFields {
  let bytes: [UInt8]
  let file: FilePath?
  var offset = 0

  func fault(_ what: String) -> ImageError {
    ImageError(
      file: file, what: "not readable as EXR: \(what)", byteOffset: min(offset, bytes.count),
      remedy: "copy the file again")
  }

  /// A signed 32-bit number.
  mutating func integer() throws(ImageError) -> Int {
    guard offset <= bytes.count - 4 else { throw fault("the file ends early") }
    defer { offset += 4 }
    let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
    return Int(Int32(bitPattern: bits))
  }

  /// A text up to its zero byte.
  mutating func text(most: Int) throws(ImageError) -> String {
    let rest = bytes[min(offset, bytes.count)...]
    guard let end = rest.prefix(most + 1).firstIndex(of: 0) else {
      throw fault(rest.count > most ? "a name has more than \(most) bytes" : "the file ends early")
    }
    defer { offset = end + 1 }
    return String(decoding: bytes[offset..<end], as: UTF8.self)
  }
}
