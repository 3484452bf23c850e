import Captures
import Core
import SystemPackage

/// A capture on this machine, as it is sent: its id, and its files with at most one folder in front.
struct CaptureFiles {
  struct File {
    /// The name as the receiver will call the file.
    var name: String
    var path: FilePath
  }

  let id: String
  let files: [File]

  /// Throws a `SendError` if there is no capture, or a part of it cannot be looked at.
  init(_ path: FilePath) throws {
    do {
      try self.init(at: path)
    } catch let error as FileError {
      throw SendError(.unreadable, "\(error)")
    }
  }

  private init(at path: FilePath) throws {
    guard let name = path.lexicallyNormalized().lastComponent.map({ PathText.shown($0.string) }),
      name != ".", name != ".."
    else { throw SendError(.unreadable, "name the folder of the capture") }
    if try Self.kind(of: path) == .folder {
      id = name
      files = try Self.files(in: try HeldFolder.following(path), prefix: "", path: path)
        .sorted { $0.name < $1.name }
    } else {
      id = String(name.prefix { $0 != "." })
      files = [File(name: name, path: path)]
    }
    if files.isEmpty { throw SendError(.unreadable, "there is no file in it") }
  }

  private static func kind(of path: FilePath) throws -> FileStatus.Kind {
    do throws(Errno) {
      return try FileStatus(of: path).kind
    } catch {
      if error == .noSuchFileOrDirectory {
        throw SendError(.unreadable, "no such file or folder")
      }
      throw FileError(error, path: path, operation: "look at")
    }
  }

  private static func files(
    in folder: HeldFolder, prefix: String, path: FilePath
  ) throws -> [File] {
    var found: [File] = []
    for (name, listed) in try folder.list() {
      if let target = CloudPlaceholder.target(of: name) {
        throw SendError(
          .unreadable,
          "\(path.appending(name: name).shown): the placeholder of a cloud drive; \(PathText.shown(target)) was not "
            + "downloaded: download it first")
      }
      if name.hasPrefix(".") || IgnoredFiles.contains(name) { continue }
      let place = path.appending(name: name)
      // Where a folder does not tell kinds, one that could not be looked at is listed as other.
      switch listed == .other ? try folder.entry(name)?.kind : listed {
      case .file: found.append(File(name: prefix + name, path: place))
      case .folder:
        guard prefix.isEmpty else {
          throw SendError(
            .unreadable, "\(place.shown): the receiver takes one level of folders, not more")
        }
        guard let inner = try folder.folder(name) else {
          throw SendError(.unreadable, "\(place.shown) was removed while it was looked at")
        }
        found += try files(in: inner, prefix: name + "/", path: place)
      case .link:
        throw SendError(.unreadable, "\(place.shown): links are not sent; copy the file")
      case .other, nil: continue
      }
    }
    return found
  }
}
