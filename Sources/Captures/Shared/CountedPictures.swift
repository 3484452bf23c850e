import Core
import Media
import SystemPackage

/// The frames of a video's pictures, where the app gives the encoder a frame counter over 60 as the
/// time: no time, but the number of each picture.
struct CountedPictures {
  /// What the other streams tell about the frames.
  struct Partners {
    /// One more than the greatest number of a frame in another stream.
    var length: Int
    /// Number of frames that the pictures should belong to.
    var count: Int
    /// Whether a frame of another stream has the number.
    var has: (Int) -> Bool
  }

  /// Frame of picture k, increasing.
  private(set) var frames: [Int]
  private(set) var way: StreamPairing.Way
  /// Why another pairing may be the right one; `nil` if the numbers prove this one.
  var doubt: String?
  /// By how many frames all pictures may be shifted if the movie was cut at its start: too early by
  /// the frames that are missing at its end, or too late by those that seem to be missing before its
  /// first picture. 0 if the movie shows its own start.
  private(set) var slack = 0

  /// Pictures whose frames something else than a counter tells.
  init(_ frames: [Int], _ way: StreamPairing.Way, doubt: String? = nil) {
    (self.frames, self.way, self.doubt) = (frames, way, doubt)
  }

  /// - Parameters:
  ///   - counters: the counter of each of the `count` pictures, 0 for that of frame 0; `nil` if the
  ///     times are no counters.
  ///   - isFromStart: whether the first picture lies at the movie's time 0 or before it.
  ///   - showsStart: whether the movie has the start that the app gave it.
  ///   - divider: the counter's step from frame to frame; `nil` for the smallest step of the
  ///     pictures, or `rowStep` if that is smaller.
  ///   - rowStep: the step of the counter that the times of rows suggest.
  ///   - copyLacksFirst: whether a copy that was encoded again without its hidden first picture may
  ///     be at hand.
  init(
    _ counters: [Int]?, count: Int, isFromStart: Bool, showsStart: Bool = false, divider: Int?,
    rowStep: Int? = nil, copyLacksFirst: Bool = false, _ partners: Partners
  ) {
    frames = Array(0..<count)
    way = .rank
    guard count > 0 else { return }
    // As many pictures as partners prove nothing where another stream has more frames: both may lack some.
    let byOrder =
      (count == partners.count && count >= partners.length) || partners.length == 0
      ? nil
      : "the times of the pictures do not say which are missing: paired by order, they "
        + LossWords.shifted(partners.length - count)
    guard let counters, StreamKeys.numbers(counters).areOrdered else {
      doubt = byOrder
      return
    }
    let steps = zip(counters.dropFirst(), counters).map { $0 - $1 }
    var step = divider ?? steps.min() ?? max(1, rowStep ?? 1)
    if divider == nil, let rowStep, rowStep > 0, rowStep < step,
      steps.allSatisfy({ $0 % rowStep == 0 })
    {
      step = rowStep
    }
    let isEven = steps.allSatisfy { $0 == steps[0] }
    guard counters.allSatisfy({ ($0 - counters[0]) % step == 0 }) else {
      doubt = byOrder
      return
    }
    let offsets = counters.map { ($0 - counters[0]) / step }
    /// The numbers that begin with `start`, if they are believed.
    func believed(from start: Int) -> [Int]? {
      let numbers = offsets.map { start + $0 }
      let most = NumberedFiles.mostBelieved(records: max(partners.length, count))
      return StreamKeys.numbers(numbers).areBelieved(upTo: most) ? numbers : nil
    }
    func outside(_ numbers: [Int]) -> Int { numbers.count { !partners.has($0) } }
    func take(_ numbers: [Int], _ why: String? = nil) {
      (frames, way, doubt) = (numbers, .number, why)
      let behind = partners.length - 1 - (numbers.last ?? 0)
      if why == nil, divider == nil, rowStep == nil, step > 1, behind > 0 {
        doubt =
          "no times of rows tell the step of the counter: either the last pictures are missing, or the encoder "
          + "lost pictures at even distances; they \(LossWords.shifted(behind))"
      }
      if isFromStart, !showsStart {
        slack = max(0, partners.length - 1 - (numbers.last ?? 0), numbers.first ?? 0)
        if doubt == nil, slack > 0, count == partners.count {
          doubt =
            "as many pictures as they are paired with, and another stream has more frames: either the last pictures "
            + "are missing, or the movie was cut at its start, and all pictures \(LossWords.shifted(slack))"
        }
      }
    }
    let recorded = counters[0] % step == 0 ? believed(from: counters[0] / step) : nil
    let isRank = offsets.last == count - 1
    guard !isEven || !isRank || count == 1 else {
      // Nothing is missing between the first and the last picture.
      if recorded?.first == 0 {
        take(offsets)
      } else if copyLacksFirst, count + 1 == partners.count {
        take(
          offsets.map { $0 + 1 },
          "the video has one picture less than rows and hides none: the encoder lost its first picture, or it "
            + "was encoded again without it; picture k is taken for frame k + 1, and if another one is missing, "
            + "those before it \(LossWords.shifted(1))")
      } else if !isFromStart, let recorded, outside(recorded) <= outside(offsets) {
        take(recorded)
      } else {
        doubt = byOrder
        if doubt == nil, !isFromStart, let first = recorded?.first {
          doubt =
            "there are as many pictures as they are paired with, but the movie begins before its first picture: "
            + "either its first pictures are missing, and the last of the others, or it begins late; paired by order, "
            + "they \(LossWords.shifted(first))"
        }
      }
      return
    }
    guard !isEven || count == 1 else {
      // Every second picture was lost, or the movie was encoded again at a lower rate.
      guard let recorded, count != partners.count, (recorded.last ?? 0) < partners.length else {
        doubt = byOrder
        return
      }
      let step = recorded.count > 1 ? recorded[1] - recorded[0] : 1
      if partners.length - (recorded.last ?? 0) <= step {
        take(recorded)
      } else {
        doubt =
          "either the encoder lost pictures at even distances, or the movie was encoded again at another "
          + "rate: paired by order, they \(LossWords.shifted((recorded.last ?? 0) - (count - 1)))"
      }
      return
    }
    let shifted = believed(from: 0) ?? offsets
    if let recorded, outside(recorded) <= outside(shifted) {
      take(recorded)
    } else if let recorded, recorded != shifted {
      take(shifted)
    } else if believed(from: 0) != nil {
      // The counter does not tell where it began: the end of the recording does, if anything.
      let late = believed(from: max(0, partners.length - 1 - (offsets.last ?? 0)))
      let isOne = late?.first == 1 && copyLacksFirst
      take(
        isOne ? late ?? shifted : shifted,
        "the distances of the pictures are known, the first picture's frame is not: all "
          + LossWords.shifted(max(1, partners.length - 1 - (offsets.last ?? 0))))
    } else {
      doubt = byOrder
    }
  }
}

