import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Synthetic

/// Links that lead out of a capture: every family, every file, looked at by the kernel's own account of what
/// was opened.
@Suite("Links out of a capture", .enabled(if: Fixtures.arePresent)) struct OutsideLinks {
  static let registry = CaptureRegistry([
    ScanNetReader.self, ARKitScannerReader.self, MultiScanReader.self, VISLAMReader.self,
    StraboReader.self,
  ])
  static let families = ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"]

  /// How a file is replaced.
  enum Link: CaseIterable {
    case relative, absolute, twice
  }

  /// One whole capture of each family and generation, small ones first.
  private static func captures(of family: String) -> [FixtureCase] {
    Fixtures.cases(of: family).filter { FileSystem.isFolder($0.capture) }
  }

  @Test(arguments: families, Link.allCases)
  func `no linked file is opened, and each is told`(_ family: String, _ link: Link) throws {
    var linked = 0
    var told = 0
    for example in Self.captures(of: family).prefix(4) {
      for file in try Self.files(in: example.capture) {
        let scratch = try TemporaryFolder()
        let (capture, outside) = try Self.copy(
          example.capture, to: scratch.path, linking: file, link)
        let watch = try Watch(outside)
        linked += 1
        for recognition in Self.registry.recognize(try FolderListing(of: capture)) {
          guard let opened = try? Self.registry.open(recognition) else { continue }
          _ = try? StreamScan(opened, budget: CoreBudget(cores: 1))
          #expect(
            !opened.files.values.joined().contains { $0.lastComponent?.string == file },
            "\(example.name): \(file) is listed as read")
          if opened.warnings.contains(where: { $0.code == .pathOutsideCapture }) { told += 1 }
        }
        #expect(!watch.hasBeenOpened, "\(example.name): \(file) was opened")
      }
    }
    #expect(linked > 0)
    // Where the file is what the family is recognized by, there is no capture to tell it of.
    #expect(told * 2 > linked, "\(told) of \(linked)")
  }

  @Test(arguments: ["vi-slam"])
  func `a linked folder of pictures is not listed`(_ family: String) throws {
    let example = try #require(
      Self.captures(of: family).first {
        FileSystem.isFolder($0.capture.appending("frames"))
      })
    let scratch = try TemporaryFolder()
    let (capture, outside) = try Self.copy(
      example.capture, to: scratch.path, linking: "frames", .relative)
    let watch = try Watch(outside)
    let recognition = try #require(
      Self.registry.recognize(try FolderListing(of: capture)).first)
    let opened = try? Self.registry.open(recognition)
    if let opened {
      #expect(
        opened.warnings.contains { $0.code == .pathOutsideCapture && $0.subject == "frames" })
    }
    #expect(!watch.hasBeenOpened)
  }

  @Test(arguments: families)
  func `a pipe or a device in place of a file is no file, and nobody waits`(_ family: String) throws
  {
    let example = try #require(Self.captures(of: family).first)
    for file in try Self.files(in: example.capture) {
      let scratch = try TemporaryFolder()
      let capture = scratch.path.appending("capture")
      try example.capture.copy(to: capture)
      let place = capture.appending(file)
      try FileSystem.remove(place)
      #expect(mkfifo(place.string, 0o600) == 0)
      for recognition in Self.registry.recognize(try FolderListing(of: capture)) {
        _ = try? Self.registry.open(recognition)
      }
      try FileSystem.remove(place)
      #expect(symlink("/dev/zero", place.string) == 0)
      for recognition in Self.registry.recognize(try FolderListing(of: capture)) {
        _ = try? Self.registry.open(recognition)
      }
    }
  }

  /// Files of at most 8 MB: nothing here depends on their length.
  private static func files(in capture: FilePath) throws -> [String] {
    try FileSystem.names(in: capture).filter { name in
      guard let identity = try? FileIdentity(of: capture.appending(name)) else { return false }
      return identity.bytes < 8 << 20
    }
  }

  /// A copy of a capture in `folder/capture` with one entry moved to `folder/elsewhere` and linked.
  private static func copy(
    _ original: FilePath, to folder: FilePath, linking file: String, _ link: Link
  ) throws -> (capture: FilePath, outside: FilePath) {
    let capture = folder.appending("capture")
    let elsewhere = folder.appending("elsewhere")
    try original.copy(to: capture)
    try FileSystem.makeFolder(elsewhere)
    let outside = elsewhere.appending(file)
    try FileSystem.rename(capture.appending(file), to: outside)
    let place = capture.appending(file).string
    switch link {
    case .relative: #expect(symlink("../elsewhere/\(file)", place) == 0)
    case .absolute: #expect(symlink(outside.string, place) == 0)
    case .twice:
      let step = folder.appending("step")
      #expect(symlink(outside.string, step.string) == 0)
      #expect(symlink("../step", place) == 0)
    }
    return (capture, outside)
  }

  /// Hears from the kernel of everybody who opens a file or folder.
  private final class Watch {
    private let descriptor: Int32

    init(_ path: FilePath) throws {
      descriptor = inotify_init1(Int32(O_NONBLOCK) | Int32(O_CLOEXEC))
      try #require(descriptor >= 0)
      try #require(inotify_add_watch(descriptor, path.string, UInt32(IN_OPEN)) >= 0)
    }

    deinit { close(descriptor) }

    var hasBeenOpened: Bool {
      var event = [UInt8](repeating: 0, count: 4096)
      return read(descriptor, &event, event.count) > 0
    }
  }
}

