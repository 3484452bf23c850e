@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Receiving
import Glibc

/// Nothing is said of a file by what was noted of it alone.
@Suite("What the receiver says of files is true of the disk", .runsPrograms)
struct DiskLookTests {
  private static let files = ["a.csv": "content a", "b.csv": "content b", "frames/c.jpg": "c"]

  /// What happens to `b.csv`, or to all.
  enum Damage: String, CaseIterable, Sendable {
    case removed, cut, overwritten, replacedWithSameTime, folderRemoved, innerRemoved

    func happen(to folder: FilePath) throws {
      let file = folder.appending("b.csv")
      switch self {
      case .removed: try FileSystem.remove(file)
      case .folderRemoved: try FileSystem.remove(folder)
      case .innerRemoved: try FileSystem.remove(folder.appending("frames"))
      case .cut: #expect(truncate(file.string, 3) == 0)
      case .overwritten:
        let handle = try FileHandle(forUpdating: URL(filePath: file.string))
        try handle.write(contentsOf: Data("C".utf8))
        try handle.close()
        try Self.set(file, seconds: 1_000_000_000)
      case .replacedWithSameTime:
        // As `cp -p` and a rename do it: only the inode tells.
        var status = stat()
        #expect(stat(file.string, &status) == 0)
        let beside = folder.appending(".beside")
        try beside.write("Content b")
        var times = [status.st_atim, status.st_mtim]
        #expect(utimensat(AT_FDCWD, beside.string, &times, 0) == 0)
        #expect(rename(beside.string, file.string) == 0)
      }
    }

    static func set(_ file: FilePath, seconds: Int) throws {
      var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
      #expect(utimensat(AT_FDCWD, file.string, &times, 0) == 0)
    }

    /// What is not there after it, and what is another one.
    var answer: UploadStore.Completion? {
      switch self {
      case .removed: .init(missing: ["b.csv"])
      case .innerRemoved: .init(missing: ["frames/c.jpg"])
      case .cut, .overwritten, .replacedWithSameTime: .init(different: ["b.csv"])
      case .folderRemoved: nil
      }
    }
  }

  private func whole() throws -> StoreScene {
    let scene = try StoreScene()
    for (name, content) in Self.files { try scene.put("k", name, content) }
    #expect(try scene.complete("k", Self.files).isComplete)
    return scene
  }

  @Test("complete looks at the disk, and takes back what was said", arguments: Damage.allCases)
  func complete(damage: Damage) throws {
    for isListed in [true, false] {
      let scene = try whole()
      try damage.happen(to: scene.path.appending("k"))
      if let answer = damage.answer {
        for _ in 0..<2 {
          let said =
            try isListed ? scene.complete("k", Self.files) : scene.store.complete("k", nil)
          #expect(said == answer)
          #expect(try scene.manifest("k")?.complete == nil)
        }
      } else {
        #expect(throws: UploadRefusal.self) { try scene.complete("k", Self.files) }
        #expect(throws: UploadRefusal.self) { try scene.store.complete("k", nil) }
        #expect(try !scene.store.requestProcessing(of: "k"))
      }
      // Sent again everything is well.
      for (name, content) in Self.files { try scene.put("k", name, content) }
      #expect(try scene.complete("k", Self.files).isComplete)
      #expect(try scene.manifest("k")?.complete != nil)
      var expected: [String: String] = [:]
      for (name, content) in Self.files { expected["k/\(name)"] = content }
      #expect(try scene.contents() == expected)
    }
  }

