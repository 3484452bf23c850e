import Core
import Synchronization
import SystemPackage

/// The content of a folder, one level deep. Names are encoded by `PathText`.
public struct FolderListing: Sendable {
  public var folder: FilePath
  /// Names of regular files, sorted; links to files inside the capture are included.
  public var files: [String]
  /// Names of subfolders, sorted; links to folders inside the capture are included.
  var subfolders: [String]
  /// Names of links to folders inside the capture, sorted.
  var linkedFolders: [String]
  /// Names of links to files inside the capture, sorted.
  var linkedFiles: [String]
  /// Names of links that lead out of the capture, sorted. They are reported, never followed.
  var outside: [String]
  /// Names of entries that are neither file nor folder (pipes, devices, sockets) and of links
  /// without a usable target: a loop, no permission, nothing. In the order of the file system.
  var others: [String]
  /// When it was listed: nanoseconds since 1970, on the clock of file times.
  let listedNanoseconds: Int64
  /// The folder that links must not leave: `folder`, or the capture's folder above it.
  private let root: EnclosedFolder
  /// The path from `root` to `folder` with a trailing slash; empty if they are the same.
  private let prefix: String
  private let notes = Notes()

  /// Lists `folder`; throws if it cannot be read. Cost: one directory read, and a few system calls
  /// per link.
  ///
  /// - Parameters:
  ///   - capture: the folder that links must not leave, if it is not `folder` itself but one
  ///     above it. If a link on the path leads out of it, `folder` is not opened.
  ///   - isResolved: whether the path is known to have no links. If it has one now, it is not
  ///     opened.
  public init(
    of folder: FilePath, inside capture: FilePath? = nil, isResolved: Bool = false
  ) throws(FileError) {
    self.folder = folder
    files = []
    subfolders = []
    linkedFolders = []
    linkedFiles = []
    outside = []
    others = []
    listedNanoseconds = FileStamp.nowNanoseconds()
    root = try EnclosedFolder(capture ?? folder, followsPath: !isResolved)
    var rest = folder
    guard rest.removePrefix(root.path) else { throw Self.refusal(folder) }
    prefix = rest.isEmpty ? "" : rest.text + "/"
    let open: HeldFolder
    do throws(FileError) {
      open = try root.folder(rest.isEmpty ? "." : rest.text)
    } catch {
      let leadsOut = error.code == .improperLink || error.code == nil
      throw leadsOut ? Self.refusal(folder) : error
    }
    for (name, kind) in try open.list() {
      switch kind {
      case .file: files.append(name)
      case .folder: subfolders.append(name)
      case .link:
        switch root.look(at: prefix + name) {
        case .file:
          files.append(name)
          linkedFiles.append(name)
        case .folder:
          subfolders.append(name)
          linkedFolders.append(name)
        case .outside: outside.append(name)
        case .failed(let error): throw error
        case .other, .forbidden, .nothing: others.append(name)
        }
      case .other: others.append(name)
      }
    }
    files.sort()
    subfolders.sort()
    linkedFolders.sort()
    linkedFiles.sort()
    outside.sort()
  }

  private static func refusal(_ folder: FilePath) -> FileError {
    FileError(
      kind: .notFound, path: folder, operation: "list", reason: "it leads out of the capture")
  }

  /// Whether a file is listed. Cost: a binary search, because folders with many captures have many
  /// names.
  public func contains(_ file: String) -> Bool {
    let place = place(of: file)
    return place < files.count && files[place] == file
  }

  /// Where a name stands among the files, or would stand.
  private func place(of name: String) -> Int {
    var range = files.indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = files[middle] < name ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  /// Whether a listed file is a link.
  func isLink(_ file: String) -> Bool { !linkedFiles.isEmpty && linkedFiles.contains(file) }

  /// Opens a listed file for recognition. Only regular files are opened.
  func open(_ name: String) throws(FileError) -> InputFile {
    try InputFile(prefix + name, in: root)
  }

  /// The stamp of a listed file; `nil` for anything else.
  func stamp(of name: String) -> FileStamp? { root.stamp(of: prefix + name) }

  /// The path of an entry.
  public func path(of name: String) -> FilePath { folder.appending(name: name) }

  /// A file of this folder for recognition; `nil` when it is not listed or cannot be read, which is
  /// recorded in `unreadable`.
  ///
  /// Read rather than mapped, because another process may truncate the file meanwhile.
  public func file(_ name: String) -> InputFile? {
    guard contains(name) else { return nil }
    do throws(FileError) {
      return try InputFile(prefix + name, in: root)
    } catch {
      notes.add(error)
      return nil
    }
  }

  /// The first `limit` bytes of a listed file; empty for any other, and if it cannot be read.
  public func head(of name: String, limit: Int = 65_536) -> [UInt8] {
    guard let file = file(name) else { return [] }
    do throws(FileError) {
      return try file.head(limit)
    } catch {
      notes.add(error)
      return []
    }
  }

  /// Errors of files that could not be read during recognition: they may belong to a capture.
  var unreadable: [FileError] { notes.errors }

  // MARK: Subfolders

  /// How many names of a subfolder are read at most.
  static let namesInSubfolder = 256

  /// Names of entries in a listed subfolder, for recognition: the first `namesInSubfolder` in the
  /// order of the file system, sorted. Empty for anything else, for a subfolder that leads out of the
  /// capture, and for one that cannot be read, which is recorded in `unreadable`.
  ///
  /// Recognition then depends on these names, so that they are compared before it is taken from
  /// memory. Cost: one bounded directory read, at the first call for a subfolder.
  public func names(in subfolder: String) -> [String] {
    guard subfolders.contains(subfolder) else { return [] }
    if let known = notes.names(in: subfolder) { return known }
    do throws(FileError) {
      let names = try root.folder(prefix + subfolder).names(atMost: Self.namesInSubfolder)
      notes.add(names, in: subfolder)
      return names
    } catch {
      notes.add([], in: subfolder)
      notes.add(error)
      return []
    }
  }

  /// The names that were read in subfolders, by subfolder.
  var askedNames: [String: [String]] { notes.asked }

  /// What was noticed while families looked at the listing.
  private final class Notes: Sendable {
    private let all = Mutex<[FileError]>([])
    private let names = Mutex<[String: [String]]>([:])
    var errors: [FileError] { all.withLock { $0 } }
    var asked: [String: [String]] { names.withLock { $0 } }

    func names(in subfolder: String) -> [String]? { names.withLock { $0[subfolder] } }

    func add(_ found: [String], in subfolder: String) {
      names.withLock { $0[subfolder] = found }
    }

    func add(_ error: FileError) {
      all.withLock { errors in
        if !errors.contains(where: { $0.path == error.path }) { errors.append(error) }
      }
    }
  }
}

extension FolderListing {
  /// Whether a listed file has 0 bytes. A side file that is empty says as much as none: families count it as absent and
  /// say that it is empty (`missing-file`, `imu-missing`), but for streams that an app writes while it records, and for
  /// one file per frame (`empty-record`). Cost: a few system calls.
  func isEmpty(_ name: String) -> Bool { stamp(of: name)?.bytes == 0 }

  /// Names of files that begin with `prefix`, in order. Cost: a binary search.
  func files(withPrefix prefix: String) -> ArraySlice<String> {
    files[place(of: prefix)...].prefix { $0.hasPrefix(prefix) }
  }
}
