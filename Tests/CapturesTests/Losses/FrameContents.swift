@testable import Captures
@testable import Media
@testable import Core
import SystemPackage
@testable import Synthetic

/// What the frames of a capture carry, read as stages read it: by stream and frame a number that stands for
/// the content. Of pictures it is the number drawn into them, of times it is nanoseconds.
struct FrameContents {
  enum Stream: String, CaseIterable {
    case color, depth, confidence, time, colorTime, depthTime, pose, intrinsics
    case exposure, iso, exposureOffset

    var isTime: Bool { [.time, .colorTime, .depthTime].contains(self) }
  }

  private(set) var items: [Stream: [Int: Int]] = [:]
  private(set) var clock: CaptureClock?
  let warnings: [CaptureWarning]
  /// Streams that cannot be read, which is told by an error.
  let errors: [String]

  /// Opens the capture at `path` and decodes it whole.
  init(of path: FilePath) throws {
    let finding = CaptureFinder(.builtIn).find(path)
    guard let found = finding.captures.first else {
      (warnings, errors) = ([], [finding.declined ?? "no capture"])
      return
    }
    let capture: Capture
    do {
      capture = try CaptureRegistry.builtIn.open(found)
    } catch {
      (warnings, errors) = ([], ["\(error)"])
      return
    }
    clock = capture.clock
    warnings = capture.warnings
    errors = capture.errors.map { "\($0.stream): \($0.error)" }
    for (frame, times) in capture.frames.enumerated() {
      items[.time, default: [:]][frame] = (times.timestamp?.nanoseconds).map(Int.init)
      items[.colorTime, default: [:]][frame] = (times.colorTimestamp?.nanoseconds).map(Int.init)
      items[.depthTime, default: [:]][frame] = (times.depthTimestamp?.nanoseconds).map(Int.init)
    }
    for row in capture.poses.value?.rows ?? [] {
      items[.pose, default: [:]][row.frame] = row.pose.hashValue
    }
    for row in capture.intrinsics.value ?? [] {
      items[.intrinsics, default: [:]][row.frame] = [row.fx, row.fy, row.cx, row.cy].hashValue
    }
    for row in capture.cameraSettings.value?.rows ?? [] {
      items[.exposure, default: [:]][row.frame] = row.exposureSeconds?.hashValue
      items[.iso, default: [:]][row.frame] = row.iso?.hashValue
      items[.exposureOffset, default: [:]][row.frame] = row.exposureOffsetEV?.hashValue
    }
    if let color = capture.color.value { items[.color] = try Self.numbers(in: color) }
    items[.depth] = try capture.depth.value.map(Self.pictures)
    items[.confidence] = try capture.confidence.value.map(Self.pictures)
    items = items.filter { !$0.value.isEmpty }
  }

  private static func numbers(in color: ColorStream) throws -> [Int: Int] {
    var numbers: [Int: Int] = [:]
    func add(_ position: Int, _ rgb: [UInt8], width: Int) {
      numbers[color.frameOfPicture.map { $0[position] } ?? position] =
        FrameCode.read(rgb: rgb, width: width)
    }
    switch color.source {
    case .video(let file, let track):
      let decoder = try VideoDecoder(
        file, container: color.description.container, track: track, order: color.order,
        orientation: color.orientation)
      var converter = ColorConverter()
      var rgb: [UInt8] = []
      while let picture = try decoder.next() {
        guard let position = picture.displayIndex else { continue }
        try converter.convert(picture, into: &rgb)
        add(position, rgb, width: picture.width)
      }
    case .stills(let files):
      for (position, file) in files.enumerated() {
        let picture = try StillImage.read(file).picture
        add(position, picture.rgb, width: picture.width)
      }
    case .pictures(let pictures):
      for position in 0..<pictures.count {
        guard let picture = try pictures.decode(position).picture else { continue }
        add(position, picture.rgb, width: picture.width)
      }
    }
    return numbers
  }

  private static func pictures<Pixel: BitwiseCopyable & Sendable>(
    _ stream: PictureStream<Pixel>
  ) throws -> [Int: Int] {
    var contents: [Int: Int] = [:]
    try stream.decode { record, outcome, pixels in
      guard outcome.hasPicture else { return }
      contents[stream.firstFrame + record] = pixels.withUnsafeBytes {
        var hasher = Hasher()
        hasher.combine(bytes: $0)
        return hasher.finalize()
      }
    }
    return contents
  }
}
