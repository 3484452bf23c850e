import Media
import Core
import Engine
import Processing

/// Picks one frame from each of `count` windows, as people do to thin a video.
struct FramePicking {
  private let count: Int
  private let isSharpest: Bool

  init(_ parameters: ParameterValues) {
    count = parameters.integer("count") ?? 0
    isSharpest = parameters.text("pick") == "sharpest"
  }

  /// - Returns: the frames, and the number of frames that turned out to have no picture.
  func pick(
    _ frames: [Int], _ source: ExportSource
  ) throws -> (frames: [Int], lost: Int) {
    guard count > 0, !frames.isEmpty else { return (frames, 0) }
    guard isSharpest, count < frames.count else {
      let windows = EvenWindows.windows(of: frames.count, count: count)
      return (windows.map { frames[($0.lowerBound + $0.upperBound - 1) / 2] }, 0)
    }
    if let measure = source.outlook?.sharpness {
      let measured = try measure(Set(frames))
      let found = frames.filter { measured[$0] != nil }
      let best = Self.sharpest(found, found.compactMap { measured[$0] }, count: count)
      return (best, frames.count - found.count)
    }
    let context = source.context
    // In every format by the pixels of color/, even if other pictures are exported.
    let color = try context.inputs["color"].map(ExportPictures.init) ?? source.pictures
    let sharpness = try concurrentMap(count: frames.count, budget: context.budget) { index in
      try context.cancellation.check()
      context.progress.showLife()
      return try Self.sharpness(of: frames[index], color)
    }
    return (Self.sharpest(frames, sharpness, count: count), 0)
  }

  /// The sharpest frame of each window.
  private static func sharpest(
    _ frames: [Int], _ sharpness: [Sharpness], count: Int
  ) -> [Int] {
    EvenWindows.windows(of: frames.count, count: count).map { window in
      // The earliest on a tie.
      let best = window.max { a, b in
        sharpness[a] == sharpness[b] ? a > b : sharpness[a] < sharpness[b]
      }
      return frames[best ?? window.lowerBound]
    }
  }

  private static func sharpness(of frame: Int, _ pictures: ExportPictures?) throws -> Sharpness {
    guard let pictures else { return Sharpness(gray: [], width: 0, height: 0) }
    let picture = try pictures.look(frame)
    var gray: [UInt8] = []
    GrayConversion.gray(fromRGB: picture.rgb, into: &gray)
    return Sharpness(gray: gray, width: picture.width, height: picture.height)
  }
}
