import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Engine
@testable import Watch

@Suite("Room on the disk")
struct FreeSpaceRuleTests {
  private static let GiB: Int64 = 1 << 30

  @Test(
    "is enough from 1 GiB or 2 %, whichever is less",
    arguments: [
      (GiB, 1000 * GiB, true), (GiB - 1, 1000 * GiB, false), (20 * GiB / 50, 20 * GiB, true),
      (20 * GiB / 50 - 1, 20 * GiB, false), (0, GiB, false), (0, 0, true),
      (Int64.max, Int64.max, true),
    ])
  func bytes(free: Int64, total: Int64, isEnough: Bool) {
    #expect(FreeSpaceRule(bytes: free, totalBytes: total).isEnough == isEnough)
  }

  @Test(
    "is enough from --reserve on, which captures leave alone as well",
    arguments: [(0, 10), (5 * GiB, 10), (5 * GiB, 4), (200 * GiB, 100)] as [(Int64, Int64)])
  func reserve(reserve: Int64, freeGiB: Int64) {
    let room = FreeSpaceRule(
      bytes: freeGiB * Self.GiB, totalBytes: 100 * Self.GiB, reserve: reserve)
    #expect(room.isEnough == (room.bytes >= reserve))
    #expect(!DiskNeeds.fitsAlone(room.bytes - reserve + 1, in: room))
    // What is larger than the disk is tried once nothing else is on it, however much is left alone.
    let empty = FreeSpaceRule(
      bytes: 100 * Self.GiB, totalBytes: 100 * Self.GiB, reserve: reserve)
    #expect(DiskNeeds.fitsAlone(.max, in: empty) == (reserve < empty.bytes))
  }

  @Test(
    "is enough with some inodes, or where none are counted",
    arguments: [
      (0, 1_000_000, false), (9_999, 1_000_000, false), (10_000, 1_000_000, true), (2, 100, true),
      (1, 100, false), (0, 10, false), (1, 10, true), (nil, nil, true),
    ] as [(Int64?, Int64?, Bool)])
  func inodes(free: Int64?, total: Int64?, isEnough: Bool) {
    let room = FreeSpaceRule(
      bytes: 2 * Self.GiB, totalBytes: 10 * Self.GiB, inodes: free, totalInodes: total)
    #expect(room.isEnough == isEnough)
  }

  @Test("is that of the file system, also for a folder that is not made yet")
  func free() throws {
    let folder = try TemporaryFolder()
    let there = try #require(FreeSpaceRule.free(of: folder.path))
    let later = try #require(FreeSpaceRule.free(of: folder.path.appending("a/b/c")))
    #expect(there.totalBytes == later.totalBytes && there.totalBytes > 0)
    #expect(there.bytes <= there.totalBytes)
    #expect(FreeSpaceRule.free(of: "") != nil)
    #expect(FreeSpaceRule.free(of: "no-such-folder/x") != nil)
    #expect(FreeSpaceRule.free(of: "/dev/null/x") == nil)
  }
}

@Suite("A worker that is nice")
struct NicenessTests {
  @Test("has the least priority with its threads, also those that exist, and so has what it starts")
  func lowered() async {
    await #expect(processExitsWith: .success) {
      let started = DispatchSemaphore(value: 0)
      let other = Mutex<UInt32>(0)
      let thread = Thread {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        other.withLock {
          $0 = own.flatMap { UInt32(FilePath($0).lastComponent?.string ?? "") } ?? 1
        }
        started.signal()
        sleep(600)
      }
      thread.start()
      started.wait()
      Niceness.lower()
      // This thread and our own: those of the test's runtime may raise themselves again, as root may.
      for id in [0, other.withLock { $0 }] {
        guard getpriority(__priority_which_t(0), id) == 19 else { exit(2) }
      }
      let child = try OtherPrograms.run("sh", ["-c", "nice; cat /proc/self/oom_score_adj"])
      guard child == "19\n1000\n" else { exit(3) }
      // A thread of a library that thinks itself important, also where root runs it.
      errno = 0
      guard setpriority(__priority_which_t(0), 0, -4) != 0, errno == EPERM || errno == EACCES
      else { exit(4) }
      if let text = try? OtherPrograms.run("ionice", ["-p", "\(other.withLock { $0 })"]) {
        guard text.hasPrefix("idle") else { exit(5) }
      }
      exit(0)
    }
  }
}
