import Media
import Core
import SystemPackage

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
