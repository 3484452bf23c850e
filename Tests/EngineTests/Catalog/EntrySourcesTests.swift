import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("What an entry was made from, looked at again")
struct EntrySourcesTests {
  private let folder: TemporaryFolder
  private var output: FilePath { folder.path.appending("out") }
  private var input: FilePath { folder.path.appending("in") }

  private static let published = [
    "color/artifact.json", "color/000000.png", "depth/artifact.json", "depth/deep/000000.png",
  ]
  private static let notes = [
    "capture.json", ".scanmill/memo.json", ".scanmill/owner.json", ".scanmill/triage.json",
    ".scanmill/removed/geo.json", ".scanmill/empty/imu.json", ".failed/color/failure.json",
  ]
  private static let inputs = ["a.txt", "a.depth", "sub/a.h264"]

  init() throws {
    folder = try TemporaryFolder()
    for name in Self.published + Self.notes { try write(output.pushing(FilePath("scan/\(name)"))) }
    for name in Self.inputs { try write(input.pushing(FilePath(name))) }
  }

  private func write(_ path: FilePath, _ text: String = "as it was") throws {
    try FileSystem.makeFolder(path.removingLastComponent())
    try OutputFile.write(Array(text.utf8), to: path)
  }

  private func sources(_ output: FilePath, _ input: FilePath) -> EntrySources {
    EntrySources(
      OpenOutput(OutputLayout(root: output, name: "scan")),
      of: Sample.entry {
        $0.folder = input.string
        $0.stem = nil
      })
  }

  /// A moment at which everything had been still for long.
  private var later: Int64 { FileStamp.nowNanoseconds() + 10_000_000_000 }

  private func stamps() throws -> EntryStamps {
    try #require(sources(output, input).settledStamps(nowNanoseconds: later))
  }

