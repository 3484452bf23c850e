import Media
import Core
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
