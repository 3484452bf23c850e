import Media
import Core
import Processing

/// Depth from its stored forms to the color camera.
enum DepthKernels {
  static let all: [Kernel] = [
    Kernel(name: "structure-decode", about: "decodes Structure Sensor shifts, 640x480") {
      let payload = StructureShift.encode(shifts())
      var pixels = [UInt16](repeating: 0, count: 640 * 480)
      return {
        var target = pixels.mutableSpan
        try StructureShift.decode(payload.span.bytes, into: &target)
        StructureShift.convertToMillimeters(&target)
        return payload.count
      }
    },
    Kernel(name: "inflate", about: "inflates a zlib buffer of depth, 640x480") {
      let depth = Pictures.depth()
      let bytes = depth.millimeters.withUnsafeBytes { Array($0) }
      let packed = try DeflateEncoder.compress(bytes, format: .zlib)
      var output = [UInt8](repeating: 0, count: bytes.count)
      return {
        var elements = output.mutableSpan
        var target = elements.mutableBytes
        return try WholeInflate.inflate(packed.span.bytes, format: .zlib, into: &target).produced
      }
    },
    Kernel(name: "align", about: "aligns depth as triangles, 640x480 to 1296x968") {
      let depth = Pictures.depth()
      let aligner = try DepthAligner(calibration: calibration)
      var scratch = AlignmentScratch()
      var output: [UInt16] = []
      return {
        try aligner.align(depth.millimeters, scratch: &scratch, into: &output)
        return output.count
      }
    },
  ]

  /// Shifts of the depth picture: steps that grow with distance.
  private static func shifts() -> [UInt16] {
    Pictures.depth().millimeters.map {
      $0 == 0 ? 2047 : UInt16(clamping: 1090 - 350_000 / (Int($0) + 1))
    }
  }

  /// Two cameras some centimeters apart, as in a Structure Sensor on a tablet.
  private static var calibration: DepthCalibration {
    DepthCalibration(
      registered: false,
      colorFromDepth: RigidTransform(
        rotation: [
          0.999973, 0.0042, 0.006, -0.004106, 0.999871, -0.015499, -0.006064, 0.015474, 0.999862,
        ], translation: [0.038, 0.003, 0.021]),
      depthIntrinsics: PinholeCamera(
        width: 640, height: 480, fx: 571.6, fy: 571.6, cx: 319.5, cy: 239.5),
      colorIntrinsics: PinholeCamera(
        width: 1296, height: 968, fx: 1170.2, fy: 1170.2, cx: 647.75, cy: 483.75))
  }
}
