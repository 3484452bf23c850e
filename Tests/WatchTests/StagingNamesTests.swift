import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Engine
@testable import Watch

@Suite("Names in STAGING, and what of them counts")
struct StagingNamesTests {
  /// What a name in a capture's folder tells.
  enum Kind { case transfer, ignored, conflict, file }

  /// A name, what it tells, and of what file a transfer is.
  static let names: [(name: String, kind: Kind, target: String?)] = [
    // rsync: while it works; with --partial-dir and --delay-updates see `transferFolders`.
    (".a.depth.Xy12ab", .transfer, "a.depth"), (".a.depth.Xy12a", .file, nil),
    (".a.depth.Xy12a-", .file, nil), (".notes", .file, nil), (".hidden", .ignored, nil),
    // Syncthing.
    (".syncthing.a.depth.tmp", .transfer, "a.depth"),
    ("~syncthing~a.depth.tmp", .transfer, "a.depth"),
    ("a.sync-conflict-20261120-101112-ABCDEFG.depth", .conflict, nil), (".stfolder", .ignored, nil),
    (".stfolder.removed-20261120-101112", .ignored, nil), (".stignore", .ignored, nil),
    (".stversions", .ignored, nil),
    // rclone, of today and of before 1.63.
    ("a.depth.1a2b3c4d.partial", .transfer, "a.depth"), ("a.depth.partial", .transfer, "a.depth"),
    ("a.depth.partial~", .transfer, "a.depth"),
    // WinSCP, browsers, desktops, lftp, MinIO, Resilio.
    ("a.depth.filepart", .transfer, "a.depth"), ("a.FILEPART", .transfer, "a"),
    ("a.depth.part", .transfer, "a.depth"), ("a.depth.crdownload", .transfer, "a.depth"),
    ("a.tmp", .transfer, "a"), ("a.depth.TMP", .transfer, "a.depth"),
    (".goutputstream-X1Y2Z3", .transfer, nil), (".in.a.depth", .transfer, "a.depth"),
    ("a.depth.part.minio", .transfer, "a.depth"), ("a.depth.!sync", .transfer, "a.depth"),
    ("part", .file, nil), ("a.partial.depth", .file, nil),
    // Samba, and who writes to it: macOS, the Files app, Windows.
    (".smbdeleteAAA1234567.4", .ignored, nil), ("a.depth.sb-1a2b3c4d-Ab12Cd", .transfer, "a.depth"),
    ("a.sb-1a2b3c4d", .file, nil), ("._a.depth", .ignored, nil), (".DS_Store", .ignored, nil),
    (".apdisk", .ignored, nil), (".TemporaryItems", .ignored, nil), ("Thumbs.db", .ignored, nil),
    ("desktop.ini", .ignored, nil), ("~$a.csv", .ignored, nil), ("$RECYCLE.BIN", .ignored, nil),
    ("System Volume Information", .ignored, nil), (".~lock.a.csv#", .ignored, nil),
    // Storage servers and file systems.
    ("@eaDir", .ignored, nil), ("#recycle", .ignored, nil), ("@Recycle", .ignored, nil),
    ("lost+found", .ignored, nil), (".nfs000000000123", .ignored, nil),
    (".fuse_hidden0000001200000001", .ignored, nil), (".Trash-1000", .ignored, nil),
    // Nextcloud and ownCloud, Dropbox.
    (".a.depth.~3f2a1b", .transfer, "a.depth"),
    ("a (Anna's conflicted copy 2026-11-20).depth", .conflict, nil),
    (".sync_0a1b2c.db", .ignored, nil), (".dropbox.attr", .ignored, nil),
    // What iCloud, Nextcloud and ownCloud have not downloaded.
    (".a.depth.icloud", .transfer, "a.depth"), ("a.depth.nextcloud", .transfer, "a.depth"),
    ("a.depth.owncloud", .transfer, "a.depth"), (".icloud", .file, nil),
    ("a.depth.icloud", .file, nil),
    // The upload server, and senders.
    (".upload.json", .ignored, nil), (".upload.journal", .ignored, nil),
    (".complete", .ignored, nil), (".incoming", .ignored, nil),
    (".lock", .ignored, nil),
    // Files of captures, also of odd names.
    ("a.depth", .file, nil), ("2026-11-20__X.imu", .file, nil), ("000007.png", .file, nil),
    ("rgb.mkv", .file, nil), ("a~2.depth", .file, nil), ("@a.depth", .file, nil),
  ]

