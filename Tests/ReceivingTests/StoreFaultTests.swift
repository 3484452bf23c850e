@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

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
      #expect(try scene.verify("a.imu", "old") == .matches)
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
        #expect(try scene.verify("a.imu", "new") == .matches, "\(call) \(at)")
        try scene.restart()
        #expect(try scene.leftovers() == [], "\(call) \(at)")
        #expect(try scene.verify("a.imu", "new") == .matches, "\(call) \(at)")
        if before == .verified {
          #expect(try scene.verify("a.imu", "old") == .matches, "\(call) \(at)")
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
      #expect(try scene.verify("a.imu", "new") == .matches, "\(call) \(at)")
    }
  }

  @Test func aVerifyThatCannotBeWrittenDownIsNotAnsweredWithYes() throws {
    let scene = try StoreScene()
    try scene.send("a.imu", "old")
    scene.files.arm(nil)
    #expect(try scene.verify("a.imu", "old") == .matches)
    for at in 0..<scene.files.calls.count {
      let scene = try StoreScene()
      try scene.send("a.imu", "old")
      scene.files.arm(.once(at: at, .noSpace))
      if (try? scene.verify("a.imu", "old")) == .matches {
        try scene.restart()
        #expect(try scene.manifest("a")?.files.first?.state == .verified)
      }
    }
  }
}
