import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

/// Whether zimg and an encoder for charts are there; says so once if not.
enum LightTools {
  static let areInstalled: Bool = {
    if let problem = ZimgLibrary.problem {
      print("note: \(problem): conversions of HDR are not compared")
      return false
    }
    return FFmpegPeer.isInstalled
  }()
}

@Suite("HDR charts converted by the meaning of their values", .enabled(if: LightTools.areInstalled))
struct LightConverterTests {
  /// A kind of video.
  struct Kind: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var tags: [String]
    var settings = ""
    var matrix = LightChart.Matrix.bt2020
    var primaries = LightReference.Primaries.bt2020
    /// cd/m² with the video's primaries.
    var light: @Sendable (LightReference.Triple) -> LightReference.Triple
    /// What tone mapping begins with; `nil` = nothing is mapped.
    var peak: Double?
    var peakOrigin: LightSource.PeakOrigin
    /// The light of 16-bit pictures, 0…1.
    var linear: @Sendable (Double) -> Double
    /// Primaries and transfer in files of 16-bit light and signals.
    var numbers: (primaries: UInt8, transfer: UInt8)
    /// The conversion to linear light in ffmpeg's zscale, if it can.
    var peer: String?
  }

  static let pq = LightChart.tags("smpte2084", "bt2020", "bt2020nc")

  @Sendable static func each(
    _ body: @escaping @Sendable (Double) -> Double
  ) -> @Sendable (LightReference.Triple) -> LightReference.Triple {
    { (body($0.0), body($0.1), body($0.2)) }
  }

  static func pq(_ name: String, _ settings: String, peak: Double, _ origin: LightSource.PeakOrigin)
    -> Kind
  {
    Kind(
      testDescription: name, tags: pq, settings: settings,
      light: each { LightReference.pq(max($0, 0)) }, peak: peak, peakOrigin: origin,
      linear: { LightReference.pq($0) / 10_000 }, numbers: (9, 16),
      peer: "zscale=t=linear:npl=203:agamma=false")
  }

  static let mastering =
    ":hdr10=1:master-display=G(8500,39850)B(6550,2300)R(35400,14600)"
    + "WP(15635,16450)L(40000000,50)"

  static let kinds = [
    Kind(
      testDescription: "HLG", tags: LightChart.tags("arib-std-b67", "bt2020", "bt2020nc"),
      light: { LightReference.hlgDisplay((max($0.0, 0), max($0.1, 0), max($0.2, 0))) },
      peak: 1000, peakOrigin: .transfer, linear: { LightReference.hlgScene($0) }, numbers: (9, 18),
      peer: "zscale=t=linear:npl=203:agamma=false"),
    pq("PQ that states no peak", "", peak: 1000, .assumed),
    pq(
      "PQ with its brightest pixel", mastering + ":max-cll=600,300", peak: 600, .contentLight),
    pq("PQ with its display", mastering, peak: 4000, .masteringDisplay),
    Kind(
      testDescription: "SDR with the primaries of P3",
      tags: LightChart.tags("bt709", "smpte432", "bt709"), matrix: .bt709, primaries: .p3,
      light: each { 203 * pow(max($0, 0), 2.4) }, peakOrigin: .transfer,
      linear: { pow($0, 2.4) }, numbers: (12, 1), peer: "zscale=t=linear:agamma=false"),
    Kind(
      testDescription: "Apple Log",
      tags: ["-movflags", "use_metadata_tags", "-metadata", "transfer=com.apple.log"]
        + ["-color_primaries", "bt2020", "-colorspace", "bt2020nc"],
      light: each { 203 * LightReference.appleLog($0) },
      peak: 203 * LightReference.appleLog(1), peakOrigin: .transfer,
      linear: { max(0, LightReference.appleLog($0) / LightReference.appleLog(1)) },
      numbers: (9, 2)),
  ]

  /// The charts of all kinds, each encoded once.
  private static let charts = Dictionary(
    uniqueKeysWithValues: kinds.map { kind in
      (kind.testDescription, Result { try encoded(kind) })
    })

  private static func chart(_ kind: Kind) throws -> LightChart {
    try #require(charts[kind.testDescription]).get()
  }

  private static func encoded(_ kind: Kind, most: Double = 1) throws -> LightChart {
    try LightChart(
      LightChart.signals(most: most).map(kind.matrix.samples), kind.tags, settings: kind.settings)
  }

  private static func source(_ chart: LightChart) throws -> LightSource {
    let color = try chart.color()
    return try #require(LightSource(color)).completed(by: try chart.first())
  }

  private static func sdr(_ chart: LightChart) throws -> [UInt8] {
    var converter = LightConverter(LightSetup(try source(chart), .sdr))
    var rgb: [UInt8] = []
    try converter.convert(try chart.first(), into: &rgb)
    return rgb
  }

  private static func wide(_ chart: LightChart, _ treatment: HDRTreatment) throws -> [UInt16] {
    var converter = LightConverter(LightSetup(try source(chart), treatment))
    var rgb: [UInt16] = []
    try converter.convert(try chart.first(), into: &rgb)
    return rgb
  }

  @Test("Every patch in SDR is what the standards say, up to one level", arguments: kinds)
  func standards(kind: Kind) throws {
    let chart = try Self.chart(kind)
    let source = try Self.source(chart)
    #expect(source.peakOrigin == kind.peakOrigin)
    if let peak = kind.peak { #expect(abs(source.peak - peak) < 1e-6 * peak) }
    let rgb = try Self.sdr(chart)
    for (place, sample) in chart.samples.enumerated() {
      let light = LightReference.toBT709(
        kind.light(kind.matrix.signals(sample)), from: kind.primaries)
      let expected = LightReference.codes(light, peak: kind.peak)
      let pixel = chart.pixel(place, in: rgb).map(Double.init)
      for (one, other) in zip(pixel, expected) {
        #expect(abs(one - other) <= 1.05, "patch \(place): \(pixel), \(expected)")
      }
    }
    #expect(Set(rgb).count > 30)
  }

  @Test(
    "Up to the knee, the pictures are those of ffmpeg's zscale and tonemap",
    arguments: kinds.filter { $0.peer != nil })
  func peer(kind: Kind) throws {
    // Signals of light that no tone mapping changes, and of which no channel is brighter than white.
    let most = kind.peak == nil ? 0.9 : kind.numbers.transfer == 18 ? 0.5 : 0.4
    let chart = try Self.encoded(kind, most: most)
    let rgb = try Self.sdr(chart)
    let theirs = try chart.picture(
      filters:
        "\(kind.peer ?? ""),format=gbrpf32le,zscale=p=bt709:agamma=false,tonemap=clip:desat=0,zscale=t=bt709:agamma=false,format=gbrp"
    )
    var worst = 0.0
    for place in chart.samples.indices {
      let difference = ColorDifference.between(
        chart.pixel(place, in: rgb).map(Double.init),
        chart.pixel(place, in: theirs.rgb).map(Double.init))
      worst = max(worst, difference)
      #expect(
        difference <= 2,
        "patch \(place): \(chart.pixel(place, in: rgb)), \(chart.pixel(place, in: theirs.rgb))")
    }
    #expect(worst <= 2)
    // The pictures as they are look different: the comparison notices what is not converted.
    var plain: [UInt8] = []
    var converter = ColorConverter()
    try converter.convert(chart.first(), into: &plain)
    let unlike = chart.samples.indices.filter {
      ColorDifference.between(
        chart.pixel($0, in: plain).map(Double.init),
        chart.pixel($0, in: theirs.rgb).map(Double.init)) > 2
    }
    #expect(unlike.count > 4)
  }

  @Test("16-bit signals keep every one of the ten-bit steps", arguments: kinds)
  func coded(kind: Kind) throws {
    // All gray steps of the limited range.
    let chart = try LightChart((64...940).map { ($0, 512, 512) }, kind.tags)
    let rgb = try Self.wide(chart, .coded16)
    for (place, sample) in chart.samples.enumerated() {
      let pixel = chart.pixel(place, in: rgb)
      let expected = Double(sample.y - 64) / 876 * 65_535
      #expect(pixel.allSatisfy { abs(Double($0) - expected) <= 1 }, "\(sample.y): \(pixel)")
      #expect(Int((Double(pixel[0]) / 65_535 * 876).rounded()) + 64 == sample.y)
    }
  }

  @Test("16-bit light is the light of the 16-bit signals, to the last bit", arguments: kinds)
  func linear(kind: Kind) throws {
    let chart = try Self.chart(kind)
    let signals = try Self.wide(chart, .coded16)
    let light = try Self.wide(chart, .linear16)
    for place in chart.samples.indices {
      for (signal, value) in zip(chart.pixel(place, in: signals), chart.pixel(place, in: light)) {
        let exact = kind.linear(Double(signal) / 65_535) * 65_535
        // The rounded value of double precision; on the border of two, either.
        #expect(abs(Double(value) - exact) <= 0.5 + 1e-3, "patch \(place), signal \(signal)")
      }
      // And the signals are those of the samples.
      let expected = kind.matrix.signals(chart.samples[place])
      let found = chart.pixel(place, in: signals).map { Double($0) / 65_535 }
      for (one, other) in zip(found, [expected.0, expected.1, expected.2]) {
        #expect(abs(one - min(max(other, 0), 1)) <= 1.5 / 65_535, "patch \(place)")
      }
    }
    let source = try Self.source(chart)
    #expect(source.pngColor(.sdr) == nil)
    #expect(
      source.pngColor(.linear16) == PNGColor(primaries: kind.numbers.primaries, transfer: 8))
    #expect(
      source.pngColor(.coded16)
        == PNGColor(primaries: kind.numbers.primaries, transfer: kind.numbers.transfer))
  }

  @Test("Pictures are turned and mirrored like those that are not converted", arguments: 0..<4)
  func turned(turns: Int) throws {
    let kind = Self.kinds[0]
    let chart = try Self.chart(kind)
    let source = try Self.source(chart)
    for isMirrored in [false, true] {
      let picture = try chart.first(turns: turns, isMirrored: isMirrored)
      var plain: [UInt8] = []
      var sdr: [UInt8] = []
      var wide: [UInt16] = []
      var upright: [UInt8] = []
      var converter = ColorConverter()
      try converter.convert(picture, into: &plain)
      try converter.convert(chart.first(), into: &upright)
      var one = LightConverter(LightSetup(source, .sdr))
      try one.convert(picture, into: &sdr)
      var other = LightConverter(LightSetup(source, .coded16))
      try other.convert(picture, into: &wide)
      // Where each color of the chart lies in the plain picture, the converted one has its own.
      let straight = (try Self.sdr(chart), try Self.wide(chart, .coded16))
      for place in chart.samples.indices {
        let x = place % LightChart.columns * LightChart.patch + LightChart.patch / 2
        let y = place / LightChart.columns * LightChart.patch + LightChart.patch / 2
        let (column, row) = Self.moved(
          x, y, chart.width, chart.height, turns: turns, isMirrored: isMirrored)
        let start = 3 * (row * picture.width + column)
        #expect(Array(plain[start..<start + 3]) == chart.pixel(place, in: upright))
        #expect(Array(sdr[start..<start + 3]) == chart.pixel(place, in: straight.0))
        #expect(Array(wide[start..<start + 3]) == chart.pixel(place, in: straight.1))
      }
    }
  }

  private static func moved(
    _ x: Int, _ y: Int, _ width: Int, _ height: Int, turns: Int, isMirrored: Bool
  ) -> (Int, Int) {
    let x = isMirrored ? width - 1 - x : x
    switch turns {
    case 1: return (height - 1 - y, x)
    case 2: return (width - 1 - x, height - 1 - y)
    case 3: return (y, width - 1 - x)
    default: return (x, y)
    }
  }

  @Test("What the container states of luminance and of Dolby Vision is told, and PQ begins with it")
  func container() throws {
    let chart = try Self.encoded(Self.kinds[1])
    #expect(try chart.color().contentLight == nil && chart.color().dolbyVision == nil)
    let url = URL(filePath: chart.file.string)
    var movie = Array(try Data(contentsOf: url))
    // 700 and 200 cd/m².
    movie = try MovieBoxes.adding(MovieBoxes.box("clli", [0x02, 0xbc, 0, 200]), to: movie)
    // Profile 8, level 5, with a base layer and metadata, compatible as 4.
    movie = try MovieBoxes.adding(
      MovieBoxes.box("dvvC", [1, 0, 0x10, 0x2d, 0x40] + [UInt8](repeating: 0, count: 19)),
      to: movie)
    // 2,000 cd/m² in steps of a ten thousandth.
    movie = try MovieBoxes.adding(
      MovieBoxes.box(
        "mdcv", [UInt8](repeating: 0x20, count: 16) + [0x01, 0x31, 0x2d, 0x00, 0, 0, 0, 1]),
      to: movie)
    try Data(movie).write(to: url)
    let color = try chart.color()
    #expect(color.dolbyVision == "8.4")
    #expect(color.contentLight == ContentLight(brightestPixel: 700, masteringPeak: 2000))
    let source = try #require(LightSource(color)).completed(by: try chart.first())
    #expect(source.peak == 700 && source.peakOrigin == .contentLight)
  }

  @Test("An override of matrix and range holds for converted pictures as well")
  func overrides() throws {
    let kind = Self.kinds[1]
    let chart = try Self.chart(kind)
    let color = try chart.color()
    let own = try #require(LightSource(color))
    let other = try #require(LightSource(color, matrix: .bt601, range: .full))
    #expect(own.matrix == 9 && !own.isFullRange)
    #expect(other.matrix == 6 && other.isFullRange)
    #expect(other.transfer == own.transfer && other.primaries == own.primaries)
  }

  @Test("Without a transfer there is nothing to convert, and one without a curve cannot be linear")
  func unknown() throws {
    var color = VideoColor()
    #expect(LightSource(color) == nil && !color.differsFromSDR)
    color.primaries = "smpte432"
    let p3 = try #require(LightSource(color))
    #expect(p3.transfer == 1 && p3.primaries == 12 && color.differsFromSDR)
    color.transfer = "iec61966-2-4"
    let odd = try #require(LightSource(color))
    #expect(LightSetup.problem(odd, .linear16)?.contains("cannot be made linear") ?? false)
    #expect(LightSetup.problem(odd, .coded16) == nil)
  }
}

