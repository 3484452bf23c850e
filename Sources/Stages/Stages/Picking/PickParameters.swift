import Captures
import Core
import Engine
import Media
import Processing

/// Parameters that several stages share.
enum CommonParameters {
  static let compression = Parameter(
    "compression", .choice(), default: PNGCompression.fast,
    "How PNG files are compressed: the same pixels, but different size and speed. fastest differs "
      + "from fast for color alone.")

  static let every = Parameter(
    "every", .integer(1...Int.max), default: 1, "Only frames whose index is a multiple of this.")
  static let first = Parameter(
    "first", .integer(0...Int.max), default: 0, "The first frame, by index.")
  static let last = Parameter("last", .integer(0...Int.max), "The last frame, by index, inclusive.")
  /// Selects frames by canonical index.
  static let selection = ParameterDescription.list(every, first, last)

  private static let colorEvery = followed(every)
  private static let colorFirst = followed(first)
  private static let colorLast = followed(last)
  /// Parameters of stages that follow the stage `color`.
  static let followed = ParameterDescription.list(colorEvery, colorFirst, colorLast)

  private static func followed<Value>(_ own: Parameter<Value>) -> Parameter<Value> {
    own.following(PickParameters.colorStage, ": no other frames are made.").added()
  }

  static func selection(_ parameters: ParameterValues) -> FrameSelection {
    FrameSelection(every: parameters[every], first: parameters[first], last: parameters[last])
  }

  /// The selected ones of `frames`: where the stage `color` is followed, of those that it selects.
  static func selected<Frames: Sequence<Int>>(
    _ frames: Frames, _ values: ParameterValues
  ) -> LazyFilterSequence<Frames> {
    let own = selection(values)
    let color = FrameSelection(
      every: values[colorEvery], first: values[colorFirst], last: values[colorLast])
    return frames.lazy.filter { own.contains($0) && color.contains($0) }
  }

  /// Why a selection leaves no frame of the capture, before anything is read; `nil`: it may leave some.
  static func nothingLeft(
    _ stage: StageDefinition, _ capture: CaptureSummary
  ) -> CaptureWarning? {
    nothingLeft(stage.name, stage.parameters, of: 0..<capture.frameCount)
  }

  /// Why a selection leaves none of `frames`; `nil`: it leaves some, or there are none. Cost: up to the first that is
  /// left.
  static func nothingLeft(
    _ stage: String, _ values: ParameterValues, of frames: some Collection<Int>
  ) -> CaptureWarning? {
    guard !selected(frames, values).contains(where: { _ in true }), let first = frames.min(),
      let last = frames.max()
    else { return nil }
    let number = Plural.text(frames.count, "frame")
    return CaptureWarning(
      .nothingLeft, stage, count: frames.count,
      "no frame is left: \(sentence(stage, values)), "
        + (first == 0 && last == frames.count - 1
          ? "the capture has \(number)" : "there are \(number), from \(first) to \(last)"))
  }

  /// The selection as it is set: `color.every is 3 and color.first is 7`.
  static func sentence(_ stage: String, _ values: ParameterValues) -> String {
    (selection.map { ($0, "\(stage).\($0.name)") }
      + zip(followed, selection).map { ($0, "\(PickParameters.colorStage).\($1.name)") })
      .compactMap { parameter, name in
        values[parameter.name].flatMap {
          $0 == parameter.standard ? nil : "\(name) is \($0.text)"
        }
      }.joined(separator: " and ")
  }

  /// Problems of a selection of frames.
  static func selectionProblems(_ stage: StageDefinition) -> [StageProblem] {
    let first = stage.parameters[first]
    guard let last = stage.parameters[last], first > last else { return [] }
    return [
      StageProblem(
        parameter: Self.first.name,
        "stage '\(stage.name)' would write nothing: first \(first) is after last \(last)")
    ]
  }
}

/// A stage of which `every`, `first` and `last` choose frames.
protocol SelectingStage: Stage {}

extension SelectingStage {
  public static func problems(_ stage: StageDefinition) -> [StageProblem] {
    CommonParameters.selectionProblems(stage)
  }

  public static func nothingLeft(
    _ stage: StageDefinition, _ capture: CaptureSummary
  ) -> CaptureWarning? { CommonParameters.nothingLeft(stage, capture) }
}

/// The parameters that thin out the frames that `every`, `first` and `last` leave: the same in every stage that
/// chooses frames.
enum PickParameters {
  /// Which frame of a group is taken.
  package enum Way: String, CaseIterable, Sendable {
    /// The one in the middle.
    case even
    case sharpest
    /// The sharpest, of groups in which the camera hardly moves.
    case motion
  }

  static let count = Parameter(
    "count", .integer(1...Int.max),
    "At most so many frames, spread over all that every, first and last leave.")
  static let pick = Parameter(
    "pick", .choice(), default: Way.even,
    "Which frames are taken. even: the middle one of each of count groups. sharpest: the sharpest of each of count "
      + "groups. motion: the sharpest of each group in which the camera hardly moves, by poses, else by the "
      + "gyroscope, else by the pictures.")
  static let angle = Parameter(
    "pickAngle", .number(0...180), default: 15,
    "With pick=motion: a group ends before the camera has turned by more than this."
  ).measured(in: "°").needing(pick, .motion)
  static let distance = Parameter(
    "pickDistance", .length(0...1000), default: 0.1,
    "With pick=motion: a group ends before the camera has moved by more than this, by poses."
  ).needing(pick, .motion)
  static let picking = ParameterDescription.list(count, pick, angle, distance)

