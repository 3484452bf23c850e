import Core
import Media
import SystemPackage

/// The content of a recording's metadata, and its streams.
struct Record3DTables {
  enum Metadata {
    /// The file is not there, or has 0 bytes; which.
    case missing(String)
    /// Why it is no JSON object.
    case corrupt(String)
    case unreadable(CaptureError)
    case read(Record3DMetadata)
  }

  let files: Record3DFiles
  let metadata: Metadata
  let color: StreamState<ColorPictures>
  let depth: StreamState<Record3DPictures<UInt16>>
  let confidence: StreamState<Record3DPictures<UInt8>>

  private static let floatBytes = 4

  init(_ files: Record3DFiles) {
    self.files = files
    metadata = Self.read(files)
    let found: Record3DMetadata? = if case .read(let found) = metadata { found } else { nil }
    color = files.color.map {
      ColorPictures($0, size: found?.colorSize, otherSizes: .kept)
    }
    let size = found?.depthSize
    depth = files.depth.then { stored in
      files.generation == .exr ? Self.export(stored, size) : Self.depth(stored, size)
    }
    // Confidence lies on the grid of depth.
    let grid = size ?? depth.value?.size
    confidence = files.confidence.then { Self.confidence($0, grid) }
  }

  var object: Record3DMetadata? { if case .read(let found) = metadata { found } else { nil } }

  /// One more than the greatest number of a file.
  var numberCount: Int {
    [files.color, files.depth, files.confidence].reduce(0) {
      max($0, ($1.value?.files.files.last?.number ?? -1) + 1)
    }
  }

  private static func read(_ files: Record3DFiles) -> Metadata {
    let name = files.generation.metadataName
    guard files.hasMetadata else { return .missing("no \(name)") }
    do throws(CaptureError) {
      let content = try files.entries.content(
        of: name, limit: InputLimits.bytesOfRecord3DMetadata)
      switch content {
      case .none(let issue): return .corrupt(issue.message)
      case .bytes(let bytes) where bytes.isEmpty: return .missing("\(name) is empty")
      case .bytes(let bytes):
        return Record3DMetadata(TextBytes.utf8(bytes)).map(Metadata.read)
          ?? .corrupt("\(name) is no JSON object")
      }
    } catch {
      return .unreadable(error)
    }
  }

  // MARK: Depth

  private static func depth(
    _ stored: Record3DPictureFiles, _ stated: PictureSize?
  ) -> StreamState<Record3DPictures<UInt16>> {
    let scratch = ScratchBuffers()
    guard let size = stated ?? size(of: stored, bytesPerValue: floatBytes, scratch) else {
      return .unreadable(sizeProblem(stored))
    }
    let encoding =
      (firstFile(stored).map(Record3DValues.isStream) ?? true) ? "lzfse-f32" : "raw-f32"
    return .present(
      Record3DPictures(stored, size, encoding: encoding) {
        bytes, pixels throws(Record3DDamage) in
        let count = size.pixels * floatBytes
        let result = try Record3DValues.decode(bytes, count: count, scratch) { values in
          var pixels: [UInt16] = []
          let found = Record3DValues.millimeters(values, &pixels)
          return (pixels, found)
        }
        pixels = result.0
        return result.1
      })
  }

  private static func confidence(
    _ stored: Record3DPictureFiles, _ stated: PictureSize?
  ) -> StreamState<Record3DPictures<UInt8>> {
    let scratch = ScratchBuffers()
    guard let size = stated ?? size(of: stored, bytesPerValue: 1, scratch) else {
      return .unreadable(sizeProblem(stored))
    }
    let encoding = (firstFile(stored).map(Record3DValues.isStream) ?? true) ? "lzfse-u8" : "raw-u8"
    return .present(
      Record3DPictures(stored, size, encoding: encoding) {
        bytes, pixels throws(Record3DDamage) in
        pixels = try Record3DValues.decode(bytes, count: size.pixels, scratch) {
          [UInt8]($0)
        }
        return (nil, 0)
      })
  }

