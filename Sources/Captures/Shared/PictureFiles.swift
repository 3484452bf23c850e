import Core
import Media
import SystemPackage

/// Pictures in one file each, opened when they are decoded: record k is the file with number k.
///
/// A number without a file is a record without picture, which costs nothing. Files whose number is
/// not believed follow as damaged records, so that whoever decodes the stream counts them. Memory:
/// four bytes per record, and the names.
struct PictureFiles<Pixel: BitwiseCopyable & Sendable>: StoredFrameSource {
  typealias Picture = (width: Int, height: Int, pixels: [Pixel])
  /// Decodes the bytes of a file; the path tells the kind, and is for messages.
  typealias Decoder = @Sendable ([UInt8], FilePath) throws(ImageError) -> Picture

  let recordCount: Int
  /// Size of the first readable picture, which all others must have; `nil` if none is readable.
  let size: PictureSize?
  /// The first readable file, else the first; `nil` without files.
  let first: NumberedFiles.File?

  private let folder: FilePath
  private let content: InputFolder
  private let files: NumberedFiles
  /// Index in `files` by number; -1 without file.
  private let indices: [Int32]
  private let decoder: Decoder

  /// Cost: decodes files from the first on until one is readable.
  init(_ files: NumberedFiles, in folder: FilePath, decoder: @escaping Decoder) {
    self.files = files
    self.folder = folder
    content = InputFolder(folder)
    self.decoder = decoder
    var indices = [Int32](repeating: -1, count: (files.files.last?.number ?? -1) + 1)
    for (index, file) in files.files.enumerated() { indices[file.number] = Int32(clamping: index) }
    self.indices = indices
    recordCount = indices.count + files.unbelieved.count
    var found: (file: NumberedFiles.File, picture: Picture)?
    for file in files.files {
      let path = folder.appending(name: file.name)
      guard let bytes = try? content.whole(file.name, limit: InputLimits.bytesOfPicture),
        !bytes.isEmpty,
        let picture = try? decoder(bytes, path)
      else { continue }
      found = (file, picture)
      break
    }
    first = found?.file ?? files.files.first
    size = found.map { PictureSize(width: $0.picture.width, height: $0.picture.height) }
  }

  /// Number of files, readable or not.
  var fileCount: Int { files.files.count }

  /// One more than the greatest number.
  var numberCount: Int { indices.count }

  /// Whether there is a file with that number.
  func hasFile(_ number: Int) -> Bool { indices.indices.contains(number) && indices[number] >= 0 }

  var paths: [FilePath] { files.files.map { folder.appending(name: $0.name) } }

  func decode(record: Int, into pixels: inout [Pixel]) throws -> RecordOutcome {
    guard record < indices.count else {
      let index = record - indices.count
      guard files.unbelieved.indices.contains(index) else {
        throw CaptureError(file: folder, record: record, problem: "no such record")
      }
      let name = shownName(files.unbelieved[index])
      return .hole(.corruptRecord, "\(name): no recording of this length has so high a number")
    }
    guard let bytes = try storedFile(record: record) else {
      return RecordOutcome(hasPicture: false)
    }
    return decode(bytes, record: record, into: &pixels)
  }

  func storedFile(record: Int) throws -> [UInt8]? {
    guard let file = file(record) else { return nil }
    do throws(FileError) {
      return try content.whole(file.name, limit: InputLimits.bytesOfPicture)
    } catch {
      throw CaptureError(error, of: folder.appending(name: file.name))
    }
  }

  func decode(_ bytes: [UInt8], record: Int, into pixels: inout [Pixel]) -> RecordOutcome {
    guard let file = file(record) else { return RecordOutcome(hasPicture: false) }
    if bytes.isEmpty { return .hole(.emptyRecord, "\(shownName(file)): 0 bytes") }
    do throws(ImageError) {
      let picture = try decoder(bytes, folder.appending(name: file.name))
      if let size, picture.width != size.width || picture.height != size.height {
        return .hole(
          .sizeMismatch,
          "\(shownName(file)): \(picture.width)x\(picture.height), the first picture has "
            + "\(size.width)x\(size.height)")
      }
      pixels = picture.pixels
      return .picture
    } catch {
      let place = error.byteOffset.map { ", byte \($0)" } ?? ""
      return .hole(.corruptRecord, "\(shownName(file))\(place): \(error.what)")
    }
  }

  /// The file of a record; `nil` for a number without file and for files that are not believed.
  private func file(_ record: Int) -> NumberedFiles.File? {
    hasFile(record) ? files.files[Int(indices[record])] : nil
  }

  private func shownName(_ file: NumberedFiles.File) -> String {
    "\(folder.shownName)/\(PathText.shown(file.name))"
  }
}

extension PictureFiles<UInt16> {
  /// Depth in millimeters: 16-bit gray PNG, or NPY by its ending.
  static func depth(_ files: NumberedFiles, in folder: FilePath) -> PictureFiles {
    PictureFiles(files, in: folder) { bytes, path throws(ImageError) in
      let image =
        path.extension?.lowercased() == "npy"
        ? try NPYReader.depth(in: bytes, file: path)
        : try PNGReader.storedDepth(in: bytes, file: path)
      return (image.width, image.height, image.millimeters)
    }
  }
}

