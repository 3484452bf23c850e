import CFFmpeg
import SystemPackage

/// Converts decoded pictures to upright RGB by the meaning of their values: each picture once, from its
/// decoded planes. One per worker.
///
/// zimg interpolates chroma, applies the matrix, and for `sdr` transfer and primaries but those of
/// `OwnLight`; the rest is done row by row. Memory: some rows.
public struct LightConverter {
  private let setup: LightSetup
  private var graph: PlaneGraph?
  private var turned: [UInt8] = []
  private var turnedWide: [UInt16] = []

  public init(_ setup: LightSetup) {
    self.setup = setup
  }

  /// Writes the picture as 8-bit BT.709 to `rgb`, which is resized if necessary. For `sdr`.
  public mutating func convert(
    _ picture: DecodedPicture, into rgb: inout [UInt8]
  ) throws(VideoError) {
    guard let tone = setup.tone else {
      throw VideoError(file: "", what: "16-bit pictures are not written with 8 bits")
    }
    if setup.source.transfer == nil, tone.own == nil {
      throw VideoError(
        file: "",
        what: "Apple Log with the primaries \(setup.source.primariesName) is not converted to SDR")
    }
    let graph = try graph(for: picture, tone.own == nil ? .light : .signals)
    try Self.convert(picture, graph, into: &rgb, by: &turned) { columns, planes, row in
      if let own = tone.own {
        Self.own(tone, own, columns, planes, to: row)
      } else {
        Self.light(tone, columns, planes, to: row)
      }
    }
  }

  /// Writes the picture as 16-bit RGB to `rgb`, which is resized if necessary. For `linear16` and
  /// `coded16`.
  public mutating func convert(
    _ picture: DecodedPicture, into rgb: inout [UInt16]
  ) throws(VideoError) {
    let graph = try graph(for: picture, .signals)
    let table = setup.light
    try Self.convert(picture, graph, into: &rgb, by: &turnedWide) { columns, planes, row in
      let (red, green, blue) = planes.values(UInt16.self)
      guard let table else {
        for x in columns {
          row[3 &* x] = red[x]
          row[3 &* x &+ 1] = green[x]
          row[3 &* x &+ 2] = blue[x]
        }
        return
      }
      table.withUnsafeBufferPointer { table in
        for x in columns {
          row[3 &* x] = table[Int(red[x])]
          row[3 &* x &+ 1] = table[Int(green[x])]
          row[3 &* x &+ 2] = table[Int(blue[x])]
        }
      }
    }
  }

  /// - Parameter write: writes some columns of a row.
  private static func convert<Sample: FixedWidthInteger & BitwiseCopyable>(
    _ picture: DecodedPicture, _ graph: PlaneGraph, into rgb: inout [Sample],
    by stored: inout [Sample],
    _ write: @escaping (Range<Int>, PlaneGraph.Rows, UnsafeMutablePointer<Sample>) -> Void
  ) throws(VideoError) {
    let width = picture.storedWidth
    try picture.orientation.write(&rgb, by: &stored, width: width, height: picture.storedHeight) {
      (rgb) throws(VideoError) in
      try rgb.withUnsafeMutableBufferPointer { (rgb) throws(VideoError) in
        guard let start = rgb.baseAddress else { return }
        try graph.convert(picture.frame) { y, columns, rows in
          write(columns, rows, start + y * width * 3)
        }
      }
    }
  }

  private mutating func graph(
    for picture: DecodedPicture, _ output: PlaneGraph.Output
  ) throws(VideoError) -> PlaneGraph {
    guard picture.storedWidth > 0, picture.storedHeight > 0 else {
      throw VideoError(file: "", what: "picture \(picture.outputIndex) has no pixels")
    }
    if let graph, graph.layout == PlaneGraph.Layout(picture.frame) { return graph }
    let new = try PlaneGraph(picture.frame, setup.source, output)
    graph = new
    return new
  }

  private static func light(
    _ tone: LightSetup.Tone, _ columns: Range<Int>, _ rows: PlaneGraph.Rows,
    to row: UnsafeMutablePointer<UInt8>
  ) {
    let (red, green, blue) = rows.values(Float.self)
    tone.factors.withUnsafeBufferPointer { factors in
      tone.codes.withUnsafeBufferPointer { codes in
        guard let factors = factors.baseAddress, let codes = codes.baseAddress else { return }
        for x in columns {
          tone.write(red[x], green[x], blue[x], factors, codes, to: row + 3 &* x)
        }
      }
    }
  }

  /// Apple Log and HLG: curve and system gamma by tables, then primaries.
  private static func own(
    _ tone: LightSetup.Tone, _ own: LightSetup.OwnLight, _ columns: Range<Int>,
    _ rows: PlaneGraph.Rows, to row: UnsafeMutablePointer<UInt8>
  ) {
    let (red, green, blue) = rows.values(UInt16.self)
    let (toRed, toGreen, toBlue) = own.matrix.rows
    let weights = own.matrix.luminance
    let hasSystem = !own.system.isEmpty
    tone.factors.withUnsafeBufferPointer { factors in
      tone.codes.withUnsafeBufferPointer { codes in
        own.light.withUnsafeBufferPointer { light in
          own.system.withUnsafeBufferPointer { system in
            guard let factors = factors.baseAddress, let codes = codes.baseAddress,
              light.count == 65_536
            else { return }
            for x in columns {
              var (r, g, b) = (light[Int(red[x])], light[Int(green[x])], light[Int(blue[x])])
              if hasSystem, let system = system.baseAddress {
                let luminance = min(r * weights.x + g * weights.y + b * weights.z, 1)
                let factor = own.factor(luminance, system)
                r *= factor
                g *= factor
                b *= factor
              }
              tone.write(
                r * toRed.x + g * toRed.y + b * toRed.z,
                r * toGreen.x + g * toGreen.y + b * toGreen.z,
                r * toBlue.x + g * toBlue.y + b * toBlue.z, factors, codes, to: row + 3 &* x)
            }
          }
        }
      }
    }
  }
}

/// The matrix from linear light with some primaries to that with those of BT.709; all have the white of D65.
struct LightMatrix {
  /// Three rows.
  let rows: (SIMD3<Float>, SIMD3<Float>, SIMD3<Float>)
  /// What red, green and blue add to luminance.
  let luminance: SIMD3<Float>

  /// - Parameter primaries: ITU-T H.273; `nil` for others than BT.709, BT.2020 and P3 with D65.
  init?(primaries: Int) {
    switch primaries {
    case 1:
      rows = (SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1))
      luminance = SIMD3(0.2126, 0.7152, 0.0722)
    case 9:
      // BT.2087, M2.
      rows = (
        SIMD3(1.660_491, -0.587_641, -0.072_850), SIMD3(-0.124_550, 1.132_900, -0.008_349),
        SIMD3(-0.018_151, -0.100_579, 1.118_730)
      )
      luminance = SIMD3(0.2627, 0.6780, 0.0593)
    case 12:
      // SMPTE EG 432-1.
      rows = (
        SIMD3(1.224_940, -0.224_940, 0), SIMD3(-0.042_057, 1.042_057, 0),
        SIMD3(-0.019_638, -0.078_636, 1.098_274)
      )
      luminance = SIMD3(0.228_975, 0.691_739, 0.079_287)
    default: return nil
    }
  }
}
