import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Receiving

@Suite("The store of uploads")
struct StoreTests {

  @Test func aVerifiedFileThatWasDamagedOnDiskIsReplaced() throws {
    for content in ["old", "new"] {
      let scene = try StoreScene()
      try scene.send("a.imu", "old")
      #expect(try scene.verify("a.imu", "old") == .same)
      try scene.path.appending("a/a.imu").write("o!d")
      #expect(try scene.send("a.imu", content).kind == .replaced)
      #expect(try scene.contents() == ["a/a.imu": content])
    }
  }

  @Test func aVerifyNeverDestroysAndKnowsOnlyWhatIsWhole() throws {
    let scene = try StoreScene()
    #expect(try scene.verify("a.imu", "old") == .absent)
    let upload = try scene.begin("a.imu", length: 3)
    try upload.append(Array("old".utf8))
    #expect(try scene.verify("a.imu", "old") == .absent)
    try upload.finish()
    #expect(try scene.verify("a.imu", "other") == .other)
    #expect(try scene.contents() == ["a/a.imu": "old"])
    #expect(try scene.verify("a.imu", "old") == .same)
    // While a new one of the name is on its way, nobody can say.
    let next = try scene.begin("a.imu", length: 3)
    #expect(try scene.verify("a.imu", "old") == .absent)
    next.abort()
    #expect(try scene.verify("a.imu", "old") == .same)
  }

  @Test func aLinkInThePlaceOfACaptureOrAFileIsNotFollowed() throws {
    let scene = try StoreScene()
    let outside = scene.folder.path.appending("outside")
    try FileSystem.makeFolder(outside)
    try scene.path.appending("a").link(to: outside.string)
    #expect(throws: UploadRefusal.self) { try scene.send("a.imu", "x") }
    try scene.send("b.imu", "x")
    try scene.path.appending("b/b.depth").link(to: outside.appending("b.depth").string)
    #expect(throws: UploadRefusal.self) { try scene.send("b.depth", "x") }
    #expect(try FileSystem.names(in: outside) == [])
    #expect(try scene.leftovers() == [])
  }

  @Test func twoNamesThatOnlyLookTheSameAreTwoFiles() throws {
    let scene = try StoreScene()
    try scene.send("a.e\u{301}.imu", "one")
    try scene.send("a.\u{E9}.imu", "two")
    #expect(try scene.manifest("a")?.files.count == 2)
  }

  // MARK: Completeness, section 5.5

  @Test func aCaptureIsCompleteByTheNamesOfItsFamily() throws {
    let scene = try StoreScene()
    for ending in ["imu", "txt", "depth", "h264"] {
      try scene.send("s.\(ending)", ending)
      #expect(try scene.manifest("s")?.complete == nil)
    }
    #expect(try scene.manifest("s")?.family == "scannet")
    #expect(try scene.manifest("s")?.missing == ["s.camera"])
    // A file that arrives elsewhere of the same capture is waited for.
    let open = try scene.begin("s.jpg", length: 1)
    try scene.send("s.camera", "camera")
    #expect(try scene.manifest("s")?.missing == [])
    #expect(try scene.manifest("s")?.complete == nil)
    open.abort()
    #expect(try scene.manifest("s")?.complete != nil)
    #expect(try scene.verify("s.imu", "other") == .other)
    #expect(try scene.manifest("s")?.complete == nil)
    #expect(try scene.verify("s.imu", "imu") == .same)
    #expect(try scene.manifest("s")?.complete != nil)
  }