  /// With `motion`, without poses and gyroscope, a group ends before the brightness of its pictures has changed by
  /// more than this, in levels on the mean of a grid of 64 columns. 12 levels give about as many groups as the
  /// standard angle and distance do; in six rendered captures 7 to 17 gave as many.
  static let changeLevels = 12.0

  /// Parameters of stages that follow the stage `color`: set by `color.pick` and `color.count` for all that have them.
  static let followed = ParameterDescription.list(followedPick, followedCount)

  private static let followedPick = pick.following(colorStage, followedSentence)
  private static let followedCount = count.following(colorStage, followedSentence)
  private static let followedSentence =
    ": only frames whose pictures were taken are made; pick and count choose among these."

  /// Whether frames are thinned out at all.
  static func picks(_ values: ParameterValues) -> Bool {
    values[pick] != .even || values[count] != nil
  }

  /// Whether frames are chosen by their pictures.
  static func needsPictures(_ values: ParameterValues) -> Bool { values[pick] != .even }

  /// What is read of a capture to choose frames, besides pictures.
  static func reads(_ values: ParameterValues) -> Set<CapturePart> {
    values[pick] == .motion ? [.frames, .poses, .imu] : []
  }

  /// Whether `color` picks, so that stages that follow it make only the picked frames.
  static func isFollowed(_ values: ParameterValues) -> Bool {
    values[followedPick] != .even || values[followedCount] != nil
  }

  /// The problem of a value that would have no effect. It is found once all parameters are set, so that the order of
  /// settings does not matter.
  static func problems(_ values: ParameterValues) -> [StageProblem] {
    guard values[pick] == .sharpest, values[count] == nil else { return [] }
    return [
      StageProblem(
        parameter: pick.name,
        "sharpest has no effect without count: the sharpest of each of count groups is taken")
    ]
  }

  /// The middle frame of each of `count` groups; `nil` if these are not asked for.
  ///
  /// - Parameter frames: ascending.
  static func even(_ frames: [Int], _ values: ParameterValues) -> [Int]? {
    guard values[pick] == .even, let count = values[count] else { return nil }
    return evenWindows(of: frames.count, count: count)
      .map { frames[($0.lowerBound + $0.upperBound - 1) / 2] }
  }

  /// How many frames of `count` are usually taken, with those that color picks. A camera in a hand moves by
  /// `pickDistance` within a third of a second.
  static func usual(of count: Int, _ values: ParameterValues) -> Int {
    let most = min(count, values[Self.count] ?? count, values[followedCount] ?? count)
    let isMotion = values[pick] == .motion || values[followedPick] == .motion
    return isMotion ? min(most, (count + 9) / 10) : most
  }

  /// The least number of frames that are taken of `count`.
  static func least(of count: Int, _ values: ParameterValues) -> Int {
    values[pick] == .motion ? min(1, count) : min(count, values[Self.count] ?? count)
  }
}

/// A stage that makes the frames whose pictures the stage `color` took.
protocol PickFollowingStage: SelectingStage {}

extension PickFollowingStage {
  public static func follows(_ parameters: ParameterValues) -> PortBinding? {
    PickParameters.binding(parameters)
  }

  public static func connects(
    _ port: String, _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Bool { port != PickParameters.colorPort.name || PickParameters.usesColor(parameters) }
}

/// How stages follow the pictures that were picked: they read which ones there are from the artifact of
/// the stage `color`.
extension PickParameters {
  static let colorStage = "color"
  static let colorPort = Port(
    "color", .colorImages, isRequired: false,
    "with color.pick or color.count: the pictures that were taken, whose frames are made; with pick=sharpest or motion: "
      + "the pictures that are looked at")

  /// The connection to the stage that decodes color; `nil` if nothing of it is needed.
  static func binding(_ parameters: ParameterValues) -> PortBinding? {
    guard usesColor(parameters) else { return nil }
    return PortBinding(
      port: colorPort.name, stage: colorStage,
      isOptional: !isFollowed(parameters)
        && parameters[pick] == .motion)
  }

  /// Whether the pictures of color decide which frames are made.
  static func usesColor(_ parameters: ParameterValues) -> Bool {
    isFollowed(parameters) || needsPictures(parameters)
  }

  /// The frames that color has picked; `nil` if they are not followed. Throws if they are not known.
  static func picked(_ context: StageContext) throws -> PickedFrames? {
    guard isFollowed(context.parameters) else { return nil }
    guard let color = context.inputs[colorPort.name] else {
      throw StageFailure(
        "'\(context.stage)' follows the pictures that color.pick and color.count choose, and the pipeline has no stage "
          + "'\(colorStage)' that decodes them: leave these out, or name the stage '\(colorStage)'")
    }
    guard let picked = PickedFrames(color.record) else {
      // The pictures are of an earlier run: `color.first` or `color.last` leaves none to pick now.
      throw StageDoesNotApply(
        CaptureWarning(
          .nothingLeft, context.stage,
          "no frame is left: of the pictures of '\(color.stage)' none were taken by color.pick or color.count"
        ))
    }
    return picked
  }
}