  private func proof() throws -> UntouchedProof {
    try #require(
      HeldFolder.$answerOfNames.withValue(true) {
        sources(output, input).proof(nowNanoseconds: later)
      })
  }

  private func holds(_ proof: UntouchedProof, looksAtOutputs: Bool = true) throws -> Bool {
    let root = StampFolders(try HeldFolder.following(output))
    return proof.records.areCurrent(in: root)
      && (!looksAtOutputs || proof.outputs?.areCurrent(in: root) == true)
  }

  /// With new inodes and times of change; times of modification stay, or not.
  private func copy(keepsTimes: Bool) throws {
    for folder in [output, input] {
      let other = FilePath(folder.string + "-copy")
      try folder.copy(to: other)
      let names = [""] + (try folder.namesBelow())
      for name in names {
        let nanoseconds =
          keepsTimes
          ? try FileStatus(of: folder.pushing(FilePath(name)), followsLast: false)
            .modifiedNanoseconds : 1_000_000_000_000_000
        let moment = timespec(
          tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        var times = [moment, moment]
        let path = other.pushing(FilePath(name)).string
        #expect(utimensat(AT_FDCWD, path, &times, AT_SYMLINK_NOFOLLOW) == 0)
      }
      try FileSystem.remove(folder)
      try other.move(to: folder)
    }
  }

  @Test("What lies untouched is untouched, by both looks")
  func untouched() throws {
    let stamps = try stamps()
    let sources = sources(output, input)
    for looksAtOutputs in [true, false] {
      #expect(sources.areUntouched(since: stamps, looksAtOutputs: looksAtOutputs))
    }
    #expect(sources.content(readsAll: true) == stamps.content)
    let proof = try proof()
    for looksAtOutputs in [true, false] {
      #expect(try holds(proof, looksAtOutputs: looksAtOutputs))
    }
    #expect(!proof.isMarked)
  }

  @Test("Of published files that were not looked at it is not known whether they are untouched")
  func withoutOutputs() throws {
    let sources = sources(output, input)
    let stamps = try #require(
      sources.settledStamps(looksAtOutputs: false, nowNanoseconds: later))
    #expect(stamps.content == nil)
    #expect(sources.areUntouched(since: stamps, looksAtOutputs: false))
    #expect(!sources.areUntouched(since: stamps, looksAtOutputs: true))
  }

  @Test(
    "What was seen of its files a moment ago counts as a look at them, of another place it does not"
  )
  func seen() throws {
    let stamps = try stamps()
    let entry = Sample.entry {
      $0.folder = input.string
      $0.stem = nil
    }
    let open = OpenOutput(OutputLayout(root: output, name: "scan"))
    func found(_ place: FilePath) throws -> EntryStamps? {
      let listing = try #require(InputListing.all(in: place.string))
      return EntrySources(
        open, of: entry,
        seen: EntrySources.Seen(inputs: listing, digests: [:], manifest: UploadCounts(in: place))
      ).settledStamps(nowNanoseconds: later)
    }
    #expect(try found(input) == stamps)
    #expect(try found(output) == stamps)
  }

  @Test("Nothing that changed a moment ago is remembered")
  func unsettled() throws {
    let sources = sources(output, input)
    let now = FileStamp.nowNanoseconds()
    #expect(sources.settledStamps(content: nil, nowNanoseconds: now) == nil)
    #expect(sources.settledStamps(nowNanoseconds: now) == nil)
  }

  @Test(
    "A copy with its times is untouched; one with others holds the same by content",
    arguments: [true, false])
  func copied(keepsTimes: Bool) throws {
    let stamps = try stamps()
    try copy(keepsTimes: keepsTimes)
    let sources = sources(output, input)
    #expect(sources.areUntouched(since: stamps, looksAtOutputs: true) == keepsTimes)
    #expect(sources.areUntouched(since: stamps, looksAtOutputs: false) == keepsTimes)
    #expect(sources.content(readsAll: true) == stamps.content)
    let moved = try #require(
      sources.settledStamps(content: stamps.content, nowNanoseconds: later))
    #expect(sources.areUntouched(since: moved, looksAtOutputs: true))
  }

  /// What somebody may do.
  enum Change: String, CaseIterable {
    case changed, added, removed, replacedByLink
  }

  @Test(
    "No file of the capture, note or record changes unseen, in place or while all is copied",
    arguments: inputs.map { ("in/" + $0) } + notes.map { "out/scan/" + $0 }
      + ["out/scan/color/artifact.json", "out/scan/depth/artifact.json"], Change.allCases)
  func changed(name: String, change: Change) throws {
    let path = folder.path.pushing(FilePath(name))
    let (stamps, proof) = (try stamps(), try proof())
    for isCopied in [false, true] {
      if isCopied { try copy(keepsTimes: true) }
      try make(change, of: path)
      #expect(try !holds(proof, looksAtOutputs: false))
      let sources = sources(output, input)
      // A file beside the documents of an output is none of ours.
      let isOurs =
        change != .added || name.hasPrefix("in/") || name.contains("/removed/")
        || name.contains("/empty/") || name.contains("/scan/color/")
        || name.contains("/scan/depth/")
      if isOurs {
        #expect(!sources.areUntouched(since: stamps, looksAtOutputs: true))
        #expect(sources.content(readsAll: true) != stamps.content)
      }
    }
  }

  /// Makes a change; a change of content keeps the size.
  private func make(_ change: Change, of path: FilePath) throws {
    switch change {
    case .changed:
      try? FileSystem.remove(path)
      try write(path, "as it is!")
    case .added: try write(path.removingLastComponent().appending("another"))
    case .removed: try? FileSystem.remove(path)
    case .replacedByLink:
      try? FileSystem.remove(path)
      let elsewhere = folder.path.appending("elsewhere")
      try write(elsewhere)
      try path.link(to: elsewhere.string)
    }
  }

  @Test(
    "Published files count by name and size, and in place by their times where they are looked at",
    arguments: ["color/000000.png", "depth/deep/000000.png"])
  func published(name: String) throws {
    let path = output.pushing(FilePath("scan/\(name)"))
    let (stamps, proof) = (try stamps(), try proof())
    try write(path, "other, longer")
    #expect(try !holds(proof))
    #expect(!sources(output, input).areUntouched(since: stamps, looksAtOutputs: true))
    #expect(sources(output, input).content(readsAll: true) != stamps.content)
    try FileSystem.remove(path)
    #expect(!sources(output, input).areUntouched(since: stamps, looksAtOutputs: true))
    #expect(sources(output, input).content(readsAll: true) != stamps.content)
  }

  @Test(
    "A capture that is gone, or whose files are large and without a digest, has no content to compare"
  )
  func unknown() throws {
    let large = input.appending("large.depth")
    try OutputFile.write([UInt8](repeating: 1, count: (1 << 20) + 1), to: large)
    #expect(sources(output, input).content(readsAll: false) == nil)
    #expect(sources(output, input).content(readsAll: true) != nil)
    try FileSystem.remove(input)
    #expect(sources(output, input).content(readsAll: true) == nil)
  }

  @Test(
    "What comes where nothing was is told by the folder that it comes into",
    arguments: [
      "in/.upload.json", "in/.upload.journal", "in/sub/new", "in/empty/new", "out/scan/geo/x",
      "out/scan/.scanmill/mark.json", "out/scan/color/deep/x",
      "out/scan/.failed/depth/failure.json", "out/scan/.scanmill/lock",
    ])
  func appeared(name: String) throws {
    try FileSystem.makeFolder(input.appending("empty"))
    let proof = try proof()
    #expect(try holds(proof))
    try write(folder.path.pushing(FilePath(name)))
    #expect(try !holds(proof))
  }

  @Test("Nothing is proven once a run has taken the lock, and marks are told")
  func locked() throws {
    func lock() throws -> FileLock? {
      try FileLock(at: OutputLayout(root: output, name: "scan").lock, holder: "scanmill run") { _ in
        false
      }
    }
    // Its file stays.
    #expect(try lock() != nil)
    try write(output.pushing(FilePath("scan/.scanmill/mark.json")))
    let proof = try proof()
    #expect(try holds(proof))
    #expect(proof.isMarked)
    let held = try #require(try lock())
    #expect(try !holds(proof))
    withExtendedLifetime(held) {}
  }

  /// Where there is no proof.
  enum Unproven: String, CaseIterable {
    case link, manyFiles, unsettled, fileSystem
  }

  @Test("Where times do not tell enough there is no proof", arguments: Unproven.allCases)
  func unproven(why: Unproven) throws {
    var now = later
    switch why {
    case .link:
      try input.appending("linked").link(to: "a.txt")
    case .manyFiles:
      for number in 0..<300 { try write(input.appending("\(number).txt")) }
    case .unsettled: now = FileStamp.nowNanoseconds()
    case .fileSystem: break
    }
    let proof = HeldFolder.$answerOfNames.withValue(why != .fileSystem) {
      sources(output, input).proof(nowNanoseconds: now)
    }
    #expect(proof == nil)
  }

  @Test("Many published files are no part of the proof, which then does not speak of them")
  func manyPublished() throws {
    for number in 0..<300 { try write(output.pushing(FilePath("scan/color/\(number).png"))) }
    let proof = try proof()
    #expect(proof.outputs == nil)
    #expect(try holds(proof, looksAtOutputs: false))
    let stamps = try stamps()
    #expect(sources(output, input).outputsAreUntouched(since: stamps))
    try write(output.pushing(FilePath("scan/color/7.png")), "other, longer")
    #expect(!sources(output, input).outputsAreUntouched(since: stamps))
  }

  @Test("A capture that is one file is proven with what an upload server notes beside it")
  func oneFile() throws {
    let file = input.appending("a.txt")
    let proof = try #require(
      HeldFolder.$answerOfNames.withValue(true) {
        sources(output, file).proof(nowNanoseconds: later)
      })
    try write(input.appending("another"))
    #expect(try holds(proof))
    try write(input.appending(".upload.json"))
    #expect(try !holds(proof))
  }

  @Test("A capture that is gone is proven to be gone")
  func gone() throws {
    try FileSystem.remove(input)
    let proof = try proof()
    #expect(try holds(proof))
    try write(input.appending("a.txt"))
    #expect(try !holds(proof))
  }
}
