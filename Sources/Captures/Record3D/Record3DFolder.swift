import Media
import Core
import SystemPackage

/// The files of an unpacked recording. Listed, not opened.
struct Record3DFolder: Record3DEntries {
  let folder: FilePath
  /// Names by folder.
  private let listings: [String: FolderListing]
  /// Why a subfolder cannot be listed.
  let problems: [String: CaptureError]

  init(_ listing: FolderListing, subfolders: [String]) {
    folder = listing.folder
    var listings = ["": listing]
    var problems: [String: CaptureError] = [:]
    for name in subfolders where listing.subfolders.contains(name) {
      let path = listing.folder.appending(name: name)
      do throws(FileError) {
        listings[name] = try FolderListing(of: path, inside: listing.folder)
      } catch {
        problems[name] = CaptureError(error, of: path)
      }
    }
    self.listings = listings
    self.problems = problems
  }

  func names(in folder: String) -> [String] { listings[folder]?.files ?? [] }

  /// Names that are links out of the recording; not followed.
  func outside(in folder: String) -> [String] { listings[folder]?.outside ?? [] }

  func path(of name: String) -> FilePath {
    guard let slash = name.firstIndex(of: "/") else { return folder.appending(name: name) }
    return folder.appending(name: String(name[..<slash]))
      .appending(name: String(name[name.index(after: slash)...]))
  }

  func content(of name: String, limit: InputLimit) throws(CaptureError) -> StoredBytes {
    let path = path(of: name)
    do throws(FileError) {
      let file = try InputFile(path)
      if let problem = limit.problem(file.count) {
        return .none(
          FrameIssue(code: .corruptRecord, message: "\(PathText.shown(name)): \(problem)"))
      }
      return .bytes(try file.head(file.count))
    } catch {
      throw CaptureError(error, of: path)
    }
  }
}
