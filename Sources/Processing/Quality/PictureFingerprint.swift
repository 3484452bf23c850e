import Core

/// Numbers by which two pictures are compared without having them: how much their brightness differs, pixel by pixel.
///
/// Each pixel is added to one of `lanes` sums or subtracted from it, by a fixed sequence that looks random (a count
/// sketch: Charikar, Chen and Farach-Colton 2002). The squares of the differences of the sums of two pictures add up to
/// those of their pixels, within about a quarter.
public struct PictureFingerprint: Hashable, Sendable {
  static let lanes = 32
  /// Sums are kept in 64ths of a level of the root mean square.
  private static let parts = 64.0
  /// Number of signed bytes whose sum fits 16 bits.
  private static let pixelsAtOnce = 128
  /// A generator modulo 2^16 with the full period (Knuth 3.2.1.2), of which the highest bit counts.
  private static let factor: UInt16 = 25_173
  private static let summand: UInt16 = 13_849

  private let sums: [Int16]

  /// - Parameter gray: brightness 0…255. Cost: one pass over the bytes.
  init(gray: [UInt8]) {
    var sums = [Int32](repeating: 0, count: Self.lanes)
    var part = [Int16](repeating: 0, count: Self.lanes)
    var states = (0..<Self.lanes).map { UInt16(truncatingIfNeeded: $0 &* 2053 &+ 1) }
    gray.withUnsafeBufferPointer { gray in
      part.withUnsafeMutableBufferPointer { part in
        states.withUnsafeMutableBufferPointer { states in
          var at = 0
          var added = 0
          while at < gray.count {
            let count = min(Self.lanes, gray.count &- at)
            for lane in 0..<count {
              let state = states[lane] &* Self.factor &+ Self.summand
              states[lane] = state
              let sign = Int16(bitPattern: state) &>> 15
              part[lane] &+= (Int16(gray[at &+ lane]) ^ sign) &- sign
            }
            at &+= count
            added &+= 1
            if added == Self.pixelsAtOnce || at == gray.count {
              for lane in 0..<Self.lanes {
                sums[lane] &+= Int32(part[lane])
                part[lane] = 0
              }
              added = 0
            }
          }
        }
      }
    }
    let scale = Self.parts / Double(max(gray.count, 1)).squareRoot()
    self.sums = sums.map { Int16(clamping: Int64((Double($0) * scale).rounded())) }
  }

  /// The root of the mean square difference of brightness, in levels; of pictures of one size.
  public func change(to other: PictureFingerprint) -> Double {
    var squares = 0
    for (a, b) in zip(sums, other.sums) {
      let difference = Int(a) - Int(b)
      squares += difference * difference
    }
    return Double(squares).squareRoot() / Self.parts
  }

  /// The fingerprint as a cell of a table: four hexadecimal digits per sum.
  public var text: String {
    sums.map { UInt16(bitPattern: $0).padded(4, radix: 16) }.joined()
  }

  public init?(text: some StringProtocol) {
    let digits = Array(text.utf8)
    guard digits.count == 4 * Self.lanes else { return nil }
    var sums: [Int16] = []
    for lane in 0..<Self.lanes {
      let cell = String(decoding: digits[4 * lane..<4 * lane + 4], as: UTF8.self)
      guard let bits = UInt16(cell, radix: 16) else { return nil }
      sums.append(Int16(bitPattern: bits))
    }
    self.sums = sums
  }
}

extension [FrameQuality] {
  /// Repeats differ by at most 0.8 levels (root mean square of the reduced picture) after x264 at constant rate factors
  /// of 12 to 28; neighbors in real movies by 5 and more. The fingerprints know it within a quarter.
  private static var mostChange: Double { 1 }
  /// A picture changes by this much less than what the capture usually changes by. At rest on a tripod all pictures
  /// change alike, by their noise.
  private static var leastRatio: Double { 6 }
  /// Degrees by which poses or the gyroscope show that a camera moved between two pictures: half a pixel of 640.
  private static var leastTurn: Double { 0.05 }
  /// The change of a repeat in parts of the root of the sharpness; a move by half a pixel changes three times as much.
  private static var mostChangeOfDetail: Double { 0.1 }

  /// Finds pictures that repeat the one before, as of a camera that froze, also behind an encoder: fills in `duplicateOf`
  /// of all frames, with the first of the pictures that are alike. Rotations must be filled in before. A picture that is exactly as an earlier one repeats it in any case. Even pictures show nothing that could
  /// be repeated.
  public mutating func findRepeats() {
    let shown = indices.filter { index in
      self[index].picture.map { $0.blurWidth != .unknown(.flat) } ?? false
    }
    var changes: [(frame: Int, previous: Int, change: Double)] = []
    for (previous, index) in zip(shown, shown.dropFirst()) {
      guard let before = self[previous].picture, let picture = self[index].picture else {
        continue
      }
      changes.append((index, previous, picture.fingerprint.change(to: before.fingerprint)))
    }
    let sorted = changes.map(\.change).sorted()
    let usual = sorted.isEmpty ? 0 : sorted[sorted.count * 9 / 10]
    var repeated: [Int: Int] = [:]
    for (frame, previous, change) in changes where change <= Self.mostChange {
      if change * Self.leastRatio <= usual
        || Self.hasMoved(self[frame], since: previous, frame, change)
      {
        repeated[frame] = previous
      }
    }
    var known: [PictureFingerprint: Int] = [:]
    for index in shown {
      guard let fingerprint = self[index].picture?.fingerprint else { continue }
      if let earlier = repeated[index] ?? known[fingerprint] {
        self[index].duplicateOf = self[earlier].duplicateOf ?? earlier
      } else {
        known[fingerprint] = index
      }
    }
  }

  /// Whether the camera moved since the picture before, which would have changed the picture by more.
  private static func hasMoved(
    _ frame: FrameQuality, since previous: Int, _ index: Int, _ change: Double
  ) -> Bool {
    let turns = [frame.poseDegrees, frame.gyroscopeDegrees].compactMap(\.self)
    guard previous == index - 1, let sharpness = frame.picture?.sharpness,
      turns.contains(where: { $0 >= leastTurn })
    else { return false }
    return change <= mostChangeOfDetail * sharpness.squareRoot()
  }
}