@Suite("Files that a cloud drive has not downloaded")
struct CloudPlaceholderTests {
  @Test(
    "Names of placeholders tell what they stand for",
    arguments: [
      (".rgb.mp4.icloud", "rgb.mp4"), ("rgb.mp4.nextcloud", "rgb.mp4"),
      ("rgb.mp4.owncloud", "rgb.mp4"), (".icloud", nil), ("rgb.mp4.icloud", nil),
      (".nextcloud", nil), (".owncloud", nil), ("rgb.mp4", nil), ("d", nil), ("", nil),
    ] as [(String, String?)])
  func names(name: String, target: String?) {
    #expect(CloudPlaceholder.target(of: name) == target)
  }

  @Test(
    "Of links, those that ntfs-3g shows for a file in a cloud",
    arguments: [
      ("unsupported reparse tag 0x9000701a", true), ("unsupported reparse tag 0x9000001a", true),
      ("unsupported reparse tag 0x80000021", true), ("unsupported reparse tag 0xa000000c", false),
      ("unsupported reparse tag 0x", false), ("rgb.mp4", false),
    ])
  func links(text: String, isOne: Bool) throws {
    let scratch = try ScratchCapture(named: "in")
    try scratch.link("a", to: FilePath(text))
    #expect(CloudPlaceholder.isUnread(link: scratch.folder.appending("a")) == isOne)
    #expect(!CloudPlaceholder.isUnread(link: scratch.folder.appending("b")), "nothing is there")
    #expect(!CloudPlaceholder.isUnread(link: scratch.folder), "a folder")
  }

  /// A file of a capture of each family that can be recognized without it, and what is told.
  struct Row: Sendable, CustomTestStringConvertible {
    var family: String
    var generation: String?
    var file: String
    var subject: String
    var testDescription: String { "\(family): \(file)" }
  }

  static let rows = [
    Row(family: "stray-scanner", file: "rgb.mp4", subject: "rgb.mp4"),
    Row(family: "stray-scanner", file: "depth/000003.png", subject: "depth"),
    Row(family: "arkit-scanner", generation: "g6", file: "rgb.mp4", subject: "rgb.mp4"),
    Row(family: "multiscan", generation: "ios-lidar", file: "made.mp4", subject: "made.mp4"),
    Row(family: "scannet", file: "made.h264", subject: "made.h264"),
    Row(family: "vi-slam", file: "frame_metadata.csv", subject: "frame_metadata.csv"),
    Row(family: "strabo", file: ".mov", subject: ".mov"),
    Row(family: "3d-scanner-app", file: "frame_00000.jpg", subject: "frame_00000.jpg"),
    Row(family: "record3d", generation: "exr", file: "EXR_RGBD/depth/1.exr", subject: "depth"),
    Row(family: "polycam", file: "keyframes/images/.jpg", subject: "keyframes/images"),
  ]

