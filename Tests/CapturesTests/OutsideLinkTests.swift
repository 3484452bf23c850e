@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing
import Glibc

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
      try FileManager.default.copyItem(atPath: example.capture.string, toPath: capture.string)
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
    try FileManager.default.copyItem(atPath: original.string, toPath: capture.string)
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
