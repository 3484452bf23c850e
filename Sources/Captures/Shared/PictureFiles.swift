import Core
import Media
import SystemPackage

/// Why the file of a picture has none.
struct PictureDamage: Error {
  var code = WarningCode.corruptRecord
  var error: ImageError

  init(_ error: ImageError) { self.error = error }

  init(_ what: String, _ code: WarningCode = .corruptRecord, byteOffset: Int? = nil) {
    self.code = code
    error = ImageError(file: nil, what: what, byteOffset: byteOffset)
  }

  /// What `read` gives; damage of an image is damage of a picture.
  static func of<Value>(
    _ read: @autoclosure () throws(ImageError) -> Value
  ) throws(PictureDamage) -> Value {
    do throws(ImageError) {
      return try read()
    } catch {
      throw PictureDamage(error)
    }
  }
}

/// What a picture is like beside its pixels.
struct PictureFinding {
  var size: PictureSize
  /// What is odd about its values; the message has no name of a file.
  var issue: FrameIssue?
  /// Number of values above 100 m.
  var tooFar = 0
}

/// Pictures of depth or confidence, opened when they are decoded: record k is the picture of frame k.
///
/// A frame without a file is a record without picture, which costs nothing. Files that belong to no frame follow as
/// damaged records, so that whoever decodes the stream counts them. Memory: four bytes per record, and the names.
struct PictureFiles<Pixel: BitwiseCopyable & Sendable>: StoredFrameSource {
  /// Decodes the bytes of a file, whose name tells the kind.
  typealias Decoder =
    @Sendable (
      _ bytes: [UInt8], _ file: FilePath, _ pixels: inout [Pixel]
    ) throws(PictureDamage) -> PictureFinding

  let stored: any StoredPictures
  let encoding: String
  /// The size that all pictures must have; `nil` if none is readable.
  let size: PictureSize?
  /// Number of records of frames.
  let numberCount: Int
  /// Index of the picture of each record; -1 without one.
  private let indices: [Int32]
  /// Whether the values are those of the files, which may be copied then.
  private let areValuesStored: Bool
  private let decoder: Decoder

  /// - Parameters:
  ///   - frames: the picture of each frame.
  ///   - surplus: pictures that belong to no frame.
  init(
    _ stored: any StoredPictures, frames: [Int32], surplus: Range<Int> = 0..<0,
    _ size: PictureSize?,
    encoding: String, areValuesStored: Bool = false, decoder: @escaping Decoder
  ) {
    (self.stored, self.encoding, self.size) = (stored, encoding, size)
    (self.areValuesStored, self.decoder) = (areValuesStored, decoder)
    numberCount = frames.count
    indices = frames + surplus.map { Int32(clamping: $0) }
  }

  /// Files with a number each.
  init(
    _ files: StoredPictureFiles, _ size: PictureSize?, encoding: String,
    areValuesStored: Bool = false, decoder: @escaping Decoder
  ) {
    self.init(
      files, frames: files.frames, surplus: files.files.files.count..<files.count, size,
      encoding: encoding, areValuesStored: areValuesStored, decoder: decoder)
  }

  var recordCount: Int { indices.count }

  /// Number of frames with a file, readable or not.
  var fileCount: Int { indices.prefix(numberCount).count { $0 >= 0 } }

  var paths: [FilePath] { stored.paths }

  /// Whether there is a file for that frame.
  func hasFile(_ number: Int) -> Bool { (0..<numberCount).contains(number) && indices[number] >= 0 }

  /// The times of the frames that have a file.
  func times(of frames: [CaptureFrame]) -> [Timestamp?] {
    frames.enumerated().map { hasFile($0) ? $1.timestamp : nil }
  }

  func decode(record: Int, into pixels: inout [Pixel]) throws -> RecordOutcome {
    guard let index = try index(of: record) else { return RecordOutcome(hasPicture: false) }
    switch try stored.bytes(of: index) {
    case .none(let issue): return RecordOutcome(hasPicture: false, issue: issue)
    case .bytes(let bytes): return decode(bytes, record: record, into: &pixels)
    }
  }

