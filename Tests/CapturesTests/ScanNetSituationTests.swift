@testable import Captures
@testable import Core
import TestSupport
import Testing

@Suite("What goes wrong with ScanNet captures")
struct ScanNetSituationTests {
  /// A capture with something wrong, and all that must be reported of it.
  struct Situation: Sendable, CustomTestStringConvertible {
    var name: String
    var frames = 8
    var codes: [WarningCode: Int]
    /// Canonical frames and those with `timestamp`, where they are not all of `frames`.
    var canonical: Int?
    var timed: Int?
    var edit: @Sendable (inout ScanNetScratch) -> Void

    var testDescription: String { name }

    init(
      _ name: String, frames: Int = 8, _ codes: [WarningCode: Int], canonical: Int? = nil,
      timed: Int? = nil, edit: @escaping @Sendable (inout ScanNetScratch) -> Void
    ) {
      self.name = name
      self.frames = frames
      self.codes = codes
      self.canonical = canonical
      self.timed = timed
      self.edit = edit
    }
  }

  static let closing: [String: String?] = [
    "scanSavedAt": nil, "numDepthFrames": nil, "numColorFrames": nil, "numIMUmeasurements": nil,
  ]

  static let counts = [
    Situation("nothing", [:]) { _ in },
    Situation(
      "the counter is one short", [.frameCountMismatch: 1, .timestampsMissing: 1], timed: 7
    ) {
      $0.keys["numDepthFrames"] = "7"
      $0.depthTimes.removeLast()
      $0.colorTimes.removeLast()
    },
    Situation(
      "the counter is two short", [.frameCountMismatch: 2, .timestampsMissing: 2], timed: 6
    ) {
      $0.keys["numDepthFrames"] = "6"
      $0.depthTimes.removeLast(2)
      $0.colorTimes.removeLast(2)
    },
    Situation("the counter is one ahead", [.frameCountMismatch: 1]) {
      $0.keys["numDepthFrames"] = "9"
      $0.depthTimes.append(.nan)
      $0.colorTimes.append(.leastNonzeroMagnitude)
    },
    Situation("the counter means something else", [.frameCountMismatch: 992]) {
      $0.keys["numDepthFrames"] = "1000"
    },
    Situation("the counter is gone", [.missingKey: 1]) { $0.keys["numDepthFrames"] = .some(nil) },
    Situation("the counter is no number", [.missingKey: 1]) { $0.keys["numDepthFrames"] = "eight" },
    Situation("one time block", [.timestampsMissing: 8]) { $0.colorTimes = [] },
    Situation("camera settings of fewer frames", [.frameCountMismatch: 3]) { $0.cameraRecords = 5 },
    Situation("camera settings of more frames", [.frameCountMismatch: 2]) { $0.cameraRecords = 10 },
    Situation("an IMU counter one short", [:]) { $0.keys["numIMUmeasurements"] = "75" },
    Situation("an IMU counter two short", [.frameCountMismatch: 2]) {
      $0.keys["numIMUmeasurements"] = "74"
    },
  ]

  static let cuts = [
    Situation("killed between two frames", [.missingKey: 4, .timestampsMissing: 8], timed: 0) {
      $0.keys = closing
      ($0.depthTimes, $0.colorTimes) = ([], [])
    },
    Situation(
      "killed inside a frame",
      [
        .missingKey: 4, .timestampsMissing: 8, .truncatedStream: 1, .depthShorterThanColor: 1,
        .frameCountMismatch: 1,
      ], timed: 0
    ) {
      $0.keys = closing
      ($0.depthTimes, $0.colorTimes) = ([], [])
      $0.depthTail = -30
    },
    Situation(
      "killed inside a length",
      [
        .missingKey: 4, .timestampsMissing: 8, .truncatedStream: 1, .depthShorterThanColor: 1,
        .frameCountMismatch: 1,
      ], timed: 0
    ) {
      $0.keys = closing
      ($0.depthTimes, $0.colorTimes) = ([], [])
      $0.depthTail = -$0.payloads[7].count - 1
    },
    Situation(
      "a copy that broke off",
      [
        .truncatedStream: 1, .timestampsMissing: 8, .frameCountMismatch: 6,
        .depthShorterThanColor: 3,
      ], timed: 0
    ) { $0.depthTail = $0.recordOffset(6) - 9 - $0.depthBytes().count },
    Situation("cut in the color times", [.truncatedStream: 1, .timestampsMissing: 3]) {
      $0.depthTail = -20
    },
    Situation("cut at a color time", [.truncatedStream: 1, .timestampsMissing: 2]) {
      $0.depthTail = -16
    },
    Situation("cut in the depth times", [.truncatedStream: 1, .timestampsMissing: 8], timed: 3) {
      $0.depthTail = -8 * 16 + 29
    },
    Situation("bytes behind the times", [.trailingData: 1]) { $0.depthTail = 10 },
    Situation(
      "bytes behind the times, and no counter",
      [.trailingData: 1, .missingKey: 1, .timestampsMissing: 8], timed: 0
    ) {
      $0.depthTail = 10
      $0.keys["numDepthFrames"] = .some(nil)
    },
    Situation("a partial IMU record", [.imuPartialRecord: 1]) {
      $0.imuTail = Array(repeating: 1, count: 127)
    },
    Situation("an IMU head and a partial record", [.imuPartialRecord: 1]) {
      $0.imuHead = ScanNetScratch.bytes((998.5).bitPattern)
      $0.imuTail = Array(repeating: 1, count: 120)
    },
    Situation("an IMU head", [:]) { $0.imuHead = ScanNetScratch.bytes((998.5).bitPattern) },
    Situation("cut camera settings", [.truncatedStream: 1]) { $0.cameraTail = [1, 2, 3] },
    Situation("camera settings of another kind", [.unsupportedStream: 1]) { $0.cameraTag = "v2" },
  ]

