@testable import Core
@testable import Processing
import Testing

@testable import Stages

@Suite("Messages as CDR")
struct CDRTests {
  private static let head: [UInt8] = [0, 1, 0, 0]

  private static func numbers(_ bytes: [UInt8], from offset: Int, _ count: Int) -> [Double] {
    (0..<count).map { Double(bitPattern: bytes.integer(at: offset + 8 * $0, 8)) }
  }

  @Test("A primitive is aligned to its size, counted from behind the head; texts end with NUL")
  func alignment() {
    var cdr = CDRWriter()
    cdr.integer(UInt8(7))
    cdr.integer(UInt16(0x0102))
    cdr.integer(UInt8(8))
    cdr.integer(Int32(-2))
    cdr.text("ab")
    cdr.number(1)
    cdr.flag(true)
    let expected: [[UInt8]] = [
      Self.head, [7, 0, 2, 1, 8, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF], [3, 0, 0, 0, 0x61, 0x62, 0],
      // 19 bytes so far: five to the next eighth.
      [0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0xF0, 0x3F], [1],
    ]
    #expect(cdr.bytes == expected.flatMap(\.self))
  }

  @Test("A CameraInfo has K, R and P row by row, and five zeros for a lens that is not known")
  func cameraInfo() {
    let camera = PinholeCamera(width: 4, height: 3, fx: 10, fy: 11, cx: 1.5, cy: 1)
    let time = Timestamp(nanoseconds: 0)
    let plain = ROSMessage.cameraInfo(time, frame: "cam0", camera, nil)
    // Behind the head: 8 stamp, 4 + 5 frame, 3 padding, 8 size, 4 + 10 model, 2 padding, 4 count, 4 padding.
    #expect(plain[4 + 44] == 5)
    let first = 4 + 48
    let expected: [[Double]] = [
      [0, 0, 0, 0, 0], [10, 0, 1.5, 0, 11, 1, 0, 0, 1], [1, 0, 0, 0, 1, 0, 0, 0, 1],
      [10, 0, 1.5, 0, 0, 11, 1, 0, 0, 0, 1, 0],
    ]
    #expect(
      Self.numbers(plain, from: first, 35) == expected.flatMap(\.self))
    let lens = LensDistortion(openCVOrder: [1, 2, 3, 4, 5])
    let bent = ROSMessage.cameraInfo(time, frame: "cam0", camera, lens)
    #expect(Self.numbers(bent, from: first, 5) == [1, 2, 3, 4, 5])
    #expect(String(decoding: plain, as: UTF8.self).contains("plumb_bob"))
    let rational = LensDistortion(openCVOrder: [1, 2, 3, 4, 5, 6, 7, 8])
    let fisheye = ROSMessage.cameraInfo(time, frame: "cam0", camera, rational)
    #expect(String(decoding: fisheye, as: UTF8.self).contains("rational_polynomial"))
  }
}

@Suite("Definitions of message types")
struct ROSTypeTests {
  @Test("A definition is followed by those of the types that it uses, each once")
  func nested() {
    let line = String(repeating: "=", count: 80)
    #expect(ROSType.poseStamped.fullName == "geometry_msgs/msg/PoseStamped")
    #expect(
      ROSType.poseStamped.schemaText == """
        std_msgs/Header header
        geometry_msgs/Pose pose
        \(line)
        MSG: std_msgs/Header
        builtin_interfaces/Time stamp
        string frame_id
        \(line)
        MSG: geometry_msgs/Pose
        geometry_msgs/Point position
        geometry_msgs/Quaternion orientation
        \(line)
        MSG: builtin_interfaces/Time
        int32 sec
        uint32 nanosec
        \(line)
        MSG: geometry_msgs/Point
        float64 x
        float64 y
        float64 z
        \(line)
        MSG: geometry_msgs/Quaternion
        float64 x
        float64 y
        float64 z
        float64 w

        """)
  }

  @Test("No definition uses a type that is not defined", arguments: ROSType.allCases)
  func complete(_ type: ROSType) {
    let text = type.schemaText
    let defined = Set(text.matches(of: #/MSG: (\S+)/#).map { String($0.1) })
    let used = Set(
      text.matches(of: #/(?m)^([a-z0-9_]+/[A-Za-z0-9]+)(?:\[\d*\])? /#).map { String($0.1) })
    #expect(used == defined)
    #expect(text.matches(of: #/MSG: /#).count == defined.count)
    #expect(!text.contains("/msg/") && !text.contains("\n\n"))
  }
}
