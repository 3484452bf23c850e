@testable import Captures
@testable import Engine
import Foundation
@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

@testable import Pages

/// What every warning advises is possible, and done it cures the capture; or it says that the warning stays.
///
/// Those that a parameter cures need runs, and are tried in the end-to-end tests of that parameter: `NothingLeftTests`,
/// `HDRTreatmentTests`, `TimeOffsetTests`, `ConfidenceHoleTests`, `CalibrationKindTests`, `SubsetExportTests`,
/// `MotionUnitTests`.
@Suite("What warnings advise")
struct CureTests {
  /// Damage that comes with a copy that was cut or left something behind, and the warnings that it makes.
  struct Damage: Sendable, CustomTestStringConvertible {
    var testDescription: String { name }
    var name: String
    var capture: Whole
    /// In the folder of the capture; empty: the capture itself.
    var file: String
    var codes: Set<WarningCode>
    /// What a cloud drive leaves in place of the file.
    var placeholder: String?
    /// The damaged content; `nil`: the file is not there.
    var damaged: @Sendable (Data) -> Data?
  }

  /// A whole capture, made once.
  enum Whole: String, Sendable {
    case scannet, stray = "stray-scanner", archive = "record3d"

    func make(in folder: FilePath) throws -> FilePath {
      var options = SynthesisOptions(output: folder)
      (options.seed, options.id, options.frames, options.truthPictures) = (3, "scan", 6, 0)
      if self == .archive { options.generation = "r3d" }
      if self == .scannet { (options.width, options.height) = (324, 242) }
      let made = try SyntheticFamilies.write(rawValue, options)
      return made.folder
    }
  }

  private static func text(_ old: String, _ new: String) -> @Sendable (Data) -> Data? {
    { Data(String(decoding: $0, as: UTF8.self).replacing(old, with: new).utf8) }
  }

  static let all = [
    Damage(
      name: "depth is cut", capture: .scannet, file: "scan.depth",
      codes: [.truncatedStream, .depthShorterThanColor, .frameCountMismatch]
    ) { $0.prefix($0.count * 2 / 3) },
    Damage(
      name: "the video is cut", capture: .scannet, file: "scan.h264",
      codes: [.colorShorterThanDepth]
    ) { $0.prefix($0.count / 2) },
    Damage(
      name: "two files were joined", capture: .scannet, file: "scan.depth", codes: [.trailingData]
    ) { $0 + Data(repeating: 1, count: 30) },
    Damage(
      name: "bytes of the motion file are damaged", capture: .stray, file: "imu.csv",
      codes: [.corruptRecord]
    ) { content in
      // Pictures are decoded later; tables are read when a capture is opened.
      var lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      lines[lines.count / 2] = Data("?,?".utf8)
      return Data(lines.joined(separator: [UInt8(ascii: "\n")]))
    },
    Damage(
      name: "a picture is left in the cloud", capture: .stray, file: "depth/000003.png",
      codes: [.notDownloaded], placeholder: "depth/.000003.png.icloud"
    ) { _ in nil },
    Damage(
      name: "the motion file is left behind", capture: .scannet, file: "scan.imu",
      codes: [.imuMissing]
    ) { _ in nil },
    Damage(
      name: "the motion file is cut", capture: .scannet, file: "scan.imu",
      codes: [.imuPartialRecord]
    ) { $0.prefix($0.count / 2 - 3) },
    Damage(
      name: "a side file is left behind", capture: .scannet, file: "scan.camera",
      codes: [.missingFile]
    ) { _ in nil },
    Damage(
      name: "the metadata is cut", capture: .scannet, file: "scan.txt", codes: [.missingKey],
      damaged: text("numIMUmeasurements", "num")),
    Damage(
      name: "an archive is cut", capture: .archive, file: "", codes: [.truncatedStream]
    ) { $0.prefix($0.count * 2 / 3) },
  ]

  private func warnings(_ place: FilePath) throws -> Set<WarningCode> {
    let found = try #require(CaptureFinder(.builtIn).find(place).captures.first)
    return Set(try CaptureRegistry.builtIn.open(found).warnings.map(\.code))
  }

  @Test("A copy of the damaged file makes its warnings go away", arguments: all)
  func copies(_ damage: Damage) throws {
    let folder = try TemporaryFolder()
    let capture = try damage.capture.make(in: folder.path)
    let before = try warnings(capture)
    let file = URL(
      filePath: damage.file.isEmpty ? capture.string : capture.appending(damage.file).string)
    let content = try Data(contentsOf: file)
    if let damaged = damage.damaged(content) {
      try damaged.write(to: file)
    } else {
      try FileManager.default.removeItem(at: file)
    }
    let placeholder = damage.placeholder.map { URL(filePath: capture.appending($0).string) }
    if let placeholder { try Data("bplist00".utf8).write(to: placeholder) }
    let found = try warnings(capture)
    #expect(found.isSuperset(of: damage.codes), "\(found)")
    #expect(found.subtracting(before).allSatisfy { $0.cure == .copy || $0.cure == .none })
    if let placeholder { try FileManager.default.removeItem(at: placeholder) }
    try content.write(to: file)
    #expect(try warnings(capture) == before)
  }

  @Test("What is in the way of a folder can be moved out of it")
  func files() throws {
    let folder = try TemporaryFolder()
    let capture = try Whole.stray.make(in: folder.path)
    let depth = capture.appending("depth/000002.png")
    let away = folder.path.appending("away.png")
    try depth.move(to: away)
    try depth.link(to: away.string)
    #expect(try warnings(capture).contains(.pathOutsideCapture))
    try FileManager.default.removeItem(atPath: depth.string)
    try away.copy(to: depth)
    #expect(try !warnings(capture).contains(.pathOutsideCapture))
  }

  @Test("Every code is tried, or says that its warning stays")
  func complete() {
    let tried = Self.all.reduce(into: Set<WarningCode>()) { $0.formUnion($1.codes) }
    // Copies of longer recordings: more than a second of motion, more than the accepted share of a stream.
    let copied = tried.union([.shortfall, .imuOutsideFrames])
    let moved: Set<WarningCode> = [
      .pathOutsideCapture, .multipleStreams, .unsupportedStream, .unlistedFile,
    ]
    let set: Set<WarningCode> = [
      .nothingLeft, .hdrVideo, .timeOffset, .confidenceMissing, .calibrationSuspect,
      .intrinsicsVary, .implausibleUnit, .masksMissing,
    ]
    for code in WarningCode.allCases {
      let remedy = CodeReference[code.rawValue]?.remedy ?? ""
      switch code.cure {
      case .copy: #expect(copied.contains(code), "\(code)")
      case .files: #expect(moved.contains(code), "\(code)")
      case .parameter: #expect(set.contains(code) && remedy.contains("."), "\(code)")
      case .none: #expect(remedy.hasSuffix(" The warning stays."), "\(code): \(remedy)")
      }
      #expect(code.cure == .copy || !remedy.hasPrefix("Copy"), "\(code): \(remedy)")
    }
    #expect(CodeReference["failed"]?.cure == nil)
  }
}
