import Media
import Core

/// A depth camera with a projected pattern, like the Structure Sensor, which measures shifts of the
/// pattern rather than distances.
///
/// Modeled: quantization to whole shifts, noise in patches of the size of a matching window,
/// shadows of the projector beside near objects, range limits, dropouts that grow with distance.
/// Noise 0 leaves quantization, shadows and range.
struct StructureSensor: Sendable {
  let camera: PinholeCamera
  /// Deviation of a shift: the part shared by a patch, and that of each pixel.
  private let patchDeviation: Float
  private let pixelDeviation: Float
  private let noise: Double
  private let key: UInt64
  /// The value for no measurement.
  static let nothing: UInt16 = 2047
  private static let range = 0.35...6.0
  /// Distance from projector to camera, meters; the projector is on the right.
  private static let baseline = 0.075
  private static let patchWidth = 8
  private static let patchHeight = 4
  private static let bands = 16

  /// `noise` 1 = as measured on such sensors.
  init(camera: PinholeCamera, noise: Double, seed: UInt64) {
    self.camera = camera
    self.noise = noise
    patchDeviation = Float(0.45 * noise)
    pixelDeviation = Float(0.14 * noise)
    var random = SeededRandom(seed: seed, "structure sensor")
    key = random.next()
  }

  /// The shifts of a frame; `meters` are exact distances along the optical axis in raster order.
  func measure(_ meters: [Double], frame: Int) -> [UInt16] {
    precondition(meters.count == camera.width * camera.height)
    var shifts = [UInt16](repeating: Self.nothing, count: meters.count)
    withConcurrentRowBands(
      of: &shifts, rows: camera.height, rowLength: camera.width, bands: Self.bands
    ) { rows, shifts in
      var isLit = [Bool](repeating: false, count: camera.width)
      for row in rows {
        let exact = meters.span.extracting((row * camera.width)..<((row + 1) * camera.width))
        light(exact, into: &isLit)
        let start = (row - rows.lowerBound) * camera.width
        measureRow(row, frame: frame, exact, isLit.span, into: &shifts, at: start)
      }
    }
    return shifts
  }

  /// Finds the pixels that the projector reaches: those that no nearer point hides, as seen from
  /// the projector.
  private func light(_ meters: Span<Double>, into isLit: inout [Bool]) {
    let scale = camera.fx * Self.baseline
    var leftmost = Double.infinity
    for column in stride(from: meters.count - 1, through: 0, by: -1) {
      let place = Double(column) - scale / meters[column]
      isLit[column] = place <= leftmost + 0.5
      leftmost = min(leftmost, place)
    }
  }

  private func measureRow(
    _ row: Int, frame: Int, _ meters: Span<Double>, _ isLit: Span<Bool>,
    into shifts: inout MutableSpan<UInt16>, at start: Int
  ) {
    let values = NoiseTable.values
    let table = values.span
    let mask = (1 << NoiseTable.indexBits) - 1
    var patches = SeededRandom(key: key, frame: frame, row: row / Self.patchHeight)
    var pixels = SeededRandom(key: key &+ 1, frame: frame, row: row)
    var patchNoise: Float = 0
    var patchChance = 1.0
    for column in 0..<meters.count {
      if column % Self.patchWidth == 0 {
        let bits = patches.next()
        patchNoise = patchDeviation * table[Int(truncatingIfNeeded: bits) & mask]
        patchChance = Double(bits >> 32) * 0x1p-32
      }
      let bits = pixels.next()
      let exact = meters[column]
      guard isLit[column], Self.range.contains(exact) else { continue }
      // Dropouts: 0.1 % near, 2 % at four meters.
      guard patchChance >= noise * (0.001 + 0.0003 * exact * exact * exact) else { continue }
      let shift =
        Self.shift(ofMeters: exact)
        + Double(patchNoise + pixelDeviation * table[Int(truncatingIfNeeded: bits) & mask])
      let rounded = shift.rounded(.toNearestOrAwayFromZero)
      if rounded >= 1, rounded <= Double(StructureShiftTable.lastMeasuredShift) {
        shifts[start + column] = UInt16(rounded)
      }
    }
  }

  /// The shift whose table entry is this distance, before rounding.
  static func shift(ofMeters meters: Double) -> Double {
    (6809 - 1799.999 / meters) / 6
  }
}
