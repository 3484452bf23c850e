import Captures
import Core
import SystemPackage

/// Tells whether a capture at one place is the one that was at another, without reading all of it.
///
/// The SHA-256 of the names and sizes of all its files and of the first and last 64 KiB of the 64 smallest.
/// Names and sizes alone do not do: raw streams of recordings of one length have equal ones. The ends of
/// small files do: they hold times, poses and identifiers, which no two recordings share. Times of files
/// are not compared, since copying changes them.
enum ContentKey {
  private static let mostFiles = 64
  private static let end = 64 << 10

  /// `nil` for a capture that holds nothing, or too much to be listed.
  static func of(_ recognition: Recognition) -> Digest? {
    guard let listing = InputListing(recognition, nowNanoseconds: .max), !listing.entries.isEmpty
    else { return nil }
    return of(listing, in: recognition)
  }

  static func of(_ listing: InputListing, in recognition: Recognition) -> Digest? {
    let hasher = Digest.Hasher()
    // Files elsewhere do not move with it.
    let entries = listing.entries.filter { !$0.name.hasPrefix("/") }
    for entry in entries {
      hasher.update(Array("\(entry.name)\0\(entry.stamp.bytes)\0".utf8))
    }
    let smallest = entries.sorted { ($0.stamp.bytes, $0.name) < ($1.stamp.bytes, $1.name) }
      .prefix(mostFiles)
    if listing.isOneFile {
      guard let file = try? InputFile(recognition.path), add(file, to: hasher) else { return nil }
      return hasher.finish()
    }
    guard let root = try? EnclosedFolder(recognition.folder) else { return nil }
    for entry in smallest {
      if case .outside = root.look(at: entry.name) { continue }
      guard let file = try? InputFile(entry.name, in: root), add(file, to: hasher) else {
        return nil
      }
    }
    return hasher.finish()
  }

  /// Adds both ends of a file; `false` if they cannot be read.
  private static func add(_ file: InputFile, to hasher: Digest.Hasher) -> Bool {
    for start in [0, max(end, file.count - end)] {
      guard let bytes = try? file.bytes(at: start, count: end) else { return false }
      hasher.update(bytes)
    }
    return true
  }
}
