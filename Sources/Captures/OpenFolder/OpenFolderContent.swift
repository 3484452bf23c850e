import Core
import Media
import SystemPackage

/// The capture's folder, which no path of `capture.yaml` or of a table leaves.
struct OpenFolderContent: Sendable {
  let path: FilePath
  private let folder: EnclosedFolder

  init(_ path: FilePath) throws(CaptureError) {
    self.path = path
    do throws(FileError) {
      folder = try EnclosedFolder(path)
    } catch {
      throw CaptureError(reasonOf: error, at: path)
    }
  }

  /// A relative path without `.`; `nil` for one that leads upward, is absolute, or is none.
  static func path(_ text: String) -> String? {
    guard !text.hasPrefix("/"), !text.utf8.contains(0) else { return nil }
    let parts = text.split(separator: "/").filter { $0 != "." }
    return parts.isEmpty || parts.contains("..") ? nil : parts.joined(separator: "/")
  }

  /// The name of a file without its folders and its ending.
  static func stem(_ path: String) -> Substring {
    let name = path.split(separator: "/").last ?? ""
    return name.lastIndex(of: ".").map { name[..<$0] } ?? name
  }

  /// The last number in a text as it is written, `1305031102.175304` too; empty without one.
  static func digits(_ text: Substring) -> String {
    let digits = text.reversed().drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "." }
    return String(digits.reversed())
  }

  static func number(_ digits: String) -> Int? {
    NumberedFiles.number(digits.utf8).flatMap { $0 == .max ? nil : $0 }
  }

  enum Place { case file, absent, outside }

  /// Cost: some system calls.
  func look(at relative: String) -> Place {
    switch folder.look(at: relative) {
    case .outside: .outside
    // What cannot be looked at is there: opening it says why.
    case .file, .forbidden, .failed, .other, .folder: .file
    case .nothing: .absent
    }
  }

  func whole(_ relative: String, _ limit: InputLimit) throws(FileError) -> [UInt8] {
    try InputFile(relative, in: folder).whole(limit: limit)
  }

  /// The files that a pattern with one `*` in its name stands for, by the number in their names, and
  /// the number of links out of the capture. Throws if the folder cannot be listed.
  ///
  /// - Parameter scale: of the times that the numbers are, `nil` if they are none.
  func files(_ pattern: String, timeScale scale: Int?) throws(CaptureError) -> (
    items: [OpenFolderItem], outside: Int
  ) {
    let parts = pattern.split(separator: "/")
    let folders = parts.dropLast().joined(separator: "/")
    let sides = (parts.last ?? "").split(separator: "*", omittingEmptySubsequences: false)
    guard let start = sides.first, let ending = sides.last else { return ([], 0) }
    let place = folders.isEmpty ? path : path.pushing(FilePath(text: folders))
    let listing: FolderListing
    do throws(FileError) {
      guard folders.isEmpty || folder.look(at: folders).isThere else { return ([], 0) }
      listing = try FolderListing(of: place, inside: path)
    } catch {
      throw CaptureError(error, of: place)
    }
    func fits(_ name: String) -> Bool {
      !name.hasPrefix(".") && !IgnoredFiles.contains(name) && name.hasPrefix(start)
        && name.lowercased().hasSuffix(ending.lowercased())
        && name.count >= start.count + ending.count
    }
    var items = listing.files.filter(fits).map { name in
      let middle = name.dropFirst(start.count).dropLast(ending.count)
      let text = Self.digits(middle)
      return OpenFolderItem(
        name: folders.isEmpty ? name : "\(folders)/\(name)",
        number: Self.number(text),
        time: scale.flatMap { Timestamp(decimal: text, scale: $0) })
    }
    func isBefore(_ a: OpenFolderItem, _ b: OpenFolderItem) -> Bool {
      if let a = a.time, let b = b.time, a != b { return a < b }
      return (a.number ?? .max, a.name ?? "") < (b.number ?? .max, b.name ?? "")
    }
    items.sort(by: isBefore)
    return (items, listing.outside.count(where: fits))
  }

  /// The path of a picture that a table names: from the table's folder on, or from the capture's. An
  /// ending that is left out is looked for.
  func picture(_ name: String, of table: String) -> (path: String?, isOutside: Bool) {
    guard let own = Self.path(name) else { return (nil, true) }
    let folders = table.split(separator: "/").dropLast().joined(separator: "/")
    var isOutside = false
    for base in folders.isEmpty ? [own] : ["\(folders)/\(own)", own] {
      let hasEnding = base.split(separator: "/").last?.contains(".") ?? false
      for ending in hasEnding ? [""] : ["", ".png", ".jpg", ".jpeg"] {
        switch look(at: base + ending) {
        case .file: return (base + ending, false)
        case .outside: isOutside = true
        case .absent: continue
        }
      }
    }
    return (nil, isOutside)
  }
}

extension EnclosedFolder.Found {
  fileprivate var isThere: Bool {
    if case .nothing = self { false } else { true }
  }
}

/// The picture files of a stream, by the order of frames.
struct OpenFolderPictures: StoredPictures {
  let content: OpenFolderContent
  let names: [String]

