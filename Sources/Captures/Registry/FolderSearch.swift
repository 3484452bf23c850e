import Core
import SystemPackage

/// A folder with files in which no family recognizes a capture, and which is neither inside nor
/// above a capture; or a file that is called like a capture of one file and is none.
public struct UnrecognizedFolder: Hashable, Sendable, Codable {
  public var path: FilePath
  /// Names of its files and (with a trailing `/`) of its folders; at most a hundred. Of a file, what to do.
  public var holds: [String]
  /// Whether it is a file.
  public var isFile: Bool

  /// - Parameter holds: `nil` for a file.
  public init(path: FilePath, holds: [String]? = nil) {
    self.path = path
    self.holds = holds ?? [Self.remedy(ofFile: path)]
    isFile = holds == nil
  }

  /// Several apps give a capture as a ZIP file; one that is read in place is whole and of one family.
  private static func remedy(ofFile path: FilePath) -> String {
    let isArchive = path.extension?.lowercased() == "zip"
    return "no whole recording: " + (isArchive ? "unpack it if it holds folders, " : "")
      + "copy it again if it was cut"
  }
}

/// A folder or file that may be a capture, and what kept it from being looked into: an error of its own, or of a file in
/// the folder.
public struct UnreadablePlace: Sendable {
  public let path: FilePath
  public let error: FileError
}

/// What was found in one folder.
public struct FolderLook: Sendable {
  public internal(set) var captures: [Recognition] = []
  /// Subfolders to search next.
  var inner: [FilePath] = []
  /// Links to folders, and links that lead out of the folder, possibly to folders elsewhere in the
  /// tree.
  var links: [FilePath] = []
  var unrecognized: UnrecognizedFolder?
  /// Files that are called like a capture of one file and are none; empty if `unrecognized` covers them.
  var unrecognizedFiles: [FilePath] = []
  public internal(set) var unreadable: [UnreadablePlace] = []
  /// Names in subfolders on which recognition depends, by subfolder (`FolderListing.names(in:)`).
  var namesInSubfolders: [String: [String]] = [:]

  /// Whether the folder is one capture, which is not searched further.
  public var isWholeCapture: Bool { captures.contains(where: \.isWholeFolder) }

  /// Whether the names in subfolders on which recognition depended are still the same. Cost: nothing
  /// for most folders, else one bounded directory read per such subfolder.
  public func hasSameNamesInSubfolders(of folder: FilePath) -> Bool {
    if namesInSubfolders.isEmpty { return true }
    guard let root = try? EnclosedFolder(folder, followsPath: false) else { return false }
    return namesInSubfolders.allSatisfy { name, before in
      do throws(FileError) {
        return try root.folder(name).names(atMost: FolderListing.namesInSubfolder) == before
      } catch {
        // Listed without success before as well, or gone.
        return !error.isOfMachine && before.isEmpty
      }
    }
  }
}

/// What was found in one file whose name was worth opening.
public struct FileLook: Sendable {
  /// `nil`: no capture.
  public var capture: Recognition?
}

/// A cache of what was found in folders, for callers that search the same tree repeatedly. Called
/// from several threads.
public protocol FolderMemory: Sendable {
  /// What was found in the folder, if nothing in it has changed since.
  func recall(_ folder: FilePath) -> FolderLook?
  /// Stores what was found, after `recall` returned `nil`.
  func note(_ look: FolderLook, of folder: FilePath)
  /// What was found in the file when it had this stamp.
  func recall(_ file: FilePath, _ stamp: FileStamp) -> FileLook?
  /// Stores what was found, after `recall` returned `nil`.
  func note(_ look: FileLook, of file: FilePath, _ stamp: FileStamp)
}

