import Media
import Core
import Processing

/// Something whose time is taken.
protocol Subject {
  var name: String { get }
  /// Beside the times, after the last round.
  var note: String { get }
  mutating func work(_ frame: DepthImage) throws
}

struct AlignmentSubject: Subject {
  let name: String
  private let aligner: DepthAligner
  private var scratch = AlignmentScratch()
  private var output: [UInt16] = []

  init(surface: AlignmentParameters.Surface, hasLenses: Bool) throws {
    name = "align \(surface.rawValue)" + (hasLenses ? ", both lenses distorted" : "")
    aligner = try DepthAligner(
      calibration: BenchmarkScene.calibration(hasLenses: hasLenses),
      parameters: AlignmentParameters(surface: surface))
  }

  var note: String { "\(100 * output.count { $0 > 0 } / max(1, output.count)) % of the grid" }

  mutating func work(_ frame: DepthImage) throws {
    try aligner.align(frame.millimeters, scratch: &scratch, into: &output)
  }
}

/// Color into the depth camera: alignment, then sampling.
struct ColorSubject: Subject {
  let name = "color into the depth camera (with alignment)"
  var note: String { "" }
  private let sampler: ColorSampler
  private let color = BenchmarkScene.color()
  private var scratch = ColorSamplerScratch()
  private var picture = ColorImage(width: 0, height: 0)
  private var mask = GrayImage(width: 0, height: 0, values: [])

  init() throws {
    sampler = try ColorSampler(calibration: BenchmarkScene.calibration(hasLenses: false))
  }

  mutating func work(_ frame: DepthImage) throws {
    try sampler.sample(
      color, for: frame.millimeters.span, scratch: &scratch, into: &picture, mask: &mask)
  }
}

/// Aligned depth of the benchmark's frames, so that encoders alone are timed.
enum AlignedFrames {
  static func all() throws -> [DepthImage] {
    let aligner = try DepthAligner(calibration: BenchmarkScene.calibration(hasLenses: false))
    let grid = aligner.outputIntrinsics
    return try (0..<BenchmarkScene.count).map { seed in
      var scratch = AlignmentScratch()
      var output: [UInt16] = []
      try aligner.align(
        BenchmarkScene.frame(seed: UInt64(seed)).millimeters, scratch: &scratch, into: &output)
      return DepthImage(width: grid.width, height: grid.height, millimeters: output)
    }
  }
}

struct PNGSubject: Subject {
  let name: String
  private let aligned: [DepthImage]
  private var next = 0
  private var writer: PNGWriter
  private var file: [UInt8] = []
  private var bytes = 0
  private var files = 0

  init(compression: PNGCompression) throws {
    name = "PNG of aligned depth, \(compression.rawValue)"
    aligned = try AlignedFrames.all()
    writer = PNGWriter(compression: compression)
  }

  var note: String { "\(bytes / max(1, files) / 1024) KiB a file" }

  mutating func work(_ frame: DepthImage) throws {
    let image = aligned[next % aligned.count]
    next += 1
    try writer.encode(
      gray16: image.millimeters, width: image.width, height: image.height, into: &file)
    bytes += file.count
    files += 1
  }
}