  var count: Int { names.count }
  func name(of index: Int) -> String { PathText.shown(names[index]) }

  func bytes(of index: Int) throws -> StoredBytes {
    do throws(FileError) {
      return .bytes(try content.whole(names[index], InputLimits.bytesOfPicture))
    } catch {
      throw CaptureError(error, of: content.path.pushing(FilePath(text: names[index])))
    }
  }

  var paths: [FilePath] { names.map { content.path.pushing(FilePath(text: $0)) } }
}

/// The pictures of depth or confidence, by frame.
struct OpenFolderGrid<Pixel: BitwiseCopyable & Sendable>: IndexedFrameSource {
  typealias Decoder =
    @Sendable (
      _ bytes: [UInt8], _ name: String, _ pixels: inout [Pixel]
    ) throws(ImageError) -> (width: Int, height: Int, outcome: RecordOutcome)

  let pictures: OpenFolderPictures
  /// Index of the picture of each frame.
  let indices: [Int?]
  let decoder: Decoder
  /// The size of the first picture that can be read.
  let size: (width: Int, height: Int)

  private static var mostLookedAt: Int { 16 }

  /// Throws if none of the first pictures can be read.
  init(
    _ pictures: OpenFolderPictures, _ indices: [Int?], decoder: @escaping Decoder
  ) throws(CaptureError) {
    (self.pictures, self.indices, self.decoder) = (pictures, indices, decoder)
    var problem: CaptureError?
    for index in 0..<min(pictures.count, Self.mostLookedAt) {
      let path = pictures.content.path.pushing(FilePath(text: pictures.names[index]))
      do throws(FileError) {
        let bytes = try pictures.content.whole(pictures.names[index], InputLimits.bytesOfPicture)
        do throws(ImageError) {
          var pixels: [Pixel] = []
          let found = try decoder(bytes, pictures.names[index], &pixels)
          size = (found.width, found.height)
          return
        } catch {
          problem = problem ?? CaptureError(error, of: path)
        }
      } catch {
        problem = problem ?? CaptureError(error, of: path)
      }
    }
    throw problem ?? CaptureError(file: pictures.content.path, problem: "no picture")
  }

  var recordCount: Int { indices.count }

  func decode(record: Int, into pixels: inout [Pixel]) throws -> RecordOutcome {
    guard indices.indices.contains(record), let index = indices[record],
      case .bytes(let bytes) = try pictures.bytes(of: index)
    else { return RecordOutcome(hasPicture: false) }
    let name = pictures.name(of: index)
    if bytes.isEmpty { return .hole(.emptyRecord, "\(name): 0 bytes") }
    do throws(ImageError) {
      let found = try decoder(bytes, name, &pixels)
      guard (found.width, found.height) == size else {
        return .hole(
          .sizeMismatch,
          "\(name): \(found.width)x\(found.height), the first picture has \(size.width)x\(size.height)"
        )
      }
      return found.outcome
    } catch {
      let place = error.byteOffset.map { ", byte \($0)" } ?? ""
      return .hole(.corruptRecord, "\(name)\(place): \(error.what)")
    }
  }
}

/// Pixels without a header, row by row, one picture per file.
struct OpenFolderRaw: Hashable, Sendable {
  enum PixelType: String, CaseIterable {
    case float32, float16, uint16, uint8

    var bytes: Int {
      switch self {
      case .float32: 4
      case .float16, .uint16: 2
      case .uint8: 1
      }
    }

    /// Floats are meters, whole numbers millimeters.
    var usualScale: Double {
      self == .float32 || self == .float16 ? 1 : 0.001
    }
  }

  enum Compression: String, CaseIterable { case none, zlib, gzip, deflate, lz4, lzfse }
  enum Endian: String, CaseIterable { case little, big }

  let type: PixelType
  let width: Int
  let height: Int
  let endian: Endian
  let compression: Compression

  static let keys = ["type", "width", "height", "endian", "compression"]

  /// `nil` if the map has no `raw`.
  init?(_ map: OpenFolderMap) throws(CaptureError) {
    guard let raw = try map.map("raw", keys: Self.keys) else { return nil }
    let sides = 1...InputLimits.sideOfPicture.most
    guard let width = try raw.integer("width", sides), let height = try raw.integer("height", sides)
    else { throw raw.fault(nil, "`width` and `height` are needed") }
    if let problem = InputLimits.pixelsOfPicture.problem(width * height) {
      throw raw.fault(nil, problem)
    }
    (self.width, self.height) = (width, height)
    type = try raw.stated("type", "that of a pixel")
    endian = try raw.choice("endian") ?? .little
    compression = try raw.choice("compression") ?? .none
  }

  private var byteCount: Int { width * height * type.bytes }

  /// The most bytes that a byte of a file can expand to.
  private var expansion: Int {
    switch compression {
    case .none: 1
    case .zlib, .gzip, .deflate: 1_032
    case .lz4: 255
    case .lzfse: 65_536
    }
  }

