import Captures
import Storage
import SystemPackage

/// A capture on this machine, as it is sent: its id, and its files with at most one folder in front.
struct CaptureFiles {
  struct File {
    /// As the receiver will call it.
    var name: String
    var path: FilePath
  }

  let id: String
  let files: [File]

  init(_ path: FilePath) throws {
    guard let name = path.lexicallyNormalized().lastComponent.map({ PathText.shown($0.string) }),
      name != ".", name != ".."
    else { throw SendError(.unreadable, "name the folder of the capture") }
    if FileSystem.isFolder(path) {
      id = name
      let folder: HeldFolder
      do throws(FileError) {
        folder = try HeldFolder.following(path)
      } catch {
        throw SendError(.unreadable, "\(error)")
      }
      files = try Self.files(in: folder, prefix: "", path: path).sorted { $0.name < $1.name }
    } else if FileSystem.exists(path) {
      id = String(name.prefix { $0 != "." })
      files = [File(name: name, path: path)]
    } else {
      throw SendError(.unreadable, "no such file or folder")
    }
    if files.isEmpty { throw SendError(.unreadable, "there is no file in it") }
  }

  private static func files(
    in folder: HeldFolder, prefix: String, path: FilePath
  ) throws -> [File] {
    var found: [File] = []
    for (name, kind) in try folder.list() {
      if let target = CloudPlaceholder.target(of: name) {
        throw SendError(
          .unreadable,
          "\(path.appending(name: name).shown): the placeholder of a cloud drive; \(PathText.shown(target)) was not "
            + "downloaded: download it first")
      }
      if name.hasPrefix(".") || IgnoredFiles.contains(name) { continue }
      let place = path.appending(name: name)
      switch kind {
      case .file: found.append(File(name: prefix + name, path: place))
      case .folder:
        guard prefix.isEmpty else {
          throw SendError(
            .unreadable, "\(place.shown): the receiver takes one level of folders, not more")
        }
        guard let inner = folder.below(name) else {
          throw SendError(.unreadable, "\(place.shown): cannot be opened")
        }
        found += try files(in: inner, prefix: name + "/", path: place)
      case .link:
        throw SendError(.unreadable, "\(place.shown): links are not sent; copy the file")
      case .other: continue
      }
    }
    return found
  }
}
