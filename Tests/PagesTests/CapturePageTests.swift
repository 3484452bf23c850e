import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Pages

@Suite("Capture page")
struct CapturePageTests {
  private static let hooks = [
    "pictures", "warnings", "imu", "timing", "path", "depth", "geo", "stages", "provenance",
  ]

  private func sections(_ page: String) -> [String] {
    page.matches(of: /<section id="([a-z]+)"/).map { String($0.output.1) }
  }

  private func full() throws -> CaptureBench {
    let bench = try CaptureBench(state: .done)
    bench.capture.warnings = [CaptureWarning(.frameGap, "depth", count: 3, "three steps")]
    try bench.write(CaptureBench.description, "capture.json")
    try bench.publishColor(frames: Array(0..<30))
    try bench.publishDepth(frames: Array(0..<30))
    try bench.publishDepth("aligned", frames: Array(0..<30))
    try bench.publishMotion(CaptureBench.motionTable(500))
    let poses = (0..<120).map {
      "\($0),\(5_000_000_000 + $0 * 33_333_333),\(Double($0) / 50),1.2,0.5,0,0,0,1"
    }
    let geo = (0..<20).map { "\($0),,47.\(1000 + $0),8.5,5,,measured" }
    try bench.publishTables([
      "frames.csv": CaptureBench.framesTable(120, steps: [118: 330_000_000]),
      "poses.csv": "frame,timestamp_ns,tx,ty,tz,qx,qy,qz,qw\n" + poses.joined(separator: "\n")
        + "\n",
      "geo.csv": "frame,timestamp_ns,latitude_deg,longitude_deg,accuracy_m,heading_deg,source\n"
        + geo.joined(separator: "\n") + "\n",
    ])
    return bench
  }

