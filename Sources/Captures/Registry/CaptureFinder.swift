import Core
import SystemPackage

/// Finds the captures at paths that a user names.
public struct CaptureFinder: Sendable {
  /// The captures at one path.
  public struct Finding: Sendable {
    public var path: FilePath
    /// Captures in path order.
    public var captures: [Recognition]
    /// Why there are none.
    public var declined: String?
    /// Folders below the path with files that are not a capture of a known family, in path order.
    public var unrecognized: [UnrecognizedFolder] = []
    /// Whether the path is a folder of true values beside a made capture.
    public var isTruth = false
    /// Folders and files below the path that cannot be read and may contain captures.
    public var unreadable: [UnreadablePlace] = []

    public init(path: FilePath, captures: [Recognition], declined: String? = nil) {
      self.path = path
      self.captures = captures
      self.declined = declined
    }

    /// One finding for each problem: the path itself if it led to no capture, and everything below
    /// it that could not be read.
    public var failures: [Finding] {
      (captures.isEmpty
        ? [Finding(path: path, captures: [], declined: declined ?? "no capture")] : [])
        + unreadable.filter { place in
          // The reason may name one of them already.
          !captures.isEmpty
            || place.path != path && declined?.contains(place.error.description) != true
        }.map {
          Finding(path: $0.path, captures: [], declined: $0.error.description)
        }
    }
  }

  private let search: FolderSearch

  /// - Parameters:
  ///   - isLeftOut: folders that are not searched, such as an output inside the searched tree.
  ///   - remembered: the only capture of a folder, if the caller knows that nothing in it has
  ///     changed since it was recognized.
  ///   - memory: a cache for callers that search the same tree repeatedly.
  ///   - looked: is told of further folders that were looked at, and of captures found in them, from several threads.
  public init(
    _ registry: CaptureRegistry, isLeftOut: @escaping @Sendable (FilePath) -> Bool = { _ in false },
    remembered: @escaping @Sendable (FilePath) -> Recognition? = { _ in nil },
    memory: (any FolderMemory)? = nil,
    looked: @escaping @Sendable (_ folders: Int, _ captures: Int) -> Void = { _, _ in }
  ) {
    search = FolderSearch(
      registry: registry, remembered: remembered, memory: memory, isLeftOut: isLeftOut,
      looked: looked)
  }

  /// Finds captures at `path`: a folder that contains captures, a folder with captures up to six
  /// levels below, a file that is a capture by itself, or one file of a capture (then the capture
  /// with its stem, or the only one of its folder).
  public func find(_ path: FilePath) -> Finding {
    do throws(FileError) {
      let real = try PathSafety.resolve(path)
      guard try Self.isFolder(real) else { return findAround(file: real) }
      // Findings are opened later by path. Whatever has become a link out of the tree by then must
      // be refused.
      EnclosedPaths.enclose(real, links: .inside, followsPath: false)
      let listing = try FolderListing(of: real, isResolved: true)
      var finding = search.search(listing)
      if finding.captures.isEmpty { finding.declined = Self.why(listing, finding.unreadable) }
      finding.isTruth = IgnoredFiles.isTruth(listing)
      return finding
    } catch {
      return Finding(path: path, captures: [], declined: Self.why(error))
    }
  }

  private static func isFolder(_ path: FilePath) throws(FileError) -> Bool {
    do throws(Errno) {
      return try FileStatus(of: path).kind == .folder
    } catch {
      let error = FileError(error, path: path, operation: "look at")
      if error.isOfMachine { throw error }
      return false
    }
  }

