/// How wide a picture is blurred, whatever noise it has: the σ of a Gaussian blur.
///
/// S(k), the mean square difference of pixels that lie k apart, grows with k by a power of 0 (texture) to 1 (edges) in
/// a sharp picture, and by k² as far as the blur is wider than k. Noise of single pixels adds the same to every S(k),
/// so that only differences of these are used. Let a = (S(2) − S(1)) / (S(4) − S(2)), x = 1 / (a − ¼), and y the same
/// of twice the distances. For a spectrum that falls by a power of the frequency, blurred by σ pixels,
/// x = A + B·σ² and y = A + B·σ² / 4 nearly, where A and B belong to the power. Both unknowns follow.
public enum BlurWidth: Hashable, Sendable {
  /// σ in pixels of a picture whose longest side has `referenceSide` pixels. A smear by L pixels counts as about
  /// 0.29 L. Within about a fifth from 2 to 4, rough above; with much noise at least so much.
  case pixels(Double)
  case unknown(Cause)

  /// Why it cannot be told. Raw values are words in tables.
  public enum Cause: String, Sendable {
    /// The picture shows too little.
    case flat
    /// Noise is too strong for what it shows.
    case noise
  }

  /// A blur counts by how much of the picture it covers: a smaller picture of the same view has the same value.
  static let referenceSide = 1920
  /// Smaller pictures are not magnified: their pixels blur by themselves.
  static let leastSide = 720
  /// Pictures are reduced by a whole factor to about this side, at which a σ of 2 to 3 of 1,920 pixels is told best.
  static let measuredSide = 960
  /// Where noise allows only to say that σ is at least so much, more than this is told.
  static let leastBound = 2.6

  /// Rows that are looked at together, of which the last `reach` have no vertical neighbor.
  private static let bandRows = 24
  /// About as many pixels are enough: noise of 6 levels then leaves half a level² of error.
  private static let enoughPixels = 110_000
  private static let reach = 8

  /// The factor by which a picture is made smaller for this.
  static func factor(width: Int, height: Int) -> Int {
    max(1, (max(width, height) + measuredSide / 2) / measuredSide)
  }

  /// The rows that are measured, of a reduced picture: even bands, or all.
  static func bands(columns: Int, rows: Int) -> [Range<Int>] {
    let count = max(2, (enoughPixels + columns * bandRows - 1) / max(1, columns * bandRows))
    guard count * bandRows < rows else { return [0..<rows] }
    return (0..<count).map { band in
      let start = (rows - bandRows) * band / (count - 1)
      return start..<start + bandRows
    }
  }

  /// Measures a reduced picture. Cost: ten reads of a byte per pixel of the bands.
  ///
  /// - Parameters:
  ///   - bands: brightness 0…255 of some rows each, row by row.
  ///   - columns: of the reduced picture.
  ///   - longestSide: of the picture before it was reduced by `factor`.
  init(bands: [[UInt8]], columns: Int, longestSide: Int, factor: Int) {
    var (across, down) = (StructureSums(), StructureSums())
    for band in bands where columns > Self.reach && band.count / columns > Self.reach {
      let rows = band.count / columns
      band.withUnsafeBufferPointer {
        across.add($0, columns, rows: 0..<rows, columns: 0..<columns - Self.reach, step: 1)
        down.add($0, columns, rows: 0..<rows - Self.reach, columns: 0..<columns, step: columns)
      }
    }
    let found = [across, down].map(\.width)
    let scale = Double(Self.referenceSide * factor) / Double(max(longestSide, Self.leastSide))
    let bound = found.compactMap { if case .atLeast(let width) = $0 { width } else { nil } }.max()
    let known = found.compactMap { if case .known(let width) = $0 { width } else { nil } }.max()
    if let known {
      self = .pixels(max(known, bound ?? 0) * scale)
    } else if let bound, bound * scale > Self.leastBound {
      self = .pixels(bound * scale)
    } else {
      let isFlat = found.allSatisfy { if case .flat = $0 { true } else { false } }
      self = .unknown(isFlat ? .flat : .noise)
    }
  }

  /// The width as a cell of a table: the number, or why there is none.
  public var text: String {
    switch self {
    case .pixels(let width): "\(width)"
    case .unknown(let cause): cause.rawValue
    }
  }

