@testable import Captures
@testable import Core
import Testing

@Suite("Property lists of the first ARKit-Scanner generations")
struct ARKitScannerPropertyListTests {
  private func list(_ numbers: [String]) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <array>
    \(numbers.map { "\t<real>\($0)</real>" }.joined(separator: "\n"))
    </array>
    </plist>

    """
  }

  private let pose = [
    "1", "0", "0", "0", "0", "1", "0", "0", "0", "0", "1", "0", "0.5", "0.25", "-2e-05", "1",
  ]

  private func folder() throws -> ARKitScannerFolder {
    let folder = try ARKitScannerFolder()
    for time in ["99999.9", "100000.1"] {
      try folder.write(list(pose), to: "\(time)_trans.xml")
      try folder.write("0.25\n", to: "\(time)_offset.txt")
    }
    try folder.write(list((1...15).map { "\($0).5" }), to: "99999.95_imu.xml")
    try folder.write(list(["7.5", "0", "0", "0", "8.5", "0", "9.5", "10.5", "1"]), to: "intri.xml")
    try folder.write("0.016666666666666666", to: "dura.txt")
    try folder.write(
      ARKitScannerDepth.meters(ARKitScannerDepth.picture(0)), to: "depthBufferSequence.bin")
    return folder
  }

  private func counts(_ capture: Capture) -> [String: Int] {
    capture.warnings.reduce(into: [:]) { $0["\($1.code.rawValue) \($1.subject)"] = $1.count }
  }

  @Test(
    "A list of bytes that are no text costs itself alone", arguments: [UInt8(0xF9), 0xC3, 0x80])
  func noText(byte: UInt8) throws {
    let folder = try folder()
    let list = "<plist version=\"1.0\"><array><integer>"
    try folder.write(
      Array(list.utf8) + [byte] + Array("1</integer></array></plist>".utf8), to: "intri.xml")
    let capture = try folder.open()
    #expect(capture.intrinsics.error != nil)
    #expect(capture.poses.value?.rows.count == 2)
  }

  @Test("One file per frame and value makes the same tables")
  func whole() throws {
    let capture = try folder().open()
    #expect(capture.generation == "g1")
    #expect(
      capture.frames.map(\.timestamp?.nanoseconds) == [99_999_900_000_000, 100_000_100_000_000])
    #expect(
      capture.poses.value?.rows.map(\.pose.position) == [
        [0.5, 0.25, -2e-05], [0.5, 0.25, -2e-05],
      ])
    #expect(capture.intrinsics.value?.map(\.cx) == [9.5, 9.5])
    #expect(capture.cameraSettings.value?.rows.map(\.exposureOffsetEV) == [0.25, 0.25])
    #expect(capture.imu.value?.samples.count == 5)
    #expect(capture.imu.value?.samples.first?.timestamp.nanoseconds == 99_999_950_000_000)
    #expect(capture.files[.poses]?.count == 2)
    #expect(
      counts(capture) == ["missing-file color": 1, "frame-count-mismatch depth": 1])
  }

  @Test("Non-finite and malformed lists cost their own row")
  func damaged() throws {
    let folder = try folder()
    try folder.write(list(pose.map { $0 == "0.25" ? "nan" : $0 }), to: "99999.9_trans.xml")
    try folder.write("<plist><array><real>1</real>", to: "100000.1_trans.xml")
    try folder.write("not a number", to: "99999.9_offset.txt")
    let capture = try folder.open()
    #expect(capture.poses.value?.rows.isEmpty ?? false)
    #expect(counts(capture)["non-finite-value poses"] == 1)
    #expect(counts(capture)["corrupt-record poses"] == 1)
    #expect(capture.cameraSettings.value?.rows.map(\.exposureOffsetEV) == [nil, 0.25])
  }

  @Test("Tags nested without end do not exhaust the stack, other forms are not read")
  func hostile() throws {
    for text in [
      String(repeating: "<array>", count: 9000),
      "<plist>" + String(repeating: "<array>", count: 9000),
      "<plist>" + String(repeating: "<dict>", count: 9000), "bplist00", "(1, 2, 3)",
      "<plist>" + String(repeating: "x", count: 70_000), "",
    ] {
      let folder = try folder()
      try folder.write(text, to: "99999.9_trans.xml")
      let code = text.isEmpty ? "empty-record" : "corrupt-record"
      #expect(counts(try folder.open())["\(code) poses"] == 1)
    }
  }

  @Test("Absent side files are named")
  func missing() throws {
    let folder = try folder()
    for name in folder.names where name.hasSuffix(".xml") || name.hasSuffix(".txt") {
      try folder.remove(name)
    }
    let capture = try folder.open()
    #expect(
      counts(capture) == [
        "missing-file trans.xml": 1, "missing-file offset.txt": 1, "missing-file intri.xml": 1,
        "missing-file color": 1, "imu-missing imu": 1, "calibration-missing color": 1,
        "timestamps-missing frames": 1,
      ])
  }
}