  func storedFile(record: Int) throws -> [UInt8]? {
    guard areValuesStored, let index = try index(of: record),
      case .bytes(let bytes) = try stored.bytes(of: index)
    else { return nil }
    return bytes
  }

  func decode(_ bytes: [UInt8], record: Int, into pixels: inout [Pixel]) -> RecordOutcome {
    guard let index = try? index(of: record) else { return RecordOutcome(hasPicture: false) }
    let name = stored.name(of: index)
    if bytes.isEmpty { return .hole(.emptyRecord, "\(name): 0 bytes") }
    do throws(PictureDamage) {
      let found = try decoder(bytes, FilePath(text: stored.file(of: index)), &pixels)
      if let size, found.size != size {
        return .hole(
          .sizeMismatch,
          "\(name): \(found.size.width)x\(found.size.height), the first picture has "
            + "\(size.width)x\(size.height)")
      }
      return RecordOutcome(
        hasPicture: true,
        issue: found.issue.map {
          FrameIssue(
            code: $0.code, message: "\(PathText.shown(stored.file(of: index))): \($0.message)")
        },
        tooFar: found.tooFar)
    } catch {
      let place = error.error.byteOffset.map { ", byte \($0)" } ?? ""
      return .hole(error.code, "\(name)\(place): \(error.error.what)")
    }
  }

  private func index(of record: Int) throws(CaptureError) -> Int? {
    guard indices.indices.contains(record) else {
      throw CaptureError(file: stored.path, record: record, problem: "no such record")
    }
    return indices[record] < 0 ? nil : Int(indices[record])
  }
}

extension PictureFiles {
  /// Files whose pixels are the values. Their size is that of the first readable one. Cost: decodes files from the
  /// first on until one is readable.
  fileprivate init(
    _ numbered: NumberedFiles, in folder: FilePath, encoding: (_ ending: String) -> String,
    decoder: @escaping Decoder
  ) {
    let files = StoredPictureFiles(numbered, in: folder)
    let found = (0..<numbered.files.count).lazy.compactMap { index -> (Int, PictureSize)? in
      var pixels: [Pixel] = []
      guard case .bytes(let bytes)? = try? files.bytes(of: index), !bytes.isEmpty else {
        return nil
      }
      let found = try? decoder(bytes, FilePath(text: files.file(of: index)), &pixels)
      return found.map { (index, $0.size) }
    }.first
    let ending = numbered.files.isEmpty ? "" : FilePath(text: files.file(of: found?.0 ?? 0)).ending
    self.init(
      files, found?.1, encoding: encoding(ending), areValuesStored: true, decoder: decoder)
  }
}

extension FilePath {
  /// The ending of the name in lower case, empty without one.
  fileprivate var ending: String { self.extension?.lowercased() ?? "" }
}

extension PictureFiles<UInt16> {
  /// Depth in millimeters: 16-bit gray PNG, or NPY by its ending.
  static func depth(_ files: NumberedFiles, in folder: FilePath) -> PictureFiles {
    PictureFiles(
      files, in: folder, encoding: { $0 == "npy" ? "npy-u16" : "png-u16" }, decoder: storedDepth)
  }

  static func storedDepth(
    _ bytes: [UInt8], _ file: FilePath, _ pixels: inout [UInt16]
  ) throws(PictureDamage) -> PictureFinding {
    let image = try PictureDamage.of(
      file.ending == "npy"
        ? try NPYReader.depth(in: bytes, file: file)
        : try PNGReader.storedDepth(in: bytes, file: file))
    pixels = image.millimeters
    return PictureFinding(size: PictureSize(width: image.width, height: image.height))
  }
}

extension PictureFiles<UInt8> {
  /// Confidence, values as stored: 8-bit gray PNG.
  ///
  /// - Parameter isARKit: whether the app writes ARKit's values.
  static func confidence(
    _ files: NumberedFiles, in folder: FilePath, isARKit: Bool = false
  ) -> PictureFiles {
    PictureFiles(files, in: folder, encoding: { _ in "png-u8" }) {
      bytes, file, pixels throws(PictureDamage) in
      var found = try storedGray(bytes, file, &pixels)
      if isARKit { found.issue = pixels.issueOfConfidence }
      return found
    }
  }