  @Test(arguments: [
    (
      #"{"streams":[{"id":"color_back_1","type":"color_camera","file_extension":"mp4"},"#
        + #"{"id":"depth_back_1","type":"lidar_sensor","file_extension":"depth.zlib"}]}"#,
      "m.json", ["m.mp4", "m.depth.zlib"]
    ),
    (
      #"{"stream":[{"type":"rot","file_extension":"rot"},{"type":"atti","file_extension":"atti"}]}"#,
      "m.txt", ["m.rot"]
    ),
    (
      #"{"streams":[{"id":"color_back_1","type":"color_camera","file_extension":"mp4"},"#
        + #"{"id":"color_back_2","type":"color_camera","file_extension":"mp4"}]}"#,
      "m.json", ["m-primary.mp4", "m-secondary.mp4"]
    ),
  ])
  func multiScanIsCompleteByWhatItsMetadataDeclares(
    _ metadata: String, _ name: String, _ expected: [String]
  ) throws {
    let scene = try StoreScene()
    try scene.send(name, metadata)
    #expect(try scene.manifest("m")?.family == "multiscan")
    #expect(try scene.manifest("m")?.missing == expected)
    // Counting files tells nothing.
    for extra in ["m_depth.txt", "m_thumb.jpg", "m_preview.mp4", "m_confidence.txt"] {
      try scene.send(extra, extra)
    }
    #expect(try scene.manifest("m")?.complete == nil)
    for name in expected { try scene.send(name, name) }
    #expect(try scene.manifest("m")?.complete != nil)
  }

  @Test func processingIsAskedForOfWhatIsKnownOnly() throws {
    let scene = try StoreScene()
    #expect(try !scene.store.requestProcessing(of: "a"))
    try scene.send("a.imu", "x")
    #expect(try scene.store.requestProcessing(of: "a"))
    #expect(try scene.manifest("a")?.processRequested != nil)
  }

  // MARK: A new start

  @Test func aNewStartSweepsDropsAndEnters() throws {
    let scene = try StoreScene()
    try scene.send("a.imu", "imu")
    try scene.send("a.txt", "txt")
    let cut = try scene.begin("a.depth", length: 10)
    try cut.append(Array("half".utf8))
    #expect(try scene.leftovers().count == 2)
    try FileManager.default.removeItem(atPath: scene.path.appending("a/a.txt").string)
    try scene.path.appending("a/a.camera").write("camera")
    try FileSystem.makeFolder(scene.path.appending("old"))
    try scene.path.appending("old/old.h264").write("h")
    try scene.restart()
    #expect(try scene.leftovers() == [])
    #expect(try scene.manifest("a")?.files.map(\.name) == ["a.imu"])
    #expect(scene.store.enterUnlisted() == 2)
    #expect(try scene.manifest("a")?.files.map(\.name) == ["a.imu", "a.camera"])
    #expect(try scene.manifest("old")?.files.first?.sha256 == Digest(of: "h").hex)
    #expect(scene.store.enterUnlisted() == 0)
    #expect(try scene.verify("old.h264", "h") == .same)
  }

  /// A crash between the rename of a replacement and its manifest: nobody is told that the old
  /// content is still there.
  @Test func aFileThatChangedSinceItWasNotedIsReadAgainBeforeAnythingIsSaidOfIt() throws {
    let scene = try StoreScene()
    try scene.send("a.imu", "old")
    try scene.path.appending("a/a.imu").write("new")
    try scene.restart()
    #expect(try scene.verify("a.imu", "old") == .other)
    #expect(try scene.verify("a.imu", "new") == .same)
  }

  // MARK: Two senders
}

/// Failures between any two file calls of an upload, and the end of the process there.
@Suite("Failures of the disk while something is received")
struct StoreFaultTests {
  /// What was there before.
  enum Before: String, CaseIterable, Sendable {
    case nothing, unverified, verified, sameContent
  }

  private func prepared(_ before: Before) throws -> StoreScene {
    let scene = try StoreScene()
    switch before {
    case .nothing: break
    case .unverified: try scene.send("a.imu", "old")
    case .verified:
      try scene.send("a.imu", "old")
      #expect(try scene.verify("a.imu", "old") == .same)
    case .sameContent: try scene.send("a.imu", "new")
    }
    return scene
  }

