import Captures
import Engine
import Processing

/// How the pictures of a capture are divided into groups, of each of which one is picked.
///
/// Where the groups are known before any picture is decoded, pictures may get lost without moving the
/// borders of groups. Where pictures must be compared the borders are found while they are decoded.
struct PickPlan {
  /// A group begins at this frame.
  typealias Start = (frame: Int, begun: PickMeans)

  private enum Groups {
    case known([Start])
    case byPictures(MotionGrouping)
  }

  /// The frames of which some are picked, ascending.
  let frames: [Int]
  private let way: PickParameters.Way
  private let maximum: Int?
  private let motion: FrameMotion?
  /// How many groups there were before they were joined to `maximum`; `nil` if they were not.
  private var joined: Int?
  private var groups: Groups
  /// Index of the group of the last frame that was taken; -1 before the first.
  private var position = -1
  /// How many frames were compared by each means.
  private var compared: [PickMeans: Int] = [:]
  /// Why better means were not used, one reason each.
  private let reasons: [String]

  /// `nil` if no picture is looked at for it: all are written, or evenly spread ones.
  ///
  /// - Parameter frames: of the counted pictures, in any order.
  ///
  /// Cost: a pass over the frames and, with `motion`, over the gyroscope.
  init?(_ context: StageContext, _ frames: [Int], _ selection: FrameSelection) {
    let values = context.parameters
    way = values[PickParameters.pick]
    guard way != .even else { return nil }
    self.frames = frames.filter(selection.contains).sorted()
    maximum = values[PickParameters.count]
    if way == .sharpest {
      motion = nil
      reasons = []
      let frames = self.frames
      groups = .known(
        evenWindows(of: frames.count, count: maximum ?? frames.count).map {
          (frames[$0.lowerBound], $0.lowerBound == 0 ? .start : .count)
        })
      return
    }
    let (motion, reasons) = Self.motion(of: context.capture)
    self.motion = motion
    self.reasons = reasons
    let grouping = MotionGrouping(
      motion,
      MotionGrouping.Limits(
        degrees: values[PickParameters.angle], meters: values[PickParameters.distance],
        levels: PickParameters.changeLevels))
    groups = .byPictures(grouping)
    var tried = grouping
    var starts: [Start] = []
    for frame in self.frames {
      switch tried.take(frame, nil) {
      case .needsPicture: return
      case .begins(let means): starts.append((frame, means))
      case .stays: continue
      }
    }
    compared = tried.compared
    setKnown(starts)
  }

  private static func motion(of capture: Capture) -> (FrameMotion, reasons: [String]) {
    var reasons: [String] = []
    switch capture.poses {
    case .present(let stream):
      if stream.rows.isEmpty { reasons.append("no frame has a pose") }
    case .absent(let why): reasons.append("no poses: \(why)")
    case .unreadable(let error): reasons.append("poses cannot be read: \(error.description)")
    }
    var gyroscope: GyroscopeRotation?
    switch capture.imu {
    case .present(let stream):
      if !capture.framesShareIMUClock {
        reasons.append("no gyroscope: its clock is not that of the frames")
      } else {
        gyroscope = MotionQuality.gyroscope(stream)
        if gyroscope == nil { reasons.append("no gyroscope among the sensors") }
      }
    case .absent(let why): reasons.append("no gyroscope: \(why)")
    case .unreadable(let error): reasons.append("gyroscope cannot be read: \(error.description)")
    }
    let motion = FrameMotion(
      poses: capture.posesByFrame, times: capture.frames.map(\.timestamp), gyroscope: gyroscope)
    return (motion, reasons)
  }

  /// Whether all pictures must be decoded and compared before any can be picked, because only then it is
  /// known which groups are joined.
  var needsScan: Bool { comparesPictures && maximum != nil }

  /// Whether pictures tell where groups begin.
  var comparesPictures: Bool {
    if case .byPictures = groups { true } else { false }
  }

  /// The plan with the groups that a scan has found.
  func scanned(_ scan: PickPlan, _ starts: [Start]) -> PickPlan {
    var plan = self
    plan.compared = scan.comparedSoFar
    plan.setKnown(starts)
    return plan
  }

  private mutating func setKnown(_ starts: [Start]) {
    guard let maximum, maximum < starts.count else {
      groups = .known(starts)
      return
    }
    joined = starts.count
    groups = .known(
      evenWindows(of: starts.count, count: maximum).map { starts[$0.lowerBound] })
  }

  /// Takes the next frame that has a picture, in order. Returns the means that began a group with it;
  /// `nil` if it belongs to the group of the frame before.
  ///
  /// - Parameter outline: of its picture; `nil` if there is none, or if groups are known without.
  mutating func take(_ frame: Int, _ outline: PictureOutline?) -> PickMeans? {
    switch groups {
    case .known(let starts):
      let before = position
      while position + 1 < starts.count, starts[position + 1].frame <= frame { position += 1 }
      return position == before ? nil : starts[position].begun
    case .byPictures(var grouping):
      let step = grouping.take(frame, outline)
      groups = .byPictures(grouping)
      if case .begins(let means) = step { return means }
      return nil
    }
  }

  /// How good a frame is, given what its picture shows.
  func rank(_ frame: Int, isWhole: Bool, _ sharpness: Sharpness) -> FrameRank {
    FrameRank(
      isWhole: isWhole,
      isPlaced: motion.map { !$0.hasPoses || $0.hasPose(frame) } ?? true, sharpness: sharpness)
  }

  private var comparedSoFar: [PickMeans: Int] {
    if case .byPictures(let grouping) = groups { grouping.compared } else { compared }
  }

  /// Facts for the record where the middle one of each group of all `count` frames is taken.
  static func factsOfEven(_ count: Int) -> [String: JSONValue] {
    ["of": .integer(Int64(count)), "means": .string(byNumber)]
  }

  private static let byNumber = "by number"

  /// Facts for the record.
  ///
  /// - Parameter picked: number of picked frames.
  func facts(picked: Int) -> [String: JSONValue] {
    let compared = comparedSoFar
    var facts: [String: JSONValue] = [
      "of": .integer(Int64(frames.count)), "means": .string(text(compared)),
    ]
    if way == .motion {
      facts["comparedBy"] = .object(
        Dictionary(
          uniqueKeysWithValues: compared.map { ($0.key.rawValue, .integer(Int64($0.value))) }))
    }
    if let joined { facts["groupsBeforeMaximum"] = .integer(Int64(joined)) }
    if case .known(let starts) = groups, starts.count > picked {
      facts["groupsWithoutPicture"] = .integer(Int64(starts.count - picked))
    }
    return facts
  }

  /// `by poses`, `by the gyroscope (no poses: the family records no poses)`.
  private func text(_ compared: [PickMeans: Int]) -> String {
    guard way == .motion else { return Self.byNumber }
    let words: [(means: PickMeans, words: String)] = [
      (.poses, "poses"), (.gyroscope, "the gyroscope"), (.pictures, "the change between pictures"),
    ]
    let used = words.filter { compared[$0.means, default: 0] > 0 }
    guard let worst = used.last else { return "by nothing: there are fewer than two pictures" }
    let all =
      "by "
      + (used.count == 1
        ? used[0].words
        : used.map { "\($0.words) (\(compared[$0.means, default: 0]) frames)" }
          .joined(separator: " and "))
    var why = reasons
    if worst.means == .gyroscope { why.removeAll { $0.hasPrefix("no gyroscope") } }
    if used.count > 1 { why.append("not every frame is covered by the better means") }
    return worst.means == .poses || why.isEmpty ? all : "\(all): \(why.joined(separator: "; "))"
  }
}
