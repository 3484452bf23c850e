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
  let depth: StreamState<PictureFiles<UInt16>>
  let confidence: StreamState<PictureFiles<UInt8>>
  /// Whether the metadata has the width of depth in place of its height.
  let hasExchangedSides: Bool

  private static let floatBytes = 4

  init(_ files: Record3DFiles) {
    self.files = files
    metadata = Self.read(files)
    let found: Record3DMetadata? = if case .read(let found) = metadata { found } else { nil }
    color = files.color.map {
      ColorPictures($0, size: found?.colorSize, keepsOtherSizes: true)
    }
    let stated = found?.depthSize
    // Depth stands upright in all recordings, and is of the camera of color, so that both have one aspect.
    let pictures = color.value?.head?.storedSize ?? found?.colorSize
    hasExchangedSides =
      stated.map {
        $0.width > $0.height && !ColorFit.haveOneAspect($0, pictures)
          && ColorFit.haveOneAspect($0.turned, pictures)
      } ?? false
    let size = hasExchangedSides ? stated?.turned : stated
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
    _ stored: StoredPictureFiles, _ stated: PictureSize?
  ) -> StreamState<PictureFiles<UInt16>> {
    values(stored, stated, bytesPerValue: floatBytes, "f32") { values, pixels, size in
      Record3DValues.millimeters(values, &pixels, size)
    }
  }

  private static func confidence(
    _ stored: StoredPictureFiles, _ stated: PictureSize?
  ) -> StreamState<PictureFiles<UInt8>> {
    values(stored, stated, bytesPerValue: 1, "u8") { values, pixels, size in
      pixels = [UInt8](values)
      return PictureFinding(size: size, issue: pixels.issueOfConfidence)
    }
  }

  /// Files of values without a header, compressed or not.
  private static func values<Pixel>(
    _ stored: StoredPictureFiles, _ stated: PictureSize?, bytesPerValue: Int, _ type: String,
    _ take:
      @escaping @Sendable (UnsafeRawBufferPointer, inout [Pixel], PictureSize) -> PictureFinding
  ) -> StreamState<PictureFiles<Pixel>> {
    let scratch = ScratchBuffers()
    guard let size = stated ?? size(of: stored, bytesPerValue: bytesPerValue, scratch) else {
      return .unreadable(sizeProblem(stored))
    }
    let isStream = contents(stored).first.map(Record3DValues.isStream) ?? true
    return .present(
      PictureFiles(stored, size, encoding: (isStream ? "lzfse-" : "raw-") + type) {
        bytes, _, pixels throws(PictureDamage) in
        var found: [Pixel] = []
        let finding = try Record3DValues.decode(
          bytes, count: size.pixels * bytesPerValue, scratch
        ) { take($0, &found, size) }
        pixels = found
        return finding
      })
  }

  private static func sizeProblem(_ stored: StoredPictureFiles) -> CaptureError {
    CaptureError(
      file: stored.path,
      problem:
        "the metadata does not state dw and dh, and no file has the values of 192x256, 480x640 or 720x960 "
        + "pixels",
      correction: "add dw and dh to the metadata")
  }

  /// The size of the first file that decodes to one of the app's sizes.
  private static func size(
    of stored: StoredPictureFiles, bytesPerValue: Int, _ scratch: ScratchBuffers
  ) -> PictureSize? {
    for bytes in contents(stored) {
      for size in Record3DValues.knownSizes {
        let count = size.pixels * bytesPerValue
        if (try? Record3DValues.decode(bytes, count: count, scratch) { _ in true }) ?? false {
          return size
        }
      }
    }
    return nil
  }

  /// The bytes of the files that have any.
  private static func contents(_ stored: StoredPictureFiles) -> some Collection<[UInt8]>
    & LazyCollectionProtocol
  {
    (0..<stored.files.files.count).lazy.compactMap { index -> [UInt8]? in
      guard case .bytes(let bytes)? = try? stored.bytes(of: index) else { return nil }
      return bytes.isEmpty ? nil : bytes
    }
  }

  // MARK: EXR

  /// The size if no file is readable: that of LiDAR.
  private static let usualSize = PictureSize.lidarDepth.turned

  private static func export(
    _ stored: StoredPictureFiles, _ stated: PictureSize?
  ) -> StreamState<PictureFiles<UInt16>> {
    let first = contents(stored).lazy.compactMap { try? EXRReader.picture(in: $0) }.first
    let size = stated ?? first.map { PictureSize(width: $0.width, height: $0.height) } ?? usualSize
    return .present(
      PictureFiles(stored, size, encoding: first?.isHalf ?? true ? "exr-f16" : "exr-f32") {
        bytes, _, pixels throws(PictureDamage) in
        let found = try PictureDamage.of(try EXRReader.size(in: bytes))
        guard found.width == size.width, found.height == size.height else {
          throw PictureDamage(
            "\(found.width)x\(found.height), not \(size.width)x\(size.height)", .sizeMismatch)
        }
        let picture = try PictureDamage.of(try EXRReader.picture(in: bytes))
        return picture.values.withUnsafeBytes {
          Record3DValues.millimeters($0, &pixels, size)
        }
      })
  }
}