  private func count(_ before: Before) throws -> Int {
    let scene = try prepared(before)
    scene.files.arm(nil)
    try scene.send("a.imu", "new")
    return scene.files.calls.count
  }

  @Test(arguments: Before.allCases)
  func aFailureAtAnyCallLosesNothingAndSendingAgainEndsWell(_ before: Before) throws {
    for code in [Errno.noSpace, .ioError] {
      for at in 0..<(try count(before)) {
        let scene = try prepared(before)
        let earlier = try scene.contents()
        scene.files.arm(.once(at: at, code))
        let outcome = Result { try scene.send("a.imu", "new") }
        let call = scene.files.calls.indices.contains(at) ? scene.files.calls[at] : "?"
        scene.files.arm(nil)
        let after = try scene.contents()
        if case .failure(let error) = outcome {
          let refusal = try #require(error as? UploadRefusal)
          #expect(refusal.kind == (code == .noSpace ? .noSpace : .failed), "\(call) \(at)")
          // Nothing, or the whole: the failure came after the file had got its name.
          for (name, content) in after {
            #expect(content == "new" || earlier[name] == content, "\(call) \(at): \(name)")
          }
        } else {
          #expect(after.values.contains("new"), "\(call) \(at)")
        }
        if before == .verified { #expect(after["a/a.imu"] == "old", "\(call) \(at)") }
        #expect(after.count >= earlier.count)
        // What is left is swept at the next start, if its removal failed.
        try scene.send("a.imu", "new")
        #expect(try scene.contents().values.contains("new"))
        #expect(try scene.verify("a.imu", "new") == .same, "\(call) \(at)")
        try scene.restart()
        #expect(try scene.leftovers() == [], "\(call) \(at)")
        #expect(try scene.verify("a.imu", "new") == .same, "\(call) \(at)")
        if before == .verified {
          #expect(try scene.verify("a.imu", "old") == .same, "\(call) \(at)")
        }
      }
    }
  }

  @Test(arguments: Before.allCases)
  func theEndOfTheProcessAtAnyCallLeavesWholeFilesOnly(_ before: Before) throws {
    for at in 0...(try count(before)) {
      let scene = try prepared(before)
      let earlier = try scene.contents()
      scene.files.arm(.death(at: at))
      let isAcknowledged = (try? scene.send("a.imu", "new")) != nil
      let calls = scene.files.calls
      try scene.restart()
      scene.store.enterUnlisted()
      let call = calls.indices.contains(at) ? calls[at] : "the end"
      let after = try scene.contents()
      for (name, content) in after {
        #expect(content == "new" || earlier[name] == content, "\(call) \(at): \(name)")
      }
      if before == .verified { #expect(after["a/a.imu"] == "old", "\(call) \(at)") }
      #expect(try scene.leftovers() == [], "\(call) \(at)")
      if isAcknowledged { #expect(after.values.contains("new"), "\(call) \(at)") }
      // The manifest tells what is on disk.
      for (name, content) in after {
        let folder = try #require(name.split(separator: "/").first.map(String.init))
        let file = try scene.manifest(folder)?.files.first
        #expect(file?.sha256 == Digest(of: content).hex, "\(call) \(at): \(name)")
      }
      try scene.send("a.imu", "new")
      #expect(try scene.verify("a.imu", "new") == .same, "\(call) \(at)")
    }
  }

  @Test func aVerifyThatCannotBeWrittenDownIsNotAnsweredWithYes() throws {
    let scene = try StoreScene()
    try scene.send("a.imu", "old")
    scene.files.arm(nil)
    #expect(try scene.verify("a.imu", "old") == .same)
    for at in 0..<scene.files.calls.count {
      let scene = try StoreScene()
      try scene.send("a.imu", "old")
      scene.files.arm(.once(at: at, .noSpace))
      if (try? scene.verify("a.imu", "old")) == .same {
        try scene.restart()
        #expect(try scene.manifest("a")?.files.first?.state == .verified)
      }
    }
  }
}
