import Codecs
import Geometry
import Parallel
import Pipeline
import Processing

/// One frame of each of `count` windows: how people thin a video by hand.
struct FramePicking {
  private let count: Int
  private let isSharpest: Bool

  init(_ parameters: ParameterValues) {
    count = parameters.integer("count") ?? 0
    isSharpest = parameters.text("pick") == "sharpest"
  }

  /// Of m frames, window k reaches from ⌊k·m/count⌋ to ⌊(k+1)·m/count⌋ - 1; windows without frames (more of
  /// them than frames) give none.
  static func windows(of m: Int, count: Int) -> [Range<Int>] {
    // A window for each frame at most: more would only be empty.
    guard count < m else { return (0..<m).map { $0..<$0 + 1 } }
    return (0..<count).map { k in
      // k·m may leave 64 bits for absurd counts only, which are above m.
      (k * m / count)..<((k + 1) * m / count)
    }
  }

  /// - Returns: the frames, and how many turned out to have no picture when they were looked at.
  func pick(
    _ frames: [Int], _ source: ExportSource
  ) throws -> (frames: [Int], lost: Int) {
    guard count > 0, !frames.isEmpty else { return (frames, 0) }
    guard isSharpest, count < frames.count else {
      let windows = Self.windows(of: frames.count, count: count)
      return (windows.map { frames[($0.lowerBound + $0.upperBound - 1) / 2] }, 0)
    }
    if let measure = source.outlook?.sharpness {
      let measured = try measure(Set(frames))
      let found = frames.filter { measured[$0] != nil }
      let best = Self.sharpest(found, found.compactMap { measured[$0] }, count: count)
      return (best, frames.count - found.count)
    }
    let context = source.context
    // Of the pixels of color/ in every format, also where its pictures are exported as something else.
    let color = try context.inputs["color"].map(ExportPictures.init) ?? source.pictures
    let sharpness = try concurrentMap(count: frames.count, budget: context.budget) { index in
      try context.cancellation.check()
      context.progress.showLife()
      return try Self.sharpness(of: frames[index], color)
    }
    return (Self.sharpest(frames, sharpness, count: count), 0)
  }

  /// Of each window the sharpest.
  private static func sharpest(
    _ frames: [Int], _ sharpness: [Sharpness], count: Int
  ) -> [Int] {
    windows(of: frames.count, count: count).map { window in
      // The earliest on a tie.
      let best = window.max { a, b in
        sharpness[a] == sharpness[b] ? a > b : sharpness[a] < sharpness[b]
      }
      return frames[best ?? window.lowerBound]
    }
  }

  private static func sharpness(of frame: Int, _ pictures: ExportPictures?) throws -> Sharpness {
    guard let pictures else { return Sharpness(gray: [], width: 0, height: 0) }
    let picture = try pictures.color(frame)
    var gray: [UInt8] = []
    GrayConversion.gray(fromRGB: picture.rgb, into: &gray)
    return Sharpness(gray: gray, width: picture.width, height: picture.height)
  }
}