  static let times = [
    Situation("times of an earlier scan", [.timestampsStale: 8], timed: 0) {
      $0.depthTimes = $0.depthTimes.map { $0 - 900 }
      $0.colorTimes = []
    },
    Situation("one time of an earlier scan", [.timestampsStale: 1], timed: 7) {
      $0.depthTimes[5] = 998.4
    },
    Situation("half of the times of an earlier scan", [.timestampsStale: 4], timed: 4) {
      for index in 0..<4 { $0.depthTimes[index] -= 900 }
    },
    Situation(
      "half of the times of a scan of yesterday", [.timestampsStale: 4], timed: 4
    ) {
      $0.imuTimes = $0.imuTimes.map { $0 + 90_000 }
      $0.colorTimes = $0.colorTimes.map { $0 + 90_000 }
      for index in 4..<8 { $0.depthTimes[index] += 90_000 }
    },
    Situation(
      "more than half of the nonzero times of an earlier scan", [.timestampsStale: 3], timed: 0
    ) {
      for index in 0..<3 { $0.depthTimes[index] -= 900 }
      for index in 5..<8 { $0.depthTimes[index] = 0 }
    },
    Situation(
      "one early IMU time hides no earlier scan", [.timestampsStale: 8, .imuGap: 1], timed: 0
    ) {
      $0.depthTimes = $0.depthTimes.map { $0 - 900 }
      $0.imuTimes[0] = 1
    },
    Situation(
      "one late IMU time hides no IMU that ends early", frames: 60,
      [.imuOutsideFrames: 14, .imuGap: 1]
    ) {
      $0.imuTimes = $0.imuTimes.filter { $0 < 1000.52 } + [1500]
      $0.keys["numIMUmeasurements"] = "\($0.imuTimes.count)"
    },
    Situation("IMU records at time zero", [.corruptRecord: 2]) {
      $0.imuTimes[10] = 0
      $0.imuTimes[11] = -0.0
    },
    Situation("IMU records of another day, of no clock and before it began", [.corruptRecord: 4]) {
      $0.imuTimes[20] = 90_000
      $0.imuTimes[21] = -5
      $0.imuTimes[22] = 1e300
      $0.imuTimes[23] = 9.2e9
    },
    Situation("a depth time of another day", [.corruptRecord: 1], timed: 7) {
      $0.depthTimes[3] = 90_000
    },
    Situation("a color time of another day", [.corruptRecord: 1]) { $0.colorTimes[3] = -9e9 },
    Situation("less than a second before the IMU is not yet stale", [.frameGap: 1]) {
      $0.depthTimes[0] = 998.6
    },
    Situation("an IMU that ends early", frames: 60, [.imuOutsideFrames: 14]) {
      // 0.5 s of frames and one more second: frames 46…59 are later than that.
      $0.imuTimes = $0.imuTimes.filter { $0 < 1000.52 }
      $0.keys["numIMUmeasurements"] = "\($0.imuTimes.count)"
    },
    Situation("a pause", [.frameGap: 1]) {
      for index in 4..<8 { $0.depthTimes[index] += 0.02 }
    },
    Situation("equal times", [.timestampsDuplicate: 1, .frameGap: 1]) {
      $0.depthTimes[3] = $0.depthTimes[2]
    },
    Situation("times going back", [.timestampsUnordered: 1, .frameGap: 2]) {
      $0.depthTimes.swapAt(2, 3)
    },
    Situation("a time of zero", [.timestampsMissing: 1], timed: 7) { $0.depthTimes[3] = 0 },
    Situation("no color time", [.timestampsMissing: 1]) { $0.colorTimes[3] = -0.0 },
    Situation("times that are no numbers", [.timestampsMissing: 2, .nonFiniteValue: 2], timed: 6) {
      $0.depthTimes[3] = .nan
      $0.depthTimes[4] = -.infinity
      $0.colorTimes[4] = .nan
    },
    Situation("an IMU gap", [.imuGap: 1]) {
      for index in 20..<$0.imuTimes.count { $0.imuTimes[index] += 0.24 }
    },
    Situation("a step that is no gap yet", [:]) {
      for index in 20..<$0.imuTimes.count { $0.imuTimes[index] += 0.23 }
    },
    Situation("IMU records out of order", [.timestampsUnordered: 1]) { $0.imuTimes.swapAt(9, 10) },
    Situation("IMU records at one time", [.timestampsDuplicate: 2]) {
      $0.imuTimes[10] = $0.imuTimes[9]
      $0.imuTimes[11] = $0.imuTimes[9]
    },
    Situation("an IMU record without time and one without rotation", [.nonFiniteValue: 2]) {
      $0.imuTimes[4] = .nan
      $0.patches["imu"] = [20 * 128 + 16: ScanNetScratch.bytes(Double.infinity.bitPattern)]
    },
  ]

