import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

/// A watcher as user `nobody` and files that it may not read.
@Suite(.runsPrograms, .enabled(if: Unprivileged.isPossible, "needs to give up being root"))
struct PermissionTests {
  private let scene: WatchScene

  init() throws {
    scene = try WatchScene("  imu: {uses: match-imu}\n  previews: {uses: make-thumbnail}")
    try FileSystem.makeFolder(scene.output)
    #expect(chown(scene.output.string, 65534, 65534) == 0)
  }

  private func attempts(_ name: String) -> Int? { scene.triage(name)?["attempts"] as? Int }

  @Test
  func
    `the cause names mode, owner, user and the command, and only a change of rights tries again`()
    throws
  {
    let file = try scene.put("a").appending("a.imu")
    #expect(chmod(file.string, 0) == 0)
    let first = try Program.startUnprivileged("\(scene.words(["--once"]))").finish()
    #expect(first.status == 1, "\(first.errors)")
    let noted = try #require(scene.triage("a"))
    #expect(noted["cause"] as? String == "permission")
    #expect(noted["isQuarantined"] as? Bool == false && noted["retryAt"] == nil)
    let message = try #require(noted["message"] as? String)
    #expect(message.contains("a.imu: cannot be read: permission denied: mode 0000, owner root, "))
    #expect(message.contains("scanmill runs as nobody"))
    #expect(message.contains("setfacl -m u:nobody:r \(file)"))
    let status = try Program.run("status \(scene.output)").unwrapped
    #expect(status.contains("failed (permission)"))
    #expect(status.contains("Give the right with `setfacl -m u:nobody:r "))
    #expect(!status.contains("Nothing is wrong with the capture"))
    #expect(attempts("a") == 1)
    // Its pauses would be over many times.
    let watcher = try Program.startUnprivileged("\(scene.words())")
    try scene.put("b")
    try scene.wait("another capture") { scene.isDone("b", "imu") }
    #expect(attempts("a") == 1)
    #expect(chmod(file.string, 0o644) == 0)
    try scene.wait("the capture") { scene.isDone("a", "imu") }
    let ended = try watcher.stop()
    #expect(ended.status == 143)
    #expect(scene.triage("a") == nil)
  }

  /// A tool of others, and a file system that keeps access control lists.
  private static let hasAccessLists: Bool = {
    if ForeignPrograms.areLeftOut { return false }
    guard let folder = try? TemporaryFolder() else { return false }
    let tool = try? Running(
      "/usr/bin/env", ["setfacl", "-m", "u:nobody:r", folder.path.string], in: nil
    ).finish()
    if tool?.status == 0 { return true }
    print("note: setfacl (Debian: acl) is absent or does nothing here: tests with it are skipped")
    return false
  }()

  @Test(.enabled(if: hasAccessLists, "needs setfacl"))
  func `an access control list that shuts a file out is the same cause, and its end is noticed`()
    throws
  {
    let file = try scene.put("a").appending("a.imu")
    func list(_ words: String...) throws {
      try Running("/usr/bin/env", ["setfacl"] + words + [file.string], in: nil).finish().succeeds()
    }
    // The mode alone would let everybody read.
    #expect(chmod(file.string, 0o644) == 0)
    try list("-m", "u:nobody:---")
    #expect(try Program.startUnprivileged("\(scene.words(["--once"]))").finish().status == 1)
    let noted = try #require(scene.triage("a"))
    #expect(noted["cause"] as? String == "permission")
    #expect((noted["message"] as? String)?.contains("setfacl -m u:nobody:r \(file)") == true)
    let watcher = try Program.startUnprivileged("\(scene.words())")
    try list("-m", "u:nobody:r")
    try scene.wait("the capture") { scene.isDone("a", "imu") }
    #expect(try watcher.stop().status == 143)
  }

  @Test func `whoever may read more tries again at once`() throws {
    let file = try scene.put("a").appending("a.imu")
    #expect(chmod(file.string, 0) == 0)
    #expect(try Program.startUnprivileged("\(scene.words(["--once"]))").finish().status == 1)
    // The user that failed may not: nothing is tried, and it still needs somebody.
    #expect(
      try Program.startUnprivileged("\(scene.words(["--once", "--exit-code"]))").finish().status
        == 1)
    #expect(attempts("a") == 1)
    try scene.once().succeeds()
    #expect(scene.isDone("a", "imu"))
  }

  @Test func `a folder that may not be read is told with its mode and the command`() throws {
    let place = try scene.put("shut")
    #expect(chmod(place.string, 0) == 0)
    let ended = try Program.startUnprivileged("\(scene.words(["--once"]))").finish()
    #expect(chmod(place.string, 0o755) == 0)
    #expect(ended.status == 1, "\(ended.errors)")
    #expect(ended.errors.contains("permission denied: mode 0000, owner root"))
    #expect(ended.errors.contains("setfacl -m u:nobody:rx \(place)"))
  }
}