  @Test("The page and the lists show what is on the disk", arguments: Damage.allCases)
  func views(damage: Damage) async throws {
    try await ServerScene.run { scene in
      for (name, content) in Self.files {
        let sent = try scene.ask(
          "PUT /captures/k/files/\(name) HTTP/1.1\r\nHost: h\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)"
        )
        #expect(sent?.status == 201)
      }
      let done = "POST /captures/k/complete HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"
      #expect(try scene.ask(done)?.status == 200)
      for target in ["/captures", "/captures/k"] {
        #expect(try scene.get(target)?.body.contains(#""state":"complete""#) == true)
      }
      try damage.happen(to: scene.path.appending("k"))
      let gone = damage == .innerRemoved ? "frames/c.jpg" : "b.csv"
      let digest = Digest(of: Self.files[gone] ?? "").hex
      // The inode alone is looked at where one capture is asked for.
      for target in damage == .replacedWithSameTime
        ? ["/captures/k"] : ["/captures", "/", "/captures/k"]
      {
        let answer = try #require(try scene.get(target))
        #expect(!answer.body.contains(digest), "\(target)")
        #expect(
          !answer.body.contains(#""state":"complete""#)
            && !answer.body.contains(#"data-state="complete""#), "\(target): \(answer.body)")
        if damage == .folderRemoved, target == "/captures/k" { #expect(answer.status == 404) }
      }
    }
  }

  @Test(
    "A verified file that is another one after a restart is not verified, and its capture is not complete"
  )
  func reentered() throws {
    for damage in [Damage.cut, .overwritten] {
      let scene = try whole()
      try damage.happen(to: scene.path.appending("k"))
      try scene.restart()
      scene.store.enterUnlisted()
      let manifest = try #require(try scene.manifest("k"))
      #expect(manifest.complete == nil && !manifest.declared)
      #expect(manifest.files.filter { $0.state != .verified }.map(\.name) == ["b.csv"])
    }
    // Only its time is another one.
    let scene = try whole()
    try Damage.set(scene.path.appending("k/b.csv"), seconds: 1_000_000_000)
    try scene.restart()
    scene.store.enterUnlisted()
    #expect(try scene.manifest("k")?.complete != nil)
    #expect(try scene.manifest("k")?.isVerified == true)
  }

  // MARK: Uploads that were broken off

  private func brokenOff(_ scene: StoreScene, by sender: String) throws {
    let upload = try scene.store.begin(
      UploadRequest(
        name: try UploadName(capture: "k", path: "a.csv", endings: StoreScene.limits.endings),
        length: 100, sender: sender, resumableMetadata: "tus "))
    try upload.append(Array("old".utf8))
    try upload.suspend()
  }

  @Test("An upload that was broken off is not waited for when its file has come in another way")
  func superseded() throws {
    // The address of a token's sender may be another one.
    for (first, second) in [("test", "test"), ("lab (192.0.2.1)", "lab (192.0.2.9)")] {
      let scene = try StoreScene()
      try brokenOff(scene, by: first)
      try scene.put("k", "a.csv", "whole", by: second)
      #expect(try scene.leftovers() == [])
      #expect(try scene.complete("k", ["a.csv": "whole"], by: second).isComplete)
      #expect(try scene.manifest("k")?.complete != nil)
    }
    // It was begun when the file was there already.
    let scene = try StoreScene()
    try scene.put("k", "a.csv", "whole")
    try brokenOff(scene, by: "test")
    #expect(try scene.complete("k", ["a.csv": "whole"]).isComplete)
    #expect(try scene.leftovers() == [])
    // An upload of another sender stays, and is no reason either.
    try brokenOff(scene, by: "other")
    #expect(try scene.complete("k", ["a.csv": "whole"]).isComplete)
    #expect(try scene.manifest("k")?.complete != nil)
    #expect(try scene.leftovers().count == 2)
  }

  @Test("A file that is not there and was broken off is waited for")
  func waited() throws {
    let scene = try StoreScene()
    try scene.put("k", "b.csv", "b")
    try brokenOff(scene, by: "test")
    #expect(try scene.store.complete("k", nil) == .init(missing: ["a.csv"]))
  }

  @Test(
    "A sender can begin and leave a bounded number of uploads; what it has left for long goes first"
  )
  func many() throws {
    var limits = StoreScene.limits
    limits.suspended = 3
    let scene = try StoreScene(limits: limits)
    func begin(_ number: Int, by sender: String = "test") throws {
      let upload = try scene.store.begin(
        UploadRequest(
          name: try UploadName(capture: "\(number)", path: "a.csv", endings: limits.endings),
          length: 9, sender: sender, resumableMetadata: "tus "))
      try upload.suspend()
    }
    for number in 0..<3 { try begin(number) }
    #expect(throws: UploadRefusal.self) { try begin(3) }
    try begin(3, by: "other")
    #expect(try scene.leftovers().count == 8)
    scene.wait(seconds: 4000)
    try begin(4)
    #expect(try scene.leftovers().count == 8)
    #expect(scene.store.snapshot().captures.map(\.folder).sorted() != ["0", "1", "2", "3"])
    // Others are not counted.
    try scene.put("k", "a.csv", "a")
  }

  // MARK: Space

  @Test("What was announced is kept free for a bounded amount ahead")
  func announced() throws {
    var limits = StoreScene.limits
    (limits.ahead, limits.reserve) = (10, 100)
    limits.quota = 1_000
    let scene = try StoreScene(limits: limits, free: 1_000)
    func begin(_ name: String, _ length: Int64) throws -> IncomingFile {
      try scene.begin(name, length: length)
    }
    let greedy = try begin("a.imu", 900)
    try greedy.append([1, 2, 3])
    let other = try begin("b.imu", 880)
    #expect(throws: UploadRefusal.self) { try begin("c.imu", 890) }
    #expect(throws: UploadRefusal.self) { try begin("c.imu", 901) }
    for upload in [greedy, other] { upload.abort() }
  }

  @Test("What is on its way counts for the limit of a capture")
  func captureLimit() throws {
    var limits = StoreScene.limits
    (limits.file, limits.capture) = (10, 10)
    let scene = try StoreScene(limits: limits)
    let first = try scene.begin("a.imu")
    try first.append(Array("123456".utf8))
    let second = try scene.begin("a.depth")
    #expect(throws: UploadRefusal.self) { try second.append(Array("12345".utf8)) }
    second.abort()
    #expect(throws: UploadRefusal.self) { try scene.begin("a.txt", length: 5) }
    try first.finish()
    #expect(throws: UploadRefusal.self) { try scene.send("a.txt", "12345") }
    try scene.send("a.txt", "1234")
    try scene.send("b.txt", "1234567890")
  }

  // MARK: The folder of parts

  @Test("The folder of parts is made again when somebody has removed it or moved it away")
  func parts() throws {
    for isMoved in [true, false] {
      let scene = try StoreScene()
      try scene.put("k", "a.csv", "a")
      let left = try scene.begin("k.imu", length: 9, resumable: true)
      try left.suspend()
      let cut = try scene.begin("k.depth")
      try cut.append([1])
      let parts = scene.path.appending(".incoming")
      if isMoved {
        try FileManager.default.moveItem(atPath: parts.string, toPath: parts.string + "-2")
      } else {
        try FileSystem.remove(parts)
      }
      #expect(scene.store.problem() == nil)
      try scene.put("k", "b.csv", "b")
      #expect(throws: UploadRefusal.self) { try cut.finish() }
      #expect(throws: UploadRefusal.self) { try scene.store.resume(left.id) }
      #expect(try scene.complete("k", ["a.csv": "a", "b.csv": "b"]).isComplete)
      #expect(try scene.leftovers() == [])
    }
  }

  // MARK: All or none

  @Test("Of several files that end together all have their names, or none")
  func allOrNone() throws {
    let names = ["a.csv", "b.csv", "c.csv"]
    func prepared() throws -> (StoreScene, [IncomingFile]) {
      let scene = try StoreScene()
      try scene.put("k", "b.csv", "old", isVerified: false)
      let uploads = try names.map { name in
        let upload = try scene.store.begin(
          UploadRequest(
            name: try UploadName(capture: "k", path: name, endings: StoreScene.limits.endings),
            length: nil, sender: "test"))
        try upload.append(Array("new".utf8))
        return upload
      }
      scene.files.arm(nil)
      return (scene, uploads)
    }
    let before = ["k/b.csv": "old"]
    let after = ["k/a.csv": "new", "k/b.csv": "new", "k/c.csv": "new"]
    let (whole, uploads) = try prepared()
    #expect(try IncomingFile.finish(uploads).map(\.kind) == [.stored, .replaced, .stored])
    #expect(try whole.contents() == after)
    #expect(try whole.leftovers() == [])
    for (at, call) in whole.files.calls.enumerated() {
      let (scene, uploads) = try prepared()
      scene.files.arm(.once(at: at, .noSpace))
      let isDone = (try? IncomingFile.finish(uploads)) != nil
      scene.files.arm(nil)
      #expect(try scene.contents() == (isDone ? after : before), "\(call) \(at)")
      #expect(
        try scene.manifest("k")?.files.map(\.name).sorted() == (isDone ? names : ["b.csv"]),
        "\(call) \(at)")
      try scene.restart()
      #expect(try scene.contents() == (isDone ? after : before), "\(call) \(at)")
      #expect(try scene.leftovers() == [])
    }
  }
}
