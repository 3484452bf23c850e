@testable import Captures
import FoundationEssentials
@testable import Engine
@testable import Core
import SystemPackage
import Testing

@testable import Pages

@Suite("Capture page for others")
struct CaptureRedactionTests {
  private static let device = "A8ECBA23-EFA8-4B99-A459-A1949DC76E26"
  private static let id = "2026-11-20_10-00-00__\(device)"
  /// None of these may stand anywhere in the bytes, whole or escaped.
  private static let secrets = [
    device, "Ada's iPad", "Ada&#39;s iPad", "Office12", "the messy one", "lovelace", "/in/lovelace",
    "47.1234", "8.5432", "A8ECBA23", "iPad of Ada",
  ]

  private func bench() throws -> CaptureBench {
    let bench = try CaptureBench(Self.id, state: .failed)
    let leak =
      "/in/lovelace/\(Self.id)/a.depth of Ada's iPad (\(Self.device)) in Office12, the messy one, by lovelace"
    bench.capture.path = "/in/lovelace/\(Self.id)"
    bench.capture.sceneInfo.label = "Office12"
    bench.capture.deviceInfo.name = "Ada's iPad"
    bench.capture.user = "lovelace"
    bench.capture.failures = [
      Failure(stage: "color", message: leak, cause: .input, log: "runs/r/logs/x")
    ]
    bench.capture.reasons = [NeedReason(code: .failed, text: leak, remedy: leak, file: leak)]
    bench.capture.command = "scanmill run \(leak)"
    bench.capture.missing = ["\(Self.id).imu"]
    bench.capture.warnings = [CaptureWarning(.missingFile, "\(Self.id).imu", leak)]
    try bench.write(
      CaptureBench.description.replacing("room-1", with: Self.id)
        .replacing("/in/\(Self.id)", with: "/in/lovelace/\(Self.id)"), "capture.json")
    try bench.publishColor(frames: [0, 1])
    try bench.publish(
      "extra", uses: "command", ["a": [1]],
      parameters: ["arguments": .string(leak), "folder": .string(bench.layout.root.string)],
      warnings: [CaptureWarning(.emptyRecord, leak, leak)])
    try bench.write(
      #"{"schema":1,"message":"\#(leak)","time":"t","cause":"input"}"#,
      ".failed/depth/failure.json")
    try bench.publishTables([
      "frames.csv": CaptureBench.framesTable(3),
      "geo.csv":
        "frame,latitude_deg,longitude_deg,accuracy_m,source\n0,47.1234,8.5432,5,measured\n",
    ])
    return bench
  }

  private func redaction(_ bench: CaptureBench) -> Redaction {
    Redaction(
      output: bench.layout.root,
      subjects: [
        Redaction.Subject(
          id: Self.id, family: "scannet", path: "/in/lovelace/\(Self.id)", deviceID: Self.device,
          deviceName: "Ada's iPad", scene: ["Office12", "the messy one"], user: "lovelace")
      ])
  }

  @Test("Nothing private is left anywhere in the bytes, and no position", arguments: [false, true])
  func secrets(_ isApplied: Bool) throws {
    let bench = try bench()
    let redaction = redaction(bench)
    #expect(try bench.page().contains("Office12"))
    if isApplied {
      var report = NightReport(
        from: "", to: "", program: ProgramIdentity(version: "1", commit: nil, libraries: [:]),
        host: "h", pipeline: "p", free: .init(bytes: 1, inodes: nil))
      report.captures = [bench.capture]
      bench.capture = try #require(redaction.applied(to: report).captures.first)
    }
    let page = try bench.page(redaction)
    for secret in Self.secrets + [bench.layout.root.string] {
      #expect(!page.contains(secret), "\(secret)")
      #expect(!page.lowercased().contains(secret.lowercased()), "\(secret)")
    }
    #expect(!page.contains("<section id=\"geo\""))
    #expect(page.contains(redaction.alias(of: Self.id)))
    #expect(page.contains("<section id=\"warnings\"") && page.contains("<section id=\"pictures\""))
  }

  @Test("Texts unknown to the redaction are left out too if capture.json names them")
  func unknownSubject() throws {
    let bench = try bench()
    let page = try bench.page(Redaction(output: bench.layout.root, subjects: []))
    for secret in [
      "Ada's iPad", "Office12", "the messy one", Self.device, bench.layout.root.string,
    ] {
      #expect(!page.contains(secret), "\(secret)")
    }
  }
}
