import Core
import SystemPackage

/// What a cloud drive leaves in the place of a file that it has not downloaded.
///
/// By name: iCloud Drive, Nextcloud and ownCloud. By what a link says: OneDrive and Dropbox on a Windows disk. Files
/// that a drive downloads when they are read, and Dropbox's files of 0 bytes, cannot be told from others.
public enum CloudPlaceholder {
  /// The file that a name stands for: `rgb.mp4` for `.rgb.mp4.icloud`, `rgb.mp4.nextcloud` and `rgb.mp4.owncloud`; `nil`
  /// for any other name. Cost: a look at the last byte for most names.
  public static func target(of name: String) -> String? {
    guard name.utf8.last == UInt8(ascii: "d") else { return nil }
    if name.hasPrefix("."), name.hasSuffix(".icloud"), name.utf8.count > 8 {
      return String(name.dropFirst().dropLast(7))
    }
    for ending in [".nextcloud", ".owncloud"] where name.hasSuffix(ending) && !name.hasPrefix(".") {
      return String(name.dropLast(ending.count))
    }
    return nil
  }

  /// Whether a link is one that ntfs-3g shows in the place of a file that Windows keeps in a cloud. Cost: a system call.
  public static func isUnread(link: FilePath) -> Bool {
    guard let text = FileSystem.linkText(link) else { return false }
    // The tags of cloud files are 0x9000001A to 0x9000F01A; OneDrive's old one is 0x80000021.
    let mark = "unsupported reparse tag 0x"
    guard text.hasPrefix(mark) else { return false }
    let tag = UInt32(text.dropFirst(mark.count).prefix(8), radix: 16) ?? 0
    return tag & 0xFFFF_0FFF == 0x9000_001A || tag == 0x8000_0021
  }

  /// The placeholders in a folder and up to two levels below, relative to it and sorted, with the files that they stand
  /// for. Cost: a directory read per folder.
  ///
  /// - Parameter stem: what the names of files in the folder itself must begin with.
  static func all(
    in folder: FilePath, stem: String? = nil
  ) -> [(name: String, target: String)] {
    guard let root = try? EnclosedFolder(folder, followsPath: true), let open = try? root.folder()
    else { return [] }
    var found: [(name: String, target: String)] = []
    func gather(_ open: HeldFolder, _ prefix: String, levels: Int) {
      // Whoever opens a capture is told of folders that could not be listed (`DeviceErrors`).
      let entries = (try? open.list()) ?? []
      for (name, kind) in entries where found.count < mostFound {
        switch kind {
        case .folder:
          guard levels > 0, stem == nil, !name.hasPrefix("."), let inner = open.below(name) else {
            continue
          }
          gather(inner, prefix + name + "/", levels: levels - 1)
        case .file:
          guard let target = target(of: name), target.hasPrefix(prefix.isEmpty ? stem ?? "" : ""),
            !entries.contains(where: { $0.name == target })
          else { continue }
          found.append((prefix + name, prefix + target))
        case .link:
          guard name.hasPrefix(prefix.isEmpty ? stem ?? "" : ""),
            isUnread(link: folder.pushing(FilePath(text: prefix + name)))
          else { continue }
          found.append((prefix + name, prefix + name))
        case .other: continue
        }
      }
    }
    gather(open, "", levels: 2)
    return found.sorted { $0.name < $1.name }
  }

  private static let mostFound = 100_000
}

extension Capture {
  /// Files that are named one by one at most.
  private static let mostNamed = 100

  /// Says which files of the capture a cloud drive has not downloaded: one warning for each file in its folder and for
  /// each folder in it. Such an upload is not complete.
  mutating func tellNotDownloaded(stem: String?) {
    guard !isFile else { return }
    let found = CloudPlaceholder.all(in: folder, stem: stem)
    guard !found.isEmpty else { return }
    let groups = Dictionary(grouping: found) { file in
      file.target.lastIndex(of: "/").map { String(file.target[..<$0]) } ?? file.target
    }
    for (subject, files) in groups.sorted(by: { $0.key < $1.key }) {
      let first = files[0]
      warnings.append(
        CaptureWarning(
          .notDownloaded, PathText.shown(subject), count: files.count,
          files.count == 1
            ? "\(PathText.shown(first.target)) was not downloaded: a cloud drive's placeholder \(PathText.shown(first.name)) is in its place"
            : "\(files.count) files were not downloaded: a cloud drive's placeholders are in their place, the first is \(PathText.shown(first.name))"
        ))
    }
    let names = Set(found.prefix(Self.mostNamed).map(\.target))
    completeness.missing.removeAll { sentence in
      names.contains { sentence == "\($0) is not there." }
    }
    completeness.missing += found.prefix(Self.mostNamed).map {
      "\(PathText.shown($0.target)) was not downloaded."
    }
    if found.count > Self.mostNamed {
      completeness.missing.append("\(found.count) files were not downloaded.")
    }
    completeness.absentFiles += names.filter { name in
      !completeness.absentFiles.contains { name == $0 || name == (stem ?? "") + $0 }
    }.sorted()
    completeness.isWhole = false
  }
}