/// Searches captures below one folder, level by level, each level on all cores.
///
/// A capture that is a whole folder is not searched further; a folder of captures with stems, or of
/// captures that are one file each, is.
/// Not searched: names with a leading dot, folders of desktops and storage servers (`IgnoredFiles`), links out of the tree, output folders (they contain
/// `.scanmill`), and folders for which `isLeftOut` is true. Links to folders inside the tree are
/// followed; each folder is visited once, so that link loops end.
struct FolderSearch {
  /// Number of levels: twice the depth of `date/user/capture`.
  static let levels = 6
  /// Number of folders per piece of work.
  private static let share = 32

  let registry: CaptureRegistry
  let remembered: @Sendable (FilePath) -> Recognition?
  var memory: (any FolderMemory)?
  let isLeftOut: @Sendable (FilePath) -> Bool
  /// Is told of further folders that were looked at, and of captures found in them.
  var looked: @Sendable (_ folders: Int, _ captures: Int) -> Void = { _, _ in }

  /// - Parameter listing: the listing of `root`, whose path is resolved.
  func search(_ listing: FolderListing) -> CaptureFinder.Finding {
    let root = listing.folder
    var result = CaptureFinder.Finding(path: root, captures: [])
    var visited: Set<FilePath> = [root]
    var level = 0
    var next = [root]
    var links: [(target: FilePath, level: Int)] = []
    var first: FolderListing? = listing
    while !next.isEmpty || !links.isEmpty {
      if next.isEmpty {
        // The targets of links that were not visited otherwise.
        let (target, at) = links.removeFirst()
        guard !isKnown(target, visited, result.captures) else { continue }
        (next, level) = ([target], at)
        visited.insert(target)
      }
      let looks = look(at: next, level: level, first: first)
      first = nil
      next = []
      level += 1
      for found in looks {
        result.captures += found.captures
        result.unreadable += found.unreadable
        if let folder = found.unrecognized { result.unrecognized.append(folder) }
        result.unrecognized += found.unrecognizedFiles.map {
          UnrecognizedFolder(path: $0)
        }
        next += found.inner.filter { visited.insert($0).inserted }
        for link in found.links {
          if let target = PathSafety.resolved(link), target != root, target.starts(with: root),
            FileSystem.isFolder(target)
          {
            links.append((target, level))
          }
        }
      }
    }
    result.captures.sort {
      $0.path.text == $1.path.text ? $0.id < $1.id : $0.path.text < $1.path.text
    }
    result.unrecognized = outermost(result.unrecognized, root: root, captures: result.captures)
    return result
  }

  /// Whether a folder was visited, or belongs to a capture that was found.
  private func isKnown(
    _ folder: FilePath, _ visited: Set<FilePath>, _ captures: [Recognition]
  ) -> Bool {
    visited.contains(folder)
      || captures.contains { $0.isWholeFolder && folder.starts(with: $0.folder) }
  }

  private func look(at folders: [FilePath], level: Int, first: FolderListing?) -> [FolderLook] {
    let shares = (folders.count + Self.share - 1) / Self.share
    let found = try? concurrentMap(count: shares) { index in
      let looks = folders[(index * Self.share)..<min(folders.count, (index + 1) * Self.share)].map {
        look(at: $0, level: level, first: first)
      }
      looked(looks.count, looks.reduce(0) { $0 + $1.captures.count })
      return looks
    }
    return found?.flatMap { $0 } ?? []
  }

  private func look(at folder: FilePath, level: Int, first: FolderListing?) -> FolderLook {
    if level > 0 {
      if isLeftOut(folder) { return FolderLook() }
    }
    if let known = memory?.recall(folder) { return known }
    if level > 0, let known = remembered(folder) {
      let look = FolderLook(captures: [known])
      memory?.note(look, of: folder)
      return look
    }
    do throws(FileError) {
      let listing =
        if let first { first } else {
          try FolderListing(of: folder, isResolved: true)
        }
      let look = look(into: listing, level: level)
      memory?.note(look, of: folder)
      return look
    } catch {
      // A folder that has disappeared since its parent was listed is not a problem.
      return error.kind == .notFound && level > 0
        ? FolderLook() : FolderLook(unreadable: [UnreadablePlace(path: folder, error: error)])
    }
  }