  /// The first path in a folder that ends so.
  private static func path(_ ending: String, in folder: FilePath) throws -> String {
    try #require(
      (try? folder.namesBelow())?.sorted().first {
        $0 == ending
          || ending.contains("/.")
            && $0.hasPrefix(ending.split(separator: "/.").first.map(String.init) ?? "")
            && $0.hasSuffix(ending.split(separator: "/").last.map(String.init) ?? "")
          || ending.hasPrefix(".") && $0.hasSuffix(ending)
      }, "\(ending) in \(folder)")
  }

  @Test("Each family names them, and its upload is not complete", arguments: rows)
  func families(row: Row) throws {
    let made = try MadeCapture(family: row.family, generation: row.generation).folder()
    for form in ["icloud", "nextcloud", "link"] {
      let scratch = try ScratchCapture(copyOf: made)
      let name = try Self.path(row.file, in: scratch.folder)
      let path = FilePath(name)
      let file = try #require(path.lastComponent?.string)
      let around = path.removingLastComponent()
      func beside(_ name: String) -> String { around.appending(name).string }
      try scratch.remove(name)
      switch form {
      case "icloud": try scratch.write("bplist00", to: beside(".\(file).icloud"))
      case "nextcloud": try scratch.write(" ", to: beside("\(file).nextcloud"))
      default: try scratch.link(name, to: "unsupported reparse tag 0x9000701a")
      }
      let capture = try scratch.open()
      let subject = row.subject.hasPrefix(".") ? file : row.subject
      let told = capture.warnings.filter { $0.code == .notDownloaded }
      #expect(told.map(\.subject) == [subject] && told.map(\.count) == [1], "\(form)")
      #expect(told.first?.message.contains("was not downloaded") == true)
      #expect(told.first?.severity == .warning)
      #expect(!capture.completeness.isWhole)
      #expect(
        capture.completeness.missing.contains { $0.contains(file) && $0.contains("not downloaded") }
      )
    }
  }

  @Test(
    "The case of a public report", .needsReports)
  func report() throws {
    let capture = try Capture.report("stray-icloud-placeholders")
    let told = capture.warnings.filter { $0.code == .notDownloaded }
    #expect(told.map(\.subject) == ["depth", "rgb.mp4"] && told.map(\.count) == [1, 1])
    #expect(
      Set(capture.completeness.missing)
        == ["depth/000003.png was not downloaded.", "rgb.mp4 was not downloaded."])
  }

  @Test("A placeholder beside its file says nothing")
  func both() throws {
    let scratch = try ScratchCapture(
      copyOf: try MadeCapture(family: "stray-scanner", generation: nil).folder())
    try scratch.write("bplist00", to: ".rgb.mp4.icloud")
    let capture = try scratch.open()
    #expect(!capture.warnings.contains { $0.code == .notDownloaded })
    #expect(capture.completeness.isWhole)
  }

  @Test("Where nothing can be recognized without them, that is why")
  func unrecognized() throws {
    for name in [".a.r3d.icloud", ".odometry.csv.icloud", "trans.json.nextcloud"] {
      let scratch = try ScratchCapture(named: "in")
      try scratch.write("bplist00", to: name)
      let found = CaptureFinder(.builtIn).find(scratch.folder)
      #expect(found.declined?.contains("not downloaded") == true, "\(found.declined ?? "")")
      #expect(found.declined?.contains(name) == true)
      let above = CaptureFinder(.builtIn).find(scratch.outer)
      #expect(above.unrecognized.map(\.holds) == [[name]])
      let itself = CaptureFinder(.builtIn).find(scratch.folder.appending(name))
      #expect(itself.declined?.contains("not downloaded") == true)
    }
  }
}

/// Seeded damage in the small files of whole captures: whatever comes of it, opening and decoding come to an
/// end, and what cannot be read says so with the file's name. `.ci/fuzz` runs thousands of such inputs
/// of the families with one file per picture under the address sanitizer.
@Suite struct `Captures with damage at random places` {
  enum Damage: CaseIterable {
    case cut, flip, largeNumber, zeros, swap, repeated