/// The files of a recording by their names, in a folder or in an archive.
protocol Record3DEntries: StoredFiles {
  /// Names without their folder; `folder` is empty for the recording's own.
  func names(in folder: String) -> [String]
}

extension InputLimits {
  /// Depth of a picture has some hundred kilobytes, a color picture less.
  static let bytesOfRecord3DPicture = InputLimit(
    "bytes in a picture of a recording", most: 64 << 20, "it is read as a whole")
  /// Real metadata has some hundred bytes per frame.
  static let bytesOfRecord3DMetadata = InputLimit(
    "bytes in a recording's metadata", most: 256 << 20, "it is held in memory")
}

/// The values of a `.depth` or `.conf` file: an LZFSE stream, or a raw copy of the values.
enum Record3DValues {
  /// Sizes by number of values, for recordings that do not state them: LiDAR, FaceID, FaceID of 2019.
  static let knownSizes = [(192, 256), (480, 640), (720, 960)].map {
    PictureSize(width: $0, height: $1)
  }

  private static let farthestMeters = Float(PlausibleValues.depthMillimeters.upperBound) / 1000

  static func isStream(_ bytes: [UInt8]) -> Bool { LZFSE.isStream(bytes.span.bytes) }

  /// Passes `body` the values of a file, which must have exactly `count` bytes.
  static func decode<Result>(
    _ bytes: [UInt8], count: Int, _ scratch: ScratchBuffers,
    _ body: (UnsafeRawBufferPointer) -> Result
  ) throws(PictureDamage) -> Result {
    guard isStream(bytes) else {
      guard bytes.count == count else {
        throw PictureDamage(
          "neither an LZFSE stream nor \(count) bytes, but \(bytes.count) bytes")
      }
      return bytes.withUnsafeBytes(body)
    }
    let outcome: Swift.Result<Result, PictureDamage> = scratch.withBuffer(byteCount: count) {
      buffer in
      var span = buffer.mutableSpan
      var output = span.mutableBytes
      do throws(LZFSEError) {
        try LZFSE.decode(bytes.span.bytes, into: &output)
      } catch {
        return .failure(PictureDamage(error.what, byteOffset: error.byteOffset))
      }
      return .success(buffer.withUnsafeBytes(body))
    }
    return try outcome.get()
  }

  /// Meters as millimeters. NaN is no measurement and no damage.
  static func millimeters(
    _ meters: UnsafeRawBufferPointer, _ pixels: inout [UInt16], _ size: PictureSize
  ) -> PictureFinding {
    let count = meters.count / 4
    if pixels.count != count { pixels = [UInt16](repeating: 0, count: count) }
    var (odd, tooFar) = (0, 0)
    for index in 0..<count {
      let bits = meters.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
      let value = Float(bitPattern: UInt32(littleEndian: bits))
      if value < 0 || value.isInfinite { odd += 1 }
      if value > farthestMeters, value.isFinite { tooFar += 1 }
      pixels[index] = Core.millimeters(fromMeters: Double(value))
    }
    return PictureFinding(size: size, issue: FrameIssue.noMeasurements(odd), tooFar: tooFar)
  }
}
