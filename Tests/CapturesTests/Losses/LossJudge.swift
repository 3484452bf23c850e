@testable import Captures

/// What became of the frames of a capture that lost some of its items.
struct LossVerdict {
  /// Frames whose streams are all there and of one moment.
  var right = 0
  /// Frames of one moment that lack something, and the capture says so.
  var absentAndTold = 0
  /// Frames whose streams are of several moments, within the bounds that a warning tells.
  var shiftedAndTold = 0
  /// Frames that lack something in silence.
  var absentInSilence = 0
  /// Frames whose streams are of several moments although keys would tell, or further apart than is told.
  var wrong = 0
  /// Frames whose streams are of several moments, in silence.
  var shiftedInSilence = 0
  /// Sentences about what must not be.
  var complaints: [String] = []

  static func += (sum: inout LossVerdict, other: LossVerdict) {
    sum.right += other.right
    sum.absentAndTold += other.absentAndTold
    sum.shiftedAndTold += other.shiftedAndTold
    sum.absentInSilence += other.absentInSilence
    sum.wrong += other.wrong
    sum.shiftedInSilence += other.shiftedInSilence
    sum.complaints += other.complaints
  }

  var counts: [Int] {
    [right, absentAndTold, shiftedAndTold, absentInSilence, wrong, shiftedInSilence]
  }
}

/// Compares a capture that lost items with the whole one, by content: a frame is right when all that it
/// carries is carried by one frame of the whole capture, whatever that frame's number is.
struct LossJudge {
  let whole: FrameContents
  /// Frames of the whole capture by content.
  private let frames: [FrameContents.Stream: [Int: Set<Int>]]
  /// Milliseconds from frame to frame.
  private let period: Double

  init(_ whole: FrameContents) {
    self.whole = whole
    frames = whole.items.mapValues { items in
      items.reduce(into: [:]) { $0[$1.value, default: []].insert($1.key) }
    }
    let times = (whole.items[.time] ?? [:]).values.sorted()
    let steps = zip(times.dropFirst(), times).map { $0 - $1 }.sorted()
    period = steps.isEmpty ? 16.7 : Double(steps[steps.count / 2]) / 1e6
  }

  /// - Parameters:
  ///   - lost: frames of which an item was taken out.
  ///   - isKeyed: whether the streams carry what tells where items are missing.
  ///   - mayBeWithout: streams that the family's versions need not have.
  ///   - isBounded: whether what is left tells by how much streams may be shifted.
  func judge(
    _ left: FrameContents, lost: Set<Int>, isKeyed: Bool,
    mayBeWithout: Set<FrameContents.Stream> = [], isBounded: Bool = true
  ) -> LossVerdict {
    var verdict = LossVerdict()
    let approximate = left.warnings.filter {
      $0.code == .pairingApproximate || $0.message.contains("may be shifted")
    }
    let bound =
      approximate.compactMap { mostFrames($0.message) }.max() ?? (isBounded ? 0 : .infinity)
    // Times of another clock say nothing about those of the whole capture.
    let sharesClock = left.clock == whole.clock
    let tells = !left.errors.isEmpty || left.warnings.contains { Self.loss.contains($0.code) }
    var shown: [FrameContents.Stream: Set<Int>] = [:]
    for frame in Set(left.items.values.flatMap(\.keys)).sorted() {
      var candidates: [(stream: FrameContents.Stream, frames: Set<Int>)] = []
      for stream in FrameContents.Stream.allCases {
        guard let item = left.items[stream]?[frame], sharesClock || !stream.isTime else { continue }
        let of = matches(item, stream)
        // A picture without a row has the time at which it is told to be, up to the bound.
        if of.isEmpty, stream.isTime, !approximate.isEmpty { continue }
        candidates.append((stream, of))
      }
      if let strange = candidates.first(where: { $0.frames.isEmpty }) {
        verdict.wrong += 1
        verdict.complaints.append("frame \(frame): \(strange.stream) is of no frame")
        continue
      }
      let common = candidates.dropFirst().reduce(candidates.first?.frames ?? []) {
        $0.intersection($1.frames)
      }
      guard common.isEmpty else {
        let expected = whole.items.filter { $0.value.keys.contains(where: common.contains) }
        let lacking = expected.keys.filter {
          !mayBeWithout.contains($0) && left.items[$0]?[frame] == nil
        }
        if lacking.isEmpty {
          verdict.right += 1
        } else if tells {
          verdict.absentAndTold += 1
        } else {
          verdict.absentInSilence += 1
          verdict.complaints.append("frame \(frame) lacks \(lacking) in silence")
        }
        for (stream, of) in candidates where of.count == 1 && !stream.isTime {
          let isNew = shown[stream, default: []].isDisjoint(with: of)
          if !isNew, approximate.isEmpty {
            verdict.complaints.append("frame \(frame) repeats \(stream)")
          }
          shown[stream, default: []].formUnion(of)
        }
        continue
      }
      let text = candidates.map { "\($0.stream) of \($0.frames.min() ?? -1)" }
        .joined(separator: ", ")
      let shift = self.shift(candidates.map(\.frames))
      if approximate.isEmpty {
        verdict.shiftedInSilence += 1
        verdict.complaints.append("frame \(frame) in silence: \(text)")
      } else if isKeyed {
        verdict.wrong += 1
        verdict.complaints.append("frame \(frame) despite keys: \(text)")
      } else if Double(shift) > bound {
        verdict.wrong += 1
        verdict.complaints.append("frame \(frame) off by more than the \(bound) told: \(text)")
      } else {
        verdict.shiftedAndTold += 1
      }
      for (stream, of) in candidates where of.count == 1 {
        shown[stream, default: []].formUnion(of)
      }
    }
    for stream in FrameContents.Stream.allCases where !stream.isTime {
      guard left.items[stream] != nil, let all = frames[stream] else { continue }
      let gone = all.values.filter { $0.count == 1 }.flatMap(\.self).filter {
        !lost.contains($0) && (stream != .intrinsics || $0 > 0)
          && !shown[stream, default: []].contains($0)
      }
      guard !gone.isEmpty else { continue }
      if tells { continue }
      verdict.absentInSilence += gone.count
      verdict.complaints.append("\(stream) of \(gone.sorted()) is nowhere")
    }
    return verdict
  }