  private static func sizeProblem(_ stored: Record3DPictureFiles) -> CaptureError {
    CaptureError(
      file: stored.entries.path(of: stored.folder),
      problem:
        "the metadata does not state dw and dh, and no file has the values of 192x256, 480x640 or 720x960 "
        + "pixels",
      correction: "add dw and dh to the metadata")
  }

  /// The size of the first file that decodes to one of the app's sizes.
  private static func size(
    of stored: Record3DPictureFiles, bytesPerValue: Int, _ scratch: ScratchBuffers
  ) -> PictureSize? {
    for index in 0..<stored.files.files.count {
      guard let bytes = bytes(of: index, stored) else { continue }
      for size in Record3DValues.knownSizes {
        let count = size.pixels * bytesPerValue
        if (try? Record3DValues.decode(bytes, count: count, scratch) { _ in true }) ?? false {
          return size
        }
      }
    }
    return nil
  }

  private static func firstFile(_ stored: Record3DPictureFiles) -> [UInt8]? {
    (0..<stored.files.files.count).lazy.compactMap { bytes(of: $0, stored) }.first
  }

  /// The bytes of a file that has any.
  private static func bytes(of index: Int, _ stored: Record3DPictureFiles) -> [UInt8]? {
    guard case .bytes(let bytes)? = try? stored.bytes(of: index), !bytes.isEmpty else { return nil }
    return bytes
  }

  // MARK: EXR

  /// The size if no file is readable: that of LiDAR.
  private static let usualSize = PictureSize.lidarDepth.turned

  private static func export(
    _ stored: Record3DPictureFiles, _ stated: PictureSize?
  ) -> StreamState<Record3DPictures<UInt16>> {
    let first = (0..<stored.files.files.count).lazy.compactMap { index in
      bytes(of: index, stored).flatMap { try? EXRReader.picture(in: $0) }
    }.first
    let size = stated ?? first.map { PictureSize(width: $0.width, height: $0.height) } ?? usualSize
    return .present(
      Record3DPictures(
        stored, size, encoding: first?.isHalf ?? true ? "exr-f16" : "exr-f32"
      ) { bytes, pixels throws(Record3DDamage) in
        let found = try damage { () throws(ImageError) in try EXRReader.size(in: bytes) }
        guard found.width == size.width, found.height == size.height else {
          throw Record3DDamage(
            code: .sizeMismatch,
            what: "\(found.width)x\(found.height), not \(size.width)x\(size.height)")
        }
        let picture = try damage { () throws(ImageError) in try EXRReader.picture(in: bytes) }
        return Record3DValues.millimeters(picture.values, &pixels)
      })
  }

  private static func damage<Value>(
    _ body: () throws(ImageError) -> Value
  ) throws(Record3DDamage) -> Value {
    do throws(ImageError) {
      return try body()
    } catch {
      throw Record3DDamage(byteOffset: error.byteOffset, what: error.what)
    }
  }
}

/// The picture files of one stream, by number: file k is the k-th. Files whose number is not believed
/// follow as damaged ones.
struct Record3DPictureFiles: StoredPictures {
  let entries: any Record3DEntries
  let folder: String
  let files: NumberedFiles

  /// Files with that ending in a folder of the recording.
  init(_ entries: any Record3DEntries, _ folder: String, ending: String) {
    self.entries = entries
    self.folder = folder
    files = NumberedFiles(entries.names(in: folder), endings: [ending], leastDigits: 1)
  }

  private init(_ other: Record3DPictureFiles, _ files: NumberedFiles) {
    (entries, folder, self.files) = (other.entries, other.folder, files)
  }

  func believing(upTo most: Int) -> Record3DPictureFiles {
    Record3DPictureFiles(self, files.believing(upTo: most))
  }

  var count: Int { files.files.count + files.unbelieved.count }

