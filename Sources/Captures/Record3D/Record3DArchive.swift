import Media
import Core
import SystemPackage

/// The entries of an `.r3d` file, read in place; of one that was packed again in a folder, those of that folder.
struct Record3DArchive: Record3DEntries {
  private let archive: ZIPArchive
  /// The first entry of each name that is one of a recording's.
  private let entries: [String: ZIPEntry]
  private let names: [String: [String]]
  /// Number of entries whose names lead outside.
  let hostile: Int
  /// An example of them.
  let firstHostile: String?
  /// Names of further entries with a name that an earlier one has.
  let doubled: [String]

  /// Whether the directory is lost: the file was cut off.
  var isCut: Bool { archive.isCut }

  init(_ path: FilePath) throws(CaptureError) {
    do throws(FileError) {
      let file = try MappedFile(path)
      archive = try Self.open(file)
    } catch {
      throw CaptureError(error, of: path)
    }
    let inner = Record3DGeneration.innerFolder(of: archive.entries)
    var entries: [String: ZIPEntry] = [:]
    var names: [String: [String]] = [:]
    var hostile: [String] = []
    var doubled: [String] = []
    for entry in archive.entries {
      let whole = String(decoding: entry.name, as: UTF8.self)
      if entry.hostility != nil {
        hostile.append(whole)
        continue
      }
      guard whole.hasPrefix(inner) else { continue }
      let name = String(whole.dropFirst(inner.count))
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      // Names of a recording are ASCII: what was repaired by decoding is none of them.
      guard parts.count <= 2, let inner = parts.last, !inner.isEmpty else { continue }
      if entries[name] != nil {
        doubled.append(name)
        continue
      }
      entries[name] = entry
      names[parts.count == 2 ? String(parts[0]) : "", default: []].append(String(inner))
    }
    self.entries = entries
    self.names = names
    self.hostile = hostile.count
    firstHostile = hostile.first
    self.doubled = doubled
  }

  private static func open(_ file: MappedFile) throws(FileError) -> ZIPArchive {
    do throws(ZIPError) {
      return try ZIPArchive(file)
    } catch {
      throw FileError(
        kind: .other, path: file.path, operation: "read", reason: error.what,
        remedy: "copy the file from the device again")
    }
  }

  func names(in folder: String) -> [String] { names[folder] ?? [] }

  func path(of name: String) -> FilePath { archive.path }

  func content(of name: String, limit: InputLimit) throws(CaptureError) -> StoredBytes {
    guard let entry = entries[name] else {
      throw CaptureError(file: archive.path, problem: "it has no entry \(PathText.shown(name))")
    }
    do throws(ZIPError) {
      return .bytes(try archive.content(of: entry, most: limit.most))
    } catch {
      return .none(
        FrameIssue(
          code: .corruptRecord,
          message: "\(PathText.shown(name)), byte \(error.byteOffset): \(error.what)"))
    }
  }
}
