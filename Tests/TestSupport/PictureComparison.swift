import Core

/// How two aligned pictures agree, as shares.
public struct PictureComparison {
  /// Share of the pixels with a value in both.
  public let equal: Double
  public let within1mm: Double
  public let within5mm: Double
  public let within10mm: Double
  /// Share of all pixels.
  public let firstOnly: Double
  public let secondOnly: Double
  /// Pixels with a value in only one, and pixels with values more than 1 mm apart.
  public let differentCoverage: Int
  public let differentDepth: Int

  public init(_ first: DepthImage, _ second: DepthImage) {
    var counts = [0, 0, 0, 0]
    var both = 0
    var only = [0, 0]
    for (a, b) in zip(first.millimeters, second.millimeters) {
      guard a > 0, b > 0 else {
        if a > 0 { only[0] += 1 } else if b > 0 { only[1] += 1 }
        continue
      }
      both += 1
      let difference = abs(Int(a) - Int(b))
      for (index, limit) in [0, 1, 5, 10].enumerated() where difference <= limit {
        counts[index] += 1
      }
    }
    let pixels = Double(max(first.millimeters.count, 1))
    equal = Self.share(counts[0], of: both)
    within1mm = Self.share(counts[1], of: both)
    within5mm = Self.share(counts[2], of: both)
    within10mm = Self.share(counts[3], of: both)
    firstOnly = Double(only[0]) / pixels
    secondOnly = Double(only[1]) / pixels
    differentCoverage = only[0] + only[1]
    differentDepth = both - counts[1]
  }

  private static func share(_ count: Int, of all: Int) -> Double {
    all == 0 ? 1 : Double(count) / Double(all)
  }
}

/// How an aligned picture agrees with the truth, class by class of the fixtures' masks.
public struct TruthComparison {
  // Class 1, interior.
  public private(set) var within1mm = 0.0
  public private(set) var within5mm = 0.0
  public private(set) var coverage = 0.0
  public private(set) var through = 0.0
  public private(set) var inFront = 0.0
  /// Class 3: wrong values among the values.
  public private(set) var wrongAtEdges = 0.0
  /// Class 4: seen by the color camera only.
  public private(set) var leak = 0.0
  /// Class 5: outside the depth camera's view.
  public private(set) var outside = 0.0

  public init(_ picture: DepthImage, truth: DepthImage, mask: [UInt8], step: (Double) -> Double) {
    var pixels = [Int](repeating: 0, count: 256)
    var values = [Int](repeating: 0, count: 256)
    var (near1, near5, far, close, wrong) = (0, 0, 0, 0, 0)
    for (index, kind) in mask.enumerated() {
      pixels[Int(kind)] += 1
      guard picture.millimeters[index] > 0 else { continue }
      values[Int(kind)] += 1
      let expected = Double(truth.millimeters[index])
      let error = Double(picture.millimeters[index]) - expected
      let gross = max(30, 0.03 * expected)
      if kind == 1 {
        let q = step(expected)
        if abs(error) <= 1 + q / 2 { near1 += 1 }
        if abs(error) <= 5 + q / 2 { near5 += 1 }
        if error > gross + q { far += 1 }
        if -error > gross { close += 1 }
      } else if kind == 3, abs(error) > gross {
        wrong += 1
      }
    }
    func share(_ count: Int, of all: Int) -> Double { all == 0 ? 0 : Double(count) / Double(all) }
    within1mm = share(near1, of: pixels[1])
    within5mm = share(near5, of: pixels[1])
    coverage = share(values[1], of: pixels[1])
    through = share(far, of: pixels[1])
    inFront = share(close, of: pixels[1])
    wrongAtEdges = share(wrong, of: values[3])
    leak = share(values[4], of: pixels[4])
    outside = share(values[5], of: pixels[5])
  }
}