  private func look(into listing: FolderListing, level: Int) -> FolderLook {
    var look = FolderLook(captures: registry.recognizeFolder(listing))
    // A family may take it for something else only because a file of another one could not be read.
    let failed = listing.unreadable.filter(\.isOfMachine)
    if let first = failed.first {
      look.captures.removeAll { capture in
        capture.stem.map { stem in
          failed.contains { $0.path.name?.utf8.starts(with: stem.utf8) ?? true }
        } ?? true
      }
      if !look.captures.contains(where: { $0.stem != nil }) {
        return FolderLook(unreadable: [UnreadablePlace(path: listing.folder, error: first)])
      }
    }
    look.namesInSubfolders = listing.askedNames
    let files = registry.recognizeFiles(in: listing, of: look.captures, memory: memory)
    // A place that cannot be read may be a capture, whatever lies beside it.
    look.unreadable = (files.unreadable + failed).reduce(into: []) { places, error in
      guard !places.contains(where: { $0.path == error.path }) else { return }
      places.append(UnreadablePlace(path: error.path, error: error))
    }
    look.captures = CaptureRegistry.joined(look.captures, files.captures)
    if look.isWholeCapture { return look }
    // An output folder of this run or another one, or the results of one capture, which may hold the layout of an app.
    if look.captures.isEmpty, listing.subfolders.contains(".scanmill"),
      level > 0 || listing.contains("capture.json")
    {
      return look
    }
    // The true values that `synthesize` writes next to a capture.
    if IgnoredFiles.isTruth(listing) { return look }
    let folders = listing.subfolders.filter {
      Self.counts($0) || IgnoredFiles.isUpload(listing.path(of: $0))
    }
    let isLast = level >= Self.levels
    if !isLast {
      let links = Set(listing.linkedFolders)
      look.inner = folders.filter { !links.contains($0) }.map(listing.path)
      look.links = (listing.linkedFolders + listing.outside).filter { Self.counts($0) }
        .map(listing.path)
    }
    if look.captures.isEmpty {
      if look.unreadable.isEmpty, let first = listing.unreadable.first {
        look.unreadable = [
          UnreadablePlace(path: level > 0 ? listing.folder : first.path, error: first)
        ]
        if level > 0 { return look }
      }
      let files = listing.files.filter {
        Self.counts($0) || CloudPlaceholder.target(of: $0) != nil
      }
      if level > 0, !files.isEmpty || (isLast && !folders.isEmpty) {
        let all = files + folders.map { $0 + "/" }
        look.unrecognized = UnrecognizedFolder(
          path: listing.folder, holds: all.prefix(100).map(PathText.shown))
      }
    }
    if look.unrecognized == nil { look.unrecognizedFiles = files.unrecognized.map(listing.path) }
    return look
  }

  /// Names with a leading dot, and what desktops, synchronizers and storage servers leave, are passed over.
  private static func counts(_ name: String) -> Bool {
    !name.hasPrefix(".") && !IgnoredFiles.contains(name)
  }

  /// The folders that are not above a capture and not inside another one of them.
  private func outermost(
    _ folders: [UnrecognizedFolder], root: FilePath, captures: [Recognition]
  ) -> [UnrecognizedFolder] {
    var above: Set<FilePath> = []
    for capture in captures {
      var folder = capture.folder
      while folder.starts(with: root), above.insert(folder).inserted, folder.removeLastComponent() {
      }
    }
    var kept: Set<FilePath> = []
    return folders.sorted { $0.path.text < $1.path.text }.filter { candidate in
      if above.contains(candidate.path) { return false }
      var folder = candidate.path
      while folder != root, folder.removeLastComponent() {
        if kept.contains(folder) { return false }
      }
      kept.insert(candidate.path)
      return true
    }
  }
}
