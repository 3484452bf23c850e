import Foundation
import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Pages
@testable import Synthetic

@Suite("Remedies as text")
struct RemedyTests {
  private func sentence(_ state: String, _ change: (inout Remedy) -> Void = { _ in }) -> String? {
    var remedy = Remedy(state: state)
    remedy.isWatched = true
    change(&remedy)
    return remedy.sentence
  }

  private func failed(
    _ cause: FailureCause?, _ detail: FailureDetail? = nil, state: String = "failed",
    _ change: (inout Remedy) -> Void = { _ in }
  ) -> String {
    sentence(state) {
      $0.failure = Failure(
        message: "words that decide nothing: memory, SIGKILL", cause: cause, detail: detail)
      $0.isWatched = false
      change(&$0)
    } ?? ""
  }

  @Test(
    "A damaged file is named as people of the family name it, and what corrects it comes before another copy"
  )
  func input() {
    func words(_ family: String, _ detail: FailureDetail?, isWatched: Bool = true) -> String {
      failed(.input, detail, state: "quarantined") {
        ($0.family, $0.isWatched) = (family, isWatched)
      }
    }
    #expect(
      words("scannet", FailureDetail(.damaged, file: "a.depth"))
        == "Copy the .depth file again; watch then takes it.")
    #expect(
      words("vi-slam", FailureDetail(.damaged, file: "imu_data.csv"), isWatched: false)
        == "Copy the file 'imu_data.csv' again; then run it again.")
    #expect(
      words(
        "vi-slam", FailureDetail(.damaged, file: "imu_data.csv", remedy: "name the columns: a,z"))
        == "Name the columns: a,z; watch then takes it.")
    for detail in [FailureDetail(.damaged), nil] {
      #expect(
        words("scannet", detail)
          == "Copy the capture from the device again; watch then takes it.")
    }
    #expect(words("scannet", FailureDetail(.strict)).contains("without --strict"))
    let unsuitable = words("scannet", FailureDetail(.unsuitable))
    // What an earlier run set holds: leaving it out changes nothing.
    #expect(!unsuitable.contains("Copy") && unsuitable.contains("=default"))
  }

  @Test("What cannot be done is not advised: a file in an archive, a table without a column")
  func possible() {
    func words(_ state: String, _ change: (inout Remedy) -> Void) -> String {
      sentence(state, change) ?? ""
    }
    func archive(_ remedy: inout Remedy) {
      (remedy.folder, remedy.isOneFile, remedy.family) = ("/in/X.r3d", true, "record3d")
      remedy.missing = ["rgbd/2.jpg"]
    }
    #expect(
      words("incomplete", archive)
        == "Copy 'X.r3d' from the device again: it lacks rgbd/2.jpg; watch then takes it."
    )
    #expect(
      words("done", archive)
        == "Copy 'X.r3d' from the device again: it lacks rgbd/2.jpg; watch then takes it."
    )
    let many = words("done") {
      archive(&$0)
      $0.missing = (1...3000).map { "rgbd/\($0).jpg" }
    }
    #expect(many.contains("rgbd/8.jpg and 2992 more; watch"), "\(many)")
    #expect(
      failed(.input, FailureDetail(.damaged, file: "2.depth"), archive)
        == "Copy the file 'X.r3d' again; then run it again.")
    #expect(
      words("done") { $0.code = .shortfall }
        .hasPrefix("Copy the capture from the device again")
    )
    // Nothing of what lies on another clock was lost.
    let lost = Shortfall(stream: "imu", held: 0, declared: 9, message: "0 of 9")
    for (outside, helps) in [(9, "`unit` or `clock` in a capture.yaml"), (8, "Copy the capture")] {
      let warning = CaptureWarning(.imuOutsideFrames, "imu", count: outside, "outside")
      let told = words("done") {
        ($0.code, $0.shortfall, $0.warnings) = (.shortfall, lost, [warning])
      }
      #expect(told.contains(helps), "\(told)")
    }
  }

  @Test("What a cloud drive holds back is to be downloaded, not copied again")
  func cloud() {
    let warning = CaptureWarning(.notDownloaded, "rgb.mp4", "rgb.mp4 was not downloaded")
    for state in ["incomplete", "done"] {
      let told = sentence(state) { ($0.missing, $0.warnings) = (["rgb.mp4"], [warning]) }
      #expect(told?.contains("download them") == true, "\(state)")
    }
    for (file, isInCloud) in [(".rgb.mp4.icloud", true), ("rgb.mp4.part", false)] {
      let told = sentence("stalled-upload") {
        $0.upload = UploadProgress(bytes: 1, temporaryFile: "a/\(file)")
      }
      #expect(told?.contains("download them") == isInCloud, "\(file)")
    }
  }

  @Test("Each failure says what helps against it, and nothing that helps against another")
  func codes() {
    let told: [(FailureCause, FailureDetail, String)] = [
      (
        .program, FailureDetail(.killed, signal: "SIGKILL"),
        "The system killed it, most likely for want of memory: let fewer"
      ),
      (.program, FailureDetail(.crashed, signal: "SIGSEGV"), "A program crashed (SIGSEGV)"),
      (.program, FailureDetail(.outOfMemory), "It used more memory than it may: raise --memory"),
      (
        .program, FailureDetail(.notOurs, file: "/out/a/color"),
        "Move away '/out/a/color', which scanmill did not make"
      ),
      (
        .program, FailureDetail(.programFailed, number: 3),
        "A program of the stage ended with exit code 3"
      ),
      (
        .machine, FailureDetail(.diskFull),
        "Nothing is wrong with the capture. Free space on the disk"
      ),
      (
        .machine, FailureDetail(.deviceError, number: 5),
        "Nothing is wrong with the capture. Its disk or network reported an error (Input/output error)"
      ),
      (
        .permission, FailureDetail(.noPermission, remedy: "give the right with `chmod u+r a`"),
        "Its files are there and may not be read. Give the right with `chmod u+r a`; then"
      ),
    ]
    for (cause, detail, beginning) in told {
      #expect(failed(cause, detail).hasPrefix(beginning), "\(failed(cause, detail))")
    }
    for code in FailureDetail.Code.allCases {
      for cause in FailureCause.allCases {
        for state in ["failed", "quarantined"] {
          let words = failed(cause, FailureDetail(code), state: state)
          #expect(words.hasSuffix(".") && !words.contains(".."), "\(words)")
          #expect(words.contains("Free space") == (code == .diskFull), "\(words)")
          #expect(words.contains("Copy ") == (code == .damaged), "\(words)")
        }
      }
    }
  }

  @Test("Every cause in every state that needs a person has a sentence; the others none")
  func all() {
    for cause in FailureCause.allCases {
      for state in ["failed", "quarantined"] {
        #expect(failed(cause, state: state).hasSuffix("."))
        #expect(sentence(state) { $0.isGone = true }?.contains("Copy the capture again") == true)
      }
    }
    #expect(
      sentence("incomplete") { $0.missing = [".h264", ".imu"] }
        == "Copy the .h264 and .imu files from the device; watch then takes it.")
    #expect(
      sentence("incomplete") {
        $0.missing = [".imu"]
        $0.folder = "/in/a"
      } == "Copy the .imu file from the device to /in/a; watch then takes it.")
    #expect(
      sentence("done") {
        $0.missing = [".imu"]
        $0.folder = "/in/a"
        $0.isWatched = false
      }
        == "Copy the .imu file from the device to /in/a; then run it again."
    )
    for state in ["done", "arriving", "running", "queued"] {
      #expect(sentence(state) == nil, "\(state)")
    }
    #expect(sentence("queued") { $0.waitsFor = "disk" }?.contains("Free space") == true)
  }

  @Test("A command survives the shell, whatever a name holds")
  func shell() throws {
    let names = [
      "plain", "two words", "it's", "$(touch x)", "a\nb", "`id`", "\\", "-n", "Küche",
      "\u{202E}abc",
      "\u{1B}[31m", "", "*", "7\u{7}7", PathText.text(of: [0x61, 0xFF, 0x62]), "!x", "~", "#",
    ]
    for name in names {
      let words = ["-c", "printf '%s' " + ShellText.quoted(name)]
      let output = try PythonScript.run("/bin/bash", words, nil, nil).outputBytes
      #expect(Array(output) == PathText.bytes(of: name), "\(name.onOneLine)")
      #expect(ShellText.quoted(name).onOneLine == ShellText.quoted(name))
    }
  }
}

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

enum MakeFrames: FakeStage {
  static let name = "make-frames"
  static let version = 3
  static let sentence = "Makes frames."
  enum Mode: String, CaseIterable {
    case fast, slow
  }

  static let parameters = ParameterDescription.list(
    Parameter("range", .lengthRange, "What counts."),
    Parameter("mode", .choice(), default: Mode.fast, "Which way."),
    Parameter("every", .integer(1...Int.max), default: 1, "Every n-th frame."),
    Parameter(
      "window", .duration(0...60_000_000_000), default: 50_000_000, "How far samples may be."))
  static let content = ArtifactContent.depthFrames
}

enum Export: FakeStage {
  static let name = "export"
  static let sentence = "Writes pictures."
  static let ports = [
    Port("frames", .depthFrames, isRequired: true, "decoded depth"),
    Port("mask", .confidenceImages, isRequired: false, "what to leave out"),
  ]
  static let content = ArtifactContent.depthImages
}

enum Tables: FakeStage {
  static let name = "tables"
  static let sentence = "Writes tables."
  static let ports = [Port("depth", .depthImages, isRequired: false, "pictures")]
  static let content = ArtifactContent.tables
}
