@testable import Captures
@testable import Core
@testable import Processing
import SystemPackage
import Testing

@testable import Stages

@Suite("Blur by motion")
struct MotionQualityTests {
  /// A frame at 0.5 s of which the picture was taken at 0.6 s, while the device turns faster and faster.
  private static func blur(colorTime: Bool, exposure: Double) -> Double? {
    var capture = Capture(
      id: "a", family: .scannet, generation: "v1", folder: "/a",
      clock: CaptureClock(.uptime, unit: "ns"))
    capture.frames = [
      CaptureFrame(
        timestamp: Timestamp(nanoseconds: 500_000_000),
        colorTimestamp: colorTime ? Timestamp(nanoseconds: 600_000_000) : nil,
        depthTimestamp: Timestamp(nanoseconds: 500_000_000))
    ]
    capture.intrinsics = .present([
      IntrinsicsRow(frame: 0, width: 640, height: 480, fx: 500, fy: 500, cx: 320, cy: 240)
    ])
    capture.cameraSettings = .present(
      CameraSettingsStream(
        description: StreamDescription(file: "s", encoding: "", frames: 1),
        rows: [CameraSettingsRow(frame: 0, exposureSeconds: exposure)]))
    let samples = (0...100).map {
      IMUSample(
        timestamp: Timestamp(nanoseconds: Int64($0) * 10_000_000), sensor: 0, x: 0,
        y: Double($0) / 100, z: 0)
    }
    capture.imu = .present(
      IMUStream.sorting(
        samples, sensorNames: ["gyroscope"],
        description: StreamDescription(file: "i", encoding: "", frames: 101),
        convention: .coremotion
      ).stream)
    var frames = [FrameQuality()]
    MotionQuality(capture).measure(&frames)
    return frames[0].blurPixels
  }

  @Test("It is that of the time of the picture, where that is known, and of the frame's else")
  func time() throws {
    // 0.6 and 0.5 rad/s, 500 pixels per radian.
    #expect(abs(try #require(Self.blur(colorTime: true, exposure: 0.02)) - 6) < 1e-9)
    #expect(abs(try #require(Self.blur(colorTime: false, exposure: 0.02)) - 5) < 1e-9)
  }

  @Test("No exposure smears nothing, and one that cannot be is not believed")
  func exposure() {
    #expect(Self.blur(colorTime: true, exposure: 0) == 0)
    for exposure in [-1, .nan, .infinity, 1e300] {
      #expect(Self.blur(colorTime: true, exposure: exposure) == nil)
    }
  }
}
