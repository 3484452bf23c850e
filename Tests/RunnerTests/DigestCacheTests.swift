import FoundationEssentials
import Pipeline
import Storage
import SystemPackage
import Testing

@testable import Runner

#if canImport(Glibc)
  import Glibc
#endif

@Suite("The cache of input digests")
struct DigestCacheTests {
  /// A file whose last change is `seconds` ago.
  static func file(_ folder: TestFolder, _ text: String, secondsAgo: Int) throws -> FilePath {
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

  @Test("A file is read once, and again when size, time or file changes")
  func once() throws {
    let folder = try TestFolder()
    let cache = folder.path.appending("notes/digests.json")
    try FileSystem.makeFolder(cache.removingLastComponent())
    let path = try Self.file(folder, "one", secondsAgo: 100)
    let first = DigestCache(cache)
    #expect(try first.digest(of: path) == Digest(of: "one"))
    first.save()
    #expect(try Self.remembered(cache) == 1)
    // The same size, time and inode: known, whatever it holds.
    var status = stat()
    #expect(stat(path.string, &status) == 0)
    try Text.overwrite("two", at: path)
    var times = [status.st_mtim, status.st_mtim]
    #expect(utimensat(AT_FDCWD, path.string, &times, 0) == 0)
    #expect(try DigestCache(cache).digest(of: path) == Digest(of: "one"))
    // Any of them differs: read again.
    times[1].tv_nsec = (times[1].tv_nsec + 1) % 1_000_000_000
    #expect(utimensat(AT_FDCWD, path.string, &times, 0) == 0)
    #expect(try DigestCache(cache).digest(of: path) == Digest(of: "two"))
  }

  @Test(
    "A file that has only just changed is not remembered beyond the run", arguments: [0, -3600])
  func fresh(secondsAgo: Int) throws {
    let folder = try TestFolder()
    let cache = folder.path.appending("digests.json")
    let path = try Self.file(folder, "one", secondsAgo: secondsAgo)
    let first = DigestCache(cache)
    #expect(try first.digest(of: path) == Digest(of: "one"))
    first.save()
    #expect(try Self.remembered(cache) == 0)
  }

  @Test("A damaged cache is an empty one; one that cannot be written does no harm")
  func damaged() throws {
    let folder = try TestFolder()
    let cache = folder.path.appending("digests.json")
    let path = try Self.file(folder, "one", secondsAgo: 100)
    for text in ["", "{", "[]", #"{"x":1}"#] {
      try Text.write(text, to: cache)
      #expect(try DigestCache(cache).digest(of: path) == Digest(of: "one"))
    }
    let nowhere = DigestCache("/sys/no/such/digests.json")
    #expect(try nowhere.digest(of: path) == Digest(of: "one"))
    nowhere.save()
    #expect(throws: FileError.self) { try nowhere.digest(of: folder.path.appending("absent")) }
  }
}