  static func storedGray(
    _ bytes: [UInt8], _ file: FilePath, _ pixels: inout [UInt8]
  ) throws(PictureDamage) -> PictureFinding {
    let image = try PictureDamage.of(try PNGReader.storedGray(in: bytes, file: file))
    pixels = image.values
    return PictureFinding(size: PictureSize(width: image.width, height: image.height))
  }
}

extension FrameIssue {
  /// So many depth values that are no measurements; `nil` for none.
  static func noMeasurements(_ count: Int) -> FrameIssue? {
    count == 0
      ? nil
      : FrameIssue(
        code: .nonFiniteValue,
        message: "\(count) values are infinite or negative, and count as none")
  }
}

extension [UInt8] {
  /// What is odd about these values as ARKit's confidence, which is 0 low, 1 medium, 2 high; `nil` if nothing is. They
  /// are kept as they are: a picture with some of the values of another scale does not prove which one it is.
  var issueOfConfidence: FrameIssue? {
    guard contains(where: { $0 > 2 }) else { return nil }
    return FrameIssue(
      code: .implausibleUnit,
      message:
        "confidence up to \(self.max() ?? 0), where the app writes 0, 1 and 2: a minimum confidence counts on the "
        + "scale of the files")
  }
}

extension PictureStream {
  /// The stream of a folder of pictures. Its items are the files, readable or not; without a readable one all records
  /// are holes, of a usual size.
  ///
  /// - Parameter gapFactor: with it, gaps are counted.
  init(
    _ files: PictureFiles<Pixel>, folder: String, of frames: [CaptureFrame],
    gapFactor: Double? = nil
  ) {
    var description = StreamDescription(
      file: folder, encoding: files.encoding, width: files.size?.width,
      height: files.size?.height, frames: files.fileCount)
    description.pairing = .byName(files.fileCount, of: files.fileCount)
    description.state(times: files.times(of: frames), gapFactor: gapFactor)
    let size = files.size ?? .lidarDepth
    self.init(
      description: description, width: size.width, height: size.height, access: .indexed(files))
  }
}

/// Files that are read by name, in a folder or in an archive. Called by several threads at once.
protocol StoredFiles: Sendable {
  /// The content of a file, of at most `limit` bytes, or why there is none. Throws if it cannot be
  /// opened.
  func content(of name: String, limit: InputLimit) throws(CaptureError) -> StoredBytes
  /// The file that must be read for a name.
  func path(of name: String) -> FilePath
}

/// The files of one folder.
extension InputFolder: StoredFiles {
  func path(of name: String) -> FilePath { path.appending(name: name) }

  func content(of name: String, limit: InputLimit) throws(CaptureError) -> StoredBytes {
    .bytes(try CaptureError.naming(path(of: name), try whole(name, limit: limit)))
  }
}

/// The picture files of a stream, by number: file k is the k-th. Files whose number is not believed follow as damaged
/// ones.
struct StoredPictureFiles: StoredPictures {
  let files: NumberedFiles
  let path: FilePath
  private let content: any StoredFiles
  /// What stands before the name of a file in `content`, and in messages.
  private let start: (String, shown: String)
  private let limit: InputLimit

  init(_ files: NumberedFiles, in folder: FilePath) {
    (self.files, path, limit) = (files, folder, InputLimits.bytesOfPicture)
    content = InputFolder(folder)
    start = ("", folder.shownName + "/")
  }

  /// Files in a folder of `content`.
  init(_ files: NumberedFiles, _ content: any StoredFiles, folder: String, limit: InputLimit) {
    (self.files, self.content, self.limit) = (files, content, limit)
    path = content.path(of: folder)
    start = (folder + "/", PathText.shown(folder) + "/")
  }

  var count: Int { files.files.count + files.unbelieved.count }

  /// Index of the file of each number; -1 without one.
  var frames: [Int32] {
    var frames = [Int32](repeating: -1, count: files.numberCount)
    for (index, file) in files.files.enumerated() { frames[file.number] = Int32(clamping: index) }
    return frames
  }

