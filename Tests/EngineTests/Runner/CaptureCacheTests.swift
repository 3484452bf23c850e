import Foundation
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("What a run leaves for the next one")
struct CaptureCacheTests {
  /// For this clock all files have been still for a while.
  static let later = RunClock(
    wallText: RunClock.system.wallText, monotonicSeconds: RunClock.system.monotonicSeconds,
    fileNanoseconds: { FileStamp.nowNanoseconds() + 10_000_000_000 })

  /// A workshop after a run.
  static func workshop() throws -> Workshop {
    let workshop = try Workshop()
    #expect(workshop.run(clock: later).exit == 0)
    _ = workshop.probe().takeOpened()
    return workshop
  }

  static func target(_ workshop: Workshop) throws -> CaptureTarget {
    let batch = workshop.batch(Selection(), { _ in }, clock: later)
    return try #require(batch.targets(workshop.findings(nil)).first)
  }

  static let registry = CaptureRegistry([ToyReader.self])

  @Test("An unchanged capture is planned without being opened")
  func unopened() throws {
    let workshop = try Self.workshop()
    #expect(workshop.plan().isEmpty)
    #expect(workshop.probe().takeOpened() == 0)
    #expect(workshop.plan(.forced("color")).contains("color run forced"))
    #expect(workshop.probe().takeOpened() == 0)
  }

  @Test("A capture whose files had only just changed is opened")
  func fresh() throws {
    let workshop = try Workshop()
    #expect(workshop.run().exit == 0)
    _ = workshop.probe().takeOpened()
    #expect(workshop.plan().isEmpty)
    #expect(workshop.probe().takeOpened() == 1)
  }

  static let changes: [(String, @Sendable (Workshop) throws -> Void)] = [
    ("a changed file", { try $0.write("blue", to: "color.bin") }),
    ("an added file", { try $0.write("x", to: "notes.txt") }),
    ("a file added in a new folder", { try $0.write("x", to: "more/notes.txt") }),
    ("a removed file", { try $0.remove("depth.bin") }),
    (
      "a file written again",
      { try Text.overwrite("red", at: $0.capture("scan").appending("color.bin")) }
    ),
  ]

