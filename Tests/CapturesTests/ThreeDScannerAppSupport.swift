@testable import Captures
@testable import Core
import SystemPackage
import TestSupport

/// An export of 3D Scanner App in the making.
final class ThreeDScannerAppScratch: ScratchCapture {
  static let cases = Fixtures.cases(of: "3d-scanner-app")

  static func open(_ fixture: FixtureCase) throws -> Capture {
    try open(try StrayScannerScratch.folder(of: fixture))
  }

  /// Opens a folder as whoever recognizes it.
  static func open(_ folder: FilePath) throws -> Capture {
    let found = CaptureRegistry.builtIn.recognize(try FolderListing(of: folder))
    guard let first = found.first, first.family == .threeDScannerApp else {
      throw StrayScannerScratch.NotRecognized()
    }
    return try CaptureRegistry.builtIn.open(first)
  }

  convenience init(copyOf name: String) throws {
    guard let fixture = Self.cases.first(where: { $0.name == name }) else {
      throw StrayScannerScratch.NotRecognized()
    }
    try self.init(copyOf: try StrayScannerScratch.folder(of: fixture))
  }

  func open() throws -> Capture { try Self.open(folder) }

  /// Replaces a part of a text file.
  func replace(_ old: String, _ new: String, in name: String) throws {
    try write(try text(of: name).replacing(old, with: new), to: name)
  }

  /// Which color pictures can be decoded, and issues by code.
  static func decode(_ color: ColorStream?) throws -> (frames: [Int], issues: [WarningCode: Int]) {
    guard let color, case .pictures(let pictures) = color.source else { return ([], [:]) }
    var frames: [Int] = []
    var issues: [WarningCode: Int] = [:]
    for index in 0..<pictures.count {
      let outcome = try pictures.decode(index)
      if let issue = outcome.issue { issues[issue.code, default: 0] += 1 }
      if outcome.picture != nil { frames.append(color.frameOfPicture?[index] ?? index) }
      // The check agrees with decoding.
      let stored = try pictures.stored(index)
      if (stored.bytes == nil) != (outcome.picture == nil) { issues[.shortfall, default: 0] += 1 }
      if stored.issue?.code != outcome.issue?.code { issues[.shortfall, default: 0] += 1 }
    }
    return (frames, issues)
  }

  /// Warnings of opening and decoding as `code subject`, with counts.
  static func warnings(of capture: Capture) throws -> [String: Int] {
    var counts = try StrayScannerScratch.warnings(of: capture)
    for (code, count) in try decode(capture.color.value).issues {
      counts["\(code.rawValue) color", default: 0] += count
    }
    return counts
  }

  func warnings() throws -> [String: Int] { try Self.warnings(of: try open()) }
}