    func apply(to bytes: inout [UInt8], _ random: inout SeededGenerator) {
      guard bytes.count > 8 else { return bytes.removeAll() }
      let place = Int.random(in: 0..<bytes.count - 8, using: &random)
      switch self {
      case .cut: bytes.removeLast(bytes.count - place)
      case .flip:
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
            1 << UInt8.random(in: 0..<8, using: &random)
        }
      case .largeNumber:
        let numbers: [[UInt8]] = [
          [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0x7F],
          Array("1e308".utf8), Array("-0".utf8), Array("99999999".utf8), Array("NaN".utf8),
        ]
        let number = numbers[Int.random(in: 0..<numbers.count, using: &random)]
        bytes.replaceSubrange(place..<place + number.count, with: number)
      case .zeros:
        for index in place..<min(bytes.count, place + 64) { bytes[index] = 0 }
      case .swap:
        let piece = Array(bytes[place..<place + 8])
        bytes.removeSubrange(place..<place + 8)
        bytes += piece
      case .repeated: bytes += bytes.prefix(place)
      }
    }
  }

  @Test(arguments: SyntheticFamilies.names, Damage.allCases)
  func `recognizing, opening and decoding come to an end`(
    _ family: String, _ damage: Damage
  ) throws {
    var random = SeededGenerator(seed: UInt64(family.utf8.count * 31))
    let folders = try MadeCapture.generations(of: family).map { try $0.folder() }
      .filter { FileSystem.isFolder($0) }
    var opened = 0
    for _ in 0..<Rounds.of(6, soak: 400) {
      let scratch = try ScratchCapture(copyOf: try #require(folders.randomElement(using: &random)))
      let files = try scratch.folder.namesBelow()
        .filter {
          let bytes = try? FileIdentity(of: scratch.folder.pushing(FilePath($0))).bytes
          return bytes.map { (1..<1 << 20).contains($0) } ?? false
        }
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        guard let name = files.randomElement(using: &random),
          var bytes = try? scratch.bytes(of: name)
        else { continue }
        damage.apply(to: &bytes, &random)
        try scratch.write(bytes, to: name)
      }
      for recognition in CaptureFinder(.builtIn).find(scratch.folder).captures {
        do {
          let found = try CaptureRegistry.builtIn.open(recognition)
          opened += 1
          try found.expectSane()
        } catch let error as CaptureError {
          #expect(!error.description.contains("\n"))
        }
      }
    }
    #expect(opened > 0)
  }
}

/// Every kind of file of every generation of every family, and of what apps leave that are killed.
@Suite struct `Captures whose files end anywhere` {
  static let made =
    SyntheticFamilies.names.flatMap(MadeCapture.generations)
    + ["killed-app", "gzip-depth", "two-streams"].map {
      MadeCapture(family: "multiscan", faults: [$0])
    }
    + ["killed-app", "corrupt-depth", "count-minus-1", "dropped-color", "imu-head8", "stale-times"]
    .map { MadeCapture(family: "scannet", faults: [$0]) }
    + ["no-z", "dropped-pictures"].map { MadeCapture(family: "vi-slam", faults: [$0], frames: 60) }

  @Test(arguments: made)
  func `what is left opens or says why not`(_ made: MadeCapture) throws {
    let folder = try made.folder()
    // The archives of Record3D are cut by a test of their own.
    guard FileSystem.isFolder(folder) else { return }
    let scratch = try ScratchCapture(copyOf: folder)
    let recognition = try #require(CaptureFinder(.builtIn).find(scratch.folder).captures.first)
    let whole = try CaptureRegistry.builtIn.open(recognition)
    for file in try EmptyFileTests.kinds(of: folder) {
      let bytes = try scratch.bytes(of: file)
      let cuts = Rounds.of(4, soak: 48)
      for cut in 0..<cuts {
        try scratch.write(bytes.prefix(bytes.count * cut / cuts + cut), to: file)
        do {
          let left = try CaptureRegistry.builtIn.open(recognition)
          #expect(left.frames.count <= 2 * whole.frames.count, "\(file)")
          try left.expectSane()
        } catch let error as CaptureError {
          #expect(!error.problem.isEmpty)
        }
      }
      try scratch.write(bytes, to: file)
    }
    #expect(try CaptureRegistry.builtIn.open(recognition).frames == whole.frames)
  }
}

extension Capture {
  /// What holds for every capture, however damaged; decodes it.
  func expectSane(_ location: SourceLocation = #_sourceLocation) throws {
    #expect(frames.count <= 5000, sourceLocation: location)
    #expect(warnings.allSatisfy { $0.count > 0 }, sourceLocation: location)
    for row in poses.value?.rows ?? [] {
      #expect(frames.indices.contains(row.frame), sourceLocation: location)
      let q = row.pose.orientation
      let length = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w
      #expect(abs(length - 1) < 0.05, sourceLocation: location)
    }
    #expect(
      (intrinsics.value ?? []).allSatisfy { frames.indices.contains($0.frame) },
      sourceLocation: location)
    let samples = imu.value?.samples ?? []
    #expect(
      samples.allSatisfy { $0.x.isFinite && $0.y.isFinite && $0.z.isFinite },
      sourceLocation: location)
    _ = try StreamScan(self, budget: CoreBudget(cores: 1))
  }
}
