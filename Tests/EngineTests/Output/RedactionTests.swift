@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Texts without anything private")
struct RedactionTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func redaction(_ subjects: [Redaction.Subject], users: [String] = []) -> Redaction {
    Redaction(output: folder.path, subjects: subjects, staging: "/in/staging", users: users)
  }

  private let subject = Redaction.Subject(
    id: "Kitchen-ABCD", family: "scannet", names: ["Kitchen ABCD"],
    path: "/in/staging/2026-11-20/annette/Kitchen ABCD",
    deviceID: "6B0F1C5E-1111-2222-3333-444455556666", deviceName: "Anna's iPad",
    scene: ["Küche 12"], user: "Bo Li")

  @Test(
    "Every secret is gone, letters in any case",
    arguments: [
      (
        "cannot read /in/staging/2026-11-20/annette/Kitchen ABCD/a.depth: cut",
        "cannot read scannet-1/a.depth: cut"
      ),
      ("KITCHEN-abcd.depth ends early", "scannet-1.depth ends early"),
      ("device 6b0f1c5e-1111-2222-3333-444455556666 of anna's IPAD", "device device-1 of device-1"),
      ("scene KU\u{308}CHE 12, annette", "scene [scene], user-2"),
      ("bo li recorded it; boli did not", "user-1 recorded it; boli did not"),
      ("another: 00000000-AAAA-BBBB-CCCC-DDDDDDDDDDDD", "another: [device]"),
      ("/home/someone/x.bin: gone", "…/x.bin: gone"),
      ("latitude 48.137154, longitude 11.576124", "latitude [position], longitude [position]"),
      ("at 48.137154, 11.576124 it was", "at [position], [position] it was"),
      ("0.33 s after frame 118", "0.33 s after frame 118"),
      ("the stage failed", "the stage failed"),
    ])
  func texts(text: String, expected: String) {
    #expect(redaction([subject]).text(text) == expected)
  }

  @Test(
    "A short secret is replaced where it is a name of its own only",
    arguments: [
      ("a stage at work", "a stage at work"),
      ("cannot read 'a'", "cannot read 'scannet-1'"),
      ("a.depth is cut", "scannet-1.depth is cut"),
      ("x/a/b", "x/scannet-1/b"), ("a", "scannet-1"),
    ])
  func short(text: String, expected: String) {
    #expect(redaction([.init(id: "a", family: "scannet", scene: ["a"])]).text(text) == expected)
  }

  @Test("Aliases stay when captures are added, whoever asks")
  func stable() {
    let first = redaction([subject])
    let early = Redaction.Subject(id: "AAA", family: "scannet")
    let second = redaction([early, subject])
    #expect(first.alias(of: subject.id) == "scannet-1")
    #expect(second.alias(of: subject.id) == "scannet-1" && second.alias(of: "AAA") == "scannet-2")
    #expect(redaction([early]).alias(of: "AAA") == "scannet-2")
    #expect(second.alias(of: "unheard") == "capture")
  }

  @Test("An alias is never the id of another capture")
  func noRealName() {
    let redaction = redaction([
      subject, .init(id: "scannet-1", family: "scannet"), .init(id: "SCANNET-2", family: "strabo"),
    ])
    #expect(
      Set(["scannet-3", "scannet-4"]) == Set([subject.id, "scannet-1"].map(redaction.alias(of:))))
  }

  @Test("A table that is damaged or cannot be written does no harm")
  func damaged() throws {
    try FileSystem.makeFolder(folder.path.appending(".scanmill"))
    try OutputFile.write(Array("{".utf8), to: folder.path.appending(".scanmill/aliases.json"))
    #expect(redaction([subject]).alias(of: subject.id) == "scannet-1")
    let nowhere = Redaction(output: "/nowhere/out", subjects: [subject])
    #expect(nowhere.alias(of: subject.id) == "scannet-1")
  }

  @Test("Reports at the same time give one name each")
  func together() async throws {
    let path = folder.path
    let found = await withTaskGroup(of: [String].self) { group in
      for start in 0..<8 {
        group.addTask {
          let ids = (0..<5).map { "capture-\((start + $0) % 8)" }
          let redaction = Redaction(
            output: path, subjects: ids.map { .init(id: $0, family: "strabo") })
          return ids.map { "\($0)=\(redaction.alias(of: $0))" }
        }
      }
      return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
    }
    #expect(found.count == 8)
  }

  @Test("Nothing private is left in the bytes of a report")
  func report() throws {
    var capture = CaptureRow(id: subject.id, family: "scannet", state: .failed)
    let secrets = [
      "Kitchen", "ABCD", "annette", "6B0F1C5E", "Anna", "iPad", "Küche", "Bo Li", "48.137",
      "tester",
    ]
    capture.path = subject.path
    capture.sceneInfo.label = subject.scene[0]
    capture.deviceInfo.name = subject.deviceName
    capture.user = subject.user
    capture.page = "\(subject.id)/report.html"
    capture.command = "scanmill run '\(subject.path ?? "")' --id \(subject.id)"
    capture.reasons = [
      NeedReason(
        code: .failed, text: "\(subject.id).depth is cut",
        remedy: "copy \(subject.id).depth from Anna's iPad again", file: "\(subject.id).depth")
    ]
    capture.missing = ["\(subject.id).imu"]
    capture.warnings = [
      CaptureWarning(.geoNoFix, "Kitchen ABCD.json", "after latitude 48.137154 no fix")
    ]
    capture.failures = [
      Failure(
        stage: "depth", message: "\(subject.path ?? "")/x.depth: cut", cause: .input,
        log: "runs/1/logs/\(subject.id)/depth.log")
    ]
    var report = NightReport(
      from: "", to: "",
      program: ProgramIdentity(version: "1", commit: nil, libraries: [:]), host: "tester-pc",
      pipeline: "/home/tester/p.yaml", free: .init(bytes: 1, inodes: nil))
    report.captures = [capture]
    report.watch = .init(alive: true, staging: "/in/annette", lastLook: nil, trouble: nil)
    report.devices = [.init(device: "Anna's iPad", captures: 1, lastUpload: "")]
    report.timeline = [.init(capture: subject.id, kind: "failed", from: "", to: "")]
    report.unrecognized = [.init(path: "/in/staging/annette/tester", holds: ["Bo Li.mov", "x"])]
    let shown = redaction([subject], users: ["tester"]).applied(to: report)
    let text = String(decoding: try JSONText.canonical(shown), as: UTF8.self).lowercased()
    for secret in secrets {
      #expect(!text.contains(secret.lowercased()), "\(secret) in \(text)")
    }
    #expect(
      shown.captures[0].id == "scannet-1" && shown.captures[0].page == "scannet-1/report.html")
    #expect(shown.captures[0].failures[0].message == "scannet-1/x.depth: cut")
  }
}