extension PictureFiles<UInt8> {
  /// Confidence, values as stored: 8-bit gray PNG.
  static func confidence(_ files: NumberedFiles, in folder: FilePath) -> PictureFiles {
    PictureFiles(files, in: folder) { bytes, path throws(ImageError) in
      let image = try PNGReader.storedGray(in: bytes, file: path)
      return (image.width, image.height, image.values)
    }
  }
}

extension PictureStream {
  /// The stream of a folder of pictures. Its frames are the files, readable or not.
  ///
  /// - Parameters:
  ///   - usualSize: the size if no picture is readable; all records are then holes.
  ///   - encoding: by the ending of the first readable file.
  init(
    _ files: PictureFiles<Pixel>, folder: String, encoding: (_ ending: String) -> String
  ) {
    let ending = files.first.map { FilePath(text: $0.name).extension?.lowercased() ?? "" } ?? ""
    let size = files.size ?? .lidarDepth
    var description = StreamDescription(
      file: folder, encoding: encoding(ending), width: files.size?.width,
      height: files.size?.height, frames: files.fileCount)
    description.pairing = .byName(files.fileCount, of: files.fileCount)
    self.init(
      description: description, width: size.width, height: size.height, access: .indexed(files))
  }
}

/// The picture files of a folder, one per frame: file k is the k-th by number. Files whose number is
/// not believed follow as damaged ones.
struct StoredPictureFiles: StoredPictures {
  private let files: NumberedFiles
  private let folder: FilePath
  private let content: InputFolder

  init(_ files: NumberedFiles, in folder: FilePath) {
    self.files = files
    self.folder = folder
    content = InputFolder(folder)
  }

  var count: Int { files.files.count + files.unbelieved.count }

  func name(of index: Int) -> String { "\(folder.shownName)/\(PathText.shown(fileName(index)))" }

  func bytes(of index: Int) throws -> StoredBytes {
    guard index < files.files.count else {
      return .none(
        FrameIssue(
          code: .corruptRecord,
          message: "\(name(of: index)): no recording of this length has so high a number"))
    }
    let name = fileName(index)
    do throws(FileError) {
      return .bytes(try content.whole(name, limit: InputLimits.bytesOfPicture))
    } catch {
      throw CaptureError(error, of: folder.appending(name: name))
    }
  }

  /// Cost: the first bytes of every file, read on all cores.
  var orientations: Set<Int> {
    let share = 32
    // The closure throws nothing.
    let found =
      (try? concurrentMap(count: (files.files.count + share - 1) / share) { piece in
        Set(
          files.files[piece * share..<min(files.files.count, (piece + 1) * share)].compactMap {
            (try? InputFile(folder.appending(name: $0.name)).head(StillImage.headBytes))
              .flatMap(StillImage.orientation)
          })
      }) ?? []
    return found.reduce(into: []) { $0.formUnion($1) }
  }

  private func fileName(_ index: Int) -> String {
    index < files.files.count
      ? files.files[index].name : files.unbelieved[index - files.files.count].name
  }
}

extension ColorStream {
  /// The stream of a folder's pictures. Its frames are the files, readable or not; picture k belongs
  /// to the frame of its number.
  init(_ pictures: ColorPictures, of files: NumberedFiles, folder: String) {
    // Orientations 2, 4, 5 and 7 are mirrored left to right before they are turned.
    let orientation = pictures.head?.exifOrientation ?? 1
    var description = StreamDescription(
      file: folder, encoding: pictures.head?.isJPEG == false ? "png" : "jpeg",
      width: pictures.size?.width, height: pictures.size?.height, frames: files.files.count)
    description.pairing = .byName(files.files.count, of: pictures.count)
    self.init(
      source: .pictures(pictures), description: description,
      clockwiseQuarterTurns: CaptureStill.turns[orientation] ?? 0,
      // Numbers that are not believed belong to no frame that anybody can select.
      frameOfPicture: files.files.map(\.number) + files.unbelieved.map(\.number),
      isMirrored: [2, 4, 5, 7].contains(orientation))
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
  /// Clockwise turns of the EXIF orientation; without mirroring.
  let clockwiseQuarterTurns: Int

  /// Turns by EXIF orientation. 5 and 7 are mirrored left to right, then turned by 270° and by 90°.
  fileprivate static let turns = [1: 0, 2: 0, 3: 2, 4: 2, 5: 3, 6: 1, 7: 1, 8: 3]

  init(_ path: FilePath) throws(CaptureError) {
    do throws(ImageError) {
      let still = try StillImage.header(path)
      self.path = path
      encoding = still.isJPEG ? "jpeg" : "png"
      (stored, size) = (still.storedSize, still.uprightSize)
      clockwiseQuarterTurns = Self.turns[still.exifOrientation] ?? 0
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