  static let streams = [
    Situation("a damaged payload", [.corruptRecord: 1]) {
      $0.payloads[3] = Array(repeating: 0x55, count: $0.payloads[3].count)
    },
    Situation("a damaged length", [.corruptRecord: 1]) {
      $0.patches["depth"] = [$0.recordOffset(3): [0xFF, 0xFF, 0xFF, 0xFF]]
    },
    Situation("a length of nothing, in the last record", [.corruptRecord: 1]) {
      $0.patches["depth"] = [$0.recordOffset(7): [0, 0, 0, 0]]
    },
    Situation("lengths that lead astray", [.corruptRecord: 2]) {
      $0.patches["depth"] = [
        $0.recordOffset(2): ScanNetScratch.bytes(UInt32($0.payloads[2].count - 1)),
        $0.recordOffset(7): ScanNetScratch.bytes(UInt32($0.payloads[7].count + 9)),
      ]
    },
    Situation("pictures left in the encoder", [.colorShorterThanDepth: 2]) {
      $0.pictures = 6
      $0.keys["numColorFrames"] = "6"
    },
    Situation(
      "pictures lost while encoding",
      [.colorShorterThanDepth: 2, .pairingApproximate: 6, .frameCountMismatch: 2]
    ) { $0.pictures = 6 },
    Situation(
      "pictures lost, counter gone",
      [.colorShorterThanDepth: 2, .pairingApproximate: 6, .missingKey: 1]
    ) {
      $0.pictures = 6
      $0.keys["numColorFrames"] = .some(nil)
    },
    Situation("more pictures than depth", [.depthShorterThanColor: 2], canonical: 10, timed: 8) {
      $0.pictures = 10
    },
    Situation("pictures of another size", [.sizeMismatch: 1]) { $0.keys["colorWidth"] = "648" },
    Situation("no color", [.missingFile: 1]) { $0.absent = ["h264"] },
    Situation("no camera settings", [.missingFile: 1]) { $0.absent = ["camera"] },
    Situation("no IMU", [.imuMissing: 1]) { $0.absent = ["imu"] },
    Situation("an empty IMU file", [.imuMissing: 1]) {
      $0.imuTimes = []
      $0.keys["numIMUmeasurements"] = "140"
    },
    Situation("an unknown and a missing key", [.unknownKey: 2, .missingKey: 2]) {
      $0.keys["shoeSize"] = "44"
      $0.keys["hatSize"] = "58"
      $0.keys["fx_color"] = .some(nil)
      $0.keys["scanSavedAt"] = .some(nil)
    },
    Situation("other spellings", [:]) {
      for name in ["color", "depth"] {
        $0.keys["\(name)Width"] = .some(nil)
        $0.keys["\(name)Height"] = .some(nil)
      }
      $0.keys["color_width"] = "324"
      $0.keys["color_height"] = "242"
      $0.keys["depth_width"] = "32"
      $0.keys["depth_height"] = "24"
      $0.keys["k1_depth"] = "0.1"
      $0.keys["axisAlignment"] = "1 0 0 0"
    },
  ]

  @Test("All of it is reported, and nothing else", arguments: counts + cuts + times + streams)
  func reports(situation: Situation) throws {
    var scratch = ScanNetScratch(frames: situation.frames)
    situation.edit(&scratch)
    try scratch.opened { capture in
      let told = try capture.allWarnings().countsByCode
      #expect(
        told
          == Dictionary(uniqueKeysWithValues: situation.codes.map { ($0.key.rawValue, $0.value) }))
      let canonical = situation.canonical ?? situation.frames
      #expect(capture.frames.count == canonical)
      #expect(capture.frames.count { $0.timestamp != nil } == situation.timed ?? canonical)
      #expect(capture.warnings.allSatisfy { !$0.message.isEmpty })
    }
  }
}
