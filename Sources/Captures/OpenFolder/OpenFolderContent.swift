import Core
import Media
import SystemPackage

/// The capture's folder, which no path of `capture.yaml` or of a table leaves.
struct OpenFolderContent {
  let path: FilePath
  fileprivate let folder: EnclosedFolder

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
    return String(digits.reversed().drop { $0 == "." })
  }

  /// The last whole number in a name.
  static func number(in name: Substring) -> Int? {
    NumberedFiles.number(digits(name).utf8).flatMap { $0 == .max ? nil : $0 }
  }

  enum Place { case file, absent, outside }

  /// Cost: some system calls.
  func look(at relative: String) -> Place {
    switch folder.look(at: relative) {
    case .outside: .outside
    case .nothing: .absent
    // An entry that cannot be examined counts as a file, so that opening it reports the reason.
    case .file, .forbidden, .failed, .other, .folder: .file
    }
  }

  func full(_ relative: String) -> FilePath { path.pushing(FilePath(text: relative)) }

  /// The files that a pattern with one `*` in its name stands for, by the number in their names, and
  /// the number of links out of the capture. Throws if the folder cannot be listed.
  ///
  /// - Parameter time: the times that the numbers are, `nil` if they are none.
  func files(
    _ pattern: String, time: OpenFolderStream.Time?
  ) throws(CaptureError) -> (items: [OpenFolderItem], outside: Int) {
    let parts = pattern.split(separator: "/")
    let folders = parts.dropLast().joined(separator: "/")
    let sides = (parts.last ?? "").split(separator: "*", omittingEmptySubsequences: false)
    guard let start = sides.first, let ending = sides.last?.lowercased() else { return ([], 0) }
    if !folders.isEmpty, look(at: folders) == .absent { return ([], 0) }
    let place = folders.isEmpty ? path : full(folders)
    let listing = try CaptureError.naming(place, try FolderListing(of: place, inside: path))
    func fits(_ name: String) -> Bool {
      !name.hasPrefix(".") && !IgnoredFiles.contains(name) && name.hasPrefix(start)
        && name.lowercased().hasSuffix(ending) && name.count >= start.count + ending.count
    }
    let items = listing.files.filter(fits).map { name in
      let middle = name.dropFirst(start.count).dropLast(ending.count)
      return OpenFolderItem(
        name: folders.isEmpty ? name : "\(folders)/\(name)", number: Self.number(in: middle),
        time: time.flatMap { $0.timestamp(Self.digits(middle)) })
    }
    func isBefore(_ a: OpenFolderItem, _ b: OpenFolderItem) -> Bool {
      if let a = a.time, let b = b.time, a != b { return a < b }
      return (a.number ?? .max, a.name ?? "") < (b.number ?? .max, b.name ?? "")
    }
    return (items.sorted(by: isBefore), listing.outside.count(where: fits))
  }

  /// The path of a picture that a table names: from the table's folder on, or from the capture's. An
  /// ending that is left out is looked for.
  func picture(_ name: String, of table: String) -> (path: String?, isOutside: Bool) {
    guard let own = Self.path(name) else { return (nil, true) }
    let folders = table.split(separator: "/").dropLast().joined(separator: "/")
    let endings =
      own.split(separator: "/").last?.contains(".") ?? false ? [""] : ["", ".png", ".jpg", ".jpeg"]
    var isOutside = false
    for base in folders.isEmpty ? [own] : ["\(folders)/\(own)", own] {
      for ending in endings {
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

/// The pictures of a stream, by the order of frames: one file each, or one behind the other in one file.
struct OpenFolderPictures: StoredPictures {
  private let content: OpenFolderContent
  private let names: [String]
  /// The one file of all, and the size of a picture in it.
  private var whole: (file: MappedFile, bytes: Int)?

  init(_ content: OpenFolderContent, _ names: [String]) {
    (self.content, self.names) = (content, names)
  }

  /// - Parameter bytes: the size of a picture.
  init(
    _ content: OpenFolderContent, whole name: String, pictureBytes bytes: Int
  ) throws(CaptureError) {
    self.init(content, [name])
    let path = content.full(name)
    whole = (try CaptureError.naming(path, try MappedFile(path)), bytes)
  }

  var count: Int { whole.map { $0.file.count / $0.bytes } ?? names.count }
  /// Whether the one file ends inside a picture.
  var isCut: Bool { whole.map { $0.file.count % $0.bytes != 0 } ?? false }
  var path: FilePath { content.path }
  var paths: [FilePath] { names.map(content.full) }
  func file(of index: Int) -> String { whole == nil ? names[index] : names[0] }

  func name(of index: Int) -> String {
    PathText.shown(file(of: index)) + (whole == nil ? "" : ", picture \(index)")
  }

  func bytes(of index: Int) throws -> StoredBytes {
    if let whole {
      let start = index * whole.bytes
      return .bytes(
        whole.file.withBytes(in: start..<start + whole.bytes) { $0.withUnsafeBytes(Array.init) })
    }
    let file = try CaptureError.naming(
      content.full(names[index]), try InputFile(names[index], in: content.folder))
    return .bytes(
      try CaptureError.naming(
        content.full(names[index]), try file.whole(limit: InputLimits.bytesOfPicture)))
  }
}

/// Pixels without a header, row by row.
struct OpenFolderRaw: Hashable {
  enum PixelType: String, CaseIterable {
    case float32, float16, uint16, uint8

    var bytes: Int { self == .float32 ? 4 : self == .uint8 ? 1 : 2 }
    /// Meters per unit: floats are meters, whole numbers millimeters.
    var usualScale: Double { self == .float32 || self == .float16 ? 1 : 0.001 }
  }

  enum Compression: String, CaseIterable {
    case none, zlib, gzip, deflate, lz4, lzfse

    /// The most bytes that a byte of a file can expand to.
    var expansion: Int {
      switch self {
      case .none: 1
      case .zlib, .gzip, .deflate: 1_032
      case .lz4: 255
      case .lzfse: 65_536
      }
    }
  }

  let type: PixelType
  let width: Int
  let height: Int
  let compression: Compression
  private let isBigEndian: Bool

  init(_ map: OpenFolderMap) throws(CaptureError) {
    (width, height) = (map.integer("width") ?? 1, map.integer("height") ?? 1)
    if let problem = InputLimits.pixelsOfPicture.problem(width * height) {
      throw map.fault(nil, problem)
    }
    type = map.text("type").flatMap(PixelType.init) ?? .float32
    compression = map.text("compression").flatMap(Compression.init) ?? .none
    isBigEndian = map.text("endian") == "big"
  }

  /// The size of a picture that is not compressed.
  var byteCount: Int { width * height * type.bytes }

  var size: PictureSize { PictureSize(width: width, height: height) }

  /// The pixels of a file, little-endian. Nothing is allocated before the file is large enough for it.
  func pixels(in file: [UInt8]) throws(ImageError) -> [UInt8] {
    func error(_ what: String) -> ImageError {
      ImageError(
        file: nil,
        what: "capture.yaml says \(width)x\(height) \(type.rawValue), \(byteCount) bytes; the file "
          + what, byteOffset: nil)
    }
    var bytes = file
    if compression == .none {
      guard file.count == byteCount else { throw error("has \(file.count)") }
    } else {
      guard byteCount / compression.expansion <= file.count else {
        throw error("has \(file.count) compressed")
      }
      bytes = [UInt8](repeating: 0, count: byteCount)
      var span = bytes.mutableSpan
      var output = span.mutableBytes
      guard expand(file.span.bytes, into: &output) else {
        throw error("holds no \(compression.rawValue) data of that length")
      }
    }
    guard isBigEndian, type.bytes > 1 else { return bytes }
    for start in stride(from: 0, to: bytes.count, by: type.bytes) {
      bytes[start..<start + type.bytes].reverse()
    }
    return bytes
  }

  private func expand(_ file: RawSpan, into output: inout MutableRawSpan) -> Bool {
    do {
      let format: DeflateFormat
      switch compression {
      case .none: return false
      case .lz4:
        try LZ4Block.decode(file, into: &output)
        return true
      case .lzfse:
        try LZFSE.decode(file, into: &output)
        return true
      case .zlib: format = .zlib
      case .gzip: format = .gzip
      case .deflate: format = .raw
      }
      return try WholeInflate.inflate(file, format: format, into: &output).produced == byteCount
    } catch {
      return false
    }
  }
}

/// How the numbers of a depth file become millimeters.
struct OpenFolderDepthValues {
  private let raw: OpenFolderRaw?
  private let statedScale: Double?
  private let invalid: Set<Double>
  /// The values of numbers of 16 bits, by bit pattern.
  private var table: [Value] = []

  private enum Oddity { case none, notFinite, tooFar }
  private typealias Value = (millimeters: UInt16, oddity: Oddity)

  init(_ depth: OpenFolderStream) {
    raw = depth.raw
    statedScale = depth.map.number("scale")
    invalid = Set(depth.map.numbers("invalid", in: nil) ?? [])
    guard raw?.type != .float32 else { return }
    let isHalf = raw?.type == .float16
    table = (0...UInt16.max).map { pattern in
      measure(
        isHalf ? HalfFloat.doubles[Int(pattern)] : Double(pattern), raw?.type ?? .uint16)
    }
  }

  /// NaN is no measurement and no damage.
  private func measure(_ value: Double, _ type: OpenFolderRaw.PixelType) -> Value {
    if value.isNaN || invalid.contains(value) { return (0, .none) }
    let meters = value * (statedScale ?? type.usualScale)
    if meters < 0 || meters.isInfinite { return (0, .notFinite) }
    let isFar = meters * 1000 > Double(PlausibleValues.depthMillimeters.upperBound)
    return (millimeters(fromMeters: meters), isFar ? .tooFar : .none)
  }

  /// Decodes a file: raw pixels, else PNG of 16 bits, or NumPy by its ending.
  func decode(
    _ bytes: [UInt8], _ file: FilePath, _ pixels: inout [UInt16]
  ) throws(PictureDamage) -> PictureFinding {
    var (odd, far) = (0, 0)
    func taken(_ value: Value) -> UInt16 {
      switch value.oddity {
      case .none: break
      case .notFinite: odd += 1
      case .tooFar: far += 1
      }
      return value.millimeters
    }
    /// The millimeters of numbers, little-endian, from an offset on.
    func millimeters(
      _ values: [UInt8], _ type: OpenFolderRaw.PixelType, _ size: PictureSize, from start: Int = 0
    ) -> [UInt16] {
      values.withUnsafeBytes { values in
        (0..<size.width * size.height).map { index in
          let offset = start + type.bytes * index
          switch type {
          case .float32:
            let bits = values.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return taken(measure(Double(Float(bitPattern: UInt32(littleEndian: bits))), type))
          case .float16, .uint16:
            let bits = UInt16(
              littleEndian: values.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
            return taken(
              raw == nil && type == .float16
                ? measure(HalfFloat.doubles[Int(bits)], type) : table[Int(bits)])
          case .uint8: return taken(table[Int(values[offset])])
          }
        }
      }
    }
    var found: PictureFinding
    if let raw {
      found = PictureFinding(size: raw.size)
      pixels = millimeters(try PictureDamage.of(try raw.pixels(in: bytes)), raw.type, raw.size)
    } else if Self.isNumPy(file.text) {
      let layout = try PictureDamage.of(try NPYReader.layout(of: bytes, file: file))
      let size = PictureSize(width: layout.width, height: layout.height)
      found = PictureFinding(size: size)
      pixels = millimeters(bytes, Self.type(of: layout.element), size, from: layout.firstByte)
    } else {
      found = try PictureFiles.storedDepth(bytes, file, &pixels)
      pixels = pixels.map { taken(table[Int($0)]) }
    }
    found.issue = FrameIssue.noMeasurements(odd)
    found.tooFar = far
    return found
  }

  private static func isNumPy(_ name: String) -> Bool { name.lowercased().hasSuffix(".npy") }

  private static func type(of element: NPYReader.Element) -> OpenFolderRaw.PixelType {
    switch element {
    case .uint16: .uint16
    case .float32: .float32
    case .float16: .float16
    }
  }

  /// How the numbers of files that are not raw are stored, by the first of them.
  static func encoding(of files: OpenFolderPictures) -> String {
    guard isNumPy(files.file(of: 0)) else { return "png-u16" }
    var element = NPYReader.Element.uint16
    if case .bytes(let bytes)? = try? files.bytes(of: 0),
      let layout = try? NPYReader.layout(of: bytes)
    {
      element = layout.element
    }
    return "npy-" + element.name
  }
}
