/// Compares this program's runs with the least possible work with the same libraries: decoding and
/// conversion in one thread, and writing the same bytes.
public struct FloorFigures: Hashable, Sendable, Codable {
  /// Largest number of cores that the measured runs used.
  var jobs: Int
  /// Number of measured rounds; each has every part and every run once, sequentially.
  public var rounds: Int
  public var stages: [FloorStage] = []
  /// All stages together as one run; `nil` when no stage has a floor.
  public var whole: FloorStage?
  /// Omissions with reasons, and notes about these figures.
  public var notes: [String] = []
}

/// A stage, or all stages, compared with the floor. Ratios and differences are those of medians.
public struct FloorStage: Hashable, Sendable, Codable {
  /// The stage, or `whole`.
  public var name: String
  /// Number of pictures that the run wrote.
  public var frames: Int
  /// Sum over all those pictures.
  var megapixels: Double
  /// Number and size of the files that the run wrote, which were also copied.
  public var files: Int
  public var bytes: Int64
  /// Reading only: decoding the video, or depth records. `nil` if there is nothing to read.
  public var decode: FloorCost?
  /// Decoding and conversion to RGB; only for videos.
  public var convert: FloorCost?
  /// Writing the same bytes.
  public var copy: FloorCost
  /// The whole program, from start to end.
  var ours: FloorCost
  /// Reading (`convert`, if there is one) and writing.
  var floorSeconds: Double
  var floorMillisecondsPerFrame: Double
  /// CPU time as a multiple of the floor; `nil` if the floor is 0.
  var oursByFloor: Double?
  /// CPU time above the floor; `nil` without pixels.
  var aboveFloorMillisecondsPerMegapixel: Double?
  /// CPU time divided by wall time of the run.
  var busyCores: Double

  init(
    name: String, frames: Int, pixels: Int64, files: Int, bytes: Int64, decode: FloorCost?,
    convert: FloorCost?, copy: FloorCost, ours: FloorCost
  ) {
    self.name = name
    self.frames = frames
    megapixels = Double(pixels) / 1e6
    self.files = files
    self.bytes = bytes
    self.decode = decode
    self.convert = convert
    self.copy = copy
    self.ours = ours
    floorSeconds = Self.floor(decode, convert, copy) { $0.median }
    floorMillisecondsPerFrame = frames > 0 ? 1000 * floorSeconds / Double(frames) : 0
    oursByFloor = floorSeconds > 0 ? ours.cpuSeconds.median / floorSeconds : nil
    aboveFloorMillisecondsPerMegapixel =
      megapixels > 0 ? 1000 * (ours.cpuSeconds.median - floorSeconds) / megapixels : nil
    busyCores = ours.cpuSeconds.median / max(ours.wallSeconds.median, 1e-9)
  }

  private static func floor(
    _ decode: FloorCost?, _ convert: FloorCost?, _ copy: FloorCost,
    _ value: (Distribution) -> Double
  ) -> Double {
    ((convert ?? decode).map { value($0.cpuSeconds) } ?? 0) + value(copy.cpuSeconds)
  }

  /// `aboveFloorMillisecondsPerMegapixel` for each round separately, whose runs were adjacent in
  /// time; empty without pixels.
  var aboveFloorMillisecondsPerMegapixelOfRounds: [Double] {
    guard megapixels > 0 else { return [] }
    let read = (convert ?? decode)?.cpuSeconds.samples
    return ours.cpuSeconds.samples.indices.compactMap { round in
      guard copy.cpuSeconds.samples.indices.contains(round),
        read?.indices.contains(round) ?? true
      else { return nil }
      let floor = (read?[round] ?? 0) + copy.cpuSeconds.samples[round]
      return 1000 * (ours.cpuSeconds.samples[round] - floor) / megapixels
    }
  }
}

/// The resources that one part used in all measured rounds.
public struct FloorCost: Hashable, Sendable, Codable {
  /// User and system time.
  public var cpuSeconds: Distribution
  var userSeconds: Distribution
  var systemSeconds: Distribution
  var wallSeconds: Distribution
  /// Median CPU time per picture that the run wrote.
  var cpuMillisecondsPerFrame: Double

  /// `nil` without samples.
  init?(_ samples: [FloorSample], frames: Int) {
    guard let cpu = Distribution(samples.map(\.cpuSeconds)),
      let user = Distribution(samples.map(\.userSeconds)),
      let system = Distribution(samples.map(\.systemSeconds)),
      let wall = Distribution(samples.map(\.wallSeconds))
    else { return nil }
    cpuSeconds = cpu
    userSeconds = user
    systemSeconds = system
    wallSeconds = wall
    cpuMillisecondsPerFrame = frames > 0 ? 1000 * cpu.median / Double(frames) : 0
  }
}
