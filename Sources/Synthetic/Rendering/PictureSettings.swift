/// The degradation that a color camera adds.
struct PictureSettings: Hashable, Sendable, Codable {
  /// Exposure time in seconds; 0 = no motion blur.
  var exposureSeconds: Double = 1.0 / 60
  /// Deviation of the noise of a mid-gray pixel, in steps of 8 bits; 0 = none. A phone indoors has about
  /// 3 before its own processing and 1 after it.
  var noiseSteps: Double = 1.2
  /// Whether the top eighth of each picture shows the frame's number as sixteen black or white
  /// blocks, the most significant bit left.
  var showsFrameCode: Bool = false
}
