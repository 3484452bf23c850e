/// An app family of which captures can be synthesized.
protocol SyntheticFamily: Sendable {
  /// The name as elsewhere in the program: `scannet`.
  static var name: String { get }
  /// The first one is the default.
  static var generations: [String] { get }
  /// Generations with samples of motion sensors.
  static var generationsWithMotion: [String] { get }
  static var faults: [SyntheticFault] { get }
  /// The default capture, described in one line.
  static var about: String { get }
  /// Writes a capture and its truth. Memory grows with the number of frames only by a few numbers
  /// per frame.
  static func write(_ options: SynthesisOptions) throws -> SyntheticCapture
}

/// All families. Synthesizes captures by family name.
public enum SyntheticFamilies {
  static let all: [any SyntheticFamily.Type] = [
    ScanNetFamily.self, ARKitScannerFamily.self, MultiScanFamily.self, VISLAMFamily.self,
    StraboFamily.self, StrayScannerFamily.self, ThreeDScannerAppFamily.self, Record3DFamily.self,
    PolycamFamily.self,
  ]

  /// Names of the families in the order of the help text.
  public static var names: [String] { all.map { $0.name } }

  /// The default family: the first.
  public static let usual = names.first ?? ""

  /// The generations of a family; `nil` when there is no such family.
  public static func generations(of family: String) -> [String]? {
    all.first { $0.name == family }?.generations
  }

  /// The faults that a family knows; `nil` when there is no such family.
  public static func faults(of family: String) -> [SyntheticFault]? {
    all.first { $0.name == family }?.faults
  }

  /// A description of a family's default capture; `nil` when there is no such family.
  public static func about(_ family: String) -> String? {
    all.first { $0.name == family }?.about
  }

  /// Writes a capture and its truth below `options.output`.
  ///
  /// Throws `SynthesisError` for impossible requests, `FileError` and `VideoError` for failed
  /// writes.
  public static func write(
    _ family: String, _ options: SynthesisOptions
  ) throws -> SyntheticCapture {
    guard let chosen = all.first(where: { $0.name == family }) else {
      throw SynthesisError(
        "no family '\(family)'; known: \(names.joined(separator: ", "))")
    }
    if let generation = options.generation, !chosen.generations.contains(generation) {
      throw SynthesisError(
        "no generation '\(generation)' in \(family); known: \(chosen.generations.joined(separator: ", "))"
      )
    }
    try options.check()
    let generation = options.generation ?? chosen.generations.first ?? ""
    if options.imuOffsetSeconds != 0, !chosen.generationsWithMotion.contains(generation) {
      throw SynthesisError(
        "\(family) \(generation) has no motion sensors that an IMU offset could shift")
    }
    return try chosen.write(options)
  }
}

extension SynthesisOptions {
  /// Throws for values that no camera has.
  func check() throws {
    func check(_ what: String, _ value: Double?, _ range: ClosedRange<Double>) throws {
      guard let value, !range.contains(value) else { return }
      func text(_ number: Double) -> String {
        Int(exactly: number).map { "\($0)" } ?? "\(number)"
      }
      throw SynthesisError(
        "\(what) must be \(text(range.lowerBound)) to \(text(range.upperBound)), not \(text(value))"
      )
    }
    try check("the number of frames", frames.map { Double($0) }, 1...1_000_000)
    try check("the rate", rate, 1...240)
    for (what, size) in [
      ("width", width), ("height", height), ("depth width", depthWidth),
      ("depth height", depthHeight),
    ] {
      try check("the \(what)", size.map { Double($0) }, 16...8192)
    }
    // Chroma is stored at half the size.
    for (what, size) in [("width", width), ("height", height)] {
      if let size, size % 2 != 0 { throw SynthesisError("the \(what) must be even") }
    }
    try check("the noise", noise, 0...20)
    try check("the IMU offset", imuOffsetSeconds, -10...10)
    try check("the exposure", exposureSeconds, 0...1)
    try check("the quality", quality.map { Double($0) }, 0...51)
    try check("the number of truth pictures", Double(truthPictures), 0...1_000_000)
    if let id {
      guard !id.isEmpty, !id.contains("/"), id != ".", id != "..", id.utf8.count <= 200 else {
        throw SynthesisError("'\(id)' is no name for a folder")
      }
    }
  }

  var pictureSettings: PictureSettings {
    PictureSettings(
      exposureSeconds: exposureSeconds, noiseSteps: 1.2 * noise, showsFrameCode: showsFrameCode)
  }
}
