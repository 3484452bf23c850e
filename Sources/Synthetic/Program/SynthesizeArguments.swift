import ArgumentParser
import Captures
import Engine

/// The options of `scanmill synthesize`, as written on the command line.
public struct SynthesizeArguments: ParsableArguments {
  public static let abstract =
    "Make a capture of a rendered room, with the exact truth beside it."
  public static let discussion = """
    Writes the capture to DIR/<id> and what it should give to DIR/<id>.truth. The same options and seed give the \
    same bytes.
    """

  private static let families = CaptureRegistry.builtIn.families.map(\.rawValue)

  @Argument(help: "The app family.", completion: .list(families))
  public var family: String

  @Option(
    name: .shortAndLong, help: "The folder that the capture's own folder is made in.",
    completion: .directory)
  public var output: String?

  @Option(help: "How many frames.")
  public var frames: Int?

  @Option(help: "The seed of everything random.")
  public var seed: UInt64 = 1

  @Option(
    parsing: .upToNextOption,
    help: "What goes wrong; several names may follow. See --list-faults.")
  public var fault: [String] = []

  @Option(help: "A dated layout of the family; see --list-faults.")
  public var generation: String?

  @Option(help: "Columns of the stored pictures.")
  public var width: Int?

  @Option(help: "Rows of the stored pictures.")
  public var height: Int?

  @Option(help: "Columns of the depth frames, where the family leaves them open.")
  public var depthWidth: Int?

  @Option(help: "Rows of the depth frames, where the family leaves them open.")
  public var depthHeight: Int?

  @Option(help: "Frames per second.")
  public var rate: Double?

  @Option(help: "Noise of all sensors: 1 = realistic, 0 = none.")
  public var noise = 1.0

  @Option(help: "How long the shutter is open, in seconds or as 16ms; 0 = no motion blur.")
  public var exposure = SecondsArgument(1.0 / 60)

  @Option(
    parsing: .unconditional,
    help:
      "How far the clock of the motion sensors is ahead of the pictures', in seconds or as 20ms. Refused where there are none."
  )
  public var imuOffset = SecondsArgument(0)

  @Option(help: "Constant rate factor of the video, 0 (best) … 51 (smallest).")
  public var quality: Int?

  @Flag(help: "Only walls, nothing standing in the room.")
  public var emptyRoom = false

  @Flag(help: "Write the frame's number into the top eighth of each picture.")
  public var frameCode = false

  @Option(help: "Name of the capture.")
  public var id: String?

  @Option(help: "How many frames get pictures of exact depth in the truth.")
  public var truthPictures = 3

  @Flag(help: "Replace a capture of the same name.")
  public var replace = false

  @Flag(help: "List the generations and faults of the family and do nothing.")
  public var listFaults = false

  public init() {}
}

/// A short time on the command line: a number of seconds (`0.0167`) or a duration with its unit (`16ms`), also negative.
public struct SecondsArgument: ExpressibleByArgument {
  public var seconds: Double

  init(_ seconds: Double) { self.seconds = seconds }

  public init?(argument: String) {
    if let number = Double(argument) {
      guard number.isFinite else { return nil }
      seconds = number
      return
    }
    let isNegative = argument.hasPrefix("-")
    guard let size = DurationSyntax.nanoseconds(String(argument.dropFirst(isNegative ? 1 : 0)))
    else {
      return nil
    }
    seconds = (isNegative ? -1 : 1) * Double(size) / 1e9
  }

  /// At most four decimals: `0.0167`.
  public var defaultValueDescription: String {
    let rounded = (seconds * 10_000).rounded() / 10_000
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }
}