  @Test("Whatever changes in its folder, the capture is opened again", arguments: 0..<changes.count)
  func changed(_ index: Int) throws {
    let workshop = try Self.workshop()
    try Self.changes[index].1(workshop)
    _ = workshop.plan()
    #expect(workshop.probe().takeOpened() == 1, "\(Self.changes[index].0)")
    let target = try Self.target(workshop)
    #expect(
      KnownCapture.ifCurrent(target.recognition, target.layout, registry: Self.registry) == nil)
  }

  @Test("A damaged or cut index is none: the plan stays the same")
  func damagedIndex() throws {
    let workshop = try Self.workshop()
    let index = workshop.layout().index
    let whole = try #require(
      HeldFolder(workshop.layout().notes)?.stampedContents(of: "index")?.bytes)
    for length in stride(from: 0, to: whole.count, by: 37) {
      try OutputFile.write(Array(whole[..<length]), to: index)
      #expect(workshop.plan().isEmpty)
    }
    for place in stride(from: 0, to: whole.count, by: 101) {
      var bytes = whole
      bytes[place] ^= 0x41
      try OutputFile.write(bytes, to: index)
      #expect(workshop.plan().isEmpty)
    }
    try FileSystem.remove(index)
    #expect(workshop.plan().isEmpty)
    // `memo.json` alone still saves the opening.
    #expect(workshop.probe().takeOpened() == 0)
    for text in ["", "{", "{\"schema\":2}"] {
      try Text.write(text, to: workshop.layout().captureCache)
      #expect(workshop.plan().isEmpty)
      #expect(workshop.probe().takeOpened() == 1)
    }
  }

  @Test("A record that somebody changed is not taken from the index")
  func changedRecord() throws {
    let workshop = try Self.workshop()
    let file = workshop.layout().record("color")
    let text = try #require(Text.read(file))
    try Text.write(text.replacing("\"suffix\" : \"\"", with: "\"suffix\" : \"x\""), to: file)
    #expect(workshop.plan().contains("color run parameters"))
    try Text.write(
      text.replacing(
        try #require(workshop.record("color")).fingerprint.hex, with: Digest(of: "x").hex), to: file
    )
    #expect(workshop.plan().contains("color run outputs-altered"))
    // Pictures whose record is gone are made again; with a file that is not ours they are in the way.
    try FileSystem.remove(file)
    #expect(workshop.plan() == ["color run outputs-altered", "tables run input-rebuilt"])
    try Text.write("mine", to: workshop.layout().artifact("color").appending("mine"))
    #expect(workshop.plan().contains("color blocked"))
  }

  @Test("An index says of every record what its file says")
  func sameRecords() throws {
    let workshop = try Self.workshop()
    let layout = workshop.layout()
    let notes = try #require(HeldFolder(layout.notes))
    let cacheStamp = try #require(notes.stamp(of: "memo.json"))
    let index = try #require(
      RecordIndex(in: notes, cacheStamp: cacheStamp, pool: ParameterPool()))
    #expect(Set(index.records.keys) == ["color", "frames", "depth", "aligned", "tables"])
    for (stage, entry) in index.records {
      #expect(entry.record == ArtifactStore(layout).record(stage))
      #expect(entry.isSound)
    }
    let written = try #require(CaptureCache(of: layout))
    #expect(index.core.summary == written.summary && index.core.inputs == written.inputs)
    #expect(index.core.warnings == written.warnings)
    #expect(CaptureCache(index.core, requests: written.requests) == written)
    #expect(index.core.requests == written.requests.digest)
  }

  @Test("A settled capture is reported without being opened")
  func upToDate() throws {
    let workshop = try Self.workshop()
    let batch = workshop.batch(Selection(), { _ in }, clock: Self.later)
    let target = try Self.target(workshop)
    let report = try #require(batch.upToDate(target))
    let run = workshop.run(clock: Self.later)["scan"]
    #expect(report.outcome == .upToDate && report.outcome == run.outcome)
    #expect(report.stages.map(\.stage) == run.stages.map(\.stage))
    #expect(report.stages.map(\.outcome) == run.stages.map(\.outcome))
    #expect(workshop.batch(.forced("color"), { _ in }, clock: Self.later).upToDate(target) == nil)
    let source = PipelineSource(name: "toy.yaml", text: Workshop.usual)
    #expect(
      workshop.batch(Selection(), { $0.pipelineSource = source }, clock: Self.later)
        .upToDate(target) == nil)
    let document = try #require(Text.read(workshop.layout().captureDocument))
    try Text.write(document + " ", to: workshop.layout().captureDocument)
    #expect(batch.upToDate(target) == nil)
    #expect(workshop.run(clock: Self.later).exit == 0)
    #expect(batch.upToDate(target) != nil)
    try FileSystem.remove(workshop.layout().artifact("tables").appending("out.txt"))
    #expect(batch.upToDate(target) == nil)
  }

  @Test("The finder does not recognize what a run knows, and does so again after a change")
  func finder() throws {
    let workshop = try Self.workshop()
    let batch = workshop.batch(Selection(), { _ in }, clock: Self.later)
    let place = workshop.folder.path.appending("in")
    let known = try #require(batch.finder().find(place).captures.first)
    #expect(known.reason == "known from an earlier run")
    let plain = try #require(CaptureFinder(Self.registry).find(place).captures.first)
    #expect(known.id == plain.id && known.family == plain.family && known.folder == plain.folder)
    try workshop.write("scan-two", to: "toy.txt")
    #expect(batch.finder().find(place).captures.first?.id == "scan-two")
  }
}

@Suite("How much there is to read of a capture")
struct CaptureSizesTests {
  @Test("Of a shared folder the files of the stem, of a folder all that is in it")
  func sizes() throws {
    let folder = try TemporaryFolder()
    let held = try HeldFolder.following(folder.path)
    for (name, bytes) in [("a.depth", 10), ("a.h264", 20), ("b.depth", 400), ("Z", 7), ("ä.x", 3)] {
      try held.replace(
        name, with: [UInt8](repeating: 0, count: bytes), durably: false)
    }
    let inner = try held.makeFolder("inner")
    try inner.replace("x", with: [0, 0], durably: false)
    func capture(_ path: FilePath, stem: String?) -> Recognition {
      Recognition(
        family: .scannet, certainty: .certain, folder: path, stem: stem, id: "x", reason: "")
    }
    var sizes = CaptureSizes()
    #expect(sizes.bytes(of: capture(folder.path, stem: "a")) == 30)
    #expect(sizes.bytes(of: capture(folder.path, stem: "b")) == 400)
    #expect(sizes.bytes(of: capture(folder.path, stem: "ä")) == 3)
    #expect(sizes.bytes(of: capture(folder.path, stem: "none")) == 0)
    #expect(sizes.bytes(of: capture(folder.path.appending("inner"), stem: nil)) == 2)
    #expect(sizes.bytes(of: capture(folder.path.appending("gone"), stem: nil)) == 0)
  }
}

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

@Suite("Files of a capture that lie elsewhere")
struct ElsewhereTests {
  @Test("They count by size and time")
  func times() throws {
    let folder = try TemporaryFolder()
    let (place, file) = (folder.path.appending("a"), folder.path.appending("video"))
    try Text.write("x", to: place.appending("x"))
    try Text.write("one", to: file)
    let here = try #require(InputListing.all(in: place.string))
    var all = here
    all.add([file])
    #expect(all.hasTimes(of: here))
    var times = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, file.string, &times, 0) == 0)
    #expect(!all.hasTimes(of: here))
  }
}

