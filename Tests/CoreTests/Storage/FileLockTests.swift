import Dispatch
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("Locks")
struct FileLockTests {
  @Test("The second one is told who holds it, and gets it once it is free")
  func twoHolders() throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("notes/lock")
    var first = try FileLock(at: path, holder: "run one") { _ in false }
    #expect(first != nil)
    var asked: [String?] = []
    let second = try FileLock(at: path, holder: "run two") { holder in
      asked.append(holder)
      return false
    }
    #expect(second == nil)
    #expect(asked == ["run one"])
    first = nil
    _ = first
    let third = try FileLock(at: path, holder: "three") { _ in false }
    #expect(third != nil)
    #expect(FileLock.holder(of: path) == "three")
  }

  @Test("Who waits is asked again and again, and goes on when the lock is given back")
  func waiting() throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("lock")
    var first = try FileLock(at: path, holder: "one") { _ in false }
    #expect(first != nil)
    var asked = 0
    let second = try FileLock(at: path, holder: "two") { _ in
      asked += 1
      if asked == 3 { first = nil }
      return true
    }
    #expect(second != nil)
    #expect(asked == 3)
    _ = first
  }

  @Test("A lock file that is removed and made anew is noticed")
  func removed() throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("lock")
    let first = try FileLock(at: path, holder: "one") { _ in false }
    try FileSystem.remove(path)
    let second = try FileLock(at: path, holder: "two") { _ in false }
    #expect(first != nil && second != nil)
    #expect(try FileLock(at: path, holder: "three") { _ in false } == nil)
    #expect(FileLock.holder(of: path) == "two")
  }

  @Test("Another process is kept out, and a killed one holds nothing")
  func processes() throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("lock")
    let mine = try FileLock(at: path, holder: "me") { _ in false }
    #expect(mine != nil)
    let refused = try Running("/usr/bin/env", ["flock", "-n", path.string, "true"])
    #expect(try refused.finish().status == 1)

    let other = folder.path.appending("other")
    let script = "echo > '\(folder.path)/started'; exec sleep 600"
    let child = try Running("/usr/bin/env", ["flock", "-o", other.string, "sh", "-c", script])
    Waiting.until("the other's lock") { FileSystem.exists(folder.path.appending("started")) }
    #expect(try FileLock(at: other, holder: "me") { _ in false } == nil)
    try child.kill()
    let now = try FileLock(at: other, holder: "me") { _ in
      Waiting.pause()
      return true
    }
    #expect(now != nil)
  }

  @Test(
    "Where the file system has no locks everybody gets it, and nobody seems to hold it",
    arguments: [Errno.noFunction, .noLocks, .notSupportedOnSocket])
  func withoutLocks(answer: Errno) throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("lock")
    try FileLock.$answer.withValue(answer) {
      let first = try #require(try FileLock(at: path, holder: "one") { _ in false })
      #expect(first.refusal == answer && first.other == nil)
      #expect(!FileLock.isHeld(at: path))
      let second = try #require(try FileLock(at: path, holder: "two") { _ in false })
      #expect(first.other == "two" && second.other == nil)
    }
    let real = try #require(try FileLock(at: path, holder: "three") { _ in false })
    #expect(real.refusal == nil)
    #expect(FileLock.isHeld(at: path))
  }

  @Test("A folder that nothing can be written to is an error of the output")
  func notWritable() {
    let error = #expect(throws: FileError.self) {
      try FileLock(at: "/sys/scanmill/lock", holder: "me") { _ in false }
    }
    #expect(error?.isWriting == true)
  }
}

/// Calls on several threads at once.
enum DispatchLoop {
  static func run(_ count: Int, _ body: @Sendable (Int) -> Void) {
    withoutActuallyEscaping(body) {
      DispatchQueue.concurrentPerform(iterations: count, execute: $0)
    }
  }
}

/// A thread of its own that exchanges two names until it is stopped.
final class Exchanger: Sendable {
  private let isStopped = Atomic<Bool>(false)
  private let a: FilePath
  private let b: FilePath
  private let thread: Mutex<pthread_t>

  init(_ a: FilePath, _ b: FilePath) throws {
    self.a = a
    self.b = b
    thread = Mutex(pthread_t())
    let context = Unmanaged.passRetained(self).toOpaque()
    let code = thread.withLock { thread in
      pthread_create(
        &thread, nil,
        { context in
          if let context {
            Unmanaged<Exchanger>.fromOpaque(context).takeRetainedValue().work()
          }
          return nil
        }, context)
    }
    if code != 0 { throw Errno(rawValue: code) }
  }

  private var folders: (HeldFolder, HeldFolder)? {
    guard let above = HeldFolder(a.removingLastComponent()),
      let beside = HeldFolder(b.removingLastComponent())
    else { return nil }
    return (above, beside)
  }

  private func work() {
    guard let a = a.name, let b = b.name, let (above, beside) = folders else { return }
    while !isStopped.load(ordering: .relaxed) { _ = try? above.exchange(a, with: beside, b) }
  }

  func stop() {
    isStopped.store(true, ordering: .relaxed)
    _ = thread.withLock { pthread_join($0, nil) }
  }
}