  func name(of index: Int) -> String { PathText.shown(storedName(index)) }

  func bytes(of index: Int) throws -> StoredBytes {
    guard index < files.files.count else {
      return .none(
        FrameIssue(
          code: .corruptRecord,
          message: "\(name(of: index)): no recording of this length has so high a number"))
    }
    return try entries.content(of: storedName(index), limit: InputLimits.bytesOfRecord3DPicture)
  }

  /// The files that must be read, each once.
  var paths: [FilePath] {
    var paths: [FilePath] = []
    for file in files.files {
      let path = entries.path(of: "\(folder)/\(file.name)")
      // All entries of an archive lie in one file.
      if paths.last != path { paths.append(path) }
    }
    return paths
  }

  private func storedName(_ index: Int) -> String {
    let file =
      index < files.files.count
      ? files.files[index] : files.unbelieved[index - files.files.count]
    return "\(folder)/\(file.name)"
  }
}

/// The files of a recording by their names, in a folder or in an archive. Called by several threads
/// at once.
protocol Record3DEntries: Sendable {
  /// Names without their folder; `folder` is empty for the recording's own.
  func names(in folder: String) -> [String]
  /// The content of a file, of at most `limit` bytes, or why there is none. Throws if it cannot be
  /// opened.
  func content(of name: String, limit: InputLimit) throws(CaptureError) -> StoredBytes
  /// The file that must be read for a name.
  func path(of name: String) -> FilePath
}

extension InputLimits {
  /// Depth of a picture has some hundred kilobytes, a color picture less.
  static let bytesOfRecord3DPicture = InputLimit(
    "bytes in a picture of a recording", most: 64 << 20, "it is read as a whole")
  /// Some hundred bytes per frame.
  static let bytesOfRecord3DMetadata = InputLimit(
    "bytes in a recording's metadata", most: 256 << 20, "it is held in memory")
}

/// Depth or confidence, one file per picture: record k is the file with number k. A number without a
/// file is a record without picture, which costs nothing.
struct Record3DPictures<Pixel: BitwiseCopyable & Sendable>: IndexedFrameSource {
  /// Makes the pixels of the bytes of a file; `tooFar` as in `RecordOutcome`. Throws for damage.
  typealias Decoder =
    @Sendable ([UInt8], inout [Pixel]) throws(Record3DDamage) -> Record3DValues.Finding

  let stored: Record3DPictureFiles
  let size: PictureSize
  let encoding: String
  private let decoder: Decoder
  /// Index in `stored` by number; -1 without file.
  private let indices: [Int32]

  init(
    _ stored: Record3DPictureFiles, _ size: PictureSize, encoding: String,
    decoder: @escaping Decoder
  ) {
    self.stored = stored
    (self.size, self.encoding) = (size, encoding)
    self.decoder = decoder
    let files = stored.files.files
    var indices = [Int32](repeating: -1, count: (files.last?.number ?? -1) + 1)
    for (index, file) in files.enumerated() { indices[file.number] = Int32(clamping: index) }
    self.indices = indices
  }

  var recordCount: Int { indices.count + stored.files.unbelieved.count }

  func decode(record: Int, into pixels: inout [Pixel]) throws -> RecordOutcome {
    guard record >= 0, record < recordCount else {
      throw CaptureError(
        file: stored.entries.path(of: stored.folder), record: record, problem: "no such record")
    }
    let index =
      record < indices.count
      ? Int(indices[record]) : stored.files.files.count + record - indices.count
    guard index >= 0 else { return RecordOutcome(hasPicture: false) }
    let name = stored.name(of: index)
    let bytes: [UInt8]
    switch try stored.bytes(of: index) {
    case .none(let issue): return RecordOutcome(hasPicture: false, issue: issue)
    case .bytes(let found): bytes = found
    }
    if bytes.isEmpty { return .hole(.emptyRecord, "\(name): 0 bytes") }
    do throws(Record3DDamage) {
      let found = try decoder(bytes, &pixels)
      return RecordOutcome(
        hasPicture: true,
        issue: found.issue.map { FrameIssue(code: $0.code, message: "\(name): \($0.message)") },
        tooFar: found.tooFar)
    } catch {
      return .hole(error.code, "\(name)\(error.place): \(error.what)")
    }
  }
}