  @Test("Names in a capture's folder tell what they are", arguments: names)
  func kinds(name: String, kind: Kind, target: String?) {
    #expect(TransferNames.contains(name) == (kind == .transfer), "\(name)")
    #expect(StagingNames.isBystander(name) == (kind == .ignored), "\(name)")
    #expect(StagingNames.isConflict(name) == (kind == .conflict), "\(name)")
    #expect(TransferNames.target(of: name) == target, "\(name)")
    if let target { #expect(TransferNames.isTransfer(name, of: target), "\(name)") }
  }

  @Test("In a folder each of them does what it is", arguments: names)
  func inFolder(name: String, kind: Kind, target: String?) throws {
    let folder = try TemporaryFolder()
    let capture = folder.path.appending("a")
    try FileSystem.makeFolder(capture)
    func write(_ name: String) throws {
      try capture.appending(name: name).write("x")
    }
    try write("first.depth")
    let before = try FolderSignature(of: capture)
    try write(name)
    let after = try FolderSignature(of: capture)
    #expect((after == before) == (kind == .ignored))
    #expect(after.isTransferring == (kind == .transfer))
    #expect(after.temporaryFile == (kind == .transfer ? name : nil))
    #expect(after.conflict == (kind == .conflict ? name : nil))
  }

  @Test(
    "Folders in which rsync keeps files until they are whole",
    arguments: [".~tmp~", ".rsync-partial"])
  func transferFolders(name: String) throws {
    let folder = try TemporaryFolder()
    let kept = folder.path.appending(name)
    try FileSystem.makeFolder(kept)
    // Empty ones are left behind.
    #expect(try FolderSignature(of: folder.path).isTransferring == false)
    try kept.appending("a.depth").write("x")
    #expect(try FolderSignature(of: folder.path).isTransferring == true)
    #expect(try FolderSignature(of: folder.path).temporaryFile == name)
  }

  @Test(
    "A folder that a transfer writes is told by the same endings as a file",
    arguments: ["depth.part", "depth.PARTIAL", "depth.filepart", "depth.tmp", "depth.crdownload"])
  func unfinishedFolders(name: String) throws {
    let folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending(name))
    let before = try FolderSignature(of: folder.path)
    #expect(before.isTransferring && before.temporaryFile == name)
    try FileSystem.rename(folder.path.appending(name), to: folder.path.appending("depth"))
    #expect(try !FolderSignature(of: folder.path).isTransferring)
  }

  @Test(
    "A stamp follows names, sizes, times and inodes of everything below, and nothing of bystanders")
  func stamps() throws {
    let folder = try TemporaryFolder()
    let location = folder.path.appending("a")
    try FileSystem.makeFolder(location.appending("depth"))
    func write(_ text: String, _ name: String) throws {
      try location.appending(FilePath(name).components).write(text)
    }
    try write("1", "x.csv")
    try write("2", "depth/0.bin")
    let first = try FolderSignature(of: location)
    try write("junk", ".DS_Store")
    try write("{}", ".upload.json")
    #expect(try FolderSignature(of: location) == first)
    try write("3", "depth/1.bin")
    let second = try FolderSignature(of: location)
    #expect(second != first)
    // A new file with this content, size and time.
    let file = location.appending("x.csv").string
    let date = try FileManager.default.attributesOfItem(atPath: file)[.modificationDate]
    try FileManager.default.copyItem(atPath: file, toPath: file + "2")
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.moveItem(atPath: file + "2", toPath: file)
    try FileManager.default.setAttributes([.modificationDate: date as Any], ofItemAtPath: file)
    #expect(try FolderSignature(of: location) != second)
    try write("", ".x.csv.Ab12Cd")
    #expect(try FolderSignature(of: location).isTransferring == true)
    #expect(throws: FileError.self) {
      try FolderSignature(of: folder.path.appending("nothing"))
    }
  }
}