  /// The files that must be read, each once: all entries of an archive lie in one.
  var paths: [FilePath] {
    files.files.map { content.path(of: start.0 + $0.name) }.reduce(into: []) {
      if $0.last != $1 { $0.append($1) }
    }
  }

  private func bareName(_ index: Int) -> String {
    index < files.files.count
      ? files.files[index].name : files.unbelieved[index - files.files.count].name
  }

  func file(of index: Int) -> String { start.0 + bareName(index) }

  func name(of index: Int) -> String { start.shown + PathText.shown(bareName(index)) }

  func bytes(of index: Int) throws -> StoredBytes {
    guard index < files.files.count else {
      return .none(
        FrameIssue(
          code: .corruptRecord,
          message: "\(name(of: index)): no recording of this length has so high a number"))
    }
    return try content.content(of: file(of: index), limit: limit)
  }

  /// Cost: the first bytes of every file, read on all cores.
  var orientations: Set<Int> {
    guard content is InputFolder else { return [] }
    let share = 32
    // The closure throws nothing.
    let found =
      (try? concurrentMap(count: (files.files.count + share - 1) / share) { piece in
        Set(
          files.files[piece * share..<min(files.files.count, (piece + 1) * share)].compactMap {
            (try? InputFile(content.path(of: $0.name)).head(StillImage.headBytes))
              .flatMap(StillImage.orientation)
          })
      }) ?? []
    return found.reduce(into: []) { $0.formUnion($1) }
  }
}

extension ColorStream {
  /// The stream of a folder's pictures. Its frames are the files, readable or not; picture k belongs
  /// to the frame of its number.
  init(_ pictures: ColorPictures, of files: NumberedFiles, folder: String) {
    let orientation = VideoOrientation(exif: pictures.head?.exifOrientation ?? 1)
    var description = StreamDescription(
      file: folder, encoding: pictures.head?.isJPEG == false ? "png" : "jpeg",
      width: pictures.size?.width, height: pictures.size?.height, frames: files.files.count)
    description.pairing = .byName(files.files.count, of: pictures.count)
    self.init(
      source: .pictures(pictures), description: description,
      clockwiseQuarterTurns: orientation.clockwiseQuarterTurns,
      // Numbers that are not believed belong to no frame that anybody can select.
      frameOfPicture: files.files.map(\.number) + files.unbelieved.map(\.number),
      isMirrored: orientation.isMirrored)
  }
}

extension VideoOrientation {
  /// The orientation that EXIF states: 2, 4, 5 and 7 are mirrored left to right before they are turned.
  init(exif: Int) {
    self.init(
      clockwiseQuarterTurns: [1: 0, 2: 0, 3: 2, 4: 2, 5: 3, 6: 1, 7: 1, 8: 3][exif] ?? 0,
      isMirrored: [2, 4, 5, 7].contains(exif), isIgnored: false)
  }
}

/// A photograph of a capture, checked for completeness when it is opened and decoded on demand.
struct CaptureStill {
  let path: FilePath
  /// `png` or `jpeg`, by the first bytes.
  let encoding: String
  let stored: PictureSize
  /// Upright size.
  let size: PictureSize
  let orientation: VideoOrientation

  init(_ path: FilePath) throws(CaptureError) {
    do throws(ImageError) {
      let still = try StillImage.header(path)
      self.path = path
      encoding = still.isJPEG ? "jpeg" : "png"
      (stored, size) = (still.storedSize, still.uprightSize)
      orientation = VideoOrientation(exif: still.exifOrientation)
    } catch {
      throw CaptureError(error, of: path)
    }
  }

  /// The first of `paths` that is complete. If none is, throws the error of the first.
  init(firstReadable paths: some Sequence<FilePath>) throws(CaptureError) {
    var problem: CaptureError?
    for path in paths {
      do throws(CaptureError) {
        try self.init(path)
        return
      } catch {
        problem = problem ?? error
      }
    }
    throw problem ?? CaptureError(file: "", problem: "no still")
  }
}