/// Why a file has no picture.
struct Record3DDamage: Error {
  var code = WarningCode.corruptRecord
  var byteOffset: Int?
  var what: String

  var place: String { byteOffset.map { ", byte \($0)" } ?? "" }
}

/// The values of a `.depth` or `.conf` file: an LZFSE stream, or a raw copy of the values.
enum Record3DValues {
  /// Sizes by number of values, for recordings that do not state them: LiDAR, FaceID, FaceID of 2019.
  static let knownSizes = [(192, 256), (480, 640), (720, 960)].map {
    PictureSize(width: $0, height: $1)
  }

  private static let farthestMeters = Float(PlausibleValues.depthMillimeters.upperBound) / 1000

  typealias Finding = (issue: FrameIssue?, tooFar: Int)

  static func isStream(_ bytes: [UInt8]) -> Bool { LZFSE.isStream(bytes.span.bytes) }

  /// Passes `body` the values of a file, which must have exactly `count` bytes.
  static func decode<Result>(
    _ bytes: [UInt8], count: Int, _ scratch: ScratchBuffers,
    _ body: (UnsafeRawBufferPointer) -> Result
  ) throws(Record3DDamage) -> Result {
    guard isStream(bytes) else {
      guard bytes.count == count else {
        throw Record3DDamage(
          what: "neither an LZFSE stream nor \(count) bytes, but \(bytes.count) bytes")
      }
      return bytes.withUnsafeBytes(body)
    }
    let outcome: Swift.Result<Result, Record3DDamage> = scratch.withBuffer(byteCount: count) {
      buffer in
      var span = buffer.mutableSpan
      var output = span.mutableBytes
      do throws(LZFSEError) {
        try LZFSE.decode(bytes.span.bytes, into: &output)
      } catch {
        return .failure(Record3DDamage(byteOffset: error.byteOffset, what: error.what))
      }
      return .success(buffer.withUnsafeBytes(body))
    }
    return try outcome.get()
  }

  /// Meters as millimeters. NaN is no measurement and no damage.
  static func millimeters(
    _ meters: UnsafeRawBufferPointer, _ pixels: inout [UInt16]
  ) -> Finding {
    let count = meters.count / 4
    if pixels.count != count { pixels = [UInt16](repeating: 0, count: count) }
    var odd = 0
    var tooFar = 0
    for index in 0..<count {
      let bits = meters.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
      pixels[index] = millimeters(Float(bitPattern: UInt32(littleEndian: bits)), &odd, &tooFar)
    }
    return (issue(odd), tooFar)
  }

  /// Converts numbers in memory.
  static func millimeters(_ meters: [Float], _ pixels: inout [UInt16]) -> Finding {
    if pixels.count != meters.count { pixels = [UInt16](repeating: 0, count: meters.count) }
    var odd = 0
    var tooFar = 0
    for index in meters.indices { pixels[index] = millimeters(meters[index], &odd, &tooFar) }
    return (issue(odd), tooFar)
  }

  @inline(__always)
  private static func millimeters(
    _ meters: Float, _ odd: inout Int, _ tooFar: inout Int
  ) -> UInt16 {
    if meters < 0 || meters.isInfinite { odd += 1 }
    if meters > farthestMeters, meters.isFinite { tooFar += 1 }
    return Core.millimeters(fromMeters: Double(meters))
  }

  private static func issue(_ odd: Int) -> FrameIssue? {
    odd == 0
      ? nil
      : FrameIssue(
        code: .nonFiniteValue, message: "\(odd) values are infinite or negative, and count as none")
  }
}