  /// The capture that the file is by itself, or else the one around it that it belongs to.
  private func findAround(file: FilePath) -> Finding {
    let name = file.name ?? ""
    var problem: FileError?
    do throws(FileError) {
      if let capture = try search.registry.recognize(InputFile(file)) {
        // The file is opened later by its path, as a folder is.
        EnclosedPaths.enclose(file, links: .inside, followsPath: false)
        return Finding(path: file, captures: [capture])
      }
    } catch {
      if error.isOfMachine || search.registry.isCalledLikeCapture(fileName: name) {
        problem = error
      }
    }
    let folder = file.removingLastComponent()
    do throws(FileError) {
      let listing = try FolderListing(of: folder)
      let all = search.registry.recognizeFolder(listing)
      // With stems `scan` and `scan2`, the file `scan2.depth` belongs to the latter.
      let named = all.filter { capture in
        capture.stem.map { name.utf8.starts(with: $0.utf8) } ?? false
      }
      let longest = named.map { $0.stem?.utf8.count ?? 0 }.max()
      let found =
        named.isEmpty && all.count == 1 ? all : named.filter { $0.stem?.utf8.count == longest }
      let hidden = (problem ?? listing.unreadable.first).map { "\($0)" }
      return Finding(
        path: file, captures: found,
        declined: found.isEmpty
          ? hidden ?? "\(file.shown): \(Self.why(noCaptureAt: name))" : nil)
    } catch {
      return Finding(path: file, captures: [], declined: Self.why(error))
    }
  }

  private static func why(noCaptureAt name: String) -> String {
    if let target = CloudPlaceholder.target(of: name) {
      return
        "the placeholder of a cloud drive: \(PathText.shown(target)) was not downloaded; download it there, and copy it "
        + "again"
    }
    let endings = [".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar"]
    return endings.contains { name.lowercased().hasSuffix($0) }
      ? "an archive: unpack it, and name the folder that it was unpacked to"
      : "belongs to no capture of a known family; name the folder of a capture"
        + " (`scanmill list families` says how each is recognized)"
  }

  private static func why(_ error: FileError) -> String {
    if error.path.string.isEmpty { return "an empty text names no folder; name that of a capture" }
    return error.kind == .notFound
      ? "\(error.path.shown): no such file or folder; check the path" : error.description
  }

  private static func why(_ listing: FolderListing, _ unreadable: [UnreadablePlace]) -> String {
    let folder = listing.folder.shown
    if let first = unreadable.first {
      return "\(folder): no capture that could be read: \(first.error)"
    }
    let placeholders = CloudPlaceholder.all(in: listing.folder)
    if let first = placeholders.first {
      return
        "\(folder): no capture of a known family, and \(placeholders.count) of its files not downloaded from a cloud "
        + "drive, the first \(PathText.shown(first.target)) (its placeholder is \(PathText.shown(first.name))): "
        + "download them on the machine that the folder comes from, and copy it again"
    }
    if listing.files.isEmpty, listing.subfolders.isEmpty {
      let links = ((try? FileSystem.names(in: listing.folder)) ?? []).filter {
        FileSystem.isLink(listing.folder.appending($0))
      }
      if let first = links.min() {
        return
          "\(folder): no capture, only links that lead out of it, which are not followed (\(PathText.shown(first))); "
          + "name what they lead to"
      }
      return "\(folder): the folder is empty; name the folder that holds captures"
    }
    if listing.subfolders.contains(".scanmill"), listing.contains("capture.json") {
      return
        "\(folder): the results of a capture, not the capture; name the folder of its recording"
    }
    if listing.contains(OpenFolderReader.fileName) {
      return
        "\(folder): \(OpenFolderReader.fileName) describes a capture only if `\(OpenFolderReader.mark): 1` is its first key"
    }
    if let other = listing.files.first(where: { $0.lowercased() == "capture.yml" }) {
      return
        "\(folder): a file that describes a capture is named \(OpenFolderReader.fileName), and not \(PathText.shown(other))"
    }
    let some = listing.files.prefix(5).map(PathText.shown).joined(separator: ", ")
    return
      "\(folder): no capture of a known family here or up to \(FolderSearch.levels) levels below"
      + (some.isEmpty ? "" : " (it holds \(some)\(listing.files.count > 5 ? ", …" : ""))")
      + ": no file has the content that a family is recognized by (`scanmill list families` says what that is)"
  }
}