  @Test("Everything that was recorded has its section, in the order of the contract's reader")
  func everything() throws {
    let page = try full().page()
    #expect(
      sections(page) == [
        "pictures", "warnings", "imu", "timing", "path", "depth", "geo", "streams", "stages",
        "settings", "calibration", "provenance", "rerun",
      ])
    #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
    #expect(page.matches(of: /<h1[ >]/).count == 1)
    #expect(page.contains("default-src 'none'"))
    #expect(!page.contains(" style=\"") && !page.contains("http://") && !page.contains("https://"))
    #expect(page.utf8.count <= 2_000_000)
    // Every plot and picture has a name, every table head a scope.
    #expect(page.matches(of: /<img [^>]*>/).allSatisfy { $0.output.contains(" alt=\"") })
    #expect(!page.contains("<th>"))
    #expect(
      page.matches(of: /<svg [^>]*class="(plot|map)[^>]*>/).allSatisfy {
        $0.output.0.contains("aria-label=\"")
      })
    // The id of no two elements is the same.
    let ids = page.matches(of: /\ id="([^"]+)"/).map { String($0.output.1) }
    #expect(Set(ids).count == ids.count)
  }

  @Test("A gap is shaded in its plots and stated in figures")
  func gap() throws {
    let page = try full().page()
    #expect(page.contains("gap of 0.330 s after frame 118"))
    // 118 frames at 1/30 s.
    #expect(page.contains("data-from=\"3.933\" data-to=\"4.263\""))
  }

  @Test("What a capture has nothing for is absent, and so is what would be empty")
  func nothing() throws {
    let bench = try CaptureBench()
    #expect(sections(try bench.page()).filter(Self.hooks.contains) == ["provenance"])
    try bench.publishTables([
      "frames.csv": CaptureBench.framesTable(0),
      "poses.csv": "frame,timestamp_ns,tx,ty,tz,qx,qy,qz,qw\n",
      "geo.csv": "frame,timestamp_ns,latitude_deg,longitude_deg,accuracy_m,heading_deg,source\n",
    ])
    try bench.publishMotion(CaptureBench.motionTable(0))
    #expect(sections(try bench.page()).filter(Self.hooks.contains) == ["stages", "provenance"])
  }

  @Test(
    "A capture that failed has a page: the cause, what to do, how to try again, the end of its log")
  func failed() throws {
    let bench = try CaptureBench(state: .failed)
    let log = "runs/r1/logs/room-1/color.log"
    try FileSystem.makeFolder(bench.layout.root.appending("runs/r1/logs/room-1"))
    let lines = (1...400).map { "line \($0) <b>" }.joined(separator: "\n") + "\n"
    try bench.layout.root.appending(log).write(lines)
    bench.capture.failures = [
      Failure(
        stage: "color", message: "rgb.mp4, byte 12: no moov atom", cause: .input, log: log)
    ]
    bench.capture.reasons = [
      NeedReason(code: .failed, text: "cut", remedy: "Copy rgb.mp4 again.")
    ]
    bench.capture.command = "scanmill run '/in/a b' --output /out"
    bench.capture.missing = ["trans.json"]
    let page = try bench.page()
    #expect(
      page.contains("data-state=\"failed\"") && page.contains("rgb.mp4, byte 12: no moov atom"))
    #expect(page.contains("Copy rgb.mp4 again.") && page.contains("Trying again cannot help"))
    #expect(
      page.contains(
        "scanmill run '/<wbr>in/<wbr>a b' <span class=\"option\">--output</span> /<wbr>out"))
    #expect(page.contains("line 400 &lt;b&gt;") && page.contains("line 386 &lt;b&gt;"))
    #expect(!page.contains("line 385 &lt;b&gt;"))
    #expect(page.contains("trans.json"))
    // A log elsewhere is not read.
    for outside in ["../../etc/passwd", "/etc/passwd", "runs/../../x"] {
      bench.capture.failures[0].log = outside
      #expect(!(try bench.page().contains("Last lines of the log")))
    }
  }

  @Test("Every state has a sentence of its own", arguments: CaptureState.allCases)
  func states(_ state: CaptureState) throws {
    let bench = try CaptureBench(state: state)
    let page = try bench.page()
    #expect(page.contains("data-state=\"\(state.rawValue)\""))
    #expect(page.lowercased().contains(">\(state.words)</strong>"))
    #expect(page.matches(of: /<h1[ >]/).count == 1)
  }

  @Test("Warnings are explained once per code, with counts and subjects")
  func warnings() throws {
    let bench = try CaptureBench(state: .done)
    bench.capture.warnings = [
      CaptureWarning(.corruptRecord, "depth", count: 3, "records 4, 5, 6"),
      CaptureWarning(.corruptRecord, "color", count: 1, "picture 9"),
      CaptureWarning(.unknownKey, "a.txt", count: 2, "keys"),
    ]
    try bench.publish(
      "depth", uses: "x", ["a": [1]],
      warnings: [CaptureWarning(.emptyRecord, "depth", count: 7, "seven")])
    let page = try bench.page()
    #expect(page.matches(of: /data-code="corrupt-record"/).count == 1)
    #expect(page.contains("records 4, 5, 6") && page.contains("picture 9"))
    #expect(page.contains("Copy the file again and compare its checksum with that on the device."))
    #expect(page.contains("data-code=\"empty-record\""))
    #expect(
      page.contains("2 kinds of warnings, 11 occurrences.") && page.contains("1 kind of note:"))
  }

  @Test("Names of others stay inert and keep their direction to themselves")
  func hostile() throws {
    let evil = "<img src=x onerror=alert(1)>\"'</script>\u{202E}gpj\u{1B}[2J"
    let bench = try CaptureBench("room-1", state: .failed)
    bench.capture.sceneInfo.label = evil
    bench.capture.deviceInfo.name = String(repeating: evil, count: 200)
    bench.capture.user = "javascript:alert(1)"
    bench.capture.path = "/in/" + evil
    bench.capture.failures = [
      Failure(stage: evil, message: String(repeating: evil, count: 4000))
    ]
    bench.capture.missing = [evil]
    bench.capture.reasons = [NeedReason(code: .failed, text: evil, remedy: evil)]
    bench.capture.command = evil
    bench.capture.warnings = (0..<300).map { CaptureWarning(.frameGap, "\(evil)\($0)", evil) }
    try bench.publish(
      "color", uses: evil, ["a": [1]],
      parameters: [evil: .string(String(repeating: evil, count: 999))])
    try bench.publishMotion(
      "timestamp_ns,sensor_type,x,y,z\n1,\"\(evil.replacing("\"", with: ""))\",1,2,3\n2,gyroscope,1,2,3\n"
    )
    let quoted = try #require(
      String(data: JSONEncoder().encode([evil]), encoding: .utf8)
    ).dropFirst().dropLast()
    try bench.write(
      "{\"schema\":1,\"id\":\(quoted),\"family\":\(quoted),\"generation\":\(quoted),\"streams\":{\"color\":{\"file\":\(quoted),\"encoding\":\(quoted)}},\"errors\":[{\"stream\":\(quoted),\"message\":\(quoted)}]}",
      "capture.json")
    let page = try bench.page()
    #expect(!page.contains("<img src=x"))
    #expect(!page.contains("\u{202E}") && !page.contains("\u{1B}"))
    #expect(page.matches(of: /<\/script>/).count == 1)
    #expect(!page.contains("href=\"javascript"))
    #expect(page.contains("&lt;img src=x onerror=alert(1)&gt;"))
    #expect(page.utf8.count <= 2_000_000)
  }

  @Test("The fingerprint changes with all that the page shows, and with nothing else")
  func fingerprint() throws {
    let bench = try full()
    func now() -> String { CapturePage.fingerprint(bench.capture, layout: bench.layout) }
    let first = now()
    #expect(first == now())
    var known: Set = [first]
    func changed() { #expect(known.insert(now()).inserted) }
    bench.capture.state = .failed
    changed()
    try bench.write(
      CaptureBench.description.replacing("Office12", with: "Office13"), "capture.json")
    changed()
    try bench.publishDepth(frames: [0, 1])
    changed()
    try bench.write("{}", ".scanmill/triage.json")
    changed()
    try bench.write(
      #"{"schema":1,"message":"m","time":"t","cause":"input"}"#, ".failed/imu/failure.json")
    changed()
    try bench.write("{}", ".scanmill/removed/x.json")
    changed()
    try FileSystem.remove(bench.layout.artifact("imu"))
    changed()
    let last = now()
    try bench.write("old page", "report.html")
    try bench.write("{}", ".scanmill/memo.json")
    #expect(now() == last)
  }
}

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
