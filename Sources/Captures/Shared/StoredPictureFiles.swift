import Media
import Core
import SystemPackage

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
    // The turns of EXIF orientations; 2, 4, 5 and 7 are mirrored left to right before.
    let turns = [1: 0, 2: 0, 3: 2, 4: 2, 5: 3, 6: 1, 7: 1, 8: 3]
    let orientation = pictures.head?.exifOrientation ?? 1
    var description = StreamDescription(
      file: folder, encoding: pictures.head?.isJPEG == false ? "png" : "jpeg",
      width: pictures.size?.width, height: pictures.size?.height, frames: files.files.count)
    description.pairing = .byName(files.files.count, of: pictures.count)
    self.init(
      source: .pictures(pictures), description: description,
      clockwiseQuarterTurns: turns[orientation] ?? 0,
      // Numbers that are not believed belong to no frame that anybody can select.
      frameOfPicture: files.files.map(\.number) + files.unbelieved.map(\.number),
      isMirrored: [2, 4, 5, 7].contains(orientation))
  }
}
