import Captures
import Engine
import Core
import Synchronization
import SystemPackage

/// Tells second copies of captures from captures: what synchronizers keep when two sides have changed one file, and
/// what browsers and desktops make of a name that is taken.
///
/// A name alone decides only where no user would choose it (`a.sync-conflict-20261120-101112-ABCDEFG`,
/// `a (conflicted copy 2026-11-20)`). Of `a (1)` and `a 2` the files are compared as well: a second recording of the
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
      return StagingSnapshot.Seen(
        recognition: capture, stamp: FolderSignature(digest: digest, content: digest))
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

  /// Whether the files of a pair with ambiguous names are the same.
  private let compared = Mutex<[Pair: Bool]>([:])

  /// Parts captures from second copies of others of them.
  func separate(
    _ captures: [StagingSnapshot.Seen]
  ) -> (captures: [StagingSnapshot.Seen], copies: [Found]) {
    var candidates: [(index: Int, original: CaptureLocation, isCertain: Bool)] = []
    for (index, seen) in captures.enumerated() {
      guard let (original, isCertain) = Self.original(of: seen.recognition) else { continue }
      candidates.append((index, original, isCertain))
    }
    guard !candidates.isEmpty else {
      compared.withLock { $0 = [:] }
      return (captures, [])
    }
    var known: [CaptureLocation: StagingSnapshot.Seen] = [:]
    for seen in captures { known[CaptureLocation(seen.recognition)] = seen }
    var copies: [Int: Found] = [:]
    var asked: [Pair: Bool] = [:]
    for (index, place, isCertain) in candidates {
      let seen = captures[index]
      guard let original = known[place], original.recognition.family == seen.recognition.family
      else { continue }
      if !isCertain {
        let pair = Pair(copy: seen.stamp, original: original.stamp)
        let isSame =
          compared.withLock { $0[pair] } ?? Self.areSame(seen.recognition, original.recognition)
        asked[pair] = isSame
        if !isSame { continue }
      }
      let capture = seen.recognition
      copies[index] = Found(
        location: CaptureLocation(capture),
        place: capture.stem.map { capture.folder.appending($0) } ?? capture.path,
        reason: "a second copy of \(original.recognition.id), by its name; it is left alone")
    }
    compared.withLock { [asked] in $0 = asked }
    return (
      captures.enumerated().filter { copies[$0.offset] == nil }.map(\.element),
      copies.sorted { $0.key < $1.key }.map(\.value)
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

  private static let end = 64 << 10

  /// Whether most files of a capture have a counterpart of the same name, size and ends in another one. Cost: up to
  /// 128 KiB of each file, of both.
  private static func areSame(_ copy: Recognition, _ original: Recognition) -> Bool {
    guard let (mine, myRoot) = files(copy), let (others, otherRoot) = files(original),
      !mine.isEmpty
    else { return false }
    var same = 0
    for (name, path) in mine {
      guard let other = others[name], let file = try? InputFile(path, in: myRoot),
        let otherFile = try? InputFile(other, in: otherRoot), file.count == otherFile.count,
        file.count > 0, let ends = ends(file), ends == Self.ends(otherFile)
      else { continue }
      same += 1
    }
    return 2 * same > mine.count
  }

  private static func ends(_ file: InputFile) -> [[UInt8]]? {
    var ends: [[UInt8]] = []
    for start in [0, max(0, file.count - end)] {
      guard let bytes = try? file.bytes(at: start, count: min(end, file.count - start)) else {
        return nil
      }
      ends.append(Array(bytes))
    }
    return ends
  }

  /// Paths by name without the stem; of a capture that is one file by no name.
  private static func files(_ capture: Recognition) -> ([String: String], EnclosedFolder)? {
    if capture.isFile {
      guard let name = capture.path.name,
        let root = try? EnclosedFolder(capture.folder, followsPath: false)
      else { return nil }
      return (["": name], root)
    }
    guard let root = try? EnclosedFolder(capture.folder, followsPath: false),
      let entries = try? root.folder().list()
    else { return nil }
    var found: [String: String] = [:]
    for (name, kind) in entries where kind == .file && !StagingNames.isBystander(name) {
      if let stem = capture.stem {
        guard name.utf8.starts(with: stem.utf8) else { continue }
        found[String(name.dropFirst(stem.count))] = name
      } else {
        found[name] = name
      }
    }
    return (found, root)
  }
}
