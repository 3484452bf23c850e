import Core
import SystemPackage

/// Names of files and folders that others leave beside the files of a capture and that no reader opens:
/// they come and go without any meaning for the capture. Folders of these names are not searched, except `isUpload`.
public enum IgnoredFiles {
  /// Ending of folders with the true values that `synthesize` writes beside a capture.
  public static let truthEnding = ".truth"

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