extension CaptureVideo {
  /// The times of the pictures from the start of the movie, in sixtieths of a second, plus `first`;
  /// `nil` unless all are whole numbers, up to the rounding of a clock of milliseconds.
  func sixtieths(from first: Int) -> [Int]? {
    guard track.presentationTicks.count == track.pictureCount else { return nil }
    let perTick = 60 * Double(track.timeBase.numerator) / Double(track.timeBase.denominator)
    var found: [Int] = []
    found.reserveCapacity(track.pictureCount)
    for tick in track.presentationTicks {
      let (ticks, overflow) = tick.subtractingReportingOverflow(track.startTicks)
      let exact = Double(ticks) * perTick
      guard !overflow, abs(exact) < 1e9, abs(exact - exact.rounded()) <= 0.2 else { return nil }
      found.append(Int(exact.rounded()) + first)
    }
    return found
  }

  /// Whether the first picture is shown when the movie begins, or lies before that.
  var isFromStart: Bool { (track.presentationTicks.first ?? 0) <= track.startTicks }
}

/// Lists of frames in messages.
public enum NumberWords {
  /// Neighbors in `numbers`, each one more than the one before.
  public static func runs(_ numbers: [Int]) -> [ClosedRange<Int>] {
    var runs: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = runs.last, last.upperBound + 1 == number {
        runs[runs.count - 1] = last.lowerBound...number
      } else {
        runs.append(number...number)
      }
    }
    return runs
  }

  /// `9, 10 and 13`; runs of three and more as `5 to 12`; of long lists the first entries.
  static func list(_ numbers: [Int], most: Int = 8) -> String {
    var words = runs(numbers).flatMap { run in
      run.count > 2 ? ["\(run.lowerBound) to \(run.upperBound)"] : run.map { "\($0)" }
    }
    if words.count > most { words = words.prefix(most - 1) + ["further ones"] }
    guard let last = words.popLast() else { return "" }
    return words.isEmpty ? last : words.joined(separator: ", ") + " and " + last
  }
}

/// What a message says of items that are missing at known places.
enum LossWords {
  /// Words for a stream without keys that has `count` items more or less than another.
  static func unplaced(_ count: Int) -> String {
    "nothing recorded says where one is missing, so they are given to frames by their order, and those behind "
      + "the first loss \(shifted(count))"
  }

  /// `may be shifted by up to 3 frames`.
  static func shifted(_ count: Int) -> String {
    "may be shifted by up to \(Plural.text(abs(count), "frame"))"
  }

  /// Words for pictures that are missing at the end of a movie whose own start is not known; empty for 0.
  static func startCut(_ slack: Int) -> String {
    slack > 0 ? "; if the movie was cut at its start instead, all pictures \(shifted(slack))" : ""
  }

