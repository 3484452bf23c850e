import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Engine
@testable import Watch

@Suite("Notices of changed folders")
struct INotifyWatcherTests {
  private let root: TemporaryFolder
  private let notices: INotifyWatcher

  init() throws {
    root = try TemporaryFolder()
    notices = try #require(INotifyWatcher())
  }

  private func folder(_ name: String) throws -> FilePath {
    let path = root.path.appending(name)
    try FileSystem.makeFolder(path)
    return path
  }

  private func write(_ path: FilePath, _ text: String = "x") throws {
    try path.write(text)
  }

  /// What has come until now.
  private var hasNews: Bool { notices.wait(seconds: 0, orReadable: nil) }

  /// Whether news comes. The kernel tells of an end (a file that was written and closed, a folder that went)
  /// once nobody has it open, and a program that another test starts has everything open for a moment.
  private var isHeard: Bool { notices.wait(seconds: 600, orReadable: nil) }

  /// Whether what has happened is told and then no more, apart from such an end that comes later.
  private var isQuiet: Bool { !hasNews || !hasNews || !hasNews }

  @Test("Nothing changed is no news; a file that comes, changes, goes or moves is, once")
  func changes() throws {
    let a = try folder("a")
    notices.watch([a])
    #expect(!hasNews)
    let file = a.appending("f")
    let steps: [() throws -> Void] = [
      { try write(file) }, { try write(file, "longer") },
      { try FileManager.default.moveItem(atPath: file.string, toPath: root.path.string + "/g") },
      { try FileManager.default.moveItem(atPath: root.path.string + "/g", toPath: file.string) },
      { #expect(chmod(file.string, 0o600) == 0) },
      { try FileSystem.remove(file) },
      { _ = try folder("a/inner") },
    ]
    for step in steps {
      try step()
      #expect(isHeard)
      #expect(isQuiet)
    }
  }

  @Test("A thousand changes are one piece of news")
  func coalesced() throws {
    let a = try folder("a")
    notices.watch([a])
    for index in 0..<1000 { try write(a.appending("f\(index)")) }
    #expect(isHeard)
    #expect(isQuiet)
  }

  @Test("Folders that are no longer asked for tell nothing, new ones do")
  func replaced() throws {
    let (a, b) = (try folder("a"), try folder("b"))
    notices.watch([a])
    notices.watch([b])
    #expect(notices.count == 1)
    try write(a.appending("f"))
    #expect(!hasNews)
    try write(b.appending("f"))
    #expect(isHeard)
    notices.watch([])
    #expect(notices.count == 0)
    #expect(!hasNews)
  }

  @Test("A folder that goes is news and forgotten; one in its place is watched anew")
  func gone() throws {
    let a = try folder("a")
    notices.watch([a])
    try FileSystem.remove(a)
    #expect(isHeard)
    #expect(notices.count == 0)
    _ = try folder("a")
    notices.watch([a])
    #expect(notices.count == 1)
    #expect(!hasNews)
    try write(a.appending("f"))
    #expect(isHeard)
  }

  @Test("A folder that is replaced between two calls is watched in its new form")
  func renamed() throws {
    let a = try folder("a")
    notices.watch([a])
    try FileManager.default.moveItem(atPath: a.string, toPath: root.path.string + "/old")
    _ = try folder("a")
    notices.watch([a])
    #expect(isHeard)
    try write(a.appending("f"))
    #expect(isHeard)
    try write(root.path.appending("old").appending("f"))
    #expect(!hasNews)
  }

  @Test("A folder that is not there is left out without a word")
  func absent() throws {
    notices.watch([root.path.appending("none"), try folder("a")])
    #expect(notices.count == 1)
    #expect(notices.limit == nil)
  }

  @Test("Two paths to one folder count as two and lose nothing when one goes")
  func twoPaths() throws {
    let a = try folder("a")
    let link = root.path.appending("link")
    try link.link(to: a.string)
    let through = link.appending(".")
    notices.watch([a, through])
    #expect(notices.count == 2)
    notices.watch([through])
    try write(a.appending("f"))
    #expect(isHeard)
  }

  @Test("Above the limit the folders next to the root are watched, and it is said once")
  func bounded() throws {
    let notices = try #require(INotifyWatcher(mostWatches: 3))
    let deep = try (0..<5).map { try folder("a/b\($0)/c") }
    notices.watch(Set(deep + [root.path, root.path.appending("a")]))
    #expect(notices.count == 3)
    let said = try #require(notices.limit)
    #expect(said.hasPrefix("only 3 of 7 folders can be watched"))
    try write(root.path.appending("a/f"))
    #expect(notices.wait(seconds: 0, orReadable: nil))
    // Room again: watched again, and what was said stays.
    notices.watch(Set(deep.prefix(2)))
    #expect(notices.count == 2)
    #expect(notices.limit == said)
  }

  @Test("Something to read elsewhere ends the wait, and nothing waits for what has happened")
  func other() throws {
    let pipe = Foundation.Pipe()
    notices.watch([root.path])
    #expect(!notices.wait(seconds: 0.01, orReadable: pipe.fileHandleForReading.fileDescriptor))
    try pipe.fileHandleForWriting.write(contentsOf: Data("x".utf8))
    #expect(notices.wait(seconds: 600, orReadable: pipe.fileHandleForReading.fileDescriptor))
    #expect(!notices.hasChanged)
    try write(root.path.appending("f"))
    // Both at once: neither is lost.
    #expect(notices.wait(seconds: 600, orReadable: pipe.fileHandleForReading.fileDescriptor))
    #expect(notices.hasChanged)
    try write(root.path.appending("g"))
    #expect(notices.wait(seconds: 600, orReadable: nil))
    try pipe.fileHandleForReading.close()
  }

  @Test("Times that are no times do not wait", arguments: [-1.0, .nan, -.infinity, 0])
  func oddTimes(seconds: Double) {
    #expect(!notices.wait(seconds: seconds, orReadable: nil))
  }

  @Test("A queue that overflows is news, and what was lost in it is made up for")
  func overflow() throws {
    let limit = try String(
      contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
    let most = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
    let (a, b) = (try folder("a"), try folder("b"))
    notices.watch([a, b])
    // Two events that differ from the one before for each: they are not merged.
    let file = a.appending("f").string
    for _ in 0...most / 2 {
      let descriptor = open(file, O_WRONLY | O_CREAT, 0o600)
      #expect(descriptor >= 0)
      close(descriptor)
      unlink(file)
    }
    // That it went is not told any more.
    try FileSystem.remove(b)
    _ = try folder("b")
    while hasNews {}
    notices.watch([a, b])
    #expect(notices.count == 2)
    #expect(!hasNews)
    try write(b.appending("f"))
    #expect(isHeard)
    try write(a.appending("f"))
    #expect(isHeard)
  }

  @Test("Descriptors and watches are those of the folders, however many came and went")
  func noLeak() throws {
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?
          .contains("inotify") == true
      }
    }
    let mine = try #require(INotifyWatcher())
    for round in 0..<200 {
      let path = try folder("r\(round)")
      mine.watch([path])
      try FileSystem.remove(path)
      #expect(mine.wait(seconds: 600, orReadable: nil))
    }
    #expect(mine.count == 0)
    let before = try descriptors()
    for _ in 0..<50 { #expect(INotifyWatcher() != nil) }
    // Other tests have theirs at the same time.
    #expect(try descriptors() < before + 40)
  }
}