@Suite("What lay at many paths, asked again")
struct PathStampsTests {
  private let folder: TemporaryFolder
  private let held: HeldFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["a", "in/b", "in/ö\u{1}"] {
      let path = folder.path.pushing(FilePath(name))
      try FileSystem.makeFolder(path.removingLastComponent())
      try OutputFile.write(Array("as it was".utf8), to: path)
    }
    held = try HeldFolder.following(folder.path)
  }

  private func stamps(_ paths: [String]) -> PathStamps {
    PathStamps(paths.map { ($0, held.status(of: $0)) })
  }

  private var paths: [String] {
    [".", "a", "in", "in/b", "in/ö\u{1}", "none", "in/none/below", "\(folder.path)/in/b"]
  }

  @Test("What lies untouched is current, also by other hands")
  func untouched() throws {
    let stamps = stamps(paths)
    #expect(stamps.areCurrent(in: StampFolders(held)))
    #expect(
      PathStamps(paths: stamps.paths, digest: stamps.digest).areCurrent(in: StampFolders(held)))
    #expect(PathStamps([]).areCurrent(in: StampFolders(held)))
  }

  /// What may become of the files; every one is told by something else.
  enum Change: String, CaseIterable {
    case replacedByItsCopy, otherTime, appeared, removed, replacedByLink, otherMode, longer
    case nameInFolder, replacedFolder, removedFolder, appearedBelow
  }

  private func make(_ change: Change) throws {
    let files = FileManager.default
    func path(_ name: String) -> String { folder.path.pushing(FilePath(name)).string }
    func attributes(_ values: [FileAttributeKey: Any], _ name: String) throws {
      try files.setAttributes(values, ofItemAtPath: path(name))
    }
    switch change {
    case .replacedByItsCopy:
      let before = try files.attributesOfItem(atPath: path("in/b"))
      try files.copyItem(atPath: path("in/b"), toPath: path("c"))
      try #require(rename(path("c"), path("in/b")) == 0)
      let time = try #require(before[.modificationDate])
      try attributes([.modificationDate: time], "in/b")
    case .otherTime: try attributes([.modificationDate: Date(timeIntervalSince1970: 1)], "a")
    case .appeared: try Data().write(to: URL(filePath: path("none")))
    case .removed: try files.removeItem(atPath: path("a"))
    case .replacedByLink:
      try files.removeItem(atPath: path("a"))
      try files.createSymbolicLink(atPath: path("a"), withDestinationPath: "in/b")
    case .otherMode: try attributes([.posixPermissions: 0o600], "in/b")
    case .longer:
      let time = try #require(try files.attributesOfItem(atPath: path("a"))[.modificationDate])
      try OutputFile.write(Array("as it was, and more".utf8), to: folder.path.appending("a"))
      try attributes([.modificationDate: time], "a")
    case .nameInFolder: try Data().write(to: URL(filePath: path("in/c")))
    case .replacedFolder:
      try files.moveItem(atPath: path("in"), toPath: path("other"))
      try files.copyItem(atPath: path("other"), toPath: path("in"))
    case .removedFolder: try files.removeItem(atPath: path("in"))
    case .appearedBelow:
      try files.createDirectory(atPath: path("in/none/below"), withIntermediateDirectories: true)
    }
  }

  @Test("Any change at any of the paths shows", arguments: Change.allCases)
  func changed(change: Change) throws {
    let stamps = stamps(paths)
    try make(change)
    #expect(!stamps.areCurrent(in: StampFolders(held)))
  }

  @Test(
    "Whole paths are looked at from the folder of the last one, and from none that cannot be opened"
  )
  func wholePaths() throws {
    let (root, folders) = (folder.path.string, StampFolders(held))
    try OutputFile.write(Array("another".utf8), to: folder.path.appending("b"))
    let stamps = ["\(root)/in/b", "\(root)/b", "b", "\(root)/in", "/in/b", "\(root)/none/b"].map {
      self.stamps([$0, "\(root)/a"])
    }
    for stamps in stamps + stamps.reversed() { #expect(stamps.areCurrent(in: folders)) }
    try make(.replacedByItsCopy)
    #expect(
      stamps.map { $0.areCurrent(in: folders) } == [false, true, true, false, true, true])
  }

  @Test("A damaged note is not current")
  func damaged() {
    let stamps = stamps(paths)
    for count in 0..<stamps.paths.count {
      let cut = PathStamps(paths: stamps.paths.prefix(count), digest: stamps.digest)
      #expect(!cut.areCurrent(in: StampFolders(held)))
    }
    let other = PathStamps(paths: stamps.paths, digest: Digest(of: "other"))
    #expect(!other.areCurrent(in: StampFolders(held)))
  }
}
