import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

@Suite("The cache of input digests")
struct DigestCacheTests {
  /// A file whose last change is `seconds` ago.
  static func file(_ folder: TemporaryFolder, _ text: String, secondsAgo: Int) throws -> FilePath {
    let path = folder.path.appending("file")
    try Text.write(text, to: path)
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    now.tv_sec -= secondsAgo
    var times = [now, now]
    #expect(utimensat(AT_FDCWD, path.string, &times, 0) == 0)
    return path
  }

  /// What the cache file remembers.
  static func remembered(_ cache: FilePath) throws -> Int {
    guard let text = Text.read(cache) else { return -1 }
    return try JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8)).count
  }

  /// A while from now: what was just written has settled.
  static func later() -> Int64 { FileStamp.nowNanoseconds() + 10_000_000_000 }

  @Test("A file is read once, and again when size, any time or the file itself changes")
  func once() throws {
    let folder = try TemporaryFolder()
    let cache = folder.path.appending("notes/digests.json")
    try FileSystem.makeFolder(cache.removingLastComponent())
    let path = try Self.file(folder, "one", secondsAgo: 100)
    let first = DigestCache(cache, nowNanoseconds: Self.later)
    #expect(try first.digest(of: path) == Digest(of: "one"))
    try first.save(in: HeldFolder.making(following: cache.removingLastComponent()))
    #expect(try Self.remembered(cache) == 1)
    // The file is not read again: what is remembered is believed.
    let text = try #require(Text.read(cache))
    let other = text.replacing(Digest(of: "one").hex, with: Digest(of: "other").hex)
    try Text.write(other, to: cache)
    #expect(try DigestCache(cache).digest(of: path) == Digest(of: "other"))
    // Size, modification time and inode stay: the time of change gives it away.
    var status = stat()
    #expect(stat(path.string, &status) == 0)
    try Text.overwrite("two", at: path)
    var times = [status.st_mtim, status.st_mtim]
    #expect(utimensat(AT_FDCWD, path.string, &times, 0) == 0)
    #expect(try DigestCache(cache).digest(of: path) == Digest(of: "two"))
    times[1].tv_nsec = (times[1].tv_nsec + 1) % 1_000_000_000
    #expect(utimensat(AT_FDCWD, path.string, &times, 0) == 0)
    #expect(try DigestCache(cache).digest(of: path) == Digest(of: "two"))
  }

  @Test("A file that is gone is forgotten")
  func gone() throws {
    let folder = try TemporaryFolder()
    let cache = folder.path.appending("digests.json")
    let path = try Self.file(folder, "one", secondsAgo: 100)
    let other = folder.path.appending("other")
    try Text.write("two", to: other)
    let first = DigestCache(cache, nowNanoseconds: Self.later)
    for file in [path, other] { _ = try first.digest(of: file) }
    try first.save(in: HeldFolder.making(following: cache.removingLastComponent()))
    #expect(try Self.remembered(cache) == 2)
    try FileSystem.remove(path)
    try Text.overwrite("three", at: other)
    let second = DigestCache(cache, nowNanoseconds: Self.later)
    _ = try second.digest(of: other)
    try second.save(in: HeldFolder.making(following: cache.removingLastComponent()))
    #expect(try Self.remembered(cache) == 1)
  }

  @Test(
    "A file that has only just changed is not remembered beyond the run", arguments: [0, -3600])
  func fresh(secondsAgo: Int) throws {
    let folder = try TemporaryFolder()
    let cache = folder.path.appending("digests.json")
    let path = try Self.file(folder, "one", secondsAgo: secondsAgo)
    let first = DigestCache(cache)
    #expect(try first.digest(of: path) == Digest(of: "one"))
    try first.save(in: HeldFolder.making(following: cache.removingLastComponent()))
    #expect(!FileSystem.exists(cache))
  }

  @Test("A damaged cache is an empty one; one that cannot be written does no harm")
  func damaged() throws {
    let folder = try TemporaryFolder()
    let cache = folder.path.appending("digests.json")
    let path = try Self.file(folder, "one", secondsAgo: 100)
    for text in ["", "{", "[]", #"{"x":1}"#] {
      try Text.write(text, to: cache)
      #expect(try DigestCache(cache).digest(of: path) == Digest(of: "one"))
    }
    let nowhere = DigestCache("/sys/no/such/digests.json")
    #expect(try nowhere.digest(of: path) == Digest(of: "one"))
    try nowhere.save(in: HeldFolder.following("/sys"))
    #expect(throws: FileError.self) { try nowhere.digest(of: folder.path.appending("absent")) }
  }
}