  /// The pixels of a file, little-endian. Nothing is allocated before the file is large enough for it.
  func pixels(in file: [UInt8]) throws(ImageError) -> [UInt8] {
    let stated =
      "capture.yaml says \(width)x\(height) \(type.rawValue), \(byteCount) bytes; the file "
    guard compression != .none else {
      guard file.count == byteCount else {
        throw ImageError(file: nil, what: stated + "has \(file.count)", byteOffset: nil)
      }
      return swapped(file)
    }
    guard byteCount / expansion <= file.count else {
      throw ImageError(file: nil, what: stated + "has \(file.count) compressed", byteOffset: nil)
    }
    var bytes = [UInt8](repeating: 0, count: byteCount)
    var span = bytes.mutableSpan
    var output = span.mutableBytes
    guard inflate(file.span.bytes, into: &output) else {
      throw ImageError(
        file: nil, what: stated + "holds no \(compression.rawValue) data of that length",
        byteOffset: nil)
    }
    return swapped(bytes)
  }

  private func inflate(_ file: RawSpan, into output: inout MutableRawSpan) -> Bool {
    do {
      switch compression {
      case .none: return false
      case .lz4: try LZ4Block.decode(file, into: &output)
      case .lzfse: try LZFSE.decode(file, into: &output)
      case .zlib, .gzip, .deflate:
        let format: DeflateFormat =
          compression == .zlib ? .zlib : compression == .gzip ? .gzip : .raw
        return try WholeInflate.inflate(file, format: format, into: &output).produced == byteCount
      }
      return true
    } catch {
      return false
    }
  }

  private func swapped(_ bytes: [UInt8]) -> [UInt8] {
    guard endian == .big, type.bytes > 1 else { return bytes }
    var bytes = bytes
    for start in stride(from: 0, to: bytes.count, by: type.bytes) {
      bytes[start..<start + type.bytes].reverse()
    }
    return bytes
  }
}

/// How the numbers of a depth file become millimeters.
struct OpenFolderDepthValues: Sendable {
  private let raw: OpenFolderRaw?
  private let scale: Double
  private let invalid: Set<Double>
  /// Millimeters by bit pattern of numbers of 16 bits.
  private var table: [UInt16] = []
  private var oddities: [Oddity] = []

  private enum Oddity: UInt8 { case none, notFinite, tooFar }

  init(_ depth: OpenFolderDescription.Depth) {
    (raw, scale, invalid) = (depth.raw, depth.scale, Set(depth.invalid))
    guard raw?.type != .float32 else { return }
    let isHalf = raw?.type == .float16
    for pattern in 0...UInt16.max {
      let value = isHalf ? HalfFloat.doubles[Int(pattern)] : Double(pattern)
      let (millimeters, oddity) = measure(value)
      table.append(millimeters)
      oddities.append(oddity)
    }
  }

  /// NaN is no measurement and no damage.
  private func measure(_ value: Double) -> (UInt16, Oddity) {
    if value.isNaN || invalid.contains(value) { return (0, .none) }
    let meters = value * scale
    if meters < 0 || meters.isInfinite { return (0, .notFinite) }
    let isFar = meters * 1000 > Double(PlausibleValues.depthMillimeters.upperBound)
    return (millimeters(fromMeters: meters), isFar ? .tooFar : .none)
  }

  /// Decodes a file: raw pixels, else PNG of 16 bits, or NumPy by its ending.
  func decode(
    _ bytes: [UInt8], _ name: String, _ pixels: inout [UInt16]
  ) throws(ImageError) -> (width: Int, height: Int, outcome: RecordOutcome) {
    var (odd, far) = (0, 0)
    func add(_ oddity: Oddity) {
      switch oddity {
      case .none: break
      case .notFinite: odd += 1
      case .tooFar: far += 1
      }
    }
    var size: (width: Int, height: Int)
    if let raw {
      let values = try raw.pixels(in: bytes)
      size = (raw.width, raw.height)
      let count = raw.width * raw.height
      pixels = [UInt16](repeating: 0, count: count)
      values.withUnsafeBytes { values in
        for index in 0..<count {
          if raw.type == .float32 {
            let bits = values.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
            let found = measure(Double(Float(bitPattern: UInt32(littleEndian: bits))))
            pixels[index] = found.0
            add(found.1)
          } else {
            let pattern =
              raw.type == .uint8
              ? Int(values[index])
              : Int(
                UInt16(
                  littleEndian: values.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)))
            pixels[index] = table[pattern]
            add(oddities[pattern])
          }
        }
      }
    } else {
      let path = FilePath(text: name)
      let image =
        path.extension?.lowercased() == "npy"
        ? try NPYReader.depth(in: bytes, file: path)
        : try PNGReader.storedDepth(in: bytes, file: path)
      size = (image.width, image.height)
      pixels = image.millimeters.map { value in
        add(oddities[Int(value)])
        return table[Int(value)]
      }
    }
    var outcome = RecordOutcome(
      hasPicture: true,
      issue: odd == 0
        ? nil
        : FrameIssue(
          code: .nonFiniteValue,
          message: "\(name): \(odd) values are infinite or negative, and count as none"))
    outcome.tooFar = far
    return (size.width, size.height, outcome)
  }
}
