import Core
import SystemPackage

/// The name of a capture that is a folder, and the date in it.
enum FolderName {
  /// Names of folders that an app or a data set gives to every capture, in lower case with `_` for blanks and
  /// hyphens, and what is put behind the parent's name in their place.
  private static let meaningless = [
    // An export of everything by 3D Scanner App.
    "all_data": "",
    // Record3D's "EXR + JPG".
    "exr_rgbd": "",
    // Polycam's raw data.
    "keyframes": "",
    // A scene of ScanNet++ has other recordings beside this one.
    "iphone": "-iphone",
  ]

  /// The id of a capture that is this folder: its name, or that of the folder around it where its own says nothing.
  static func id(of folder: FilePath) -> String {
    let own = name(of: folder)
    let key = String(own.lowercased().map { " -".contains($0) ? "_" : $0 })
    guard let addition = meaningless[key], let parent = parent(of: folder) else { return own }
    return id(of: parent) + addition
  }

  /// The folder's own name; for `.`, `..` and the root the name in the resolved path.
  static func name(of folder: FilePath) -> String {
    switch folder.lastComponent?.kind {
    case .regular: folder.name ?? folder.text
    default: PathSafety.resolved(folder)?.name ?? folder.text
    }
  }

  /// `nil` for the root and for folders in it.
  private static func parent(of folder: FilePath) -> FilePath? {
    var parent = folder
    if folder.lastComponent?.kind == .regular, parent.removeLastComponent(),
      parent.lastComponent?.kind == .regular
    {
      return parent
    }
    guard var resolved = PathSafety.resolved(folder), resolved.removeLastComponent(),
      resolved.lastComponent != nil
    else { return nil }
    return resolved
  }

  private static let ranges = [2000...2099, 1...12, 1...31, 0...23, 0...59, 0...60]

  /// The local time, without zone, of a name such as `2026_01_13_14_47_59`: `2026-01-13T14:47:59`.
  /// `nil` for other names.
  static func recordedAt(_ name: String) -> String? {
    let parts = name.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == ranges.count, parts[0].utf8.count == 4,
      parts.dropFirst().allSatisfy({ $0.utf8.count == 2 })
    else { return nil }
    for (part, range) in zip(parts, ranges) {
      guard let number = NumberedFiles.number(part.utf8), range.contains(number) else { return nil }
    }
    return parts[..<3].joined(separator: "-") + "T" + parts[3...].joined(separator: ":")
  }
}

/// Names of files and folders that others leave beside the files of a capture and that no reader opens:
/// they come and go without any meaning for the capture. Folders of these names are not searched, except `isUpload`.
public enum IgnoredFiles {
  /// Ending of folders with the true values that `synthesize` writes beside a capture.
  public static let truthEnding = ".truth"

  /// Whether it is such a folder, which is no capture.
  static func isTruth(_ listing: FolderListing) -> Bool {
    listing.folder.name?.hasSuffix(truthEnding) == true && listing.contains("expected.json")
  }

  /// Cost: a look at one byte for most names; callers ask this of every file.
  public static func contains(_ name: String) -> Bool {
    guard let first = name.utf8.first else { return false }
    if first == UInt8(ascii: ".") {
      return dotted.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }
    return initials.contains(first) && (plain.contains(name) || name.hasPrefix("~$"))
  }

  /// Whether a folder of such a name is an upload all the same: an upload server has noted files in it. It is searched.
  /// Cost: a look by name for these names, nothing for others.
  public static func isUpload(_ folder: FilePath) -> Bool {
    guard let name = folder.name, !name.hasPrefix("."), contains(name) else { return false }
    return FileStamp(of: folder.appending(UploadManifest.fileName)) != nil
  }

  private static let dotted: Set<String> = [
    // Names of senders and of the upload server.
    ".complete", ".upload.json", ".upload.journal", ".incoming", ".lock",
    // Names of macOS and iOS.
    ".DS_Store", ".localized", ".apdisk", ".AppleDouble", ".AppleDB", ".AppleDesktop",
    ".TemporaryItems", ".DocumentRevisions-V100", ".Spotlight-V100", ".Trashes", ".fseventsd",
    ".VolumeIcon.icns", ".metadata_never_index",
    // Names of Linux desktops.
    ".directory", ".hidden",
    // Names of synchronizers: Syncthing, Dropbox, Google Drive, Nextcloud, Resilio.
    ".stignore", ".stversions", ".dropbox", ".dropbox.attr", ".dropbox.cache",
    ".tmp.driveupload", ".tmp.drivedownload", ".owncloudsync.log", ".nextcloudsync.log", ".sync",
  ]
  /// `._NAME` of macOS, what a server keeps of files that are open although they were removed (Samba, NFS, FUSE), the
  /// marker of Syncthing (also one that was moved away), trash, locks of office programs, databases of Nextcloud.
  private static let prefixes = [
    "._", ".smbdelete", ".nfs", ".fuse_hidden", ".stfolder", ".Trash-", ".~lock.", ".sync_",
  ]
  private static let plain: Set<String> = [
    // Names of Windows.
    "Thumbs.db", "ehthumbs.db", "desktop.ini", "Desktop.ini", "$RECYCLE.BIN",
    "System Volume Information",
    // Names of storage servers.
    "@eaDir", "@Recycle", "@Recently-Snapshot", "#recycle", "#snapshot", "lost+found",
  ]
  private static let initials = Set("TedD$S@#l~".utf8)
}