  public init?(text: some StringProtocol) {
    if let width = Double(text), width.isFinite, width >= 0 {
      self = .pixels(width)
    } else if let cause = Cause(rawValue: String(text)) {
      self = .unknown(cause)
    } else {
      return nil
    }
  }
}

/// S(1), S(2), S(4) and S(8) of one direction.
private struct StructureSums {
  private var one: Int64 = 0
  private var two: Int64 = 0
  private var four: Int64 = 0
  private var eight: Int64 = 0
  private var levels: Int64 = 0
  private var count: Int64 = 0

  /// In reduced pixels.
  enum Width {
    case flat
    case noise
    case atLeast(Double)
    case known(Double)
  }

  /// - Parameter step: the distance of two neighbors in `gray`; there are eight more behind each of the pixels.
  mutating func add(
    _ gray: UnsafeBufferPointer<UInt8>, _ width: Int, rows: Range<Int>, columns: Range<Int>,
    step: Int
  ) {
    for row in rows {
      // At most 255² per pixel, and at most 1,440 columns, unless a picture is longer than 256 times its measured
      // side, which BlockReduction refuses.
      var (a, b, c, d, level): (UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0)
      let start = row &* width
      for column in columns {
        let at = start &+ column
        let own = Int32(gray[at])
        let (first, second) = (Int32(gray[at &+ step]) &- own, Int32(gray[at &+ 2 &* step]) &- own)
        let (third, fourth) = (
          Int32(gray[at &+ 4 &* step]) &- own, Int32(gray[at &+ 8 &* step]) &- own
        )
        a &+= UInt32(bitPattern: first &* first)
        b &+= UInt32(bitPattern: second &* second)
        c &+= UInt32(bitPattern: third &* third)
        d &+= UInt32(bitPattern: fourth &* fourth)
        level &+= UInt32(bitPattern: own)
      }
      one &+= Int64(a)
      two &+= Int64(b)
      four &+= Int64(c)
      eight &+= Int64(d)
      levels &+= Int64(level)
    }
    count &+= Int64(rows.count &* columns.count)
  }

  var width: Width {
    guard count > 0 else { return .flat }
    let pixels = Double(count)
    let fine = Double(one) / pixels
    let (d1, d2, d3) = (
      Double(two - one) / pixels, Double(four - two) / pixels, Double(eight - four) / pixels
    )
    // Shading of an even wall stays below 1 level² at 128 levels, and changes with the square of the light.
    let light = Double(levels) / pixels / 128
    guard d3 >= max(light * light, 0.1) else { return .flat }
    // White noise of which `fine` is the mean square leaves 0.5 % of it as error of S over 115,000 pixels, an
    // encoder that smooths noise 2 %.
    guard d3 >= fine * max(0.05, 17 / pixels.squareRoot()) else { return .noise }
    // A spectrum mostly falls by the square of the frequency at most (edges), so what y has above 4 is blur. Three
    // times the error of white noise is allowed for.
    let surely = Self.inverse((d2 + 7 * fine / pixels.squareRoot()) / d3)
    let bound = (4 * max(surely - Self.edges, 0) / Self.edgeGrowth).squareRoot()
    // Below that the smallest difference may be that of noise that an encoder smoothed.
    guard d1 >= 0.15 * fine else { return bound > 0 ? .atLeast(bound) : .noise }
    guard d2 > 0 else { return .known(0) }
    let (x, y) = (Self.inverse(d1 / d2), Self.inverse(d2 / d3))
    // With so little noise the finest details tell whether they are sharp, whatever is behind them.
    let least = d1 < 0.5 * fine ? bound : 0
    let power = (4 * y - x) / 3
    let square =
      power > Self.edges
      ? (x - Self.edges) / Self.edgeGrowth : 4 / 3 * (x - y) / (2.5 + 1.34 * max(power, 0))
    return .known(max(max(square, 0).squareRoot(), least))
  }

  /// A of edges.
  private static let edges = 4.0
  /// B of edges, and above that of other spectra as a function of A: fitted to powers of 1.1 to 2 at σ = 1.25, where
  /// it is within 3 %.
  private static let edgeGrowth = 6.14

  /// 1 / (ratio − ¼), at most that of a σ of six reduced pixels.
  private static func inverse(_ ratio: Double) -> Double { 1 / max(ratio - 0.25, 0.005) }
}