  /// `; frames 9, 10 and 13 have none, all others are at their places`; empty if none is missing.
  static func without(_ missing: [Int]) -> String {
    guard let first = missing.first else { return "" }
    let frames =
      missing.count == 1 ? "frame \(first) has" : "frames \(NumberWords.list(missing)) have"
    return "; \(frames) none, all others are at their places"
  }

  /// `pictures 9, 10 and 13 were lost by the encoder; all others are at their places`; `nil` if none
  /// is missing. Of what is missing at an end the cause is not known.
  static func pictures(_ missing: [Int], of count: Int, _ noun: String = "picture") -> String? {
    guard !missing.isEmpty else { return nil }
    let start = missing.enumerated().prefix { $0.offset == $0.element }.count
    let end =
      start == missing.count
      ? 0 : missing.reversed().enumerated().prefix { count - 1 - $0.offset == $0.element }.count
    func part(_ numbers: some Collection<Int>, _ one: String, _ many: String) -> String? {
      let list = Array(numbers)
      guard let first = list.first else { return nil }
      return list.count == 1
        ? "\(noun) \(first) \(one)" : "\(noun)s \(NumberWords.list(list)) \(many)"
    }
    let parts = [
      part(missing.prefix(start), "is missing at the start", "are missing at the start"),
      part(
        missing.dropFirst(start).dropLast(end), "was lost by the encoder",
        "were lost by the encoder"),
      part(missing.suffix(end), "is missing at the end", "are missing at the end"),
    ]
    return parts.compactMap(\.self).joined(separator: ", ") + "; all others are at their places"
  }
}

/// The video of a capture: its pictures are counted and timed, but not decoded.
struct CaptureVideo {
  let path: FilePath
  let track: VideoTrack
  /// Number of further video tracks, which are not read.
  let otherTracks: Int
  /// Whether the file ends before its own index says. Always false for bare streams, which have no
  /// index.
  let endsEarly: Bool

  /// The assumed rate of a bare stream, which has no times.
  private static let nominalRateHz: Int64 = 30

  /// Indexes the file. Cost: reads its index; for a bare stream, one scan for start codes.
  ///
  /// - Parameters:
  ///   - container: the kind of file; by default detected by content.
  ///   - statedCounts: picture counts in side files.
  ///   - ignoresEditList: whether pictures that an edit list hides belong to the recording.
  ///   - choice: chooses the track to read among all video tracks; by default the first.
  /// - Throws: an error for a file that cannot be indexed. `nil` if no track was chosen.
  init?(
    _ path: FilePath, container: VideoContainer = .any, statedCounts: Set<Int> = [],
    ignoresEditList: Bool = false,
    choosing choice: ([VideoTrack]) -> VideoTrack? = \.first
  ) throws(CaptureError) {
    do throws(VideoError) {
      let index = try VideoIndex.read(
        path, container: container, statedCounts: statedCounts, ignoresEditList: ignoresEditList)
      guard let track = choice(index.tracks) else { return nil }
      self.path = path
      self.track = track
      otherTracks = index.tracks.count - 1
      endsEarly = index.endsEarly
    } catch {
      throw CaptureError(error)
    }
  }

  /// Name inside the capture's folder.
  var name: String { path.shownName }
  var pictureCount: Int { track.pictureCount }

  /// Display times in nanoseconds from the first picture, in display order; at the nominal rate if
  /// the file has no times. `Int64.max` for times beyond 292 years.
  var pictureNanoseconds: [Int64] {
    guard let first = ticks.first else { return [] }
    return ticks.map { timeBase.nanoseconds(ofTicks: $0 &- first) ?? .max }
  }

  /// The resolution of these times, in nanoseconds.
  var tickNanoseconds: Int64 { timeBase.nanoseconds(ofTicks: 1) ?? .max / 4 }

  private var isTimed: Bool { track.presentationTicks.count == track.pictureCount }
  private var ticks: [Int64] {
    isTimed ? track.presentationTicks : (0..<track.pictureCount).map(Int64.init)
  }
  private var timeBase: VideoTimeBase {
    isTimed ? track.timeBase : VideoTimeBase(denominator: Self.nominalRateHz)
  }

  /// The description from header and index; the family adds times.
  func description(declaredFrames: Int? = nil) -> StreamDescription {
    var description = StreamDescription(
      file: name, encoding: track.encoding, width: track.uprightWidth, height: track.uprightHeight,
      frames: track.pictureCount, declaredFrames: declaredFrames)
    description.color = track.color
    return description
  }

  /// - Parameter framesOfPictures: by default picture k is frame k.
  func stream(_ description: StreamDescription, framesOfPictures: [Int]? = nil) -> ColorStream {
    ColorStream(
      source: .video(path, track: track.number), description: description,
      clockwiseQuarterTurns: track.orientation.clockwiseQuarterTurns,
      frameOfPicture: framesOfPictures.flatMap { $0.elementsEqual($0.indices) ? nil : $0 },
      order: track.order, isMirrored: track.orientation.isMirrored)
  }
}