/// Adds boxes to movies whose pictures lie before `moov`, so that no offset changes.
enum MovieBoxes {
  struct NotFound: Error {}

  static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    big(payload.count + 8) + Array(type.utf8) + payload
  }

  private static func big(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// The movie with `box` at the end of the description of its first track's samples.
  static func adding(_ box: [UInt8], to movie: [UInt8]) throws -> [UInt8] {
    var movie = movie
    // Type of each box on the way, and the bytes in it before its own boxes.
    let path = [
      ("moov", 0), ("trak", 0), ("mdia", 0), ("minf", 0), ("stbl", 0), ("stsd", 8), ("hvc1", 78),
    ]
    var range = 0..<movie.count
    var sizes: [Int] = []
    for (type, head) in path {
      var at = range.lowerBound
      var found: Range<Int>?
      while at + 8 <= range.upperBound {
        let size = movie[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
        guard size >= 8 else { break }
        if Array(movie[at + 4..<at + 8]) == Array(type.utf8) {
          found = at + 8 + head..<at + size
          sizes.append(at)
          break
        }
        at += size
      }
      guard let found, found.upperBound <= movie.count else { throw NotFound() }
      range = found
    }
    for at in sizes {
      let size = movie[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      movie.replaceSubrange(at..<at + 4, with: big(size + box.count))
    }
    movie.insert(contentsOf: box, at: range.upperBound)
    return movie
  }
}
