import Core

extension DepthFilters {
  /// Removes pixels whose confidence is below `minimum`.
  static func removeUncertain(
    _ stored: DepthImage, _ confidence: GrayImage, below minimum: Int,
    from output: inout DepthImage
  ) throws(DepthFilterError) {
    try check(stored, PictureSize(width: confidence.width, height: confidence.height))
    for index in stored.millimeters.indices where Int(confidence.values[index]) < minimum {
      output.millimeters[index] = 0
    }
  }

  /// Removes pixels outside a closed range of millimeters.
  static func removeOutside(
    _ range: ClosedRange<Double>, _ stored: DepthImage, from output: inout DepthImage
  ) {
    for (index, z) in stored.millimeters.enumerated() where !range.contains(Double(z)) {
      output.millimeters[index] = 0
    }
  }

  /// Removes pixels that differ from the previous frame by more than `limit` millimeters. A pixel
  /// without a previous measurement is kept.
  static func removeChanged(
    _ stored: DepthImage, since previous: DepthImage, by limit: Double,
    from output: inout DepthImage
  ) throws(DepthFilterError) {
    try check(stored, PictureSize(width: previous.width, height: previous.height))
    for index in stored.millimeters.indices {
      let before = previous.millimeters[index]
      guard before != 0 else { continue }
      let change = abs(Int(stored.millimeters[index]) - Int(before))
      if Double(change) > limit { output.millimeters[index] = 0 }
    }
  }

  private static func check(
    _ stored: DepthImage, _ other: PictureSize
  ) throws(DepthFilterError) {
    let depth = PictureSize(width: stored.width, height: stored.height)
    guard depth == other else { throw .sizeMismatch(depth: depth, other: other) }
  }
}
