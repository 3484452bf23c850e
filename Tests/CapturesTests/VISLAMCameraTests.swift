@testable import Captures
@testable import Core
import SystemPackage
import Testing

@Suite("VI-SLAM: what the Android recorder states of its camera and its files")
struct VISLAMCameraTests {
  private let scratch: VISLAMScratch

  init() throws {
    scratch = try VISLAMScratch(
      copyOf: MadeCapture(family: "vi-slam", generation: "android").folder())
  }

  /// Replaces the empty focal lengths of these rows, counted from 1.
  private func write(_ focalLengths: [Int: String]) throws {
    let name = "frame_metadata.csv"
    var lines = try scratch.text(of: name).split(separator: "\n", omittingEmptySubsequences: false)
    try #require(lines[0].contains("focal_length_mm,focal_length_px,rolling_shutter_skew_ns"))
    for (line, value) in focalLengths {
      lines[line] = Substring(lines[line].replacing("4.25,,", with: "4.25,\(value),"))
    }
    try scratch.write(lines.joined(separator: "\n"), to: name)
  }

  @Test("Without focal lengths there are no intrinsics, and no file determines them")
  func none() throws {
    let capture = try scratch.open()
    #expect(capture.intrinsics.value == nil)
    #expect(capture.alignment == nil)
    #expect(capture.files[.intrinsics] == nil)
  }

  @Test(
    "A focal length in pixels is that of its row, about the middle of the picture; 0 is unknown")
  func focalLength() throws {
    try write([1: "51.5", 2: "0", 3: "52"])
    let capture = try scratch.open()
    let rows = try #require(capture.intrinsics.value)
    #expect(rows.map(\.frame) == [0, 2])
    #expect(
      rows.map(\.camera) == [51.5, 52].map { Intrinsics(fx: $0, fy: $0, cx: 31.5, cy: 23.5) })
    #expect(rows.allSatisfy { $0.width == 64 && $0.height == 48 })
    #expect(capture.alignment == nil)
    #expect(
      capture.files[.intrinsics]?.contains(scratch.folder.appending("frame_metadata.csv")) == true)
  }

  private func calibration(_ model: String = "PINHOLE", width: Int = 128) -> String {
    """
    {"camera_intrinsics": {"fx": 100.0, "fy": 101.0, "cx": 63.5, "cy": 47.5, "camera_model": "\(model)",
     "distortion_coeffs": [0.1, -0.2, 0.001, 0.002, 0.03], "image_width": \(width), "image_height": 96,
     "reprojection_error": 0.3, "capture_count": 20}, "metadata": {"app_version": "1.0.0"}}
    """
  }

  @Test(
    "A calibration goes before focal lengths: rescaled to the pictures, with its lens, for every frame"
  )
  func calibrated() throws {
    try write([1: "51.5"])
    try scratch.write(calibration(), to: "calibration.json")
    let capture = try scratch.open()
    let rows = try #require(capture.intrinsics.value)
    #expect(rows.map(\.frame) == Array(capture.frames.indices))
    #expect(
      Set(rows.map(\.camera)) == [Intrinsics(fx: 50, fy: 50.5, cx: 31.5, cy: 23.5)])
    #expect(capture.alignment?.colorIntrinsics?.width == 64)
    #expect(
      capture.alignment?.colorDistortion.openCVOrder == [0.1, -0.2, 0.001, 0.002, 0.03, 0, 0, 0])
    let file = scratch.folder.appending("calibration.json")
    #expect(capture.files[.calibration] == [file])
    #expect(capture.warningCounts.isEmpty)
  }

  @Test(
    "What is no pinhole of these pictures is not used, with the reason; what is no calibration is read over"
  )
  func unusable() throws {
    for (text, words) in [
      (calibration("FISHEYE"), "fisheye"), (calibration(width: 96), "aspect ratio"),
      ("{\"camera_intrinsics\": {\"fx\": 0}}", "no intrinsics"), ("[]", "no intrinsics"),
      (String(repeating: "[", count: 100_000), "no intrinsics"),
    ] {
      try scratch.write(text, to: "calibration.json")
      guard case .absent(let why) = try scratch.open().intrinsics else {
        Issue.record("intrinsics from \(text)")
        continue
      }
      #expect(why.contains(words))
    }
  }

  @Test("Digests that the app wrote are compared: files that agree count, others are damaged")
  func digests() throws {
    #expect(try scratch.open().completeness.verifiedFiles == nil)
    let names = ["imu_data.csv", "frame_metadata.csv", "video.mp4"]
    let lines = try names.enumerated().map { index, name in
      let digest = try Digest(ofFileAt: scratch.folder.appending(name)).hex
      return "\(index == 0 ? digest.uppercased() : digest) \(index == 1 ? "*" : " ")\(name)\n"
    }
    try scratch.write(
      lines.joined() + lines[0].replacing("imu_data.csv", with: "../outside") + "nonsense\n",
      to: "checksums.sha256")
    let whole = try scratch.open()
    #expect(whole.completeness.verifiedFiles == 3)
    #expect(whole.warningCounts.isEmpty)
    var bytes = try scratch.bytes(of: "video.mp4")
    bytes[bytes.count - 1] ^= 1
    try scratch.write(bytes, to: "video.mp4")
    let damaged = try scratch.open()
    #expect(damaged.completeness.verifiedFiles == 2)
    let warning = try #require(damaged.warnings.first { $0.subject == "checksums.sha256" })
    #expect(warning.code == .corruptRecord)
    #expect(warning.message.contains("video.mp4"))
  }
}
