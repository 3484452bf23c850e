import Captures
import Engine
import Core
import Synchronization
import SystemPackage

/// Tells second copies of captures from captures: what synchronizers keep when two sides have changed one file, and
/// what browsers and desktops make of a name that is taken.
///
/// A name alone decides only where no user would choose it (`a.sync-conflict-20261120-101112-ABCDEFG`,
/// `a (conflicted copy 2026-11-20)`). Of `a (1)` and `a 2` all files are compared as well: a second recording of the
/// same place may be called so.
public final class ConflictCopies: Sendable {
  public struct Found: Sendable {
    public var location: CaptureLocation
    /// For people: the folder, or the folder and the stem.
    public var place: FilePath
    /// Why it is left alone.
    public var reason: String
  }

  /// Second copies among captures that were found. Cost: none where no name has such a form.
  public static func among(_ captures: [Recognition]) -> [Found] {
    guard captures.contains(where: { original(of: $0) != nil }) else { return [] }
    let seen = captures.map { capture in
      // For nothing but to tell them apart.
      let digest = Digest(of: "\(capture.folder.text)\n\(capture.stem ?? "")")
      return StagingSnapshot.Seen(capture, FolderSignature(digest: digest, content: digest))
    }
    return ConflictCopies().separate(seen).copies
  }

  /// Why another version of a file of a capture is left alone.
  public static func reason(fileOf id: String) -> String {
    "another version of a file of \(id), kept by a synchronizer; it is left alone"
  }

  private struct Pair: Hashable {
    var copy: FolderSignature
    var original: FolderSignature
  }

  /// Whether the original of a pair with ambiguous names holds all files of the copy.
  private let compared = Mutex<[Pair: Bool]>([:])

  /// Parts captures from second copies of others of them.
  func separate(
    _ captures: [StagingSnapshot.Seen]
  ) -> (captures: [StagingSnapshot.Seen], copies: [Found]) {
    // Made where a name has such a form.
    lazy var known = Dictionary(firstOf: captures.map { ($0.location, $0) })
    var copies: [CaptureLocation: Found] = [:]
    var asked: [Pair: Bool] = [:]
    for seen in captures {
      guard let capture = seen.recognition, let form = Self.original(of: capture) else { continue }
      guard let other = known[form.location], let original = other.recognition,
        original.family == capture.family
      else { continue }
      if !form.isCertain {
        let pair = Pair(copy: seen.stamp, original: other.stamp)
        let isSame = compared.withLock { $0[pair] } ?? Self.holds(original, capture)
        asked[pair] = isSame
        if !isSame { continue }
      }
      copies[seen.location] = Found(
        location: seen.location,
        place: capture.stem.map { capture.folder.appending($0) } ?? capture.path,
        reason:
          "a second copy of \(original.id), by its name\(form.isCertain ? "" : " and the content of its files"); it is left alone"
      )
    }
    compared.withLock { [asked] in $0 = asked }
    return (
      captures.filter { copies[$0.location] == nil }, captures.compactMap { copies[$0.location] }
    )
  }

  /// Where the capture would be of which this one is a second copy, by its stem or by the name of its folder or file;
  /// where it is called after the folder above, by that one's name. `nil`: by none of them it is one.
  private static func original(
    of capture: Recognition
  ) -> (location: CaptureLocation, isCertain: Bool)? {
    // Before paths are taken apart: looks ask this of every capture.
    guard
      [capture.path.text, capture.stem ?? "", capture.id].contains(where: StagingNames.mayBeCopy)
    else { return nil }
    if let stem = capture.stem, let form = StagingNames.original(ofCopy: stem) {
      return (CaptureLocation(capture.folder, stem: form.name), form.isCertain)
    }
    guard let name = capture.path.name else { return nil }
    let around = capture.path.removingLastComponent()
    if let form = StagingNames.original(ofCopy: name) {
      return (
        CaptureLocation(around.appending(name: form.name), stem: capture.stem), form.isCertain
      )
    }
    guard capture.isWholeFolder, capture.id != name, capture.id == around.name,
      let form = StagingNames.original(ofCopy: capture.id)
    else { return nil }
    let original = around.removingLastComponent().appending(name: form.name).appending(name: name)
    return (CaptureLocation(original), form.isCertain)
  }

  private static let chunk = 1 << 20

  /// Whether every file of a capture, in its subfolders as well, lies in another one with the same name and content.
  /// Cost: a listing of both; where all names and sizes agree, a read of both up to the first difference.
  private static func holds(_ original: Recognition, _ copy: Recognition) -> Bool {
    guard let mine = sizes(copy), let others = sizes(original),
      mine.values.contains(where: { $0 > 0 })
    else { return false }
    for (name, bytes) in mine where others[name] != bytes { return false }
    return mine.keys.allSatisfy { name in isSame(place(name, in: copy), place(name, in: original)) }
  }

  private static func isSame(_ first: FilePath, _ second: FilePath) -> Bool {
    do {
      let first = try InputFile(first)
      let second = try InputFile(second)
      for start in stride(from: 0, to: max(first.count, second.count), by: chunk) {
        let bytes = try first.bytes(at: start, count: chunk)
        guard try bytes == second.bytes(at: start, count: chunk) else { return false }
      }
      return true
    } catch {
      return false
    }
  }

  /// Sizes of the files by their paths without the stem; `nil` where a part cannot be listed or is a link.
  private static func sizes(_ capture: Recognition) -> [String: Int64]? {
    if capture.isFile { return FileStamp(of: capture.path).map { ["": $0.bytes] } }
    guard let root = try? EnclosedFolder(capture.folder, followsPath: false).folder() else {
      return nil
    }
    var found: [String: Int64] = [:]
    return gather(root, "", of: capture.stem ?? "", into: &found) ? found : nil
  }

  private static func gather(
    _ folder: HeldFolder, _ prefix: String, of stem: String, into found: inout [String: Int64]
  ) -> Bool {
    guard let entries = try? folder.list() else { return false }
    for (name, kind) in entries where !StagingNames.isBystander(name) {
      let path = prefix + name
      guard path.utf8.starts(with: stem.utf8) else { continue }
      switch kind {
      case .folder:
        guard let inner = try? folder.listable(name),
          gather(inner, path + "/", of: stem, into: &found)
        else { return false }
      case .file:
        guard let stamp = folder.stamp(of: name) else { return false }
        found[String(path.dropFirst(stem.count))] = stamp.bytes
      case .link, .other: return false
      }
    }
    return true
  }

  private static func place(_ name: String, in capture: Recognition) -> FilePath {
    capture.isFile
      ? capture.path : capture.folder.pushing(FilePath(text: (capture.stem ?? "") + name))
  }
}