  /// Complaints about a message that names other pictures than those that are lost.
  func misnamed(_ left: FrameContents, lost: Set<Int>) -> [String] {
    let texts = left.warnings.filter { $0.code == .frameCountMismatch }.map(\.message)
    let naming = /pictures? (?<list>[0-9][0-9 ,andto]*) (?:is|are|was|were) (?:missing|lost)/
    var named: Set<Int> = []
    for text in texts {
      for match in text.matches(of: naming) {
        for run in match.list.split(separator: #/, | and /#) {
          let ends = run.split(separator: " to ").compactMap { Int($0) }
          if let first = ends.first, let last = ends.last, first <= last {
            named.formUnion(first...last)
          }
        }
      }
    }
    guard !named.isEmpty, named != lost else { return [] }
    return ["names \(named.sorted()), lost are \(lost.sorted())"]
  }

  private func matches(_ item: Int, _ stream: FrameContents.Stream) -> Set<Int> {
    // The first camera stands in where a frame's own is not recorded.
    if stream == .intrinsics, item == whole.items[.intrinsics]?[0] {
      return Set(whole.items[.intrinsics, default: [:]].keys)
    }
    if let exact = frames[stream]?[item] ?? (stream.isTime ? frames[.time]?[item] : nil) {
      return exact
    }
    // The time of a picture without entry is known as well as videos tell times.
    guard stream.isTime, let all = frames[.time] else { return [] }
    return all.filter { abs($0.key - item) <= 4_000_000 }.values.reduce([]) { $0.union($1) }
  }

  /// How far apart the frames are that the streams of one frame are of.
  private func shift(_ sets: [Set<Int>]) -> Int {
    var most = 0
    for (index, first) in sets.enumerated() {
      for second in sets[(index + 1)...] {
        let nearest = first.flatMap { a in second.map { b in abs(a - b) } }.min() ?? 0
        most = max(most, nearest)
      }
    }
    return most
  }

  /// The bound that a message tells, in frames.
  private func mostFrames(_ message: String) -> Double? {
    message.matches(of: /(?:up to|off by) (?<number>[0-9]+(\.[0-9]+)?|one) (?<unit>ms|s|[a-z]+)/)
      .compactMap {
        let number = $0.number == "one" ? 1 : Double($0.number) ?? 0
        return switch $0.unit {
        case "ms": (number / period).rounded(.up)
        case "s": (number * 1000 / period).rounded(.up)
        default: number
        }
      }.max()
  }

  /// Codes that tell of something that is not there.
  private static let loss: Set<WarningCode> = [
    .frameCountMismatch, .colorShorterThanDepth, .depthShorterThanColor, .missingFile, .missingKey,
    .timestampsMissing, .calibrationMissing, .imuMissing, .confidenceMissing, .pairingApproximate,
    .truncatedStream, .frameGap, .corruptRecord, .trailingData,
  ]
}
