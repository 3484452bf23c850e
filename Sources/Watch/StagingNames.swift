import Output
import Runner

/// What names in a staging folder tell of those who write there.
public enum StagingNames {
  /// An empty file that a sender puts into a capture's folder when it has sent everything.
  static let complete = ".complete"
  /// What an upload server notes about a capture.
  static let manifest = UploadManifest.fileName
  /// Where an upload server keeps what is on its way.
  static let incoming = ".incoming"

  /// Whether a transfer writes a file under this name until it is whole: browsers, rclone, WinSCP,
  /// Syncthing, rsync (`.NAME.XXXXXX`).
  static func isTransfer(_ name: String) -> Bool {
    // Looks ask this of every file: no text is made on the way.
    let bytes = name.utf8
    let isEnding = endings.contains { ending in
      bytes.count >= ending.count
        && zip(bytes.suffix(ending.count), ending).allSatisfy { byte, wanted in
          byte == wanted || ((0x41...0x5a).contains(byte) && byte + 0x20 == wanted)
        }
    }
    if isEnding { return true }
    guard name.hasPrefix("."), let dot = name.lastIndex(of: "."), dot != name.startIndex else {
      return false
    }
    let tail = name[name.index(after: dot)...].utf8
    return tail.count == 6
      && tail.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
      } && !isBystander(name)
  }

  private static let endings = [
    ".part", ".partial", ".partial~", ".filepart", ".tmp", ".crdownload",
  ].map { Array($0.utf8) }

  /// Whether the name is no part of any capture: notes of servers, desktops and synchronizers.
  static func isBystander(_ name: String) -> Bool { IgnoredFiles.contains(name) }

  /// Whether a synchronizer kept a second version of a file that two sides have changed.
  static func isConflict(_ name: String) -> Bool {
    // Long names only: looks ask this of every file.
    name.utf8.count > 20 && name.contains(".sync-conflict-")
  }
}
